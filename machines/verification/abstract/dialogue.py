"""Questions counted: which of them a message answers, where the one before may still be open.

What is known of a seat stands beside what its sign-up gave it, in `PEERS`:

    ASKED   (count, open, last) of what we asked it; nothing once all is answered. ``count`` goes up with each question,
            and the ``last`` stands here by its name, once it is doubtful which of several an answer is for
    READ    the count of the question that we read last from it; nothing stands here for 0
    NOW     in the step under way it was asked, or has answered, or our own player goes on: what it is asked now is
            meant to be asked beside what is open, and as many answers are awaited
"""

from __future__ import annotations

from machines.model import Binding, Branch, Stay
from machines.verification.abstract.departures import Departures
from machines.verification.abstract.domain import TRUE, UNSET, PeerRef, Value
from machines.verification.abstract.outlines import LayerOutline
from machines.verification.abstract.questions import is_told_apart
from machines.verification.abstract.role_info import PEERS
from machines.verification.abstract.seated import field_of, with_fields
from machines.verification.abstract.state import SILENT, AbstractCall, Observation, Token

ASKED, READ, NOW = ".asked", ".read", ".now"
COUNT = ".count"  # a field of a message on its way: the count of the question that it is, or answers; none for 0
COUNTS = 3  # that it goes round: an answer to the question before is told from the one asked for
OPEN_MAX = 3  # questions of a seat that are open, as far as they are counted


class Dialogue(Departures):
    """A role that asks its peers, and answers them."""

    def _begun(self, binding: Binding, call: AbstractCall) -> Value:
        """Return some value for a name that is only begun here, against who may send anything; None for any other."""
        return self._some(null=False) if binding in call.table.begun else None

    def _know(self, seat: int, name: str, value: Value) -> None:
        assert self.root is not None, "somebody asks"
        at = self.root.table.index[PEERS]
        self.root.env[at] = with_fields(self.root.env[at], PeerRef(seat), {name: value})

    def _known(self, seat: int, name: str) -> Value:
        assert self.root is not None, "somebody asks"
        return field_of(self.root.env[self.root.table.index[PEERS]], seat, name)

    def _counted(self, seat: int, token: Token, *, stays: bool) -> Token:
        """Return a message to a seat with the count of the question that it is, or answers."""
        questions = self.outline.questions
        count = 0
        if token[0] in questions.answers:
            count = self._known(seat, READ)
            count = 0 if count is UNSET else count
        elif token[0] in questions.asked:
            count = self._ask(seat, token[0], stays=stays)
        return (token[0], (*token[1], (COUNT, count))) if count else token

    def _ask(self, seat: int, question: str, *, stays: bool) -> int:
        count, open_, last = self._open(seat)
        doubtful = last or (open_ and self._known(seat, NOW) is UNSET)
        if doubtful and not stays:
            count = (count + 1) % COUNTS
        self._know(seat, ASKED, (count, min(open_ + 1, OPEN_MAX), question if doubtful else ""))
        self._know(seat, NOW, TRUE)
        return count

    def _open(self, seat: int) -> tuple[int, int, str]:
        known = self._known(seat, ASKED)
        return known if type(known) is tuple else (0, 0, "")

    def _answers(self, seat: int, token: Token) -> bool:
        """Note that a message of a seat is read; return whether it answers another question than the one asked last."""
        questions = self.outline.questions
        count = dict(token[1]).get(COUNT, 0)
        if token[0] in questions.asked_us:
            self._know(seat, READ, count or UNSET)
        now, open_, last = self._open(seat)
        if token[0] not in questions.answered or not open_:
            return False
        self._know(seat, ASKED, (now, open_ - 1, last) if open_ > 1 else UNSET)
        self._know(seat, NOW, TRUE)
        return bool(count != now) and last in questions.answered[token[0]]

    def _asks_on(self) -> None:
        """Note that our player goes on before it has all answers: it will await as many as it has asked for."""
        for seat in range(len(self.seats)):
            if self._open(seat)[1]:
                self._know(seat, NOW, TRUE)

    def _end_of_step(self) -> None:
        """Forget who was asked, or has answered, in the step that is over, and all of those who are gone."""
        for seat, status in enumerate(self.seats):
            for name in (ASKED, READ, NOW) if status in SILENT else (NOW,):
                if self._known(seat, name) is not UNSET:
                    self._know(seat, name, UNSET)

    def _tell_mistaken(self, call: AbstractCall, layer: LayerOutline, seat: int, name: str, here: str) -> None:
        """Note that the answer to one question is taken for that to another, if no condition tells them apart."""
        machine, questions = call.table.machine, self.outline.questions
        if not is_told_apart(layer.answers.receive[name], name, questions.answered[name], machine, self.outline.spec):
            text = f"{name} is taken for the answer to a question that its sender had not read, in {here}"
            self.hits.append(Observation("stale", text, name, here, seat))


def is_ignored(taken: Branch) -> bool:
    """Whether a branch throws away what it takes: it only stays where it is."""
    return isinstance(taken.next, Stay) and not taken.steps
