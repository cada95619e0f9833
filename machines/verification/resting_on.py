"""What a verdict rests on, by name: what was not looked at in every way that it may be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from machines.model import Setting, Spec
from machines.verification.abstract.limits import COUNTED_MAX, uncounted
from machines.verification.search.system import OTHERS, clients_of


def rests_on(spec: Spec, clients: Sequence[int], queue: int, any_number: str = "") -> Iterator[str]:
    """Yield each thing that a verdict rests on; ``any_number`` says why numbers of clients are none of them."""
    if spec.settings:
        yield f"settings as they are: {', '.join(f'{one.name}={told(one)}' for one in spec.settings.values())}"
    many = ", ".join(map(str, clients))
    if any_number:
        yield f"any number of clients: {any_number}"
    for at, role in enumerate(clients_of(spec) if not any_number else ()):
        further = f"1 (and 2 with at most {OTHERS} of {clients_of(spec)[0]})"
        yield f"numbers of clients: {many if at == 0 else further} of {role}"
    yield f"waiting messages: at most {queue} for each peer"
    if spec.rules:
        yield "rules never raise, and keep their contracts"
    yield "an expression has a value for some data: whether it has one for all is not asked"
    if any(
        state.each is not None and state.each.parallel is not None
        for role in spec.roles.values()
        for machine in role.machines.values()
        for state in machine.states.values()
    ):
        yield "machines side by side (parallel) are taken one after another"
    if limited := sorted(set(uncounted(spec))):
        which = f"limits that are rates, or above {COUNTED_MAX}"
        yield f"{which}, are used up by nobody who keeps to its role: {', '.join(limited)}"
    yield "durations are not compared: any clock may ring before any other"
    if spec.frames:
        yield "frames: each comes whole"


def told(setting: Setting) -> str:
    """Return the value of a setting as a person writes it."""
    value = setting.value
    if setting.kind == "duration":
        return f"{value:g} s"
    if setting.kind == "range":
        return f"{value.low}..{value.high}"
    return str(value).lower() if isinstance(value, bool) else str(value)
