"""What a spec requires of one role, a sentence each, under an id made of names; and which one a deviation is against.

role/machine.state/hears-MESSAGE   it goes on as the spec says when the message comes
role/machine.state/sends-only      it sends nothing but what the state lets it send, and stays
role/machine.state/within          it answers within its limit, and does not leave before it
role/machine.state/on-closed …     it lets go of a peer that is gone, mad or silent (on-closed, on-invalid, on-silence)
role/type/MESSAGE, role/rules/MESSAGE, role/wire/cut, role/wire/tolerant, role/wire/strict
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any, Final, Literal

from machines.analysis.call_graph import kind
from machines.analysis.traversal import all_branches
from machines.conforming.deviations import Deviation
from machines.conforming.spec_lines import owed_message, state_of
from machines.model import Handlers, Machine, Name, Role, Spec, State
from machines.problems import Place

RequirementClass = Literal["must", "broken peer", "tolerant", "strict"]
Deed = Literal["", "closed", "half", "garbage", "unexpected", "silent"]
DEEDS: Final[tuple[Deed, ...]] = ("closed", "half", "garbage", "unexpected", "silent")
EVENT_OF: Final[Mapping[str, str]] = {
    "closed": "on-closed",
    "half": "on-closed",
    "garbage": "on-invalid",
    "unexpected": "on-invalid",
    "silent": "on-silence",
}
ALWAYS: Final = "always"


@dataclass(frozen=True, slots=True)
class Requirement:
    """One sentence of a spec about a role. ``labels`` are those of a follower that show that it was come through.

    ``text`` says it to people, ``place`` is where it stands.
    """

    id: str
    of: RequirementClass
    place: Place
    text: str
    labels: frozenset[Any] = frozenset()


def requirements(spec: Spec, role: str) -> tuple[Requirement, ...]:
    """Return all that a spec requires of a role, in the order of its file."""
    found: dict[str, Requirement] = {}
    for one in _all(spec, spec.roles[role]):
        found.setdefault(one.id, one)
    return tuple(found.values())


def _all(spec: Spec, role: Role) -> Iterator[Requirement]:
    for machine in role.machines.values():
        if machine.always is not None:
            yield from _heard(spec, role.name, machine, ALWAYS, machine.always.answers)
        for state in machine.states.values():
            yield from _of_state(spec, role.name, machine, state)
    for message in spec.messages.values():
        if role.name in message.senders:
            text = f"its {message.name} is of the types that the spec gives its fields"
            yield Requirement(f"{role.name}/type/{message.name}", "must", message.place, text)
            if is_judged_by_rules(spec, role.name, message.name):
                text = f"its {message.name} is within the rules"
                yield Requirement(f"{role.name}/rules/{message.name}", "must", message.place, text)
    yield Requirement(
        f"{role.name}/wire/cut", "must", role.place, "it reads messages however their bytes are cut or glued"
    )
    text = "it reads what any reader of the spec reads and no role writes: blank lines, CRLF, blanks in JSON"
    yield Requirement(f"{role.name}/wire/tolerant", "tolerant", role.place, text)
    text = "it spells what it sends as everybody does: no 3.0 for an int"
    yield Requirement(f"{role.name}/wire/strict", "strict", role.place, text)


def _of_state(spec: Spec, role: str, machine: Machine, state: State) -> Iterator[Requirement]:
    here = f"{machine.name}.{state.name}"
    entered = frozenset({here})
    yield from _heard(spec, role, machine, state.name, state.answers)
    if kind(state) in ("wait", "accept"):
        text = f"in {here} it sends nothing but what the spec lets it send there"
        yield Requirement(f"{role}/{here}/sends-only", "must", state.place, text, entered)
    if state.ask is not None:
        text = f"in {here} it answers within its limit, and does not leave before it"
        yield Requirement(f"{role}/{here}/within", "must", state.place, text, entered)
    if kind(state) == "wait":
        for event in dict.fromkeys(EVENT_OF.values()):
            if event != "on-silence" or (state.ask is None and limit_seconds(spec, machine, state) < inf):
                said = {"on-closed": "is gone", "on-invalid": "sends what is not expected", "on-silence": "is silent"}
                text = f"in {here} it does what the spec says when its peer {said[event]}"
                yield Requirement(f"{role}/{here}/{event}", "broken peer", state.place, text)


def _heard(spec: Spec, role: str, machine: Machine, state: str, answers: Handlers) -> Iterator[Requirement]:
    for name, choice in answers.receive.items():
        if role in spec.messages[name].senders and machine.states.get(state) is not None and machine.states[state].ask:
            continue  # what its own player says
        labels = frozenset(map(id, all_branches(choice)))
        here = f"{machine.name}.{state}"
        text = f"in {here} it goes on as the spec says when {name} comes"
        yield Requirement(f"{role}/{here}/hears-{name}", "must", choice.place, text, labels)


def is_judged_by_rules(spec: Spec, role: str, message: str) -> bool:
    """Whether some other role takes a message only under a condition: that then says what is within the rules."""
    for other in spec.roles.values():
        if other.name == role or role not in spec.connects:
            continue
        for machine in other.machines.values():
            for state in machine.states.values():
                choice = state.answers.receive.get(message)
                if choice is not None and any(branch.guard is not None for branch in all_branches(choice)):
                    return True
    return False


def limit_seconds(spec: Spec, machine: Machine, state: State) -> float:
    """Return the limit of a state where it is a setting; inf if it has none, or only data can tell."""
    written = state.within
    if written is None and machine.always is not None:
        written = machine.always.within
    if isinstance(written, Name) and written.name in spec.settings:
        value = spec.settings[written.name].value
        return float(value) if isinstance(value, int | float) else inf
    return inf


def id_of(spec: Spec, role: str, deviation: Deviation, told: str) -> str:
    """Return the id of the requirement that a deviation is against; ``told`` is the message that it was sent last."""
    states = [named for listed in deviation.states for named in listed.split(", ") if state_of(spec, role, named)]
    here = states[0] if states else ""
    if deviation.kind == "bytes":
        owed = owed_message(spec, deviation)
        if owed:
            return f"{role}/type/{owed}"
    if deviation.kind == "half":
        return f"{role}/type/{deviation.names[0]}" if deviation.names else _sends(role, here)
    if deviation.kind in ("time", "silence"):
        asking = next((one for one in states if _asks(spec, role, one)), "")
        if asking or deviation.kind == "time":
            return f"{role}/{asking or here}/within"
        for one in (*states, *(f"{one.partition('.')[0]}.{ALWAYS}" for one in states)):
            if told and _hears(spec, role, one, told):
                return f"{role}/{one}/hears-{told}"
    return _sends(role, here)


def _sends(role: str, here: str) -> str:
    return f"{role}/{here}/sends-only" if here else f"{role}/sends-only"


def _asks(spec: Spec, role: str, named: str) -> bool:
    found = state_of(spec, role, named)
    return found is not None and found[1].ask is not None


def _hears(spec: Spec, role: str, named: str, message: str) -> bool:
    machine, _, state = named.partition(".")
    of = spec.roles[role].machines[machine]
    answers = of.always.answers if state == ALWAYS and of.always is not None else None
    if answers is None and state in of.states:
        answers = of.states[state].answers
    return answers is not None and message in answers.receive
