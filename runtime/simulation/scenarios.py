"""What is amiss in the games of a spec: the scenes, each with a name for people.

All are made from the spec alone: its roles, its messages, how many a sign-up lets in, which strategies there are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final, Literal

from machines.analysis.traversal import all_branches, all_choices
from machines.expressions.unparse import COMPARISONS, walk
from machines.model import Binary, Constant, Expression, Name, Spec
from machines.values import Range
from runtime.simulation.fault_injection import InjectedFault, deeds_with
from runtime.simulation.strategies import StrategySet

NAMES: Final = ("ann", "bob", "cyd", "dan", "eve", "fay", "gus", "hal")
CLIENTS: Final = 3  # where a sign-up takes as many
APART: Final = 7.0  # seconds: within the time for a sign-up
SMALL: Final = 2
SLOW: Final = 0.9  # of the time that a player has: clocks ring meanwhile, and it is not late
CULPRIT: Final = 1  # which client does the deed: neither the first nor the last of three

Players = Literal["own", "curious", "other"]


@dataclass(frozen=True, slots=True)
class GameScenario:
    """One game to be: how many clients, who decides for them, what is amiss.

    ``players`` is own if the game's own strategies decide, curious if somebody who tries everything does for all,
    other if the kind ``kind`` does for the one at CULPRIT. ``lonely`` says that it may be too few or too many clients
    for a game to begin, ``apart`` how many seconds lie between one client's coming and the next one's, ``small`` that
    what the spec counts up to is SMALL, ``slow`` how much of its time each player thinks.
    """

    name: str
    clients: int
    players: Players = "own"
    kind: str = ""
    deed: InjectedFault | None = None
    lonely: bool = False
    namesakes: bool = False
    apart: float = 0.0
    small: bool = False
    slow: float = 0.0

    def names(self) -> tuple[str, ...]:
        """Return the names of the clients."""
        names = NAMES[: self.clients]
        return (*names[:-1], names[0]) if self.namesakes else names


def callers(spec: Spec) -> tuple[str, ...]:
    """Return the roles that are started by somebody: they connect, and nobody connects to them."""
    listeners = spec.listeners()
    return tuple(role for role in spec.connects if role not in listeners)


def latecomers(spec: Spec) -> tuple[str, ...]:
    """Return those of them that are not the first to connect to their role: they have no part in its sign-up."""
    return tuple(
        role
        for role in callers(spec)
        if any(
            next(one for one in spec.connects if target in spec.connects[one]) != role for target in spec.connects[role]
        )
    )


def small(spec: Spec) -> Spec | None:
    """Return a spec whose numbers that guards compare with are at most SMALL; None if none is greater."""
    compared: set[str] = set()
    for role in spec.roles.values():
        for machine in role.machines.values():
            for _, choice in all_choices(machine):
                for branch in all_branches(choice):
                    compared |= set(_compared(branch.guard))
    changed = {
        name: replace(setting, value=SMALL)
        for name, setting in spec.settings.items()
        if name in compared and setting.kind == "int" and setting.value > SMALL
    }
    return replace(spec, settings={**spec.settings, **changed}) if changed else None


def _compared(guard: Expression | None) -> Iterator[str]:
    for one in walk(guard) if guard is not None else ():
        if isinstance(one, Binary) and one.operator in COMPARISONS:
            yield from (side.name for side in (one.left, one.right) if isinstance(side, Name))


def seats(spec: Spec) -> Range | None:
    """Return how many clients a game is for: what the first sign-up with counted seats takes; None if none counts."""
    for role in spec.listeners():
        for machine in spec.roles[role].machines.values():
            for state in machine.states.values():
                if state.accept is not None and state.accept.seats is not None:
                    found = _counted(spec, state.accept.seats)
                    if found is not None:
                        return found
    return None


def counted_doors(spec: Spec) -> Iterator[tuple[str, str]]:
    """Yield machine and state of each sign-up of ``main`` that counts its seats: once it is left, a game begins."""
    for role in spec.listeners():
        for state in spec.roles[role].machines["main"].states.values():
            if state.accept is not None and state.accept.seats is not None:
                yield "main", state.name


def _counted(spec: Spec, seats: Expression) -> Range | None:
    match seats:
        case Name(name) if name in spec.settings:
            value = spec.settings[name].value
        case Constant(value):
            pass
        case Binary("..", Constant(int(low)), Constant(int(high))):
            value = Range(low, high)
        case _:
            return None
    if isinstance(value, Range):
        return value
    return Range(value, value) if isinstance(value, int) else None


def questions(spec: Spec, role: str) -> Iterator[str]:
    """Yield what a role asks its players."""
    for machine in spec.roles[role].machines.values():
        yield from (state.ask.path for state in machine.states.values() if state.ask is not None)


def rings_while_others_think(spec: Spec) -> bool:
    """Whether there are clocks that ring after, or every, so many seconds, and players who may think meanwhile."""
    machines = [machine for role in spec.roles.values() for machine in role.machines.values()]
    answers = [state.answers for machine in machines for state in machine.states.values()]
    answers += [machine.always.answers for machine in machines if machine.always is not None]
    return any(one.after or one.every for one in answers) and any(
        next(questions(spec, role), "") for role in spec.roles
    )


def scenes(spec: Spec, cast: StrategySet) -> Iterator[GameScenario]:
    """Yield the scenes of a spec, the plain ones first. Each has a name of its own: two roles may ask the same."""
    every = list(_scenes(spec, cast))
    told = Counter(scene.name for scene in every)
    for scene in every:
        if told[scene.name] > 1 and scene.deed is not None:
            yield replace(scene, name=f"{scene.name}, as {scene.deed.role}")
        else:
            yield scene


def _scenes(spec: Spec, cast: StrategySet) -> Iterator[GameScenario]:
    room = seats(spec) or Range(1, CLIENTS)
    clients = min(max(room.low, min(CLIENTS, room.high), 1), len(NAMES))
    yield GameScenario("everybody is good", clients)
    if cast.kinds:
        yield GameScenario("everybody tries everything", clients, "curious")
    culprit = min(CULPRIT, clients - 1)
    for kind in cast.others:
        yield GameScenario(f"{NAMES[culprit]} plays {kind}", clients, "other", kind)
    if rings_while_others_think(spec):
        yield GameScenario("everybody thinks long", clients, slow=SLOW)
    if clients > 1:
        yield GameScenario("one is alone", 1, lonely=True)
        yield GameScenario("two have one name", clients, namesakes=True)
        yield GameScenario("they come one after another", clients, apart=APART)
    if clients < min(room.high, len(NAMES)) and seats(spec) is not None:
        yield GameScenario("one more comes late", clients + 1, lonely=True, apart=APART)
    if clients == room.high < len(NAMES):
        yield GameScenario("one more than there are seats", clients + 1, lonely=True)
        yield GameScenario("one more than there are seats comes late", clients + 1, lonely=True, apart=APART)
    if small(spec) is not None:
        yield GameScenario("all that is counted is small", clients, "curious", lonely=True, small=True)
    for role in spec.roles:
        for question in dict.fromkeys(questions(spec, role)):
            for nth in (1, 2):
                deed = InjectedFault("dumb", role, culprit, question, nth)
                yield GameScenario(f"the player of {NAMES[culprit]} {deed}", clients, deed=deed)
    for role in spec.roles:
        seat = culprit if role in callers(spec) else None
        who = NAMES[culprit] if seat is not None else role
        sent = [message for message in spec.messages.values() if role in message.senders]
        for at, message in enumerate(sent):
            other = sent[(at + 1) % len(sent)].name if len(sent) > 1 else ""
            for deed in deeds_with(message, role, seat, other):
                yield GameScenario(f"{who} {deed}", clients, deed=deed)
