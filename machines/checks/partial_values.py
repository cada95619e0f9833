"""Checks of what is done with what peers send: A342 and A343, each with the value that does it; A340 of sign-ups.

What names may hold is followed by `machines.analysis.data_flow`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from machines.analysis.call_graph import CallGraph, is_per_connection, surely_taken
from machines.analysis.data_flow import DataFlow, Write
from machines.analysis.evaluated_sets import Partial
from machines.analysis.incoming import placed
from machines.analysis.value_sets import PEER, UNKNOWN, is_known, kind, members
from machines.checks.sizes import check_sizes
from machines.expressions.builtins import rounded
from machines.expressions.signatures import said
from machines.expressions.unparse import show
from machines.messages.automata import TooLargeError, Work
from machines.messages.compiler import compile_type
from machines.messages.outliers import outlier, outlier_of_field
from machines.messages.shapes import NO_MATCH, shown
from machines.messages.templates import TextField
from machines.model import Attribute, Body, CompositeFrame, Expression, Type
from machines.problems import Location, Problems

KINDS = tuple(f"A34{digit}" for digit in "01")  # what is wrong whatever the value
WORK_MAX = 500_000  # steps of comparing texts, for all that a role writes


def check_values(flow: CallGraph, problems: Problems) -> list[Write]:
    """A342: a field is written with a value that it may not take.

    Returns every field that the role writes, with what it may be written with.
    """
    if "main" not in flow.machines or flow.circle:
        return []
    data = DataFlow(flow)
    values = _Values(flow, problems, data.fields)
    values.signed_up(data.results)
    for found, spot in data.partial:
        values.lacks(found, spot)
    for write in data.writes:
        values.written(write)
    check_sizes(flow, data.writes, values.ends, problems)
    return data.writes


def _ends(body: Body, frame: CompositeFrame) -> Iterator[tuple[str, str]]:
    """Yield the fields that stand within a text or a line, with what ends them."""
    yield from ((field.name, until) for field, until in placed(body, frame) if until is not None)


class _Values:
    def __init__(self, flow: CallGraph, problems: Problems, fields_of_peers: Collection[str]) -> None:
        self.fields_of_peers = fields_of_peers
        self.flow = flow
        self.problems = problems
        self.types = flow.spec.types
        self.work = Work(WORK_MAX)
        self.outliers: dict[tuple[Type, Type, str | None], Any] = {}  # what was compared before, and found
        # The fields that stand within texts, each with the text that ends it.
        self.fields = {
            name: dict(_ends(message.body, flow.spec.frames.get(name, ())))
            for name, message in flow.spec.messages.items()
        }
        self.unanswered = flow.open_chains(
            stops=lambda machine: machine.always is not None and surely_taken(machine.always.answers.failed),
            passes=lambda site: not surely_taken(site.state.answers.failed),
        )
        self.told = {problem.place for problem in problems.found if problem.code in KINDS}

    def _is_answered(self, spot: Location) -> bool:
        state = self.flow.machines[spot.machine].states.get(spot.state)
        own = state is not None and surely_taken(state.answers.failed)
        return own or not self.unanswered.to(spot.machine)

    def ends(self, spot: Location) -> str:
        """Return whom a failure costs their session who did nothing, "" if nobody."""
        return "" if self._is_answered(spot) else self._ends(spot)

    def lacks(self, found: Partial, spot: Location) -> None:
        """A343: an expression has no value for what a peer may send."""
        places = [found.part.place, found.whole.place]
        if self._is_answered(spot) or not self.told.isdisjoint(places):
            return
        part, value = show(found.part), self._example(found.holds)
        where = f"{part} may be {value}"
        if found.always:
            where = f"{part} is {said(frozenset({kind(found.holds)}))}"
        text = f"{show(found.whole)} {'has' if found.always else 'may have'} no value: {found.why}"
        text += f", and {where}" if not isinstance(found.whole, Attribute) else ""
        hint = "ask with 'if' first, or narrow the type"
        if isinstance(found.whole, Attribute):
            given = ", ".join(sorted({*self.fields_of_peers, "number"}))
            hint = f"peers have {given}: give the field in what the sign-up returns, or in a 'let'"
        elif kind(found.holds) == "peer":
            hint = "keys are texts: take a field of the peer that is one"
        self.problems.add(found.whole.place, "A343", (found.said or text) + self._ends(spot), hint, spot)

    def _example(self, holds: Type) -> str:
        return shown(compile_type(holds, self.types).example()) if is_known(holds, self.types) else "that"

    def signed_up(self, results: Iterable[tuple[Expression, Type, Location]]) -> None:
        """A340: a sign-up returns what are no fields of a peer, which gets no seat then."""
        states = [state for machine in self.flow.machines.values() for state in machine.states.values()]
        sign_ups = {state.accept.machine.path for state in states if state.accept is not None}
        for value, holds, spot in results:
            every = {kind(member) for member in members(holds, self.types)}
            kinds = every - {"", "mapping", "null"}
            if spot.machine in sign_ups and kinds:
                what = f"{show(value)} {'is' if kinds == every else 'may be'} {said(frozenset(kinds))}"
                text = f"a sign-up returns the fields of its peer, and {what}: the peer would get no seat"
                hint = "give the fields names, like return: {name: name}, or return null"
                self.problems.add(value.place, "A340", text, hint, spot)

    def written(self, write: Write) -> None:
        """Tell of a field that is written with what it may not take."""
        if self._is_answered(write.spot) or write.value.place in self.told:
            return
        parts = members(write.holds, self.types)
        if PEER in parts and UNKNOWN not in parts:
            what = f"{show(write.value)} {'is' if set(parts) == {PEER} else 'may be'} a peer, which no field takes"
            text = f"the field {write.field.name!r} of {write.message} is a value of JSON, and {what}"
            hint = "send a field of it, which its sign-up gave it, or its number"
            self.problems.add(write.value.place, "A342", text + self._ends(write.spot), hint, write.spot)
        if not is_known(write.holds, self.types) or not parts:
            return
        try:
            value = self._outlier(write)
        except TooLargeError:
            return
        if value is NO_MATCH:
            return
        shape = compile_type(write.field.type, self.types)
        text = f"the field {write.field.name!r} of {write.message} takes {shape.describe()}"
        if shape.take(value) is not NO_MATCH:
            text += " without what stands behind it"
        text += f", and {show(write.value)} may be {shown(value)}"
        hint = "let what it comes from take no more, or ask with 'if' first"
        if isinstance(value, float) and shape.take(rounded(value)) is not NO_MATCH:
            hint = f"send the nearest whole number, round({show(write.value)}), or let the field be a number"
        self.problems.add(write.value.place, "A342", text + self._ends(write.spot), hint, write.spot)

    def _outlier(self, write: Write) -> Any:
        until = self.fields[write.message].get(write.field.name)
        if until is None and write.holds == write.field.type:
            return NO_MATCH
        key = write.holds, write.field.type, until
        if key not in self.outliers:
            shape, target = compile_type(write.holds, self.types), compile_type(write.field.type, self.types)
            self.outliers[key] = (
                outlier(shape, target, self.work)
                if until is None
                else outlier_of_field(shape, TextField(write.field.name, target, until), self.work)
            )
        return self.outliers[key]

    def _ends(self, spot: Location) -> str:
        """Return whom it costs their session."""
        role = self.flow.role
        listens = any(role.name in targets for targets in self.flow.spec.connects.values())
        if not listens or is_per_connection(role):
            return ""
        alone = self.flow.open_chains(stops=lambda _: False, passes=lambda site: not (site.accepts or site.starts))
        return ": it would end the session of all" if alone.to(spot.machine) else ""
