"""A verdict for each requirement, from what came of all cases: pass, fail or open. A fail is told once confirmed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from machines.conforming.case_results import CaseResult
from machines.conforming.following import RANG
from machines.conforming.requirements import EVENT_OF, Requirement, RequirementClass, id_of
from machines.conforming.spec_lines import explained, place_of, state_of
from machines.model import Spec
from machines.problems import Place

Standing = Literal["pass", "fail", "open"]
CUT = ("bytes", "glued")
NEVER_SAID = "it never sent one, and may always do without"


@dataclass(frozen=True, slots=True)
class RequirementVerdict:
    """What is known of a requirement. ``failed`` are the cases against it, the one with the shortest way first.

    ``came`` counts the cases that came through it; ``confirmed`` in how many of how many runs the fail came back.
    ``known`` is the reason that a file of known fails gives.
    """

    requirement: Requirement
    standing: Standing
    why: str = ""
    failed: tuple[CaseResult, ...] = ()
    came: int = 0
    confirmed: tuple[int, int] = (1, 1)
    known: str = ""


@dataclass(slots=True)
class Judgement:
    """Everything about a role: ``verdicts`` in the order of the spec, ``results`` of all cases."""

    spec: Spec
    role: str
    verdicts: list[RequirementVerdict] = field(default_factory=list)
    results: list[CaseResult] = field(default_factory=list)

    def of(self, standing: Standing, of: RequirementClass | None = None) -> list[RequirementVerdict]:
        """Return the verdicts of one kind, and of one class if it is given."""
        return [one for one in self.verdicts if one.standing == standing and of in (None, one.requirement.of)]


def against(spec: Spec, role: str, result: CaseResult) -> str:
    """Return the id of the requirement that a case failed, before it is known in which other cases it did."""
    if result.rule is not None:
        return f"{role}/rules/{result.rule[0].partition(' or ')[0]}"
    assert result.deviation is not None, "something was wrong"
    if result.after_deed:
        return f"{role}/{result.case.state}/{EVENT_OF[result.case.deed]}"
    return id_of(spec, role, result.deviation, result.told)


def is_alike(one: CaseResult, other: CaseResult) -> bool:
    """Whether two cases failed alike. The state may differ: what a program has read by then depends on the moment; and
    so may it whether a message was sent before its time, or as an answer to what crossed it, against the rules.
    """
    if one.outcome != "fault" or other.outcome != "fault" or one.after_deed != other.after_deed:
        return False
    return bool(_messages(one) & _messages(other)) or _kind(one) == _kind(other)


def _messages(result: CaseResult) -> set[str]:
    if result.rule is not None:
        return set(result.rule[0].split(" or "))
    return set(result.deviation.names) if result.deviation is not None else set()


def _kind(result: CaseResult) -> str:
    """Return the kind of a fault that no message tells; by the message where one does."""
    if result.deviation is None or _messages(result):
        return ", ".join(sorted(_messages(result)))
    return result.deviation.kind


def failures(spec: Spec, role: str, results: Iterable[CaseResult]) -> dict[str, list[CaseResult]]:
    """Return the cases that failed, by requirement; the one with the shortest way first.

    What fails only where bytes are cut or spelled oddly is a matter of the wire.
    """
    plain: dict[str, list[CaseResult]] = {}
    special: list[tuple[str, CaseResult]] = []
    for one in results:
        if one.outcome == "fault":
            found = against(spec, role, one)
            if one.case.cutting:
                special.append((found, one))
            else:
                plain.setdefault(found, []).append(one)
    for found, one in special:
        wire = f"{role}/wire/cut" if one.case.cutting in CUT else f"{role}/wire/tolerant"
        plain.setdefault(found if found in plain else wire, []).append(one)
    return {name: sorted(listed, key=lambda one: len(one.trace)) for name, listed in plain.items()}


def judged(
    spec: Spec,
    role: str,
    wanted: Sequence[Requirement],
    results: Sequence[CaseResult],
    unstable: Mapping[str, str] = {},
    came_back: Mapping[str, CaseResult] = {},
) -> Judgement:
    """Return the verdicts; fails in ``unstable`` did not come back, and are open: it says why.

    ``came_back`` are the cases to tell a fail with, where that is not the shortest one.
    """
    failed = failures(spec, role, results)
    for name, first in came_back.items():
        failed[name] = [first, *(one for one in failed[name] if one is not first)]
    found = Judgement(spec, role, results=list(results))
    has_played = any(one.outcome == "right" and not one.case.deed for one in results)
    needless = _about_choices(spec, role) if has_played else frozenset()
    for one in (*wanted, *_unlisted(spec, role, wanted, failed)):
        came = [result for result in results if _came_through(one, result)]
        verdict = RequirementVerdict(one, "pass" if came else "open", came=len(came))
        if one.id in failed and one.id in unstable:
            verdict = replace(verdict, standing="open", why=unstable[one.id])
        elif one.id in failed:
            verdict = replace(
                verdict, standing="fail", failed=tuple(failed[one.id]), why=said(spec, role, failed[one.id][0])
            )
        elif not came and one.id in needless:
            verdict = replace(verdict, standing="pass", why=NEVER_SAID)
        elif not came:
            verdict = replace(verdict, why=_why_open(one, results))
        elif one.id.endswith("/within"):
            verdict = _limited(verdict, came)
        found.verdicts.append(verdict)
    return found


def _about_choices(spec: Spec, role: str) -> frozenset[str]:
    """Return the ids of requirements about messages that a role never has to send: it may always choose another."""
    choices: dict[str, list[int]] = {}
    for machine in spec.roles[role].machines.values():
        for state in machine.states.values():
            own = [name for name in state.answers.receive if role in spec.messages[name].senders]
            for name in own if state.ask is not None else ():
                choices.setdefault(name, []).append(len(own))
    free = [name for name, counts in choices.items() if min(counts) > 1]
    return frozenset(f"{role}/{kind}/{name}" for kind in ("type", "rules") for name in free)


def _unlisted(
    spec: Spec, role: str, wanted: Sequence[Requirement], failed: dict[str, list[CaseResult]]
) -> list[Requirement]:
    """Return requirements for what failed that is against none of those listed, as at the end of a role."""
    known = {one.id for one in wanted}
    return [
        Requirement(name, cases[0].case.of, spec.roles[role].place, "it does nothing but what the spec lets it do")
        for name, cases in failed.items()
        if name not in known
    ]


def _came_through(one: Requirement, result: CaseResult) -> bool:
    _, _, rest = one.id.partition("/")
    kind, _, name = rest.partition("/")
    right = result.outcome == "right"
    if rest in ("wire/cut", "wire/tolerant"):
        return right and (result.case.cutting in CUT if name == "cut" else result.case.cutting == "odd")
    if rest == "wire/strict":
        return right and not result.odd and bool(result.said)
    if kind in ("type", "rules"):
        return name in result.said and result.case.cutting != "odd"
    if one.of == "broken peer":
        return right and result.deed_done and kind == result.case.state and name == EVENT_OF[result.case.deed]
    return bool(one.labels & result.labels)


def _limited(verdict: RequirementVerdict, came: Sequence[CaseResult]) -> RequirementVerdict:
    """Who gives up by its own limit keeps to its spec: that is no pass."""
    state = verdict.requirement.id.split("/")[1]
    asked = [result for result in came if not (result.deed_done and result.case.state == state)]
    if not asked:
        return replace(verdict, standing="open", why="it was never left to answer")
    if all(RANG + state in result.labels for result in asked):
        return replace(verdict, standing="open", why="it gave up by its own limit each time")
    return verdict


def _why_open(one: Requirement, results: Sequence[CaseResult]) -> str:
    _, _, rest = one.id.partition("/")
    state, _, name = rest.partition("/")
    tried = [result for result in results if result.case.state == state and EVENT_OF.get(result.case.deed) == name]
    whys = [result.why for result in tried if result.why]
    if whys:
        return whys[0]
    if rest == "wire/strict" and any(result.odd for result in results):
        return next(result.odd for result in results if result.odd)
    if one.of == "broken peer":
        return "not tried: its limit is longer than --longest" if name == "on-silence" else "not tried"
    if any(result.outcome == "right" for result in results):
        stopped = next((result.why for result in results if result.out_of_time), "")
    else:
        stopped = next((result.why for result in results if result.outcome == "open" and result.why), "")
    return "never reached" + (f": {stopped}" if stopped else "")


def said(spec: Spec, role: str, result: CaseResult) -> str:
    """Return in a line what was wrong in a case."""
    if result.rule is not None:
        message, why, _ = result.rule
        return f"its {message} is against the rules: {why}"
    assert result.deviation is not None, "something was wrong"
    return explained(spec, role, result.deviation)


def line_of(spec: Spec, role: str, verdict: RequirementVerdict) -> Place | str:
    """Return the line of the spec that a verdict is told with."""
    for result in verdict.failed:
        if result.rule is not None and result.rule[2]:
            return result.rule[2]
        if result.deviation is not None:
            return place_of(spec, role, result.deviation)
    return verdict.requirement.place


def covered(spec: Spec, role: str, results: Iterable[CaseResult]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the states that were come through for certain, and those that were not, as ``machine.state``."""
    seen = {label for result in results for label in result.labels if isinstance(label, str)}
    names = [f"{machine.name}.{state}" for machine in spec.roles[role].machines.values() for state in machine.states]
    there = tuple(name for name in names if name in seen and state_of(spec, role, name))
    return there, tuple(name for name in names if name not in there)
