"""The four Santorini specs, changed in the YAML alone: settings, a tag, and the readings that stand in comments."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from machines.checks import check
from machines.parser.loader import load
from tests.machines.santorini_games import PROTOCOLS, RULES, Greedy, Protocol, Scripted, Spoiled, Table

SPECS = Path(__file__).resolve().parents[2] / "specs"
FOUR = list(PROTOCOLS.values())
by_name = pytest.mark.parametrize("protocol", FOUR, ids=lambda protocol: protocol.name)


def edited(protocol: Protocol, folder: Path, *changes: tuple[str, str]) -> str:
    """Return the path of a spec with texts replaced, each of which is there; it has no problems."""
    text = (SPECS / f"{protocol.spec}.yaml").read_text("utf-8")
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    path = folder / f"{protocol.spec}.yaml"
    path.write_text(text, "utf-8")
    assert tuple(check(load(str(path)), RULES)) == ()
    return str(path)


def swapped(protocol: Protocol, folder: Path, *pairs: tuple[str | None, str]) -> str:
    """Return the path of a spec with lines put into comments, and lines that were comments put in.

    A line is named by how it begins; how many blanks are in it does not matter.
    """
    lines = (SPECS / f"{protocol.spec}.yaml").read_text("utf-8").splitlines()

    def find(begins: str) -> int:
        (found,) = [i for i, line in enumerate(lines) if " ".join(line.split()).startswith(begins)]
        return found

    for out, into in pairs:
        new = find(f"# {into}")
        if out is not None:
            lines[find(out)] = ""
        lines[new] = lines[new].replace("# ", "", 1)
    path = folder / f"{protocol.spec}.yaml"
    path.write_text("\n".join(lines), "utf-8")
    assert tuple(check(load(str(path)), RULES)) == ()
    return str(path)


def hold(protocol: Protocol, spec: str, names: tuple[str, ...] = ("ann", "bob"), **settings: str) -> Table:
    table = Table(protocol, spec=spec, seats=f"{len(names)}..{len(names)}", **settings)
    for name in names:
        table.enter(name, Greedy(name, 1))
    table.hold()
    return table


@by_name
def test_best_of_three_becomes_best_of_five(protocol: Protocol, tmp_path: Path) -> None:
    three = hold(protocol, protocol.spec, stop_when_decided="false")
    assert len(three.plays) == 3

    five = hold(protocol, edited(protocol, tmp_path, ("games: 3 ", "games: 5 ")), stop_when_decided="false")

    assert len(five.plays) == 5


@by_name
def test_an_even_number_of_games_is_one_more_but_in_the_document_that_does_not_say_so(
    protocol: Protocol, tmp_path: Path
) -> None:
    four = hold(protocol, edited(protocol, tmp_path, ("games: 3 ", "games: 4 ")), stop_when_decided="false")

    assert len(four.plays) == (4 if protocol.name == "prompts" else 5)


@by_name
def test_a_series_stops_when_it_is_decided_or_does_not(protocol: Protocol, tmp_path: Path) -> None:
    now = "true" if protocol.name == "official" else "false"
    other = "false" if now == "true" else "true"

    before = len(hold(protocol, protocol.spec).plays)
    after = len(
        hold(protocol, edited(protocol, tmp_path, (f"stop_when_decided: {now}", f"stop_when_decided: {other}"))).plays
    )

    assert {now: before, other: after} == {"false": 3, "true": 2}


@by_name
def test_the_one_who_begins_alternates_if_the_yaml_says_so(protocol: Protocol, tmp_path: Path) -> None:
    begun = {}
    for alternate in ("false", "true"):
        folder = tmp_path / alternate
        folder.mkdir()
        spec = edited(protocol, folder, ("alternate: false", f"alternate: {alternate}"))
        begun[alternate] = [play.pair[0].name for play in hold(protocol, spec, stop_when_decided="false").plays]

    assert begun == {"false": ["ann", "ann", "ann"], "true": ["ann", "bob", "ann"]}


class Silenced(Spoiled):
    """A table whose culprit says nothing where it should."""

    def misdeed(self, right: Any) -> list[Any]:
        """See `Spoiled.misdeed`."""
        return []


@by_name
def test_the_reply_limit_is_a_line_of_the_yaml(protocol: Protocol, tmp_path: Path) -> None:
    was = "10 s" if protocol.name == "official" else "5 s"
    waited = []
    for spec in (protocol.spec, edited(protocol, tmp_path, (f"  reply: {was}", "  reply: 20 s"))):
        table = Silenced(protocol, protocol.turn, 2, seats="2..2", games="1", spec=spec)
        table.enter_culprit("ann", Greedy("ann", 1))
        table.enter("bob", Greedy("bob", 1))
        table.hold()
        assert table.spoiled_at is not None
        waited.append(table.server.now - table.spoiled_at)

    assert float(was.split()[0]) <= waited[0] <= float(was.split()[0]) + 3
    assert 20 <= waited[1] <= 23


@pytest.mark.parametrize(
    ("name", "old", "new", "hold_in"),
    [
        ("relay", "type: move_build", "type: turn", '{"type":"turn","content":[1,'),
        ("prompts", "[turn, $board Board]", "[go, $board Board]", '["go",[['),
        ("rulecheck", "{type: move, xy1", "{kind: step, xy1", '{"kind":"step","xy1":'),
        ("official", "[playing-as, $name Name]", "[called, $name Name]", '["called","anna"]'),
    ],
)
def test_a_tag_is_renamed_in_one_place(name: str, old: str, new: str, hold_in: str, tmp_path: Path) -> None:
    protocol = PROTOCOLS[name]

    plain = hold(protocol, protocol.spec, ("ann", "ann"), games="1")
    before = [json.dumps(value, separators=(",", ":")) for _, _, value in plain.said]
    renamed = hold(protocol, edited(protocol, tmp_path, (old, new)), ("ann", "ann"), games="1")
    after = [json.dumps(value, separators=(",", ":")) for _, _, value in renamed.said]

    assert not any(line.startswith(hold_in) for line in before)
    assert any(line.startswith(hold_in) for line in after)
    assert len(before) == len(after)
    assert renamed.server.ended == plain.server.ended


# -- the other readings, a line away -----------------------------------------------------------------------------------


def test_the_other_start_message_of_the_relay_is_two_lines_away(tmp_path: Path) -> None:
    protocol = PROTOCOLS["relay"]
    path = swapped(
        protocol,
        tmp_path,
        ("game_start: {type: Start", "game_start: {type: game_start"),
        ("game_start: [{type: game_start", "game_start: [{type: Start"),
    )
    flipped = hold(protocol, path, games="1")

    said = [value["type"] for number, who, value in flipped.said if who == "S" and number == 0]
    assert said[0] == "game_start"
    assert flipped.server.ended == hold(protocol, protocol.spec, games="1").server.ended


def test_a_relay_that_tells_nothing_with_its_requests_is_a_line_away(tmp_path: Path) -> None:
    """As the table has it: then a client knows too little to play on, and the request is null."""
    protocol = PROTOCOLS["relay"]
    path = swapped(
        protocol,
        tmp_path,
        ("send: move_build_request(santorini", "send: move_build_request(null)"),
    )
    told = hold(protocol, path, games="1")

    requests = [value["content"] for _, who, value in told.said if who == "S" and value["type"] == "move_build"]
    assert set(requests) == {None}


def test_an_internal_name_only_for_duplicates_is_a_line_away(tmp_path: Path) -> None:
    protocol = PROTOCOLS["prompts"]
    path = swapped(protocol, tmp_path, (None, "if: player.name != player.given"))
    table = Table(protocol, spec=path, seats="2..2", games="1")
    for number in range(2):
        assert table.server.join() == number
        table.server.say(number, "ann")

    assert table.server.heard(0)[:1] == ["anna"], "the opponent's name comes first"
    assert table.server.heard(1)[:2] == ["anna", "ann"]


@pytest.mark.parametrize(
    ("name", "out", "into", "rows"),
    [
        ("prompts", "players: tournament_result(tournament.expelled(cup), tournament.history", "players: tourn", 1),
        ("rulecheck", "players: tournament_result(tournament.expelled(cup), tournament.series", "players: tourn", 3),
    ],
)
def test_a_row_a_game_or_a_row_a_series_is_a_line_away(
    name: str, out: str, into: str, rows: int, tmp_path: Path
) -> None:
    protocol = PROTOCOLS[name]
    counts = []
    for spec in (protocol.spec, swapped(protocol, tmp_path, (out, into))):
        counts.append(len(hold(protocol, spec).said[-1][2][1]))

    assert counts == [4 - rows, rows]


def test_rows_before_columns_in_the_rule_checkers_protocol_are_five_fields_swapped(tmp_path: Path) -> None:
    protocol = PROTOCOLS["rulecheck"]
    path = edited(
        protocol,
        tmp_path,
        *[(f": [$x{n} int, $y{n} int]", f": [$y{n} int, $x{n} int]") for n in ("", "1", "2")],
    )
    places = {}
    for spec in (protocol.spec, path):
        table = Table(protocol, spec=spec, seats="2..2", games="1")
        table.enter("ann", Scripted([10, 18], []))
        table.enter("bob", Scripted([32, 3], []))
        table.hold()
        places[spec] = [value["xy"] for number, who, value in table.said if who == "C" and isinstance(value, dict)]

    assert places == {
        protocol.spec: [[4, 1], [2, 5], [0, 3], [3, 0]],
        path: [[1, 4], [5, 2], [3, 0], [0, 3]],
    }


# -- checks, a part of two of the protocols ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "good", "bad", "elsewhere", "commit"),
    [
        (
            "prompts",
            ["check-placement", [1, 4]],
            ["check-placement", [6, 0]],
            None,
            [1, 4],
        ),
        (
            "rulecheck",
            {"type": "place", "wid": "ann1", "xy": [4, 1], "check": True},
            {"type": "place", "wid": "ann2", "xy": [4, 1], "check": True},
            {"type": "build", "xy1": [4, 1], "xy2": [4, 2], "check": True},
            {"type": "place", "wid": "ann1", "xy": [4, 1]},
        ),
    ],
)
def test_checks_are_answered_and_change_nothing_but_the_clock_runs_on(
    name: str, good: Any, bad: Any, elsewhere: Any, commit: Any
) -> None:
    def begun(**settings: str) -> Table:
        table = Table(PROTOCOLS[name], seats="2..2", games="1", **settings)
        for number, guest in enumerate(("ann", "bob")):
            table.server.join()
            table.server.say(number, guest)
        table.server.heard(0)
        return table

    server = begun().server
    server.say(0, good, bad, *([elsewhere] if elsewhere else []), good)
    assert server.heard(0) == [True, False, *([False] if elsewhere else []), True]
    server.wait(4.9)
    server.say(0, commit)
    assert 0 not in server.dropped

    server = begun().server
    server.wait(4.9)
    server.say(0, good)
    server.wait(0.2)
    assert 0 in server.dropped, "the five seconds are those of the prompt"

    server = begun().server
    server.say(0, *[good] * 999)
    assert 0 not in server.dropped, "none that asks for a move at a time comes to it"
    server.say(0, commit)
    assert 0 not in server.dropped

    server = begun(checks="10 per 1 s").server
    server.say(0, *[good] * 10)
    assert 0 not in server.dropped
    server.say(0, good)
    assert 0 in server.dropped, "more than ten in a second"
