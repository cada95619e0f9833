"""Every role of every shipped spec, run by Accord itself: nobody is accused, and there is an end."""

from __future__ import annotations

import json
import sys

import pytest

from machines.parser.loader import load, rules_modules, shipped
from runtime.cli import main
from runtime.commands.conform import Question
from runtime.commands.exit_codes import CommandError
from runtime.conforming.campaigning import BUDGET_SECONDS


def judged_roles() -> list[tuple[str, str]]:
    """Return all roles of shipped specs that can be asked about."""
    found = []
    for name in shipped():
        spec = load(name)
        for role in spec.roles:
            try:
                Question(spec, role, {}, rules_modules(spec, ()))
            except CommandError:
                continue
            found.append((name, role))
    return found


def own_program(name: str, role: str) -> str:
    """Return the command by which Accord plays a role."""
    spec = load(name)
    if role in spec.listeners():
        return f"{sys.executable} -m runtime serve {name} --role {role} --port {{port}} --no-journal --quiet"
    first, *others = spec.connects[role]
    to = " ".join(f"--to {one}={{host}}:{{port_{one}}}" for one in others)
    return (
        f"{sys.executable} -m runtime join {name} {{host}}:{{port_{first}}} --role {role} --name me --no-journal {to}"
    )


def test_only_what_runs_side_by_side_cannot_be_asked_about() -> None:
    """Roles that only strangers speak to have nobody to play the other side."""
    others = {name for name in shipped() if set(load(name).connects) <= set(load(name).foreign)}
    roles = {(name, role) for name in shipped() if name not in others for role in load(name).roles}

    assert roles - set(judged_roles()) == {("trains", "server"), ("trains-official", "server")}


IN_A_MOMENT = ("sticks", "player")  # the others take a minute each


@pytest.mark.parametrize(
    ("name", "role"),
    [pytest.param(*one, marks=() if one == IN_A_MOMENT else pytest.mark.release) for one in judged_roles()],
)
def test_our_own_programs_are_not_accused_and_there_is_an_end(
    name: str, role: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["conform", name, role, "--run", own_program(name, role), "--json"])
    told = json.loads(capsys.readouterr().out)

    verdicts = [one["verdict"] for one in told["requirements"]]
    assert "fail" not in verdicts
    assert verdicts.count("pass") > len(verdicts) / 3
    assert told["seconds"] < BUDGET_SECONDS + 15
