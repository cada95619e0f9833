"""A spec while it is written: what its text says, as far as it is right. Plain data; no server, and nothing is drawn.

    text ▶ problems, each with its place ▶ a picture of each machine, as DOT ▶ …

What is found is yielded as soon as it is known. A text that cannot be read has problems and no pictures.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from diagrams.states.dot import stems, write_spec
from machines.checks.checker import check
from machines.loader import SpecNotFound, allowed_rules, find, label, load_text, named_rules
from machines.model import Spec
from machines.problems import Place, Problem, SpecError
from runtime.playground.stubs import RuleStubs


class Workbench:
    """What is known of one spec's texts. ``name`` is its path, ``rules`` are further modules that it may name."""

    def __init__(self, name: str, rules: Sequence[str] = ()) -> None:
        self._name = name
        self._rules = tuple(rules)

    def told(self, text: str) -> Iterator[dict[str, Any]]:
        """Yield what is to be told of a text: its problems; then, if it can be read, its pictures.

        ``pictures`` are ``{"id", "role", "machine", "dot"}``.
        """
        spec, problems = self._read(text)
        yield {"problems": problems}
        if spec is not None:
            dots = write_spec(spec)
            yield {
                "pictures": [
                    {"id": name, "role": role, "machine": machine, "dot": dots[name]}
                    for (role, machine), name in stems(spec).items()
                ]
            }

    def _read(self, text: str) -> tuple[Spec | None, list[dict[str, Any]]]:
        try:
            path = find(self._name)
            own = label(path)
            named = named_rules(self._name, text)
        except SpecNotFound as error:  # it was there when the page was opened
            return None, [_fact(Problem(Place(self._name, 1, 1), "", str(error)), self._name)]
        missing = [one for one in named if one not in allowed_rules(self._rules)]
        try:
            spec = load_text(text, own, folder=path.parent, path=path, rules=[*self._rules, *missing])
        except SpecError as error:
            return None, [_fact(problem, own) for problem in error.problems]
        stubs = RuleStubs(spec, self._rules, lambda *_: None)
        return spec, [_fact(problem, own) for problem in check(spec, stubs.modules)]


def _fact(problem: Problem, own: str) -> dict[str, Any]:
    """Return a problem for the page. ``file`` is empty if it stands in the text itself."""
    place = problem.place
    return {
        "file": "" if place.file == own else place.file,
        "line": place.line,
        "column": place.column,
        "code": problem.code,
        "text": problem.text,
        "hint": problem.hint,
    }
