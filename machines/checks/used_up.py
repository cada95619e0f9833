"""Check of limits: A348, a limit that is never used up, for whoever takes its branch leaves the state."""

from __future__ import annotations

from collections.abc import Iterator

from machines.analysis.traversal import all_branches
from machines.model import Branch, Constant, Expression, Handlers, Machine, Name, Spec, State, Stay
from machines.problems import Problems


def check_used_up(spec: Spec, machine: Machine, problems: Problems) -> None:
    """A348: a number counts since the state was entered, and all branches that share it leave the state.

    A rate counts on, and 0 forbids the branch: of these nothing is told.
    """
    always = list(_limited(machine.always.answers, spec)) if machine.always is not None else []
    ends: dict[str, bool] = {}  # of each limit of the `always`: whether a branch that shares it stays, in any state
    for state in machine.states.values():
        own = [*_limited(state.answers, spec), *_following(state, spec)]
        stays = {_key(branch) for branch in (*own, *always) if isinstance(branch.next, Stay)}
        for branch in own:
            if _key(branch) not in stays:
                _tell(branch, problems)
        for branch in always:
            ends[_key(branch)] = ends.get(_key(branch), False) or _key(branch) in stays
    for branch in always:
        if not ends[_key(branch)]:
            _tell(branch, problems)


def _tell(branch: Branch, problems: Problems) -> None:
    assert branch.limit is not None, "it has one"
    text = "this limit is never used up: the branch leaves the state, and a number counts since the state was entered"
    problems.add(branch.limit.place, "A348", text, "count with 'let' and ask with 'if', give a rate, or 'stay' there")


def _limited(answers: Handlers, spec: Spec) -> Iterator[Branch]:
    for _, choice in answers.choices():
        yield from (branch for branch in all_branches(choice) if _is_number(branch.limit, spec))


def _following(state: State, spec: Spec) -> Iterator[Branch]:
    if state.then is not None:
        yield from (branch for branch in all_branches(state.then) if _is_number(branch.limit, spec))


def _is_number(limit: Expression | None, spec: Spec) -> bool:
    """Whether a limit is a number from 1 on, in place or as a setting."""
    if isinstance(limit, Name):
        setting = spec.settings.get(limit.name)
        return setting is not None and _is_count(setting.value)
    return isinstance(limit, Constant) and _is_count(limit.value)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _key(branch: Branch) -> str:
    """Return what a limit is counted by: a setting that branches share, or its own place."""
    return branch.limit.name if isinstance(branch.limit, Name) else str(branch.place)
