"""A334 of frames that begin whatever comes: beside one, nothing else that its sender may say is ever read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from machines.analysis.call_graph import CallGraph
from machines.checks.ambiguity import messages_listed
from machines.model import Handlers
from machines.problems import Location, Place, Problems
from machines.wire.arrived_frames import opens_with_pattern


def check_whole_frames(flow: CallGraph, problems: Problems) -> None:
    """A334: a state lists a message whose frame begins whatever comes, and another with a different frame or none."""
    for machine in flow.machines.values():
        places: list[tuple[str, str, Handlers]] = [
            (f"the state {state.name!r} of {machine.name}", state.name, state.answers)
            for state in machine.states.values()
        ]
        if machine.always is not None:
            places.append((f"the 'always' of {machine.name}", "", machine.always.answers))
        for where, state, answers in places:
            for whole, other, place in _beside(flow, messages_listed(flow, answers)):
                text = f"{whole} and {other} can not be told apart: {whole} begins whatever comes; {where} expects both"
                spot = Location(flow.role.name, machine.name, state, (whole, other))
                problems.add(
                    place, "A334", text, "receive them in different states, or begin it with fixed bytes", spot
                )


def _beside(flow: CallGraph, listed: Mapping[str, Place]) -> Iterator[tuple[str, str, Place]]:
    """Yield each message that is never read, behind the one that takes all, and its place."""
    frames, messages = flow.spec.frames, flow.spec.messages
    takes_all = [name for name in listed if name in frames and not opens_with_pattern(frames[name])]
    for at, whole in enumerate(takes_all):
        for other, place in listed.items():
            shared = set(messages[whole].senders) & set(messages[other].senders)
            if shared and frames.get(other) != frames[whole] and other not in takes_all[:at]:
                yield whole, other, place
