"""Whole tournaments of Santorini over loopback: by the command, and the relay's three roles in their own processes."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from machines.engine.session import Program
from machines.parser.loader import load, rules_modules
from runtime.cli import main
from runtime.players.base import Arguments, UnknownPlayerError
from runtime.sessions.embedded_roles import is_embeddable
from runtime.sessions.server import serve
from tests.parts import by_default
from tests.runtime.test_cli_processes import Start, ended, listening, start

__all__ = ["start"]  # a fixture

FOUR = ("santorini-relay", "santorini-prompts", "santorini-rulecheck", "santorini-official")
Accord = Callable[..., tuple[int, str, str]]
RANDOM = ("--player", "random") * 4  # legal, and it thinks no time


@pytest.fixture
def accord(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Accord:
    """Run a command line; return its exit code, standard output and standard error."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("COLUMNS", "200")

    def run(*words: str) -> tuple[int, str, str]:
        code = main(words)
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err + captured.out
        return code, captured.out, captured.err

    return run


@pytest.mark.parametrize("protocols", [("santorini-official",), pytest.param(FOUR, marks=pytest.mark.whole)], ids=len)
def test_four_players_play_the_whole_tournament_and_the_table_is_the_same_in_all_four_protocols(
    protocols: tuple[str, ...], accord: Accord
) -> None:
    tables = []
    for protocol in protocols:
        same = ("--set", "stop_when_decided=false", "--quiet", "--no-journal")
        code, out, _ = accord("play", protocol, "--players", "4", "--seed", "1", *RANDOM, *same)
        assert code == 0
        head, *table = out.splitlines()
        assert head.startswith(f"{protocol}: playera (random), playerb")
        assert "failed" not in out
        tables.append(table)

    assert tables[0][0].startswith("won by player")
    assert tables[0][1].split() == ["player", "series", "won", "games", "won"]
    assert sum(int(line.split()[1]) for line in tables[0][2:6]) == 6
    assert sum(int(line.split()[2]) for line in tables[0][2:6]) == 18
    assert sum(" beat " in line for line in tables[0][6:]) == 6
    assert tables == [tables[0]] * len(protocols)


def facts(accord: Accord, protocol: str, *words: str) -> Any:
    code, out, _ = accord("play", protocol, "--seed", "3", "--json", "--quiet", "--no-journal", *words)
    assert code == 0
    return json.loads(out)


@pytest.mark.parametrize("protocol", by_default(FOUR, ["santorini-prompts"]))
def test_series_side_by_side_give_the_same_table(protocol: str, accord: Accord) -> None:
    kinds = (*RANDOM, "--player", "illegal-later")
    one, four = [
        facts(accord, protocol, *kinds, "--set", "games=1", "--set", f"side_by_side={width}")["result"]
        for width in (1, 4)
    ]

    assert one == four
    assert one["expelled"] == ["playere"]


BAD = ("illegal", "illegal-placement", "malformed", "gone", "infinite", "silent")


@pytest.mark.parametrize("protocol", by_default(FOUR, ["santorini-rulecheck", "santorini-relay"]))
def test_good_players_finish_whatever_the_bad_ones_do(protocol: str, accord: Accord) -> None:
    kinds = [word for bad in BAD for word in ("--player", bad)]
    quick = ("--set", "games=1", "--set", "reply=2 s", "--set", "think=1500 ms", "--set", "side_by_side=4")
    told = facts(accord, protocol, "--player", "random", *kinds, "--player", "random", *quick)

    good = {player["name"] for player in told["players"] if player["kind"] == "random"}
    result = told["result"]
    assert set(result["expelled"]) == {player["name"] for player in told["players"]} - good
    assert set(result["winners"]) <= good
    assert any(set(row) == good for row in result["rows"])
    assert not any(winner in result["expelled"] for winner, _ in result["rows"])
    assert [player["failed"] for player in told["players"] if player["name"] in good] == [None, None]


# -- the relay's third role --------------------------------------------------------------------------------------------


def test_the_relays_roles_run_in_processes_of_their_own(start: Start) -> None:
    """Ann's client connects to an AI that is served apart, bob's has one of its own."""
    # It takes processes seconds to begin on a busy machine: no limit of the server is met by that.
    patient = ("--set", "sign_up=100 s", "--set", "naming=50 s", "--set", "reply=50 s", "--set", "think=40 s")
    two = ("--set", "seats=2..2", "--set", "games=1")
    server = start("serve", "santorini-relay", "--port", "0", "--json", *two, *patient)
    where = listening(server)["listening"]
    ai = start("serve", "santorini-relay", "--role", "ai", "--player", "random", "--port", "0", "--json")
    far = listening(ai)
    assert far["role"] == "ai"

    ann = start("join", "santorini-relay", where, "--name", "ann", "--to", f"ai={far['listening']}", "--json", *patient)
    bob = start("join", "santorini-relay", where, "--name", "bob", "--player", "random", "--json", *patient)

    code, (result,), _ = ended(server)
    assert code == 0
    assert {player["name"] for player in result["result"]["players"]} == {"ann", "bob"}
    assert result["result"]["expelled"] == []
    for client in (ann, bob):
        code, (told,), _ = ended(client)
        assert code == 0
        assert told["failed"] is None
        assert told["result"]["game_history"] == result["result"]["rows"]
    assert ai.stdout is not None
    session = json.loads(ai.stdout.readline())
    assert (session["session"], session["failed"]) == (0, None)


def test_only_a_role_that_needs_nobody_else_is_started_for_a_client() -> None:
    relay = load("santorini-relay")

    assert is_embeddable(relay, "ai")
    assert not is_embeddable(relay, "server")


class Counted:
    """A player of the AI that always places in one corner."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.asked: list[str] = []

    async def decide(
        self, question: str, arguments: Arguments, messages: tuple[str, ...], seconds: float | None
    ) -> Any:
        """See `runtime.players.base.Player`."""
        self.asked.append(question)
        return "wid_posn", {"wid": 1, "posn": [0, 5]}

    def heard(self, message: str, fields: dict[str, Any]) -> None:
        """See `runtime.players.base.Player`."""


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])
async def test_each_client_of_a_served_ai_has_a_player_of_its_own() -> None:
    made: list[Counted] = []

    @asynccontextmanager
    async def make(seed: int) -> AsyncIterator[Counted]:
        if len(made) == 2:
            raise UnknownPlayerError("no more than two")
        made.append(Counted(seed))
        yield made[-1]

    spec = load("santorini-relay")
    program = Program(spec, "ai", rules_modules(spec))
    ports: list[int] = []
    open_now = anyio.Event()

    def on_listening(port: int) -> None:
        ports.append(port)
        open_now.set()

    async def run() -> None:
        await serve(program, seed=5, make_player=make, on_listening=on_listening)

    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run)
            await open_now.wait()
            for _ in range(2):
                async with await anyio.connect_tcp("127.0.0.1", ports[0]) as client:
                    await client.send(b'{"type":"placement","content":[[],1]}\n')
                    assert json.loads(await client.receive()) == {"type": "placement", "content": [1, [0, 5]]}
            async with await anyio.connect_tcp("127.0.0.1", ports[0]) as client:
                with pytest.raises((anyio.EndOfStream, anyio.BrokenResourceError)):
                    await client.receive()
            tasks.cancel_scope.cancel()

    assert [player.asked for player in made] == [["placement"], ["placement"]]
    assert made[0].seed != made[1].seed
