"""States of a machine and what they answer, as the rules of `machines.semantics` want them."""

from __future__ import annotations

from machines.analysis.call_graph import kind
from machines.model import Expression, Handlers, State


class LayerOutline:
    """What a state, or the ``always`` behind all states of a machine, answers; ``awaits`` is whom it names."""

    __slots__ = ("answers", "awaits", "choices", "events", "prefix")

    def __init__(self, prefix: str, answers: Handlers, awaits: Expression | None) -> None:
        self.prefix = prefix  # "" or "always:"
        self.answers = answers
        self.awaits = awaits
        self.choices = dict(answers.choices())
        self.events = frozenset(event for event in self.choices if event.startswith("."))


class StateOutline:
    """A state that a call may be in."""

    __slots__ = ("accept", "awaits", "each", "kind", "layer", "state")

    def __init__(self, state: State) -> None:
        self.kind = kind(state)
        self.state = state
        self.accept = state.accept
        self.awaits = state.awaits
        self.each = state.each
        self.layer = LayerOutline("", state.answers, state.awaits)
