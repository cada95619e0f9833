"""Who decides where a run that ``accord check`` found is done again by real sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from machines.effects import Ask
from machines.model import Spec
from runtime.players.companions import companions

if TYPE_CHECKING:
    from machines.verification.counterexamples.replay import Decide


def decider(spec: Spec) -> Decide:
    """Return who decides in a replay: the game's own strategies, one after the other; nobody if it has none."""
    strategies = [one for module in companions(spec, "players") for one in module.PLAYERS.values()]

    def decide(role: str, ask: Ask, attempt: int) -> Any:
        if not strategies:
            return None
        strategy = strategies[attempt % len(strategies)]("ann", attempt)
        try:
            answer = getattr(strategy, ask.question)(*[value for _, value in ask.arguments])
        except Exception:  # a strategy may be for another role, or of another mind: the replay goes without it
            return None
        return answer if isinstance(answer, tuple) and len(answer) == 2 else None

    return decide
