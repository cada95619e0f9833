"""A server that seats one group after another: who comes is with those who wait, and groups do not wait for groups."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.abc import SocketStream

from machines.effects import Ended
from machines.engine.session import Program
from machines.parser.loader import load_text
from runtime.players.base import UnknownPlayerError
from runtime.players.seeds import derived_seed
from runtime.sessions.group_server import Group, serve_groups
from runtime.sessions.server import Stopped
from tests.runtime.fakes import MemoryJournal
from tests.runtime.test_cli_processes import SECONDS, ended, listening
from tests.runtime.test_cli_processes import start as started

pytestmark = pytest.mark.anyio

# Two are seated and told so; the first of them says a word, which is the result.
PAIRS = """
protocol: pairs
connects: {guest: table}
wire: {framing: lines, connections_max: 3}
types: {Name: {string: '.{0,20}'}}
messages:
  guest:
    NAME: [$name Name]
    WORD: {word: $word string}
  table: {BEGIN: [$first Name, $second Name]}
roles:
  table:
    main:
      door: {accept: greet(peer), as: two, seats: 2..2, within: 30 s, then: begin, timeout: {return: "'too few'"}}
      begin: {let: {first: "two[0]", second: "two[1]"}, then: told}
      told:
        send: {two: "BEGIN(first.name, second.name)"}
        then: word
      word: {await: first, within: 30 s, receive: {WORD: {return: word}}, fault: {return: "'a fault'"}}
    greet(peer):
      first: {await: peer, within: 10 s, receive: {NAME: {return: {name: name}}}}
  guest:
    main:
      begin: {send: NAME(my.name), then: wait}
      wait: {within: 1 min, receive: {BEGIN: say}, fault: {return: null}}
      say: {ask: word, within: 10 s, receive: {WORD: {send: WORD, return: null}}}
"""


class Served:
    """A server of pairs in the background, with what it told."""

    def __init__(self) -> None:
        self.port = 0
        self.ended: list[tuple[int, Any]] = []
        self.seeds: list[int] = []
        self.journals: dict[int, MemoryJournal] = {}
        self.stopped: list[Stopped] = []
        self.scope = anyio.CancelScope()
        self.news = anyio.Event()
        self.no_player = False
        self.streams: list[SocketStream] = []

    async def connect(self) -> SocketStream:
        self.streams.append(await anyio.connect_tcp("127.0.0.1", self.port))
        return self.streams[-1]

    @asynccontextmanager
    async def equip(self, group: Group) -> AsyncIterator[None]:
        self.seeds.append(group.seed)
        if self.no_player:
            raise UnknownPlayerError("there is nobody to decide")
        group.journal = self.journals[group.number] = MemoryJournal()
        yield

    def tell(self, group: Group, ended: Ended) -> None:
        self.ended.append((group.number, ended.value if ended.failed is None else ended.failed))
        self.news.set()
        self.news = anyio.Event()

    async def until_ended(self, count: int) -> None:
        while len(self.ended) < count:
            await self.news.wait()


@asynccontextmanager
async def serving(groups_max: int = 8, *, no_player: bool = False) -> AsyncIterator[Served]:
    served = Served()
    served.no_player = no_player
    ready = anyio.Event()

    def on_listening(port: int) -> None:
        served.port = port
        ready.set()

    async def run() -> None:
        with served.scope:
            await serve_groups(
                Program(load_text(PAIRS, "pairs.yaml"), "table", {}),
                seed=7,
                equip=served.equip,
                on_ended=served.tell,
                on_listening=on_listening,
                on_stopped=served.stopped.append,
                groups_max=groups_max,
            )

    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run)
            await ready.wait()
            yield served
            for stream in served.streams:
                await stream.aclose()
            tasks.cancel_scope.cancel()


async def guest(served: Served, name: str) -> SocketStream:
    stream = await served.connect()
    await stream.send(json.dumps([name]).encode() + b"\n")
    return stream


async def told(stream: SocketStream) -> Any:
    """Return the next value that comes; None at the end."""
    got = b""
    while not got.endswith(b"\n"):
        try:
            got += await stream.receive()
        except anyio.EndOfStream:
            await stream.aclose()  # the server waits for it before the group is over
            return None
    return json.loads(got)


async def say(stream: SocketStream, word: str) -> None:
    await stream.send(json.dumps({"word": word}).encode() + b"\n")


async def play(stream: SocketStream, other: SocketStream, word: str) -> None:
    """Say a word for whoever is the first, and wait for the end."""
    for one in (stream, other):
        await say(one, word)
    assert [await told(stream), await told(other)] == [None, None]


async def pair(served: Served, first: str, second: str) -> tuple[SocketStream, SocketStream]:
    one, other = await guest(served, first), await guest(served, second)
    assert sorted(await told(one)) == sorted([first, second]) == sorted(await told(other))
    return one, other


async def test_groups_play_side_by_side_and_each_ends_by_itself_with_its_own_seed_and_journal() -> None:
    async with serving() as served:
        pairs = [await pair(served, f"a{number}", f"b{number}") for number in range(3)]
        for number in (1, 0, 2):
            await play(*pairs[number], f"word {number}")
            await served.until_ended(len(served.ended) + 1)

    assert served.ended == [(1, "word 1"), (0, "word 0"), (2, "word 2")]
    assert served.seeds == [7, derived_seed(7, 1), derived_seed(7, 2)]
    assert sorted(served.journals) == [0, 1, 2]


async def test_who_comes_while_a_sign_up_is_open_is_of_that_group_also_once_another_has_left() -> None:
    async with serving() as served:
        gone = await guest(served, "gone")
        await gone.aclose()
        one, other = await pair(served, "ann", "bob")
        await play(one, other, "done")
        await served.until_ended(1)

    assert served.ended == [(0, "done")]


async def test_who_would_begin_one_group_too_many_is_turned_away_until_one_has_ended() -> None:
    async with serving(groups_max=1) as served:
        first = await pair(served, "ann", "bob")
        late = await guest(served, "cyd")
        assert await told(late) is None
        await play(*first, "first")
        await served.until_ended(1)
        await play(*await pair(served, "cyd", "dee"), "second")
        await served.until_ended(2)

    assert served.ended == [(0, "first"), (1, "second")]


async def test_a_group_has_no_more_connections_than_the_spec_allows_one_server() -> None:
    async with serving() as served:
        silent = [await served.connect() for _ in range(3)]
        fourth = await served.connect()
        assert await told(fourth) is None
        await silent[0].send(b'["ann"]\n')
        await silent[1].send(b'["bob"]\n')
        assert sorted(await told(silent[0])) == ["ann", "bob"]
        assert await told(silent[2]) is None  # its sign-up was not over when the seats were taken


async def test_a_group_that_cannot_have_its_player_fails_alone() -> None:
    async with serving(no_player=True) as served:
        assert await told(await guest(served, "ann")) is None
        await served.until_ended(1)
        served.no_player = False
        await play(*await pair(served, "bob", "cyd"), "fine")
        await served.until_ended(2)

    assert served.ended == [(0, "there is nobody to decide"), (1, "fine")]


async def test_a_server_that_is_cancelled_closes_all_groups_and_says_how_far_they_were() -> None:
    async with serving() as served:
        done, running = await pair(served, "ann", "bob"), await pair(served, "cyd", "dee")
        await play(*done, "done")
        await served.until_ended(1)
        served.scope.cancel()
        assert [await told(one) for one in running] == [None, None]

    assert served.ended == [(0, "done")]
    assert served.stopped == [Stopped(4, 1, 1, "main in word (1)")]


# -- the command -------------------------------------------------------------------------------------------------------


start = started  # a fixture


def play_pair(port: int, word: str) -> None:
    with ExitStack() as opened:
        pair = [opened.enter_context(socket.create_connection(("127.0.0.1", port), timeout=SECONDS)) for _ in "ab"]
        for one, name in zip(pair, ("ann", "bob"), strict=True):
            one.sendall(json.dumps([name]).encode() + b"\n")
        for one in pair:
            with one.makefile() as lines:
                assert sorted(json.loads(lines.readline())) == ["ann", "bob"]
        for one in pair:
            one.sendall(json.dumps({"word": word}).encode() + b"\n")


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_the_command_tells_each_group_in_a_line_with_a_journal_that_replays(
    backend: str,
    start: Any,
    tmp_path: Path,
) -> None:
    (tmp_path / "pairs.yaml").write_text(PAIRS)
    words = ("serve", "./pairs.yaml", "--again", "--seed", "7", "--json", "--journal", "./kept", "--backend", backend)
    server: subprocess.Popen[str] = start(*words)
    facts = listening(server)
    assert facts["again"] is True
    groups = []
    for word in ("one", "two"):
        play_pair(facts["port"], word)
        groups.append(listening(server))
    server.send_signal(signal.SIGINT)
    code, lines, _ = ended(server)

    assert [(group["group"], group["result"], group["seed"]) for group in groups] == [
        (0, "one", 7),
        (1, "two", derived_seed(7, 1)),
    ]
    assert code == 130
    assert lines[-1]["stopped"] == {"connections": 4, "ended": 2, "running": 0, "waited_for": ""}
    for group in groups:
        assert (tmp_path / group["journal"]).parent == tmp_path / "kept"
        assert start("replay", group["journal"]).wait(SECONDS) == 0


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("smtp", "--again"), "has a session for each connection: it goes on without --again"),
        (("tsuro", "--again", "--at-once", "0"), "--at-once 0 is less than 1"),
        (("tsuro", "--again", "--player", "human"), "a person cannot decide for several groups"),
        (("tsuro", "--again", "--journal", __file__), "with --again it is the folder of all journals: it is a file"),
    ],
)
def test_what_cannot_be_served_again_and_again_is_refused(
    words: tuple[str, ...], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    from runtime.cli import main

    assert main(["serve", *words]) == 2
    assert why in capsys.readouterr().err
