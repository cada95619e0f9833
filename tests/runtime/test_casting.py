"""Who takes part in `accord play`: seats narrowed to those who come, kinds and names that fit the spec."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from machines.model import Spec
from machines.parser.loader import load
from machines.parser.settings import apply_settings
from machines.values import Range
from runtime.cli import main
from runtime.commands.exit_codes import CommandError
from runtime.commands.match_setup import MatchSetup, cast, fix_seats, names, relax_time_limits, seats_of
from runtime.players.base import UnknownPlayerError
from tests.support.session_harness import spec_of

SPECS = Path(__file__).resolve().parent.parent / "specs"
TSURO = load("tsuro")


def small(seats: str, settings: str = "{}", name: str = "string") -> Spec:
    """Return a spec with one accept with those seats, whose client sends its name in a field of that type."""
    return spec_of(f"""
protocol: small
title: small
connects: {{client: server}}
settings: {settings}
messages:
  client:
    JOIN: $name {name}
roles:
  server:
    main:
      open:
        accept: join(peer)
        as: players
        seats: {seats}
        within: never
        timeout: {{return: null}}
        then: {{return: null}}
    join(peer):
      named:
        await: peer
        within: never
        receive:
          JOIN: {{return: {{name: name}}}}
  client:
    main:
      come: {{let: {{me: my.name}}, send: JOIN(me), return: null}}
""")


def tsuro(players: int | None = None, *kinds: str) -> MatchSetup:
    return cast(TSURO, {}, players, kinds, None)


@pytest.mark.parametrize("count", [3, 4, 5])
def test_a_range_of_seats_is_narrowed_to_the_players_who_come(count: int) -> None:
    chosen = tsuro(count)

    assert chosen.spec.settings["seats"].value == Range(count, count)
    assert chosen.settings == {"seats": f"{count}..{count}"}
    assert chosen.names == tuple(f"player{number}" for number in range(1, count + 1))
    assert (chosen.server, chosen.client) == ("server", "client")


def test_as_few_play_as_the_game_allows_or_as_many_as_have_a_kind() -> None:
    assert len(tsuro().kinds) == 3
    assert len(tsuro(None, "first", "first", "first", "first").kinds) == 4


def test_the_kinds_given_come_first_and_the_rest_is_the_games_choice() -> None:
    assert tsuro(4, "random", "silent").kinds == ("random", "silent", "strong", "strong")


@pytest.mark.parametrize("count", [-1, 0, 2, 6, 1000])
def test_a_number_the_game_is_not_played_by_is_refused(count: int) -> None:
    with pytest.raises(CommandError, match=r"played by 3 to 5|not within 1\.\.100"):
        tsuro(count)


@pytest.mark.parametrize(("seats", "settings"), [("3", "{}"), ("few", "{few: 3}")])
def test_a_number_of_seats_is_filled(seats: str, settings: str) -> None:
    chosen = cast(small(seats, settings), {}, None, (), None)

    assert len(chosen.kinds) == 3
    assert len(cast(small(seats, settings), {}, 6, (), None).kinds) == 6  # tables, one after another


@pytest.mark.parametrize(("seats", "settings", "given"), [("3", "{}", {}), ("few", "{few: 2}", {"few": "3"})])
def test_fewer_than_a_number_of_seats_that_stands_are_refused(seats: str, settings: str, given: dict[str, str]) -> None:
    with pytest.raises(CommandError, match=r"^small is played by 3, not by 2: nobody else would come$"):
        cast(apply_settings(small(seats, settings), given), given, 2, (), None)


def test_seats_of_more_than_one_process_has_are_the_spec_s_and_no_option_s() -> None:
    with pytest.raises(
        CommandError, match=r"^small is played by 300 or more: its seats are 300\.\.400, and one process"
    ):
        cast(small("300..400"), {}, None, (), None)


def test_an_option_that_was_not_given_is_not_spoken_of() -> None:
    with pytest.raises(CommandError, match=r"^--players 300 is not within 1\.\.100"):
        cast(small("300..400"), {}, 300, (), None)
    with pytest.raises(CommandError, match=r"^101 kinds of player are given, and one process has 100 at most"):
        cast(small("2..400"), {}, None, ["random"] * 101, None)


def test_more_kinds_than_players_are_refused() -> None:
    with pytest.raises(CommandError, match="4 kinds of player are given for 3 players"):
        tsuro(3, "first", "first", "first", "first")


def test_players_have_the_names_that_are_given() -> None:
    chosen = cast(load("tsuro"), {}, 4, ["ann=strong", "first", "player2=exec:A=1 ./bot"], None)

    assert chosen.names == ("ann", "player1", "player2", "player3")
    assert chosen.kinds[:3] == ("strong", "first", "exec:A=1 ./bot")


@pytest.mark.parametrize(
    ("kinds", "text"),
    [
        (["ann=strong", "ann=cheat"], "two players are called 'ann'"),
        (["=strong"], "'=strong' has no name"),
        (["a" * 100 + "=strong"], "does not fit"),
    ],
)
def test_names_that_cannot_be_are_refused(kinds: list[str], text: str) -> None:
    with pytest.raises(CommandError, match=text):
        cast(load("trains"), {}, 3, kinds, None)


def test_a_game_of_two_begins_when_both_have_joined(capsys: pytest.CaptureFixture[str]) -> None:
    began = time.monotonic()

    assert main(["play", "trains", "--players", "2", "--seed", "1", "--no-journal", "--quiet"]) == 0

    assert time.monotonic() - began < 15, "its sign-up periods are 20 s each"
    assert "won: " in capsys.readouterr().out


def test_an_unknown_kind_is_refused_before_anything_runs() -> None:
    with pytest.raises(UnknownPlayerError):
        tsuro(3, "frist")


@pytest.mark.parametrize(("count", "narrowed"), [(2, {"enough": "2", "most": "2"}), (5, {"most": "5"})])
def test_no_window_is_left_open_for_players_who_do_not_come(count: int, narrowed: dict[str, str]) -> None:
    spec = load("trains")  # `enough` or more in the first period, 2 or more in the second

    assert fix_seats(spec, spec.roles["server"], count) == narrowed


@pytest.mark.parametrize(
    ("seats", "settings", "count", "narrowed"),
    [
        ("seats", "{seats: 2..9}", 4, {"seats": "4..4"}),
        ("seats", "{seats: 3}", 4, {"seats": "4"}),
        ("2..most", "{most: 9}", 4, {"most": "4"}),
        ("5..most", "{most: 9}", 4, {}),
        ("2..9", "{}", 4, {}),
    ],
)
def test_what_is_narrowed_is_a_setting(seats: str, settings: str, count: int, narrowed: dict[str, str]) -> None:
    spec = small(seats, settings)

    assert fix_seats(spec, spec.roles["server"], count) == narrowed


@pytest.mark.parametrize(
    ("seats", "settings", "expected"),
    [
        ("seats", "{seats: 2..9}", Range(2, 9)),
        ("2..most", "{most: 9}", Range(2, 9)),
        ("2..9", "{}", Range(2, 9)),
        ("seats", "{seats: 3}", None),
    ],
)
def test_how_many_may_sit_down_is_read_from_the_spec(seats: str, settings: str, expected: Range | None) -> None:
    spec = small(seats, settings)

    assert seats_of(spec, spec.roles["server"]) == expected


@pytest.mark.parametrize(
    ("type_", "expected"),
    [
        ("string", ["player1", "player2"]),
        ("Letters", ["playera", "playerb"]),
        ("Short", ["a", "b"]),
        ("Digits", ["player1", "player2"]),
    ],
)
def test_players_have_names_that_their_spec_can_send(type_: str, expected: list[str]) -> None:
    spec = small("2..9", name=type_) if type_ == "string" else None
    if spec is None:
        pattern = {"Letters": "[a-z]+", "Short": "[a-z]{1,2}", "Digits": "[0-9]+"}[type_]
        spec = spec_with_type(type_, pattern)

    assert names(spec, spec.roles["client"], 2) == expected


def spec_with_type(name: str, pattern: str) -> Spec:
    return spec_of(f"""
protocol: named
title: named
connects: {{client: server}}
types:
  {name}: {{string: "{pattern}"}}
messages:
  client:
    JOIN: $name {name}
roles:
  server:
    main:
      open: {{return: null}}
  client:
    main:
      come: {{send: JOIN(my.name), return: null}}
""")


def test_names_go_on_after_z() -> None:
    spec = spec_with_type("Letters", "[a-z]+")

    assert names(spec, spec.roles["client"], 28)[-3:] == ["playerz", "playeraa", "playerab"]


def test_a_person_has_time_to_think_unless_it_was_set() -> None:
    assert relax_time_limits(TSURO, "client", {}) == {"think": "5 min", "reply": "6 min"}
    assert relax_time_limits(TSURO, "client", {"think": "3 s"}) == {"reply": "6 min"}
    assert tsuro(3, "human").spec.settings["think"].value == 300
    assert tsuro(3).spec.settings["think"].value == 8


@pytest.mark.parametrize(
    ("name", "client"), [("relay", "client"), ("prompts", "player"), ("rulecheck", "client"), ("official", "client")]
)
def test_so_it_has_where_another_role_asks_it_or_a_machine_within_the_limit(name: str, client: str) -> None:
    """The relay's remote AI asks; the prompts and the rule checker hold a dialogue, all of it within one limit."""
    spec = load(f"santorini-{name}")

    assert relax_time_limits(spec, client, {}) == {"think": "5 min", "reply": "6 min"}


@pytest.mark.parametrize("name", ["auction", "chat", "lobby"])
def test_specs_without_a_game_can_be_played_too(name: str) -> None:
    spec = load(str(SPECS / f"{name}.yaml"))
    chosen = cast(spec, {}, None, (), None)

    assert set(chosen.kinds) == {"random"}


def test_a_role_that_does_not_connect_cannot_be_played() -> None:
    with pytest.raises(CommandError, match="the role 'server' is none that connects: there is client"):
        cast(TSURO, {}, None, (), "server")
