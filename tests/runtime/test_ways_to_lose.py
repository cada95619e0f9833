"""Whoever loses, of whatever game and in whatever way, is told why: in the text, in JSON and in the journal alike.

``--rewrite`` writes the tables of ``docs/players.md`` anew: in detail what is told in Tsuro, and of each game the kind.
The second is written cell by cell, by all cases: ``--all --rewrite -n 0``.
"""

from __future__ import annotations

import re
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import anyio
import pytest

from machines.model import Spec
from machines.parser.loader import load, rules_modules
from runtime.commands.match_setup import MatchSetup, cast
from runtime.commands.results import game_facts, game_lines
from runtime.journal.losses import EVIDENCE_SHOWN
from runtime.journal.reading import read_journal
from runtime.journal.writing import FORMAT, Head, open_journal
from runtime.players.program_limits import ProgramLimits
from runtime.sessions.game_result import GameResult, Participant
from runtime.sessions.match import play
from tests.parts import by_default
from tests.runtime.ways_to_lose import ANOTHER_KIND, CULPRIT, GAMES, WAYS, Way, player_maker, way_in

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "players.md"
TABLE = re.compile(r"(<!-- ways to lose -->\n\n)(.*?)(\n\n<!-- end -->)", re.DOTALL)
EACH_GAME = re.compile(r"(<!-- ways to lose in each game -->\n\n)(.*?)(\n\n<!-- end -->)", re.DOTALL)
REASON_CHARACTERS = 110
USUAL = [("sticks", name) for name in WAYS] + [(game, name) for game in GAMES for name in ("illegal", "half a message")]


def lost(game: str, way: Way, folder: Path) -> tuple[list[str], dict[str, Any], list[dict[str, Any]]]:
    """Play a game in which ann loses; return its lines, its JSON, and the violations in its journal."""
    spec = load(game)
    settings = {name: value for name, value in (way.settings or {}).items() if name in spec.settings}
    names = [CULPRIT, "bob"]
    setup = cast(load(game, settings), settings, None, [f"{name}=example" for name in names], None)
    narrowed = load(game, setup.settings)
    if way.program[0]:
        (folder / way.program[0]).write_text(way.program[1], encoding="utf-8")
    seats = [Participant(name, "example", index) for index, name in enumerate(setup.names)]
    head = Head(FORMAT, "", narrowed.protocol, game, "", setup.server, 1)
    path = folder / "run.jsonl"
    book = open_journal(path, head)
    make = player_maker(way, folder)
    roles: dict[str, Any] = {"server": setup.server, "client": setup.client, "seed": 1}

    async def game_over() -> GameResult:
        return await play(narrowed, rules_modules(narrowed), seats, journal=book, make_player=make, **roles)

    result = anyio.run(game_over)
    book.close()
    facts = game_facts(setup.spec, result, 1, EVIDENCE_SHOWN, journal=None, backend="asyncio")
    out = [effect for line in read_journal(path).lines for effect in line.out]
    noted = [effect[1] for effect in out if effect[0] == "violation"]
    facts["server"] = setup.server
    facts["match"] = in_an_event(narrowed, setup, seats, result, folder)
    return list(game_lines(setup, result, EVIDENCE_SHOWN)), facts, noted


def in_an_event(spec: Spec, setup: MatchSetup, seats: list[Participant], result: GameResult, folder: Path) -> Any:
    """Return what an event makes of a game, as data; None where events cannot be held."""
    if find_spec("sqlalchemy") is None:
        return None
    from runtime.tournament.host_stalls import HostStalls
    from runtime.tournament.match_process import MatchTask, judged

    how: dict[str, Any] = {"settings": {}, "rules": (), "seconds": 1.0, "programs": ProgramLimits(), "folder_bytes": 1}
    how |= {"server": setup.server, "client": setup.client, "folder": folder, "accord": "", "mark": ""}
    task = MatchTask(spec.protocol, "", seats=tuple(seats), seed=1, **how)
    return judged(spec, task, result, {}, HostStalls())


@pytest.mark.parametrize(("game", "name"), by_default([(game, name) for game in GAMES for name in WAYS], USUAL))
def test_text_json_and_journal_say_why_ann_lost(
    game: str, name: str, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    way = way_in(game, name)
    if way.needs and shutil.which(way.needs) is None:
        pytest.skip(f"{way.needs} is not installed")

    lines, facts, noted = lost(game, way, tmp_path)

    losses = [loss for loss in facts["losses"] if loss["player"] == CULPRIT]
    assert losses, lines
    first = losses[0]
    assert first["kind"] in way.kinds, losses
    assert first["why"] or first["rule"] or first["came"] or first["kind"] == "late", "it says why"
    assert first["state"], "it says where"
    assert re.fullmatch(r".*\.yaml:\d+", first["place"])
    assert any(line.startswith(f"{CULPRIT} ({first['role']}): {first['kind']}: ") for line in lines), lines
    if first["decided_by"] == facts["server"]:  # the journal is of its session, not of the player's own client
        assert first["kind"] in [violation["kind"] for violation in noted if violation["name"] in (CULPRIT, "")]
    others = [loss for loss in facts["losses"] if loss["player"] != CULPRIT and loss["kind"] != "closed"]
    assert not others, "nobody else is blamed"
    if facts["match"] is not None:
        ann, *honest = facts["match"].places
        assert (ann.player, ann.place, ann.at_fault) == (CULPRIT, 1 + len(honest), True)
        assert ann.fault.partition(":")[0] in way.kinds
        assert not any(one.at_fault or one.place >= ann.place for one in honest)

    cells = kinds_told()
    if pytestconfig.option.rewrite:
        write_kinds({**cells, (WAYS[name].does, game): first["kind"]})
    else:
        either = ANOTHER_KIND.get((game, name), frozenset({first["kind"]}))
        assert cells[WAYS[name].does, game] in either, "if it is meant to be so: --rewrite, and read the diff"


def kinds_told() -> dict[tuple[str, str], str]:
    """Return of what kind each way to lose is in each game, as the document has it."""
    found = EACH_GAME.search(DOCUMENT.read_text(encoding="utf-8"))
    assert found is not None
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in found[2].splitlines()]
    return {(way, game): kind for way, *kinds in rows[2:] for game, kind in zip(rows[0][1:], kinds, strict=True)}


def write_kinds(cells: dict[tuple[str, str], str]) -> None:
    """Write the table of `kinds_told` into the document."""
    rows = [["the player ann …", *GAMES], ["---"] * (1 + len(GAMES))]
    rows += [[way.does, *(cells.get((way.does, game), "") for game in GAMES)] for way in WAYS.values()]
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows).replace("| --- ", "|---").replace("--- |", "---|")
    text = DOCUMENT.read_text(encoding="utf-8")
    DOCUMENT.write_text(EACH_GAME.sub(lambda found: f"{found[1]}{table}{found[3]}", text), encoding="utf-8")


def test_each_way_to_lose_has_its_kind_in_each_game() -> None:
    cells = kinds_told()
    assert set(cells) == {(way.does, game) for way in WAYS.values() for game in GAMES}
    assert all(cells.values())


def test_there_are_twenty_ways_and_all_games() -> None:
    assert len(WAYS) >= 20
    assert {"tsuro", "trains", "sticks"} <= set(GAMES)


def reason(game: str, name: str, folder: Path) -> str:
    """Return in a line of the table what is told of a way."""
    folder.mkdir()
    _, facts, _ = lost(game, way_in(game, name), folder)
    first = next(loss for loss in facts["losses"] if loss["player"] == CULPRIT)
    why = first["why"] or (f"refused by `{first['rule']}`" if first["rule"] else "")
    why = re.sub(rf"{re.escape(str(folder))}\S*/", "", why)
    if len(why) > REASON_CHARACTERS:
        why = f"{why[:REASON_CHARACTERS]}…"
    by = "its client" if first["decided_by"] == first["role"] else "the server"
    return f"| {WAYS[name].does} | {first['kind']} | {by} | {why.replace('|', chr(92) + '|')} |"


@pytest.mark.whole
def test_the_table_in_the_document_is_what_is_told(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    missing = [way.needs for way in WAYS.values() if way.needs and shutil.which(way.needs) is None]
    if missing:
        pytest.skip(f"{', '.join(missing)}: not installed")
    rows = [reason("tsuro", name, tmp_path / str(number)) for number, name in enumerate(WAYS)]
    table = "\n".join(["| the player ann … | kind | told by | why, in Tsuro |", "|---|---|---|---|", *rows])
    text = DOCUMENT.read_text(encoding="utf-8")

    now = TABLE.sub(lambda found: f"{found[1]}{table}{found[3]}", text)

    if pytestconfig.option.rewrite:
        DOCUMENT.write_text(now, encoding="utf-8")
    else:
        assert now == text, "if it is meant to be so: --rewrite, and read the diff"
