"""Games are played by clicks on their pictures: each legal answer has a way of its own there."""

from __future__ import annotations

import re
from random import Random

import pytest

from diagrams.states.marks import Marks
from machines.effects import Received
from machines.parser.loader import load
from machines.values import plain
from rules.views.offered import Offered
from runtime.players.seat import Seat, SeatQuestion
from runtime.playground.message_input import written
from runtime.studio.trials import Trial

QUESTIONS_MAX = 24  # of a game that are looked at
SEATS = {"tsuro": 3, "trains": 5, "trains-official": 5}
GAMES = [
    "sticks",
    "tsuro",
    "santorini-official",
    "santorini-prompts",
    "santorini-rulecheck",
    "trains",
    "trains-official",
]
UNCLICKED = {"map", "pick"}  # there is no board yet: they are answered from the list


def questions(name: str) -> list[SeatQuestion]:
    """Return the questions of a game in which everybody answers by clicks, as far as there are any."""
    spec, chance = load(name), Random(7)
    trial = Trial(spec, Marks(spec))
    role = next(role for role in spec.connects if role not in spec.listeners())
    names = ("ann", "bob", "cyd", "dan", "eve")[: SEATS.get(name, 2)]
    seats = {one: Seat(spec, one) for one in names}
    told = dict.fromkeys(names, 0)
    trial.take([f"connect {role} {one}" for one in names])
    asked: list[SeatQuestion] = []
    while len(asked) < QUESTIONS_MAX:
        assert trial._desk is not None
        run = trial._desk.trial
        lines = []
        for party in run.parties.values():
            if party.name not in seats:
                continue
            seat = seats[party.name]
            for one in party.inputs[told[party.name] :]:
                for effect in one.out:
                    if isinstance(effect, Received):
                        seat.tell(effect.message, dict(effect.fields))
            told[party.name] = len(party.inputs)
            for ask in list(party.asked.values())[:1]:
                question = seat.ask(ask.question, ask.arguments, ask.messages, None)
                asked.append(question)
                assert question.choices
                message, fields = chance.choice(question.choices)[1]
                lines.append(
                    " ".join([f"answer {party.name} {message}", *(f"{k}={written(v)}" for k, v in fields.items())])
                )
                break
            if lines:
                break
        if not lines and run.next_clock() is None:
            return asked
        trial.take(lines or ["wait"])
        assert trial.is_clean, trial.facts([])["stopped"]
    return asked


def sides(svg: str) -> tuple[float, float]:
    found = re.search(r'width="([\d.]+)" height="([\d.]+)"', svg)
    assert found is not None
    return float(found[1]), float(found[2])


@pytest.mark.parametrize("name", GAMES)
def test_each_answer_of_a_game_has_its_own_way_by_clicks_within_the_picture(name: str) -> None:
    asked = questions(name)
    clicked = [one for one in asked if one.offered is not None]
    assert {one.name for one in asked if one.offered is None} <= UNCLICKED
    assert len(clicked) > 3
    for question in clicked:
        offered = question.offered
        assert isinstance(offered, Offered)
        assert question.choices == offered.choices
        assert len(offered.picks) == len(offered.choices) == len(set(offered.picks))
        for one in offered.picks:
            assert one
            assert not any(other != one and other[: len(one)] == one for other in offered.picks), (
                "no way ends within another"
            )
        wide, high = sides(offered.draw())
        for spot in offered.spots:
            assert 0 <= spot.x < spot.x + spot.width <= wide
            assert 0 <= spot.y < spot.y + spot.height <= high
            assert spot.label
            assert min(spot.width, spot.height) >= 20
        assert len({spot.label for spot in offered.spots}) == len(offered.spots), "a screen reader tells them apart"


def test_no_spot_of_tsuro_lies_on_another_that_is_clicked_at_the_same_time() -> None:
    offered = questions("tsuro")[0].offered
    assert offered is not None
    first = [offered.spots[spot] for spot in {pick[0] for pick in offered.picks}]
    assert len(first) == 80
    for one in first:
        for other in first:
            apart = abs(one.x - other.x) >= one.width or abs(one.y - other.y) >= one.height
            assert one is other or apart or abs(one.x - other.x) + abs(one.y - other.y) > one.width


@pytest.mark.parametrize("name", GAMES)
def test_what_makes_no_sense_to_a_view_is_answered_from_the_list_or_a_form(name: str) -> None:
    seat = Seat(load(name), "ann")
    cases: list[tuple[tuple[str, object], ...]] = [(), (("board", 1),), (("state", {}),), (("left", -1),)]
    for question in ("move", "play", "initial", "intermediate", "turn", "placement", "nothing"):
        for arguments in (*cases, (("left", "x"),)):
            asked = seat.ask(question, arguments, ("NO_MESSAGE",), None)
            assert asked.offered is None
            assert plain(asked.given) is not None
