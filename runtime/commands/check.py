"""``accord check``: all problems of specs, in file order."""

from __future__ import annotations

from typing import Any

from machines.checks.checker import check as problems_of
from machines.library import RulesError, SpecNotFound, load, rules_modules
from machines.problems import Problem, SpecError
from runtime.commands.faults import OK, PROBLEMS, CommandError
from runtime.commands.options import Json, Rules, SpecName, are_modules, is_spec
from runtime.commands.output import note, put, put_json


def check(*specs: SpecName, rules: Rules = [], json: Json = False) -> int:  # noqa: B006 (cyclopts makes a new list)
    """Report every problem of one or more specs, a line each: FILE:LINE:COLUMN: CODE what (what to do).

    Exit code 0 if there is none, 2 if there is one. Nothing is run but the specs' rules modules are imported.
    """
    if not specs:
        raise CommandError("check needs a spec: accord check SPEC...")
    are_modules(rules)
    found: list[dict[str, Any]] = []
    bad = missing = 0
    for name in specs:
        try:
            problems = _problems(name, rules)
        except (SpecNotFound, RulesError) as error:
            bad += 1
            missing += 1
            found.append({"spec": name, "problems": [], "error": str(error)})
            note(f"accord: {error}")
            continue
        bad += bool(problems)
        found.append({"spec": name, "problems": [_told(problem) for problem in problems]})
        if not json:
            for problem in problems:
                put(str(problem))
    if json:
        put_json({"ok": not bad, "specs": found})
    elif not bad:
        note(f"no problems in {', '.join(specs)}")
    else:
        count = sum(len(spec["problems"]) for spec in found)
        told = [f"{count} problem{'' if count == 1 else 's'}"] if count else []
        if missing:
            told.append(f"{missing} spec{'' if missing == 1 else 's'} not checked")
        note(", ".join(told))
    return PROBLEMS if bad else OK


def _problems(name: str, rules: list[str]) -> tuple[Problem, ...]:
    try:
        is_spec(name)
        spec = load(name, rules=rules)
        return tuple(problems_of(spec, rules_modules(spec, rules)))
    except SpecError as error:
        return error.problems


def _told(problem: Problem) -> dict[str, Any]:
    place = problem.place
    return {
        "file": place.file,
        "line": place.line,
        "column": place.column,
        "code": problem.code,
        "text": problem.text,
        "hint": problem.hint,
    }
