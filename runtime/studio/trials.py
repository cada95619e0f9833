"""A spec tried in a browser: all its roles in one process, every choice a person's; as plain data for a page.

A trial is its script: the lines that `runtime.playground.repl` reads. The same lines give the same run, so that after a
change of the spec they are done again, as far as they still can be.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any, Final

from diagrams.states.marks import Marks
from machines.effects import Received, Send
from machines.engine import routing
from machines.model import Spec
from machines.values import plain
from runtime.players.person_answers import legal_answers
from runtime.playground.message_input import ChoiceError, written
from runtime.playground.parties import Input, ManualParticipant
from runtime.playground.repl import AskedRule, EndedError, Repl
from runtime.playground.scenario_runner import ManualRun
from runtime.playground.status import Offer, offers, standing
from runtime.studio.page import TONES, Rows, party_facts
from runtime.studio.said import Said, Tone, line_of, place_text, rung, shown_bytes
from runtime.studio.steps import Party, Step

LINES_MAX: Final = 2_000  # of a trial: all of them are done again with each change of the spec
LEGAL_MAX: Final = 400  # legal answers of a player that are listed; the first question of Tsuro has 320


class Trial:
    """What was done by hand with a spec. ``allowed`` are further modules of rules."""

    def __init__(self, spec: Spec, marks: Marks, allowed: Sequence[str] = ()) -> None:
        self.done: list[str] = []  # the lines that could be done
        self._spec = spec
        self._marks = marks
        self._allowed = allowed
        self._waiting: deque[str] = deque()
        self._desk: Repl | None = None
        self._asked: AskedRule | None = None
        self._stopped = ""

    def take(self, lines: Sequence[str]) -> None:
        """Do further lines, up to the first that cannot be done."""
        if len(self.done) + len(lines) > LINES_MAX:
            self._stopped = f"a trial has at most {LINES_MAX} lines: begin it again, or take some back"
            return
        self._waiting.extend(lines)
        self._asked, self._stopped = None, ""
        try:
            if self._desk is None:
                self._desk = Repl(self._spec, _Taken(self._waiting), _NoScreen(), allowed=self._allowed, strict=True)
            self._desk.run()
            self._asked = self._desk.asked
        except EndedError as ended:
            self._asked = ended.rule
        except ChoiceError as error:
            self._stopped = str(error)
        self._waiting.clear()
        self.done = self._desk.script() if self._desk is not None else []

    @property
    def is_clean(self) -> bool:
        """Whether all that was to be done has been, so that more can be done on top of it."""
        return self._desk is not None and self._asked is None and not self._stopped

    def facts(self, lines: Sequence[str]) -> dict[str, Any]:
        """Return what a page shows of it; ``lines`` are all that were to be done."""
        left = list(lines[len(self.done) :])
        asked = self._asked
        facts: dict[str, Any] = {
            "lines": self.done,
            "choices": len(self._desk.done) if self._desk is not None else 0,
            "stopped": self._stopped,
            "left": len(left) if self._stopped else 0,
            # The answer is one more line behind those that led to the question.
            "rule": None if asked is None else {"call": asked.call, "boolean": asked.boolean, "lines": left},
            "ruleName": None if asked is None else asked.name,
        }
        if self._desk is None:
            return facts
        trial = self._desk.trial
        steps, parties = trial_steps(trial, self._marks)
        rows = Rows()
        for step in steps:
            rows.add(step)
        return facts | {
            "now": trial.now,
            "parties": party_facts(parties),
            "standing": {
                id_: list(standing(trial, party))
                for id_, party in zip(_ids(trial), trial.parties.values(), strict=True)
            },
            "rows": rows.rows,
            "table": rows.table,
            "details": [[said.detail for said in step.said] for step in steps],
            "tones": TONES,
            "wait": None if (due := trial.next_clock()) is None else max(0.0, due - trial.now),
            "shut": [role for role in trial.callers() if _is_shut(trial, role)],
            "offers": [_offer(trial, offer) for offer in offers(trial)],
            "legal": _legal(self._spec, trial),
            "byHand": [party.name for party in trial.parties.values() if party.session is None and party.links],
        }


class _Taken:
    """Lines that are taken as they come; further ones may come after it was empty."""

    def __init__(self, lines: deque[str]) -> None:
        self._lines = lines

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        if not self._lines:
            raise StopIteration
        return self._lines.popleft()


class _NoScreen:
    """A screen that nobody looks at: the page has the run itself."""

    def show(self, kind: str, line: str) -> None:
        """Show nothing."""

    def ask(self, prompt: str) -> None:
        """Show nothing."""


def _ids(trial: ManualRun) -> list[str]:
    return [f"t{number}" for number in range(len(trial.parties))]


def _offer(trial: ManualRun, offer: Offer) -> dict[str, Any]:
    fields = [
        {"name": name, "value": written(value), "type": trial.filler.explained(offer.message, name)}
        for name, value in offer.fields.items()
    ]
    return {"words": offer.words, "who": offer.who, "message": offer.message, "fields": fields}


def _is_shut(trial: ManualRun, role: str) -> bool:
    """Return whether who comes as a client of that role is turned away at once."""
    targets = [trial.parties[name].session for name in trial.spec.connects[role] if name in trial.parties]
    return any(session is not None and not routing.is_open(session) for session in targets)


def _legal(spec: Spec, trial: ManualRun) -> dict[str, list[tuple[str, str]]]:
    """Return the legal answers of those who are asked, where the game can list them: what each does, and its line."""
    found = {}
    for party in trial.parties.values():
        for ask in list(party.asked.values())[:1]:
            try:
                listed = legal_answers(spec, ask.question, dict(ask.arguments))[:LEGAL_MAX]
            except Exception:  # what a person made up need not make sense to a game
                continue
            found[party.name] = [(text, _answer_line(party.name, value)) for text, value in listed]
    return found


def _answer_line(name: str, value: Any) -> str:
    message, fields = value
    return " ".join([f"answer {name} {message}", *(f"{field}={written(one)}" for field, one in fields.items())])


# -- as steps --------------------------------------------------------------------------------------------------------


def trial_steps(trial: ManualRun, marks: Marks) -> tuple[list[Step], tuple[Party, ...]]:
    """Return what happened in a trial as the steps of a run, an input of a session each, and who takes part."""
    ids = dict(zip(trial.parties, _ids(trial), strict=True))
    callers = trial.callers()
    parties = tuple(
        Party(ids[one.name], one.role, one.name, root=one.role not in callers) for one in trial.parties.values()
    )
    inputs = ((one, party) for party in trial.parties.values() for one in party.inputs)
    where: dict[str, tuple[str, ...]] = {}
    steps = []
    for number, (one, party) in enumerate(sorted(inputs, key=lambda pair: pair[0].order)):
        boxes = (marks.box(party.role, path, state) for path, state in one.stood)
        where[ids[party.name]] = tuple(dict.fromkeys(box for box in boxes if box is not None))
        arrows = (arrow for taken in one.took for arrow in marks.arrows(party.role, taken))
        steps.append(
            Step(
                number, round(one.now, 4), one.kind, ids[party.name], tuple(_lines(trial, party, one, ids)),
                {id_: boxes for id_, boxes in where.items() if boxes}, frozenset(), tuple(dict.fromkeys(arrows)),
                tuple(place_text(taken, marks.places(party.role, taken)) for taken in one.took),
            )
        )  # fmt: skip
    return steps, parties


def _lines(trial: ManualRun, party: ManualParticipant, one: Input, ids: dict[str, str]) -> Iterator[Said]:
    me = ids[party.name]

    def peer(seat: int) -> str:
        return ids.get(party.met(seat), me)

    heard = [effect for effect in one.out if isinstance(effect, Received)]
    match one.kind:
        case "connect":
            yield Said(peer(one.more["peer"]), me, "connects", Tone.MESSAGE)
        case "lost":
            yield Said(me, None, f"the connection to {party.met(one.more['peer'])} is closed", Tone.CLOSED)
        case "failed":
            yield Said(me, None, one.more["why"], Tone.VIOLATION)
        case "tick":
            yield from rung(me, one.took)
        case "bytes" if trial.parties[party.met(one.more["peer"])].session is None:  # a person's message has no session
            text = heard[0].message if heard else "a message"
            fields = plain(heard[0].fields) if heard else None
            yield Said(peer(one.more["peer"]), me, text, Tone.MESSAGE, shown_bytes(one.more["data"]), fields)
        case _:
            pass
    for effect in one.out:
        if isinstance(effect, Send):
            yield Said(me, peer(effect.peer), effect.message, Tone.MESSAGE, shown_bytes(effect.data))
        elif (line := line_of(effect, me, peer)) is not None:
            yield line
