"""What a verdict rests on, by name: what was not looked at in every way that it may be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from machines.analysis.traversal import all_steps
from machines.messages.automata import Work
from machines.messages.bodies import MessageCodec, compile_message
from machines.messages.overlap import narrower, overlap
from machines.model import Role, Secure, Setting, Spec, Step
from machines.verification.search.system import OTHERS, clients_of
from machines.verification.sums import takes_up

EXCEPTIONS_TOLD: Final = 4
EXCEPTION_PAIRS: Final = 2_000  # of messages that are looked at
NOT_ALL: Final = "and of the messages that were not looked at, as there are too many"
EXCEPTION_STEPS: Final = 300_000  # some tenths of a second


def rests_on(spec: Spec, clients: Sequence[int], queue: int, any_number: str = "") -> Iterator[str]:
    """Yield each thing that a verdict rests on; ``any_number`` says why numbers of clients are none of them."""
    if spec.settings:
        yield f"settings as they are: {', '.join(f'{one.name}={told(one)}' for one in spec.settings.values())}"
    for name in spec.foreign:
        yield (
            f"{name} is foreign: it sends any of its messages at any time, what is none, nothing, and leaves or is cut "
            "off at will; whether it ever sends what is waited for is not asked"
        )
    ours, others = clients_of(spec), [name for name in spec.foreign if spec.connects.get(name)]
    if ours and others:
        whose = " and ".join((*others, *ours))
        yield f"{whose} are looked at apart: what one makes of what the other reads is taken to be any data"
    many = ", ".join(map(str, clients))
    if any_number:
        yield f"any number of clients: {any_number}"
    for kinds in (others, ours) if not any_number else ():
        for at, role in enumerate(kinds):
            further = f"1 (and 2 with at most {OTHERS} of {kinds[0]})"
            yield f"numbers of clients: {many if at == 0 else further} of {role}"
    yield f"waiting messages: at most {queue} for each peer"
    if exceptions := tuple(islice(exceptions_of(spec), EXCEPTIONS_TOLD + 1)):
        listed = [*exceptions[:EXCEPTIONS_TOLD], *(["…"] if len(exceptions) > EXCEPTIONS_TOLD else [])]
        yield f"nobody writes a message so that it is read as its exception: {'; '.join(listed)}"
    if spec.rules:
        yield "rules never raise, and keep their contracts"
    yield "an expression has a value for some data: whether it has one for all is not asked"
    if any(takes_up(spec, role) for role in spec.roles.values()):
        yield "what is added to by peers again and again stays within what a value and a message may hold"
    if any(
        state.each is not None and state.each.parallel is not None
        for role in spec.roles.values()
        for machine in role.machines.values()
        for state in machine.states.values()
    ):
        of_rules = ", and what rules give to one of them holds no peers of another" if spec.rules else ""
        yield f"machines side by side (parallel) are taken one after another{of_rules}"
    yield "durations are not compared: any clock may ring before any other"
    if any(isinstance(step, Secure) for role in spec.roles.values() for step in _steps_of(role)):
        yield "what comes plain behind 'secure' is not read: in a run it may also end the connection"
    if spec.frames:
        yield "frames: each comes whole"


def _steps_of(role: Role) -> Iterator[Step]:
    for machine in role.machines.values():
        yield from all_steps(machine)


def exceptions_of(spec: Spec) -> Iterator[str]:
    """Yield each message that may be written so that it fits a narrower one, which is read first, with a text for it.

    The narrower one is taken as the exception of the other (see the reference), and who keeps to the protocol means it.
    Where a spec has very many messages for one state, only so many pairs of them are looked at, and in so many steps.
    """
    work = Work(EXCEPTION_STEPS)
    shapes: dict[str, MessageCodec] = {}
    seen: set[tuple[str, str]] = set()
    for read, written in _read_before(spec):
        if (read, written) in seen:
            continue
        if len(seen) == EXCEPTION_PAIRS:
            yield NOT_ALL
            return
        seen.add((read, written))
        for name in (read, written):
            if name not in shapes:
                shapes[name] = compile_message(spec.messages[name], spec.types)
        both = overlap(shapes[written].shapes[0], shapes[read], work)
        special = both is not None and both.certain and narrower(shapes[read], shapes[written].shapes[0], work)
        if work.left < 0:  # neither is decided then
            yield NOT_ALL
            return
        if special:
            yield f"{written} like {both} is {read}"


def _read_before(spec: Spec) -> Iterator[tuple[str, str]]:
    """Yield pairs of messages of one sender that may come to one state, the one that is read first first."""
    for role in spec.roles.values():
        for machine in role.machines.values():
            around = machine.always.answers.receive if machine.always is not None else ()
            for state in machine.states.values():
                names = [name for name in (*state.answers.receive, *around) if name in spec.messages]
                for at, written in enumerate(names):
                    yield from ((read, written) for read in names[:at] if _come_alike(spec, read, written))


def _come_alike(spec: Spec, one: str, other: str) -> bool:
    shared = set(spec.messages[one].senders) & set(spec.messages[other].senders)
    return not shared <= set(spec.foreign) and one != other and spec.frames.get(one) == spec.frames.get(other)


def told(setting: Setting) -> str:
    """Return the value of a setting as a person writes it."""
    value = setting.value
    if setting.kind == "duration":
        return f"{value:g} s"
    if setting.kind == "range":
        return f"{value.low}..{value.high}"
    return str(value).lower() if isinstance(value, bool) else str(value)
