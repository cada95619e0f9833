"""The run to a finding as a script that ``accord try --script`` plays: ``accord check --journals DIR`` writes one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from machines.engine import routing
from machines.model import Spec
from machines.verification.verdict import Finding
from runtime.playground.message_input import ChoiceError, Filler, written
from runtime.playground.repl import act
from runtime.playground.scenario_runner import ManualRun
from runtime.playground.status import NAMES
from runtime.playground.stubs import RuleStubs

Names = dict[str, str]  # of parties, by what the trace calls them


def script_of(finding: Finding, spec: Spec, rules: list[str]) -> list[str] | None:
    """Return the lines of a finding's run; None if no replay confirmed it, or it can not be played by hand.

    All that is sent waits on the way until a line lets it through, so that clocks ring before and behind it as they
    do in the trace. The lines have been played, and come to where the replay came.
    """
    if not finding.deeds:
        return None
    try:
        trial = ManualRun(spec, RuleStubs(spec, rules, _none), lambda *_: None, seed=finding.sessions[0].seed)
        names: Names = {name: name for name in trial.parties}
        lines = []
        for line in _lines(finding, trial, names):
            act(trial, line)
            lines.append(line)
        lost = {
            deed[1] for deed in finding.deeds if deed[0] == "lose"
        }  # these notice it here, in the replay they do not
        same = (_is_at(trial, names.get(who, ""), at) for who, at in finding.stands.items() if who not in lost)
        return lines if all(same) else None
    except ChoiceError:
        return None


def _none(rule: str, call: str, boolean: bool) -> Any:
    raise ChoiceError(f"{rule} is not there")


def _lines(finding: Finding, trial: ManualRun, names: Names) -> Iterator[str]:
    """Yield the lines; each is done before the next is asked for."""
    yield "hold"
    filler = Filler(trial.spec)
    for what, who, *more in finding.deeds:
        match what:
            case "connect":
                (client,) = more
                names[client] = _free(trial)
                yield f"connect {who} {names[client]}"
                _name_company(client, trial, names)
            case "deliver":
                yield f"deliver {names[who]} to {names[more[0]]}"
            case "answer":
                message, answer = more
                fields = _fields(filler, message, answer)
                yield " ".join([f"answer {names[who]} {message}", *(f"{name}={written(one)}" for name, one in fields)])
            case "raw":
                to, data = more
                yield f"raw {names[who]} to {names[to]} {data.decode('utf-8', 'replace').strip()}"
            case _:
                yield f"{what} {names[who]}"


def _free(trial: ManualRun) -> str:
    taken = {*trial.parties, *trial.spec.roles}
    return next(
        name for name in (*NAMES, *(f"client{number}" for number in range(len(taken) + 1))) if name not in taken
    )


def _name_company(client: str, trial: ManualRun, names: Names) -> None:
    """Note the sessions that run for a client alone, by the names of the trace."""
    todo = [client]
    while todo:
        whose = todo.pop()
        for other in trial.parties[names[whose]].open.values():
            if other.name not in names.values():
                name = f"{other.role} of {whose}"
                names[name] = other.name
                todo.append(name)


def _fields(filler: Filler, message: str, answer: Any) -> list[tuple[str, Any]]:
    if isinstance(answer, tuple) and len(answer) == 2 and answer[0] == message and isinstance(answer[1], Mapping):
        return list(answer[1].items())
    shape = filler.shape(message)
    read = shape.read(answer)
    if read is None:
        raise ChoiceError(f"{message} is answered with something else")
    return list(zip(shape.fields, read, strict=True))


def _is_at(trial: ManualRun, name: str, where: tuple[str, ...]) -> bool:
    """Whether a party is where the replay had it: in these states, or over in this way."""
    party = trial.parties.get(name)
    if party is None or party.session is None:
        return False
    ended = party.session.ended
    if ended is not None:
        return where == ("failed" if ended.failed is not None else "over",)
    return where == tuple(sorted(f"{frame.table.name}.{frame.node.name}" for frame in routing.leaves(party.session)))
