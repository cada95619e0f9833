"""A spec while it is written: what its text says, as far as it is right. Plain data; no server, and nothing is drawn.

    text ▶ problems, each with its place ▶ a picture of each machine, as DOT ▶ where a trial of it stands

What is found is yielded as soon as it is known. A text that cannot be read has problems and no pictures.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from diagrams.states.dot import stems, write_spec
from diagrams.states.marks import Marks
from machines.checks.checker import check
from machines.model import Spec
from machines.parser.loader import SpecNotFound, allowed_rules, find, label, load_text, named_rules
from machines.problems import Place, Problem, SpecError
from machines.verification.abstract.contracts import ContractError
from runtime.playground.stubs import RuleStubs
from runtime.studio.trials import Trial


class Workbench:
    """What is known of one spec's texts. ``name`` is its path, ``rules`` are further modules that it may name."""

    def __init__(self, name: str, rules: Sequence[str] = ()) -> None:
        self._name = name
        self._rules = tuple(rules)
        self._text: str | None = None  # what was looked at last, with what came of it
        self._spec: Spec | None = None
        self._problems: list[dict[str, Any]] = []
        self._trial: Trial | None = None

    def told(self, text: str, lines: Sequence[str] | None = None) -> Iterator[dict[str, Any]]:
        """Yield what is to be told of a text: its problems; then, if it can be read, its pictures.

        ``pictures`` are ``{"id", "role", "machine", "dot"}``; ``unread`` says that there are none. Where there are no
        problems, ``lines`` are a trial of it, which is told too.
        """
        if text != self._text:
            self._text, self._trial = text, None
            self._spec, self._problems = self._read(text)
        yield {"problems": self._problems}
        spec = self._spec
        if spec is None:
            yield {"unread": True}
            return
        dots = write_spec(spec)
        yield {
            "pictures": [
                {"id": name, "role": role, "machine": machine, "dot": dots[name]}
                for (role, machine), name in stems(spec).items()
            ]
        }
        if lines is not None and not self._problems:
            yield {"trial": self._tried(spec, lines)}

    def together(self, text: str) -> dict[str, Any]:
        """Return what is known of all roles of a text together: nothing while it has problems.

        Else it is ``{"together": {"state", "summary", "found"}}``: the verdict in a word and in a sentence, and what
        was found, each as a problem with how ``sure`` it is and the ``steps`` to it, a line each.
        """
        spec, problems = self._read(text)
        if spec is None or problems:
            return {}
        from runtime.studio.together import together  # what the first look at a text can do without

        try:
            verdict = together(spec, RuleStubs(spec, self._rules, lambda *_: None).modules)
        except ContractError as error:
            return {"together": {"state": "undetermined", "summary": str(error), "found": []}}
        own = label(find(self._name))
        found = [
            {**_fact(one.problem(spec.place), own), "sure": one.sure, "steps": list(map(str, one.trace))}
            for one in (*verdict.findings, *verdict.dead)
        ]
        return {"together": {"state": verdict.state, "summary": verdict.summary()[0], "found": found}}

    def _tried(self, spec: Spec, lines: Sequence[str]) -> dict[str, Any]:
        """Return the facts of a trial; what was done last time is not done again, if this goes on from there."""
        trial = self._trial
        if trial is None or not trial.is_clean or list(lines[: len(trial.done)]) != trial.done:
            trial = Trial(spec, Marks(spec), self._rules)
        self._trial = None  # until all went well
        trial.take(lines[len(trial.done) :])
        facts = trial.facts(lines)
        self._trial = trial
        return facts

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
