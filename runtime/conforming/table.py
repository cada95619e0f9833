"""One case: the stranger on real connections, all others sessions of ours, a follower that judges.

What the stranger is sent and what it says is noted in the order in which it crosses. After a deed we say nothing more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final

import anyio
from anyio.abc import SocketAttribute, SocketStream, TaskGroup

from machines.conforming.case_results import CaseResult
from machines.conforming.cases import Case
from machines.conforming.deeds import oddly, tokens_of
from machines.conforming.following import RANG, Follower
from machines.conforming.incoming_stream import MessageReader
from machines.conforming.spec_lines import refusal_place, state_of
from runtime.conforming.actors import Ensemble
from runtime.conforming.case_setting import HOST, CaseSetting, free_port, ignore
from runtime.conforming.deed_doing import do_deed
from runtime.conforming.links import StrangerLink
from runtime.conforming.machine_load import MachineLoad
from runtime.conforming.outcomes import gave_up, sum_up
from runtime.conforming.stranger import Stranger, StrangerError
from runtime.conforming.stranger_wire import StrangerWire
from runtime.network.transport import READ_BYTES, send_at_once

NAMES: Final = ("ann", "bob", "cyd", "dan", "eve", "fay", "gus", "hal")
READY_SECONDS: Final = 10.0  # that a program may take to connect, or to listen
LAST_WORDS_SECONDS: Final = 1.0  # that a program which has closed its connections may take to end and say why
RULES: Final = ("illegal", "limit")
BUSY: Final = 1.5  # times as long as on an idle machine, from which on silence is no fault
PROBE_SECONDS: Final = 0.05  # … which, once connected, ends without a word: it only looked whether anybody listens
PAUSE_SECONDS: Final = 0.02  # that we listen on before we answer: what it says at once is heard before we say more
PAUSES_MAX: Final = 60  # of those in a case: a client of mail speaks 200 times


class Table:
    """Plays one case. ``has_started`` is called once the stranger is there, so that another may start."""

    def __init__(self, setting: CaseSetting, case: Case, has_started: Callable[[], None] = ignore) -> None:
        self.setting = setting
        self.case = case
        self.result = CaseResult(case)
        self.programs = setting.programs(case)
        self.follower = Follower(setting.knowledge(case), knows_limits=True)
        self.wire = StrangerWire(self.follower, self.result, self._wake)
        self.ours = Ensemble(
            setting.spec,
            self.programs,
            setting.casting,
            case.seed,
            send=self._send,
            close=self.wire.close,
            noted=setting.noted(case) if setting.noted is not None else ignore,
        )
        self._readers = {role: MessageReader(program, role) for role, program in self.programs.items()}
        self._stranger = Stranger(setting.command) if setting.command else None
        self._tasks: TaskGroup | None = None
        self._woken = anyio.Event()
        self._over = False
        self._rests = False  # it may, and does
        self._pauses = 0
        self._has_started = has_started
        self._started = 0.0
        self._listeners: list[anyio.abc.Listener[SocketStream]] = []
        self._judged = 0  # violations of our sessions that were looked at
        self._serves = setting.role in setting.spec.connects
        self._present = not self._serves  # whether the stranger is there
        self._looked = False  # whether it connected only to end that at once
        found = state_of(setting.spec, setting.role, case.state)
        self._asks = found is not None and found[1].ask is not None

    # -- the course of a case ------------------------------------------------------------------------------------------

    async def play(self) -> CaseResult:
        """Play, and return what came of it."""
        load = MachineLoad()
        self._started = anyio.current_time()
        try:
            async with anyio.create_task_group() as tasks:
                self._tasks = tasks
                tasks.start_soon(load.watch)
                with anyio.move_on_after(self._seconds):
                    await (self._play_client() if self._serves else self._play_server())
                    await self._judge()
                    await self._let_it_speak()
                tasks.cancel_scope.cancel()
        except* StrangerError as group:
            self._give_up(str(group.exceptions[0]))
            self.result.absent = True
        finally:
            if self._stranger is not None:
                await self._stranger.stop()
            with anyio.CancelScope(shield=True):
                for one in (*self._listeners, *(link.stream for link in self.wire.links.values())):
                    await one.aclose()
        self.result.seconds = anyio.current_time() - self._started
        is_slow = load.lag > self.setting.grace / 4 or (not self.setting.is_patient and load.slowdown() > BUSY)
        sum_up(self.result, self.follower, self.setting, is_done=self._is_done(), is_slow=is_slow)
        return self.result

    @property
    def _seconds(self) -> float:
        """How long a case may last."""
        return self.setting.case_seconds * self.setting.load.stretch()

    def _ready_until(self, began: float) -> float:
        return began + READY_SECONDS * self.setting.load.stretch()

    async def _play_client(self) -> None:
        """The stranger connects: our listening sessions, our clients before it, it, and our clients after it."""
        spec, now = self.setting.spec, anyio.current_time()
        targets = spec.connects[self.setting.role]
        ports = {}
        for seat, target in enumerate(targets):
            self._stand(target, now)
            listener = await anyio.create_tcp_listener(local_host=HOST)
            self._listeners.append(listener)
            ports[target] = int(listener.extra(SocketAttribute.local_port))
            assert self._tasks is not None, "it runs"
            self._tasks.start_soon(listener.serve, self._taker(seat, target))
        for at in range(min(self.case.seat, self.case.clients)):
            name = self.case.called if self.case.called and not at else NAMES[at % len(NAMES)]
            self.ours.join(self.setting.client, name, at, anyio.current_time())
            self.ours.settle(anyio.current_time())
        await self._start(ports)
        await self._until_seated(len(targets))
        for at in range(self.case.seat + 1, self.case.clients):
            self.ours.join(self.setting.client, NAMES[at % len(NAMES)], at, anyio.current_time())
            self._settle()

    def _stand(self, target: str, now: float) -> None:
        """Have one session of ours for a role that all connect to."""
        if not self.programs[target].per_connection:
            actor = self.ours.open(target, target, None, now)
            self.ours.start(actor, now)

    async def _start(self, ports: Mapping[str, int]) -> None:
        if self._stranger is None:
            return
        first = next(iter(ports.values()))
        places = {"host": HOST, "port": str(first), **{f"port_{role}": str(port) for role, port in ports.items()}}
        for name, value in places.items():
            self._stranger.command = self._stranger.command.replace("{" + name + "}", value)
        await self._stranger.start()
        assert self._tasks is not None, "it runs"
        self._tasks.start_soon(self._stranger.read_output)

    def _taker(self, seat: int, target: str) -> Callable[[SocketStream], Any]:
        async def take(stream: SocketStream) -> None:
            first = await self._first_words(stream)
            if first is None or any(link.seat == seat for link in self.wire.links.values()):
                await stream.aclose()  # it only looked, or has come already
                return
            now = anyio.current_time()
            if target in self.ours.standing:
                actor = self.ours.standing[target]
                there = len(actor.session.seats)
                link = self.wire.linked(seat, stream, actor, there)
                if len(self.wire.links) == len(self.setting.spec.connects[self.setting.role]):
                    self._begin(now)
                self.ours.accept(actor, now)
            else:
                actor = self.ours.open(target, target, self.case.seat, now)
                link = self.wire.linked(seat, stream, actor, len(actor.session.program.connects))
                if len(self.wire.links) == len(self.setting.spec.connects[self.setting.role]):
                    self._begin(now)
                self.ours.start(actor, now)
            self._settle()
            await self._carry(link, first)

        return take

    async def _first_words(self, stream: SocketStream) -> bytes | None:
        """Return what comes at once on a new connection; None if that is its end."""
        with suppress(anyio.EndOfStream, anyio.BrokenResourceError):
            with anyio.move_on_after(PROBE_SECONDS):
                return await stream.receive(READ_BYTES)
            return b""
        self._looked = True
        return None

    def _begin(self, now: float) -> None:
        self._present = True
        self.follower.start(now)

    async def _until_seated(self, count: int) -> None:
        """Wait until the stranger has connected and said what it says first, or does not."""
        began = anyio.current_time()
        while len(self.wire.links) < count:
            if self._stranger is not None and self._stranger.exit_code is not None:
                if self._looked and count == 1:
                    self._left_without_a_word()
                    return
                raise StrangerError(f"the program ended ({self._stranger.how_it_ended}) before it connected")
            if anyio.current_time() > self._ready_until(began):
                raise StrangerError(f"the program did not connect within {READY_SECONDS:g} s")
            await self._sleep(0.02)
        self._has_started()
        until = anyio.current_time() + self.setting.grace
        while anyio.current_time() < until and not self._is_done():
            if not any(link.actor.is_signing_up(link.there) for link in self.wire.links.values()):
                return
            await self._sleep(0.01)

    def _left_without_a_word(self) -> None:
        """It connected, ended that at once, and did not come again."""
        now = anyio.current_time()
        self._begin(now)
        self.follower.ended(0, now)
        self.wire.note("it", "(ends the connection)")

    async def _play_server(self) -> None:
        """The stranger listens: our clients connect, one after another."""
        address = self.setting.address
        if address is None:
            port = await free_port()
            await self._start({self.setting.role: port})
            address = (HOST, port)
        per_connection = self.follower.knowledge.program.per_connection
        if not per_connection:
            self._begin(anyio.current_time())
        for target in self.setting.spec.connects[self.setting.client]:
            if target != self.setting.role:
                self._stand(target, anyio.current_time())
        for at in range(self.case.clients):
            name = NAMES[at % len(NAMES)]
            if per_connection and at != self.case.seat % self.case.clients:  # it has a program of ours to talk to
                self.ours.join(self.setting.client, name, at, anyio.current_time())
                self._settle()
                continue
            stream = await self._connected(address, first=not self.wire.links)
            if stream is None:
                break
            self._has_started()
            self._come(name, at, 0 if per_connection else at, stream)
            await self._sleep(0.01)

    def _come(self, name: str, at: int, seat: int, stream: SocketStream) -> None:
        """Let a client of ours come on a connection to the stranger."""
        now = anyio.current_time()
        actor = self.ours.open(self.setting.client, name, at, now)
        for there, target in enumerate(actor.session.program.connects):
            if target == self.setting.role:
                link = self.wire.linked(seat, stream, actor, there)
            else:
                self.ours.reach(actor, there, target, at, now)
        if self.follower.knowledge.program.per_connection:
            self._begin(now)
        else:
            self.follower.connected(seat, now)
        self.ours.start(actor, now)
        assert self._tasks is not None, "it runs"
        self._tasks.start_soon(self._carry, link)
        self._settle()

    async def _connected(self, address: tuple[str, int], *, first: bool) -> SocketStream | None:
        began = anyio.current_time()
        while True:
            with suppress(OSError):
                stream = await anyio.connect_tcp(*address)
                send_at_once(stream.extra(SocketAttribute.raw_socket))
                return stream
            if self._stranger is not None and self._stranger.exit_code is not None and first:
                raise StrangerError(f"the program ended ({self._stranger.how_it_ended}) before it listened")
            if self._stranger is None or not first or anyio.current_time() > self._ready_until(began):
                if first:
                    raise StrangerError(f"nobody listens on {address[0]}:{address[1]}")
                return None
            await self._sleep(0.03)

    # -- the stranger's links ------------------------------------------------------------------------------------------

    async def _carry(self, link: StrangerLink, first: bytes = b"") -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(link.write, self.case.cutting, self.follower.may_speak)
            try:
                while True:
                    chunk, first = first or await link.stream.receive(READ_BYTES), b""
                    self.wire.heard(link, chunk)
                    await self._hear_more(link, chunk)
            except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
                self._ended(link)
            tasks.cancel_scope.cancel()

    async def _hear_more(self, link: StrangerLink, chunk: bytes) -> None:
        """Hand on what came, with all that comes at once; nothing of ours goes out meanwhile."""
        self._pauses += 1
        try:
            with anyio.move_on_after(PAUSE_SECONDS * self.setting.load.stretch()):
                while self._pauses <= PAUSES_MAX:
                    more = await link.stream.receive(READ_BYTES)
                    self.wire.heard(link, more)
                    chunk += more
        finally:
            self.ours.receive(link.actor, link.there, chunk, anyio.current_time())
            self._settle()

    def _ended(self, link: StrangerLink) -> None:
        self.wire.ended(link)
        self.ours.lose(link.actor, link.there, anyio.current_time())
        self.wire.close(link.number)
        self._settle()

    def _send(self, number: int, message: str, data: bytes) -> None:
        link = self.wire.links[number]
        if self.wire.quiet or link.closing:
            return
        if self._is_time_for_deed(link):
            self._do_deed(link, message, data)
            return
        if self.case.cutting == "odd":
            data = oddly(self.setting.spec, message, data)
        self.wire.tell(link, message, data, tokens_of(self._readers[link.actor.role], message, data))

    # -- deeds ---------------------------------------------------------------------------------------------------------

    def _is_time_for_deed(self, link: StrangerLink) -> bool:
        if not self.case.deed or self.wire.quiet or not self._present or not self.follower.judges:
            return False
        if not self._serves and link.actor.name != NAMES[self.case.seat % len(NAMES)]:
            return False
        return self.follower.settled_states() == {self.case.state}

    def _do_deed(self, link: StrangerLink, message: str = "", data: bytes = b"") -> None:
        reader = self._readers[link.actor.role]
        why_not = do_deed(self.case, self.setting.role, self.wire, reader, link, message, data)
        if why_not:
            self._give_up(why_not)
        else:
            self.result.deed_done = True

    def _settle(self) -> None:
        self.ours.settle(anyio.current_time())
        for link in self.wire.links.values():
            waits = self.case.deed == "half" and not self._asks  # for a message that it may be half of
            if not link.closing and not link.ended and not waits and self._is_time_for_deed(link):
                self._do_deed(link)
                break
        self._look_at_rules()
        self._woken.set()

    def _look_at_rules(self) -> None:
        """Take note of what the rules of a game refused of the stranger."""
        for actor, found in self.ours.violations[self._judged :]:
            self._judged += 1
            foreign = found.peer is not None and found.peer in actor.foreign
            if foreign and not self.wire.quiet and self._serves and self.result.rule is None and not self._over:
                if found.kind in RULES and self.follower.judges and not self.follower.late:
                    name = next((line.name for line in reversed(self.result.trace) if line.who == "it"), "")
                    message = name.rpartition(", ")[2]
                    place = refusal_place(self.setting.spec, actor.role, found.place, message)
                    self.result.rule = (message, found.why or found.rule, place)
                else:
                    self._over = True  # it was late: what it says now may be out of date

    # -- judging -------------------------------------------------------------------------------------------------------

    def _is_done(self) -> bool:
        follower = self.follower
        deviated = follower.deviation is not None or bool(follower.late)
        if self._rests or self.result.rule is not None or deviated or self.result.why:
            return True
        if self.case.deed == "silent" and RANG + self.case.state in self.follower.covered:
            return True  # its limit has passed, and it went on: the rest is consequence
        return self._present and self.wire.has_ended

    async def _judge(self) -> None:
        """Wait until the case is over: all is said, or the stranger deviates, or it is silent for too long."""
        grace = self.setting.grace
        while not self._is_done():
            now = anyio.current_time()
            if self.follower.lost_track:
                return
            until = self.follower.patient_until(grace) + grace if self._present else now + 1.0
            if self.wire.quiet and until > self._started + self._seconds:
                # It may rest for longer than we wait: after our deed it only must not deviate.
                await anyio.sleep(grace)
                self._rests = not self._is_done()
                return
            due = self.ours.deadline()
            wait = min(until, due if due is not None else until, now + 5.0) - now
            await self._sleep(max(0.0, wait))
            now = anyio.current_time()
            self.ours.tick(now)
            self._settle()
            if self._present and now >= until:
                self.follower.idle(now, grace)

    def _wake(self) -> None:
        self._woken.set()

    async def _sleep(self, seconds: float) -> None:
        """Sleep, or less if anything happens."""
        self._woken = anyio.Event()
        with anyio.move_on_after(seconds):
            await self._woken.wait()

    async def _let_it_speak(self) -> None:
        """Wait a moment for what a program that has gone prints at its end, and keep the last of what it printed."""
        if self._stranger is None:
            return
        if self.wire.has_ended and gave_up(self.follower):
            with anyio.move_on_after(LAST_WORDS_SECONDS):
                await self._stranger.silenced.wait()
        self.result.printed = self._stranger.last_lines()

    def _give_up(self, why: str) -> None:
        self.result.why = self.result.why or why
