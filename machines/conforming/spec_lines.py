"""Where in a spec's file it stands what a program owes: the line of a state, the setting of a limit."""

from __future__ import annotations

from machines.conforming.deviations import Deviation
from machines.expressions.unparse import show
from machines.model import Expression, Machine, Spec, State
from machines.problems import Place


def state_of(spec: Spec, role: str, named: str) -> tuple[Machine, State] | None:
    """Return machine and state of ``machine.state``; None for what is no state, as ``over``."""
    machine, _, state = named.partition(".")
    found = spec.roles[role].machines.get(machine)
    return (found, found.states[state]) if found is not None and state in found.states else None


def place_of(spec: Spec, role: str, deviation: Deviation) -> Place:
    """Return the line that a deviation is against: that of the first state in which the program may have been.

    What is no message at all is against that of a message, if only one may come, or it comes near to one that may.
    """
    if deviation.kind in ("bytes", "half"):
        owed = owed_message(spec, deviation)
        if owed:
            return spec.messages[owed].place
    for listed in deviation.states:
        for named in listed.split(", "):
            found = state_of(spec, role, named)
            if found is not None:
                return found[1].place
    return spec.roles[role].place


def owed_message(spec: Spec, deviation: Deviation) -> str:
    """Return the message that bytes which are none were to be: the only one that may come, or the nearest that may."""
    owed = [name for name in deviation.may if name in spec.messages]
    return owed[0] if len(owed) == 1 else deviation.near if deviation.near in owed else ""


def refusal_place(spec: Spec, role: str, place: str, message: str) -> str:
    """Return the line of the branch that refused a message; ``place`` is that of the state, as a violation has it."""
    name = message.partition(" or ")[0]
    for machine in spec.roles[role].machines.values():
        for state in machine.states.values():
            here = f"{state.place.file}:{state.place.line}"
            if place.startswith(here) and place[len(here) :][:1] in ("", ":") and name in state.answers.receive:
                choice = state.answers.receive[name]
                found = choice.branches[0].place if choice.branches else choice.place
                return f"{found.file}:{found.line}"
    return place


def limit_of(spec: Spec, role: str, named: str, clock: str = "") -> str:
    """Return the limit of a state as it is written, most often a setting's name; empty if it has none.

    ``clock`` is the kind of its clock, as `machines.verification.abstract.state.AbstractTimer` has it.
    """
    found = state_of(spec, role, named)
    if found is None:
        return ""
    machine, state = found
    written: Expression | None = state.within
    if clock == "linger" and state.accept is not None:
        written = state.accept.linger
    elif clock.startswith(("after", "every")):
        written = (*state.answers.after, *state.answers.every)[0].wait
    if written is None and machine.always is not None:
        written = machine.always.within
    return show(written) if written is not None else ""


def explained(spec: Spec, role: str, deviation: Deviation) -> str:
    """Return in a line what a program did and what it might have done, for people."""
    places = " or ".join(dict.fromkeys(deviation.states)) or "its end"
    may = ["end the connection" if one == "end" else one for one in deviation.may]
    if deviation.kind == "time":
        names = [name for name in (limit_of(spec, role, one, deviation.clock) for one in deviation.states) if name]
        setting = (
            f" (setting {names[0]}: --set {names[0]}=... says another)"
            if names[:1] and names[0] in spec.settings
            else ""
        )
        return deviation.text + setting
    allowed = f"in {places} it may: {', '.join(may)}" if may else f"in {places} it may send nothing"
    return f"{deviation.text}; {allowed}"
