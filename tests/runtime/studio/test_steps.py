"""A journal as steps: where everybody stands is where the sessions stood, and shadows follow the real clients."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from machines.engine.compiler import Program
from machines.engine.routing import stands
from machines.parser.loader import find, load_text
from runtime.cli import main
from runtime.journal.reading import read_journal
from runtime.journal.replay import again, program_of
from runtime.studio.boards import Boards
from runtime.studio.page import details
from runtime.studio.said import Tone
from runtime.studio.shadows import Shadow, shadowed_role
from runtime.studio.steps import RecordedRun, run_of
from tests.runtime.test_replay import recorded as recorded

GAMES = ["sticks", "tsuro", "santorini-official", "santorini-prompts", "santorini-rulecheck", "trains"]


FULL = {
    "trains": ("--players", "5"),
    "trains-official": ("--players", "5"),
}  # with fewer its doors stay open for a while


def played(name: str, folder: Path, *options: str) -> Path:
    journal = folder / "run.jsonl"
    assert main(["play", name, "--seed", "2", "-q", "--journal", str(journal), *FULL.get(name, ()), *options]) == 0
    return journal


@pytest.mark.parametrize("name", GAMES)
def test_where_the_role_stands_is_where_its_session_stood(name: str, tmp_path: Path) -> None:
    journal = played(name, tmp_path)
    run = run_of(journal)
    recorded = read_journal(journal)

    lit = 0
    for step, done in zip(run.steps, again(recorded, program_of(recorded.head)), strict=True):
        assert done.session is not None
        wanted = {run.marks.box(run.head.role, path, state) for path, state in stands(done.session)}
        assert set(step.stands[step.party.partition("p")[0]]) == wanted
        lit += len(wanted)
    assert lit > len(run.steps)


@pytest.mark.parametrize("name", GAMES)
def test_the_shadows_of_a_game_s_clients_follow_them_to_the_end(name: str, tmp_path: Path) -> None:
    run = run_of(played(name, tmp_path))
    clients = [party.id for party in run.parties if "p" in party.id]

    stood = {client: [step for step in run.steps if client in step.stands] for client in clients}
    assert clients
    assert all(stood.values()), "each was somewhere"
    assert not any(client in run.steps[-1].stands for client in clients), "each has come to its end"
    if name != "santorini-official":  # which turns a place round before it sends it
        assert not any(step.unsure for step in run.steps)


def test_a_client_has_the_name_that_it_signed_up_with(tmp_path: Path) -> None:
    run = run_of(played("tsuro", tmp_path, "--players", "3"))

    assert [party.name for party in run.parties] == ["server", "player1", "player2", "player3"]


def test_what_a_player_did_wrong_is_a_violation_and_its_shadow_is_unsure(tmp_path: Path) -> None:
    run = run_of(played("tsuro", tmp_path, "--players", "3", "--player", "malformed"))

    wrong = [said for step in run.steps for said in step.said if said.tone is Tone.VIOLATION]
    assert wrong
    assert any("s0p0" in step.unsure for step in run.steps)
    assert not any({"s0p1", "s0p2"} & step.unsure for step in run.steps)


@pytest.mark.parametrize("kind", ["malformed", "gone"])
@pytest.mark.parametrize(
    "name",
    ["tsuro", *(pytest.param(one, marks=pytest.mark.release) for one in [*GAMES, "trains-official"] if one != "tsuro")],
)
def test_who_does_wrong_or_goes_away_leaves_the_shadows_of_the_others_where_they_are(
    name: str, kind: str, tmp_path: Path
) -> None:
    run = run_of(played(name, tmp_path, "--player", kind))
    clients = [party.id for party in run.parties if "p" in party.id]

    assert all(any(client in step.stands for step in run.steps) for client in clients)
    assert not any(client in run.steps[-1].stands for client in clients[1:]), "they have come to their end"
    assert any("s0p0" in step.unsure for step in run.steps) == (kind == "malformed")
    if name != "santorini-official":
        assert not any(step.unsure - {"s0p0"} for step in run.steps), "none has failed unseen"


def test_of_those_who_are_silent_longer_than_their_own_clock_allows_the_shadows_are_unsure(recorded: Path) -> None:
    run = run_of(recorded)
    clients = ["s0p0", "s0p1", "s0p2"]

    assert all(any(client in step.stands for step in run.steps) for client in clients)
    assert not any(step.unsure for step in run.steps[:-1])
    assert run.steps[-1].unsure == set(clients), "a client of the spec would have failed by now; these are still there"


def test_a_shadow_that_fails_is_seen_to_be_unsure() -> None:
    spec = load_text(
        """\
protocol: p
connects: {a: b}
messages: {a: {HI: hi}, b: {NO: [no, $share int]}}
roles:
  b:
    main(peer): {w: {within: 5 s, receive: {HI: {send: NO(5), return: null}}}}
  a:
    main: {s: {send: HI, within: 5 s, receive: {NO: {return: [[1][share]]}}}}
"""
    )
    shadow = Shadow(Program(spec, "a", {}))
    shadow.received("HI", {}, b'"hi"\n', 0.0)
    assert shadow.stands()
    assert not shadow.unsure
    shadow.sent(b'["no",5]\n', 1.0)
    assert (shadow.stands(), shadow.unsure) == ((), True)


def test_a_violation_says_what_was_asked_in_which_state_and_line(tmp_path: Path) -> None:
    run = run_of(played("tsuro", tmp_path, "--players", "3", "--player", "malformed"))

    told = [said.detail for step in run.steps for said in step.said if said.tone is Tone.VIOLATION and said.detail]
    assert "asked INIT_REQ for INIT_PLACE\nmain.initial_placement[0] in asked (tsuro.yaml:" in told[0]
    assert told[0].endswith(" of 10 s")


def test_who_went_away_may_have_given_up_and_is_one_violation_the_loss_of_its_connection_none(tmp_path: Path) -> None:
    run = run_of(played("tsuro", tmp_path, "--players", "3", "--player", "gone"))

    told = [said for step in run.steps for said in step.said if said.source == "s0p0" and said.target is None]
    assert [said.text for said in told if said.tone is Tone.VIOLATION] == [
        "closed: it closed the connection (its own client may have given up: see its log)"
    ]
    assert [said.text for said in told if said.tone is Tone.CLOSED] == ["connection lost"]
    wrong = [one["text"] for step in run.steps for one in details(step) if one.get("wrong")]
    assert wrong == [said.text for said in told if said.tone is Tone.VIOLATION], "what is open from the start"


def test_a_step_says_in_which_line_of_the_spec_the_branch_stands_that_it_took(tmp_path: Path) -> None:
    run = run_of(played("tsuro", tmp_path, "--players", "3"))
    lines = find("tsuro").read_text().splitlines()

    taken = [place for step in run.steps for place in step.places]
    placed = next(place for place in taken if " on INTER_PLACE," in place)
    assert placed.startswith("main.intermediate_placement[")
    number = int(placed.rpartition(":")[2].rstrip(")"))
    assert "INTER_PLACE" in lines[number - 1] or "may_place" in lines[number - 1]
    assert not any(": on then," in place for place in taken), "what follows of itself goes on"


def boards_of(run: RecordedRun) -> Boards:
    boards = Boards(run.program.spec)
    boards.show(run.steps, run.parties)
    return boards


@pytest.mark.parametrize("name", [*GAMES, "santorini-relay", "trains-official"])
def test_every_game_that_ships_has_boards_that_are_drawn(name: str, tmp_path: Path) -> None:
    run = run_of(played(name, tmp_path))
    boards = boards_of(run)

    assert len(boards) > 2
    assert boards.at == sorted(boards.at), "a board is never older than the one before"
    drawn = [boards.svg(at) for at in range(len(boards))]
    assert all(svg is not None and svg.startswith("<svg") for svg in drawn)
    assert len(set(drawn)) > len(drawn) // 2


def test_a_game_without_a_view_has_none(tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text(find("sticks").read_text().replace("protocol: sticks", "protocol: unknown"))
    assert len(boards_of(run_of(played(str(tmp_path / "p.yaml"), tmp_path)))) == 0


def test_only_a_role_to_which_one_kind_of_client_comes_has_shadows() -> None:
    from machines.parser.loader import load

    assert shadowed_role(load("tsuro"), "server") == "client"
    assert shadowed_role(load("tsuro"), "client") is None
    assert shadowed_role(load("santorini-relay"), "server") is None, "its client speaks to a third"


def test_a_client_s_own_journal_shows_what_it_did(tmp_path: Path) -> None:
    """No journal of a client is kept by play; a session of a service's is."""
    text = """\
protocol: p
connects: {a: b}
messages: {a: {HI: hi}, b: {YES: yes}}
roles:
  b:
    main(peer):
      w: {within: 5 s, receive: {HI: {send: YES, return: null}}}
  a:
    main:
      s: {send: HI, within: 5 s, receive: {YES: {return: null}}}
"""
    (tmp_path / "p.yaml").write_text(text)
    run = run_of(played(str(tmp_path / "p.yaml"), tmp_path))

    lines: list[Any] = [(said.text, said.tone) for step in run.steps for said in step.said]
    assert ("HI", Tone.MESSAGE) in lines
    assert lines[-1] == ("the end", Tone.END)
