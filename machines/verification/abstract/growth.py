"""What makes a search large: the state of a role that comes in the most forms, and what differs in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from machines.verification.abstract.process import Process

LOOKED_AT = 20_000  # local states of a role, the last ones: of more nobody waits for the count


def what_grows(parts: Mapping[str, Process]) -> str:
    """Return, in words, which state of which role was found in the most forms, and what differs in them."""
    role, part = max(parts.items(), key=lambda one: len(one[1].locals))
    states: Counter[tuple[str, str]] = Counter()
    values: dict[tuple[str, str], dict[str, set[Any]]] = {}
    for root, *_ in part.locals[-LOOKED_AT:]:
        for call in _calls(root):
            where = (call[0], call[1])
            states[where] += 1
            names = values.setdefault(where, {})
            for name, value in zip(part.outline.machines[call[0]].names, call[2], strict=True):
                if not name.startswith("."):  # those are the exploration's own
                    names.setdefault(name, set()).add(value)
    if not states:
        return f"{role} was nowhere yet"
    where, count = states.most_common(1)[0]
    text = f"the most in {'.'.join(where)} of {role}, in {count} forms"
    name, found = max(values[where].items(), key=lambda one: len(one[1]), default=("", set()))
    return f"{text}, where {name} has {len(found)} values" if len(found) > 1 else text


def _calls(root: Any) -> Iterator[Any]:
    todo = [root] if root[0] != ".over" else []
    while todo:
        call = todo.pop()
        yield call
        _, _, _, _, _, _, _, _, child, sign_ups, parked, _, beside, _ = call
        started = beside[1] if beside is not None else ()
        todo += [one for one in (child, *(sign_ups or ()), *(parked or ()), *started) if one is not None]
