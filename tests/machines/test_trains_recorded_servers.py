"""The recorded servers of Trains at our client: it reads each call, and says what the recorded client said.

Its player answers what was recorded. What a recorded client did that ours never does is a departure, and said here.
"""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

import rules.knockout
import rules.trains
from machines.effects import Ended
from machines.engine.session import Program
from machines.parser.loader import load
from machines.values import freeze
from tests.machines.trains_recordings import (
    FRACTIONAL_MAPS,
    FRACTIONAL_SETUPS,
    VOID,
    Call,
    Recording,
    Said,
    bare,
    mended,
    names,
    recording,
)
from tests.support.session_harness import Run
from tests.support.shared import needs_shared

pytestmark = needs_shared

RULES: Final = {"trains": rules.trains, "knockout": rules.knockout}
DIALECTS: Final = ("trains", "trains-official")
PROGRAMS: Final = {dialect: Program(load(dialect), "client", RULES) for dialect in DIALECTS}
# All but the one whose server goes on, out of turn, with clients that have refused its map.
SOUND: Final = [name for name in names() if name != "java-server_ref-clients_bad-setup"]
ASKED: Final = ("start", "pick", "play")  # what a player decides


class Visit:
    """Our client, signed up at one connection of a recorded server, told what that one was told."""

    def __init__(self, dialect: str, recorded: Recording, conn: int, *, whole: bool = False) -> None:
        self.official = dialect == "trains-official"
        self.whole = whole
        self.name = recorded.people[conn]
        self.calls = recorded.calls[conn]
        program = PROGRAMS[dialect]
        self.run = Run(program.spec, "client", RULES, my={"name": self.name}, program=program)
        self.sent = self.run.heard(0)
        self.said: list[Any] = [self.name]

    def listen(self) -> None:
        """Hear all calls, as they came, until the recorded client falls silent."""
        for call in self.calls:
            self.hear(call)
            if not call.answers and call.method in ASKED:
                return
        self.sent += self.run.heard(0)

    def hear(self, call: Call) -> None:
        """Hear one call and answer it; what is to be said to it goes to ``said``, what is to ``sent``."""
        for piece in self.written(call):
            assert not self.run.questions, "a call is heard when its last byte has come"
            self.run.write(0, piece)
        if call.method in ASKED and self.run.questions:
            assert self.run.questions[0].question == {"start": "map", "pick": "pick", "play": "play"}[call.method]
            if call.answers:
                self.run.answer(self.answer(call.answers[0].value))
        if call.answers or call.method not in ASKED:
            self.said += self.wanted(call)
        self.sent += self.run.heard(0)

    def written(self, call: Call) -> list[bytes]:
        """Return a call as it came, in the recorded pieces."""
        said = call.heard
        value = said.value if self.official else bare(call)
        return list(Said(mended(value) if self.whole else value, said.blanks, said.pieces).written())

    def answer(self, value: Any) -> Any:
        """Return what is said to a call, with whole numbers if that is wanted."""
        return mended(value) if self.whole else value

    def wanted(self, call: Call) -> list[Any]:
        """Return what a client says to a call."""
        if call.method in ASKED:
            return [self.answer(call.answers[0].value)]
        return [VOID] if self.official else []


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("name", SOUND)
def test_our_client_says_what_the_recorded_client_said(name: str, dialect: str) -> None:
    recorded = recording(name)
    for conn in recorded.order:
        visit = Visit(dialect, recorded, conn, whole=name in FRACTIONAL_MAPS + FRACTIONAL_SETUPS)
        visit.listen()

        assert visit.sent == visit.said
        if recorded.told(conn, "end"):
            [end] = recorded.told(conn, "end")
            assert visit.run.ended == Ended(freeze({"won": end.arguments[0]}), None)
        else:  # kicked, or there was no map; some server went on calling a client it had given up
            assert visit.run.ended is None
            visit.run.lose(0)
            assert visit.run.ended == Ended(freeze({"won": None}), None)


@pytest.mark.parametrize("name", SOUND)
def test_a_recorded_client_said_nothing_else_but_the_false_that_some_write_into_a_closing_socket(name: str) -> None:
    recorded = recording(name)
    for conn in recorded.order:
        visit = Visit("trains-official", recorded, conn, whole=name in FRACTIONAL_MAPS + FRACTIONAL_SETUPS)
        visit.listen()
        said = mended([recorded.people[conn], *(said.value for call in visit.calls for said in call.answers)])
        while said[-1] is False:
            said.pop()

        # Who was silent in setup, more, win or end was meant to be; our client is not.
        silent = [VOID for call in visit.calls if not call.answers and call.method not in ASKED]
        assert said in (visit.sent, visit.sent[: len(visit.sent) - len(silent)])


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("name", FRACTIONAL_SETUPS)
def test_our_client_refuses_a_map_with_fractions(name: str, dialect: str) -> None:
    """The course's own client did the same."""
    for conn in recording(name).order:
        start, setup = recording(name).calls[conn][:2]
        visit = Visit(dialect, recording(name), conn)
        visit.hear(Call("start", start.arguments, start.heard, [Said(A_MAP)]))
        visit.hear(setup)

        assert visit.run.ended is not None
        assert visit.run.ended.failed is not None
        assert "main in between_games" in visit.run.ended.failed
        assert "invalid of <peer 0>: unknown" in visit.run.ended.failed


A_MAP: Final = {"width": 10, "height": 10, "cities": [["A", [1, 1]]], "connections": {}}


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("name", ["ref-server_ref-clients_10", "java-server_ref-clients"])
def test_our_client_reads_messages_that_trickle_in_behind_5000_blanks(name: str, dialect: str) -> None:
    recorded = recording(name)
    for conn in recorded.order[:3]:
        visit = Visit(dialect, recorded, conn)
        for call in visit.calls:
            visit.hear(Call(call.method, call.arguments, Said(call.heard.value, 5000, 100), call.answers))
        visit.sent += visit.run.heard(0)

        assert visit.sent == visit.said


@pytest.mark.parametrize("name", ["ref-server_ref-clients_10", "java-server_ref-clients", "ref-server_ref-clients_40"])
def test_our_client_reads_win_and_end_in_one_piece(name: str) -> None:
    """In the document's dialect, which answers neither: ``truetrue`` is two values."""
    recorded = recording(name)
    ended = 0
    for conn in recorded.order:
        calls = recorded.calls[conn]
        if [call.method for call in calls[-2:]] != ["win", "end"]:
            continue
        visit = Visit("trains", recorded, conn)
        for call in calls[:-2]:
            visit.hear(call)
        visit.run.write(0, b"".join(json.dumps(bare(call)).encode() for call in calls[-2:]))

        if visit.run.ended is None:
            # false may be the beginning of another word, unless something follows it; true is no different.
            visit.run.write(0, b"\n")
        assert visit.run.ended == Ended(freeze({"won": bare(calls[-1])}), None)
        ended += 1
    assert ended


def test_the_recordings_hold_what_is_to_be_borne() -> None:
    """Hands without some colours, more without cards, 5,000 blanks, a hundred pieces."""
    calls = [call for name in names() for calls in recording(name).calls.values() for call in calls]
    plays = [bare(call) for call in calls if call.method == "play"]
    answers = [said for call in calls for said in call.answers]

    assert any(len(state["this"]["cards"]) < 4 for state in plays)
    assert any(call.nothing_to_hand for call in calls)
    assert sum(said.blanks >= 5000 for said in answers) > 1000
    assert max(said.pieces for said in answers) > 100
    assert len(names()) == 28
