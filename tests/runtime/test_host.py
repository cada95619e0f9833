"""One host, connections in memory, virtual time: inputs, effects, clock, decisions, and every way to end."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any, cast

import anyio
import pytest

from machines.effects import Ended, Note
from machines.engine.session import Session
from runtime.network.anyio_transport import TaskConnection
from runtime.network.clock import make_clock
from runtime.network.memory_transport import MemoryStream, memory_streams
from runtime.network.transport import FLUSH_SECONDS, LINGER_SECONDS, UNSENT_BYTES_MAX
from runtime.players.base import EndlessAnswer, RawAnswer, Vanish
from runtime.sessions.driver import CANCEL_DRAIN_SECONDS, SessionDriver
from tests.runtime.fakes import LineSession, MemoryJournal, ScriptedPlayer, line_program

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend(virtual_backend: Any) -> Any:
    return virtual_backend


PEERS: list[MemoryStream] = []


@pytest.fixture(autouse=True)
def close_peers() -> Iterator[None]:
    yield
    while PEERS:
        PEERS.pop().close()


class Table:
    """A host with its fake session, and how to bring peers to it."""

    def __init__(self, host: SessionDriver, session: LineSession, journal: MemoryJournal, tasks: Any) -> None:
        self.host = host
        self.session = session
        self.journal = journal
        self.tasks = tasks

    def peer(self) -> MemoryStream:
        """Connect a peer and return its end."""
        ours, theirs = memory_streams()
        connection = TaskConnection(ours, "memory")
        self.tasks.start_soon(connection.run)
        self.host.connect(connection)
        PEERS.append(theirs)
        return theirs


@asynccontextmanager
async def hosting(**options: Any) -> AsyncIterator[Table]:
    async with anyio.create_task_group() as tasks:
        session = LineSession(line_program())
        journal = MemoryJournal()
        host = SessionDriver(cast(Session, session), make_clock(tasks), tasks, journal=journal, **options)
        try:
            host.start()
            yield Table(host, session, journal, tasks)
        finally:
            await host.release()
        tasks.cancel_scope.cancel()


async def read(stream: MemoryStream, until: bytes) -> bytes:
    """Return what comes until it ends with ``until``, or ends."""
    got = b""
    while not got.endswith(until):
        try:
            got += await stream.receive()
        except (anyio.EndOfStream, anyio.ClosedResourceError):
            break
    return got


async def rest(stream: MemoryStream) -> bytes:
    """Return all that comes until the other end closes."""
    return await read(stream, b"\0")


async def test_effects_are_carried_out_in_order() -> None:
    async with hosting() as table:
        one, two = table.peer(), table.peer()
        await one.send(b"echo a\nall b\nec")
        await one.send(b"ho c\n")

        assert await read(one, b"c\n") == b"hello\na\nb\nc\n"
        assert await read(two, b"b\n") == b"hello\nb\n"


async def test_the_session_is_woken_when_its_deadline_has_come_and_not_before() -> None:
    async with hosting() as table:
        peer = table.peer()
        began = anyio.current_time()
        await peer.send(b"in 600\n")

        assert await read(peer, b"late\n") == b"hello\nlate\n"

        assert anyio.current_time() == pytest.approx(began + 600)
        assert [what for what in table.session.inputs if what[0] == "tick"] == [("tick", pytest.approx(began + 600))]


@pytest.mark.parametrize(
    ("commands", "seconds"),
    [(b"in 10\nin 5\n", 5), (b"in 5\nin 10\n", 10), (b"in 3\nnever\nin 8\n", 8)],
    ids=["earlier", "later", "stopped"],
)
async def test_a_deadline_that_moves_is_followed(commands: bytes, seconds: float) -> None:
    async with hosting() as table:
        peer = table.peer()
        began = anyio.current_time()
        for command in commands.splitlines(keepends=True):
            await peer.send(command + b"echo ok\n")
            await read(peer, b"ok\n")

        await read(peer, b"late\n")

        assert anyio.current_time() == pytest.approx(began + seconds)
        assert [what[0] for what in table.session.inputs].count("tick") == 1


async def test_what_a_peer_sent_comes_before_its_loss() -> None:
    async with hosting() as table:
        peer, other = table.peer(), table.peer()
        await peer.send(b"all last\nhalf a mess")
        await peer.aclose()

        assert await read(other, b"last\n") == b"hello\nlast\n"
        await anyio.wait_all_tasks_blocked()
        assert table.session.inputs[-1] == ("lost", 0, b"half a mess")
        await other.send(b"echo on\n")
        assert await read(other, b"on\n") == b"on\n"


async def test_a_dropped_peer_gets_its_last_bytes_and_then_the_end() -> None:
    async with hosting() as table:
        peer = table.peer()
        await peer.send(b"flood 100000\nbye\necho never\n")

        got = await rest(peer)

        assert got == b"hello\n" + b"x" * 100_000 + b"bye\n"
        assert not [what for what in table.session.inputs if what[0] == "lost"]


async def test_a_paused_peer_is_not_read_until_it_is_resumed() -> None:
    async with hosting() as table:
        peer, other = table.peer(), table.peer()
        await peer.send(b"pause\n")
        await anyio.wait_all_tasks_blocked()
        await peer.send(b"echo later\n")
        await anyio.wait_all_tasks_blocked()
        assert ("bytes", 0, b"echo later\n") not in table.session.inputs

        await other.send(b"resume\n")

        assert await read(peer, b"later\n") == b"hello\nlater\n"


async def test_a_peer_that_never_reads_is_cut_off_and_counts_as_lost() -> None:
    async with hosting() as table:
        peer, other = table.peer(), table.peer()
        await peer.send(f"flood {UNSENT_BYTES_MAX}\nflood 1\n".encode())
        await anyio.wait_all_tasks_blocked()

        assert table.session.inputs[-1] == ("lost", 0, b"")
        assert "does not read" in table.journal.lines[-1][3]["why"]
        await other.send(b"echo on\n")
        assert await read(other, b"on\n") == b"hello\non\n"


# -- the end -----------------------------------------------------------------------------------------------------------


async def test_when_a_session_ends_everyone_gets_the_last_bytes() -> None:
    async with hosting() as table:
        peers = [table.peer() for _ in range(3)]
        await peers[0].send(b"end well\n")

        assert await table.host.over() == Ended("well", None)
        assert [await rest(peer) for peer in peers] == [b"hello\nover\n"] * 3


async def test_the_last_bytes_are_not_lost_on_a_slow_reader() -> None:
    big = UNSENT_BYTES_MAX // 2
    got = bytearray()

    async def read_slowly(peer: MemoryStream) -> None:
        while chunk := await rest_or_piece(peer):
            got.extend(chunk)
            await anyio.sleep(0.0001)

    async def rest_or_piece(peer: MemoryStream) -> bytes:
        try:
            return await peer.receive(4096)
        except anyio.EndOfStream:
            return b""

    async with anyio.create_task_group() as readers, hosting() as table:
        peer = table.peer()
        await peer.send(f"flood {big}\nend\n".encode())
        readers.start_soon(read_slowly, peer)
        await table.host.over()

    assert len(got) == len(b"hello\nover\n") + big


async def test_a_peer_that_does_not_close_is_waited_for_so_long_and_no_longer() -> None:
    async with hosting() as table:
        peer = table.peer()
        await peer.send(b"end\n")
        await table.host.over()
        began = anyio.current_time()

    assert anyio.current_time() - began <= FLUSH_SECONDS
    assert anyio.current_time() - began == pytest.approx(LINGER_SECONDS)


async def test_a_fault_of_ours_ends_the_session_as_failed_and_leaves_a_line(caplog: pytest.LogCaptureFixture) -> None:
    async with hosting() as table:
        peer = table.peer()
        await peer.send(b"boom\n")

        ended = await table.host.over()

        assert ended.value is None
        assert ended.failed == "a fault of this program, not of a peer: ValueError: boom"
        assert await rest(peer) == b"hello\n"
        kind, _, effects, what = table.journal.lines[-1]
        assert (kind, effects, what["peer"], what["data"]) == ("bytes", (ended,), 0, b"boom\n")
        assert table.journal.flushed[-1] == len(table.journal.lines)
    assert [record.levelno for record in caplog.records if record.levelno >= logging.ERROR] == [logging.ERROR]


async def test_nothing_is_asked_of_a_session_that_has_ended() -> None:
    async with hosting() as table:
        peer, other = table.peer(), table.peer()
        await peer.send(b"in 5\nend\n")
        await table.host.over()
        count = len(table.session.inputs)
        await other.send(b"echo x\n")
        await other.aclose()
        late = table.peer()
        assert await rest(late) == b""
        await anyio.sleep(10)

        assert len(table.session.inputs) == count


async def test_a_host_that_is_stopped_closes_its_connections_in_good_order() -> None:
    with anyio.move_on_after(3) as scope:
        async with hosting() as table:
            peer = table.peer()
            await anyio.sleep_forever()

    assert scope.cancelled_caught
    assert await rest(peer) == b"hello\n"
    assert anyio.current_time() <= 3 + CANCEL_DRAIN_SECONDS


# -- the player --------------------------------------------------------------------------------------------------------


def answers(answer: Callable[[str], Awaitable[Any]]) -> ScriptedPlayer:
    return ScriptedPlayer(answer)


async def test_an_answer_of_the_player_is_handed_to_the_session() -> None:
    async def think(question: str) -> str:
        await anyio.sleep(3)
        return question.upper()

    async with hosting(player=answers(think)) as table:
        peer = table.peer()
        await peer.send(b"ask why\necho thinking\n")

        assert await read(peer, b"WHY\n") == b"hello\nthinking\nanswer WHY\n"


async def test_a_player_that_raises_has_failed_to_answer() -> None:
    async def fail(question: str) -> str:
        raise KeyError(question)

    async with hosting(player=answers(fail)) as table:
        peer = table.peer()
        await peer.send(b"ask why\n")

        assert await read(peer, b"'why'\n") == b"hello\nno answer: KeyError: 'why'\n"


async def test_a_role_without_a_player_fails_to_answer() -> None:
    async with hosting() as table:
        peer = table.peer()
        await peer.send(b"ask why\n")

        assert await read(peer, b"player\n") == b"hello\nno answer: this role has no player\n"


@pytest.mark.parametrize("how", [b"cancel 1\n", b"end\n", b"boom\n"])
async def test_a_decision_does_not_outlive_its_question(how: bytes) -> None:
    cancelled = anyio.Event()

    async def think(question: str) -> str:
        try:
            await anyio.sleep_forever()
        except BaseException:
            cancelled.set()
            raise
        raise AssertionError("it slept for ever")

    async with hosting(player=answers(think)) as table:
        peer = table.peer()
        await peer.send(b"ask why\n")
        await anyio.wait_all_tasks_blocked()
        assert not cancelled.is_set()

        await peer.send(how)

        await cancelled.wait()
        await anyio.wait_all_tasks_blocked()
        assert not [what for what in table.session.inputs if what[0] in ("answer", "failed")]


async def test_a_question_is_given_up_once_no_answer_can_reach_anybody() -> None:
    cancelled = anyio.Event()

    async def think(question: str) -> str:
        try:
            await anyio.sleep(300)
        except BaseException:
            cancelled.set()
            raise
        raise AssertionError("it thought to the end")

    async with anyio.create_task_group() as tasks:
        session = LineSession(line_program(connects=("server", "advisor")))
        host = SessionDriver(
            cast(Session, session),
            make_clock(tasks),
            tasks,
            journal=(journal := MemoryJournal()),
            player=answers(think),
        )
        ends = [memory_streams() for _ in range(2)]
        connections = [TaskConnection(ours, "memory") for ours, _ in ends]
        for connection in connections:
            tasks.start_soon(connection.run)
        host.start(connections)
        server, advisor = (theirs for _, theirs in ends)
        PEERS.extend((server, advisor))
        await server.send(b"ask why\n")
        await anyio.wait_all_tasks_blocked()
        await server.aclose()
        await anyio.wait_all_tasks_blocked()
        assert not cancelled.is_set(), "one is left"

        await advisor.send(b"ask how\n")
        await advisor.aclose()

        await cancelled.wait()
        await anyio.wait_all_tasks_blocked()
        why = "the connection is closed, so no answer can be sent"
        assert session.inputs[-2:] == [("failed", 1, why), ("failed", 2, why)]
        assert [line[0] for line in journal.lines[-3:]] == ["lost", "failed", "failed"]
        assert anyio.current_time() < 300
        await host.release()
        tasks.cancel_scope.cancel()


async def test_a_host_that_takes_in_others_may_think_on_while_nobody_is_there() -> None:
    async def think(question: str) -> str:
        await anyio.sleep(3)
        return "yes"

    async with hosting(player=answers(think)) as table:
        peer = table.peer()
        await peer.send(b"ask why\n")
        await peer.aclose()
        await anyio.sleep(4)

        assert table.session.inputs[-1] == ("answer", 1, "yes")


async def test_the_player_is_told_what_was_heard_and_may_fail_at_it() -> None:
    async def never(question: str) -> None:
        await anyio.sleep_forever()

    player = answers(never)
    async with hosting(player=player) as table:
        peer = table.peer()
        await peer.send(b"echo news\n")
        await read(peer, b"news\n")
        assert player.news == [("ECHO", {"text": "news"})]

        player.news = None  # type: ignore[assignment]
        await peer.send(b"echo more\n")

        assert await read(peer, b"more\n") == b"more\n"


@pytest.mark.parametrize(
    ("misdeed", "seen"),
    [
        (RawAnswer(b"?!"), b"hello\n?!"),
        (EndlessAnswer(b"[", b",0", 0.5, 8), b"hello\n[,0,0,0,0"),
        (Vanish(), b"hello\n"),
    ],
)
async def test_a_misdeed_is_done_to_the_connection(misdeed: Any, seen: bytes) -> None:
    async def misbehave(question: str) -> Any:
        return misdeed

    async with hosting(player=answers(misbehave)) as table:
        peer = table.peer()
        await peer.send(b"ask why\n")

        assert await read(peer, seen) == seen
        await anyio.wait_all_tasks_blocked()
        assert [what[0] for what in table.session.inputs].count("lost") == isinstance(misdeed, Vanish)
        assert not [what for what in table.session.inputs if what[0] in ("answer", "failed")]


# -- journal and onlookers ---------------------------------------------------------------------------------------------


async def test_every_input_is_one_line_of_the_journal() -> None:
    async def think(question: str) -> str:
        return "yes"

    async with hosting(player=answers(think), seed=7, my={"name": "Ann"}, number=3) as table:
        peer, other = table.peer(), table.peer()
        await peer.send(b"ask why\n")
        await read(peer, b"yes\n")
        await peer.send(b"in 2\n")
        await read(peer, b"late\n")
        await peer.aclose()
        await anyio.wait_all_tasks_blocked()
        await other.send(b"end\n")
        await table.host.over()

    lines = table.journal.lines
    assert [line[0] for line in lines] == [
        "start",
        "connect",
        "connect",
        "bytes",
        "answer",
        "bytes",
        "tick",
        "lost",
        "bytes",
    ]
    assert [line[0] for line in lines] == [what[0] for what in table.session.inputs]
    assert {line[3]["session"] for line in lines} == {3}
    assert (lines[0][3]["seed"], lines[0][3]["my"]) == (7, {"name": "Ann"})
    assert [line[3]["peer"] for line in lines if line[0] == "connect"] == [0, 1]
    assert lines[3][3]["data"] == b"ask why\n"
    assert (lines[4][3]["number"], lines[4][3]["value"]) == (1, "yes")
    assert [line[1] for line in lines] == sorted(line[1] for line in lines)


async def test_lines_do_not_wait_long_to_be_written_and_idle_hosts_do_not_wake() -> None:
    async with hosting() as table:
        table.peer()
        await anyio.sleep(1)
        assert table.journal.flushed == [2]

        await anyio.sleep(1000)

        assert table.journal.flushed == [2]


async def test_a_journal_that_fails_ends_the_journal_and_not_the_game() -> None:
    async with hosting() as table:
        peer = table.peer()
        table.journal.lines = ()  # type: ignore[assignment]
        await peer.send(b"echo a\necho b\n")

        assert await read(peer, b"b\n") == b"hello\na\nb\n"


async def test_an_onlooker_sees_every_effect_and_cannot_break_anything() -> None:
    seen: list[Any] = []

    def look(effect: Any) -> None:
        seen.append(effect)
        assert len(seen) < 3

    async with hosting(observe=look) as table:
        peer = table.peer()
        await peer.send(b"echo on\n")

        assert await read(peer, b"on\n") == b"hello\non\n"
        assert seen[0] == Note("info", "started")
        assert len(seen) == 3


class Stubborn:
    """A connection that raises whatever is asked of it at the end."""

    name = "stubborn"

    def start(self, on_bytes: Any, on_end: Any, on_closed: Any) -> None:
        self.on_closed = on_closed

    def send(self, data: bytes) -> None:
        """Nothing is sent."""

    def close_after_flush(self) -> None:
        raise OSError("no")

    def abort(self) -> None:
        self.on_closed()
        raise OSError("never")


async def test_a_connection_that_cannot_be_closed_keeps_no_other_from_being_closed() -> None:
    async with hosting() as table:
        table.host.connect(cast(Any, Stubborn()))
        peer = table.peer()
        await peer.send(b"end\n")
        await table.host.over()

        assert (await rest(peer)).startswith(b"hello\n")


class Unsendable(Stubborn):
    def send(self, data: bytes) -> None:
        raise RuntimeError("the stream has a fault")


async def test_a_fault_of_the_host_itself_leaves_a_line_too() -> None:
    async with hosting() as table:
        table.host.connect(cast(Any, Unsendable()))

        ended = await table.host.over()

        assert ended.failed == "a fault of this program, not of a peer: RuntimeError: the stream has a fault"
        kind, _, effects, what = table.journal.lines[-1]
        assert (kind, effects, what["why"]) == ("fault", (ended,), ended.failed)
