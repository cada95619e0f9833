"""``accord mock``: a role without its rules comes to an end of its own, with values that fit, the same by the seed."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from machines.engine.session import Program
from machines.parser.loader import load, shipped
from machines.parser.settings import apply_settings
from machines.values import Peer
from runtime.cli import main
from runtime.commands.match_setup import fix_seats, seats_of
from runtime.players.made_up_rules import MadeUpState, made_up_rules, promises, rule_uses
from runtime.sessions.game_result import GameResult, Participant
from runtime.sessions.match import play

WITH_RULES = [name for name in shipped() if load(name).rules]


def mocked(name: str, seed: int) -> GameResult:
    """Play a game of a spec with made-up rules, and players who know none."""
    spec = load(name)
    server = spec.listeners()[0]
    client = next(role for role, targets in spec.connects.items() if server in targets)
    room = seats_of(spec, spec.roles[server])
    count = room.low if room is not None else 2
    spec = apply_settings(spec, fix_seats(spec, spec.roles[server], count))
    rules = made_up_rules(spec, seed, promises(spec, ()))
    seats = [Participant("abc"[at], "gone" if at else "random", at, Path()) for at in range(count)]

    async def game() -> GameResult:
        with anyio.fail_after(120):
            return await play(spec, rules, seats, server=server, client=client, seed=seed)

    return anyio.run(game)


@pytest.mark.parametrize(
    "seed", [1, pytest.param(2, marks=pytest.mark.whole), pytest.param(3, marks=pytest.mark.whole)]
)
@pytest.mark.parametrize("name", WITH_RULES)
def test_a_server_without_its_rules_comes_to_its_end(name: str, seed: int) -> None:
    result = mocked(name, seed)

    assert result.ended is not None
    assert result.ended.failed is None


ANN, BOB, CYD = (Peer(number) for number in range(3))


def test_rules_keep_their_promises_and_say_the_same_again() -> None:
    spec = load("tsuro")
    rules = made_up_rules(spec, 7, promises(spec, ()))["tsuro"]
    table = rules.start((ANN, BOB, CYD))
    without = rules.eject(table, BOB)

    assert isinstance(table, MadeUpState)
    assert [rules.playing(without, one) for one in (ANN, BOB, CYD)] == [True, False, True]
    assert rules.playing(rules.deal(without, 2), BOB) is False
    assert rules.ejected(without) == (BOB,)
    assert rules.places(without) == ((ANN,), (CYD,))
    assert rules.over(rules.eject(without, ANN)) is True  # nobody is left to play with
    assert rules.board(table) == rules.board(table)
    assert rules.deal(table, 2) != rules.deal(table, 3)
    assert made_up_rules(spec, 7, promises(spec, ()))["tsuro"].board(table) == rules.board(table)
    assert made_up_rules(spec, 8, promises(spec, ()))["tsuro"].board(table) != rules.board(table)


def test_what_goes_into_a_message_fits_its_type() -> None:
    spec = load("tsuro")
    server = Program(spec, "server", made_up_rules(spec, 1, {}))
    for seed in range(20):
        rules = made_up_rules(spec, seed, {})["tsuro"]
        table = rules.start((ANN, BOB))
        body = server.shapes["INIT_REQ"].build([rules.board(table), rules_hand(rules, table, seed)])
        assert server.shapes["INIT_REQ"].read(body) is not None


def rules_hand(rules: Any, table: Any, seed: int) -> Any:
    return rules.hand(rules.deal(table, seed))


def test_what_a_rule_is_for_is_seen_through_names() -> None:
    uses = rule_uses(load("tsuro"))

    assert uses["tsuro.free_token"].kind == "field"  # peer.token, which goes into TOKEN
    assert uses["tsuro.may_place"].kind == "legal"
    assert uses["tsuro.deal"].kind == "state"


def test_the_command_answers_over_tcp_the_same_by_the_seed() -> None:
    said = []
    for _ in range(2):
        words = [
            sys.executable,
            "-m",
            "runtime",
            "mock",
            "tsuro",
            "server",
            "--seed",
            "5",
            "--set",
            "seats=1",
            "--json",
        ]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as served:
            assert served.stdout is not None
            port = json.loads(served.stdout.readline())["port"]
            with socket.create_connection(("127.0.0.1", port)) as link, link.makefile("rb") as lines:
                link.sendall(b'"ann"\n')
                said.append([lines.readline() for _ in range(3)])
            served.wait(30)
    assert said[0] == said[1]
    token, started, asked = (json.loads(line) for line in said[0])
    assert token in ("white", "black", "red", "green", "blue")
    assert started == "started"
    assert len(asked[1]) == 3


def test_who_connects_has_no_mock_and_the_way_out_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mock", "tsuro", "client"]) == 2
    assert re.search(r"accord join tsuro HOST:PORT --role client --player random", capsys.readouterr().err)
