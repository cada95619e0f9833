"""Mistakes planted in a server of mail, which knows nothing of Accord: each is found, with its requirement and line.

What a server says, or does not say, once its client has closed the connection nobody hears: no mistake of that kind is
among them.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from runtime.cli import main
from tests.runtime.conforming.strangers import smtp_server

HERE = Path(__file__).parent / "strangers"
SPEC = Path("specs/smtp.yaml").read_text().splitlines()
STATE = "fresh:|ready:|addressed:|content:"
HEARD = {"MAIL FROM:": "MAIL", "RCPT TO:": "RCPT"}

# style -> (the requirement, what its line begins with), both regular expressions
PLANTED: dict[str, tuple[str, str]] = {
    **dict.fromkeys(smtp_server.TWICE, ("/sends-only", STATE)),
    **{style: (f"/hears-{HEARD.get(verb, verb)}", STATE) for style, verb in smtp_server.MUTE.items() if verb != "QUIT"},
    **dict.fromkeys([style for style, verb in smtp_server.CLOSES.items() if verb != "QUIT"], ("/within", STATE)),
    **dict.fromkeys(("code-too-small", "code-too-large", "no-code", "no-blank"), ("/type/REPLY", "REPLY:")),
    "two-greetings": ("fresh/sends-only", "fresh:"),
    "greeting-goes-on": ("fresh/sends-only", "fresh:"),
    "no-greeting": ("fresh/sends-only", "fresh:"),
    "half-a-greeting": ("fresh/within", "fresh:"),
    "leaves-at-once": ("fresh/within", "fresh:"),
    "other-closes": ("/within", STATE),
    "other-mute": ("/hears-OTHER", STATE),
    "other-twice": ("/sends-only", STATE),
    "ehlo-goes-on": ("/sends-only", "ready:"),
    "ehlo-turned": ("/sends-only", STATE),
    "ehlo-one-more": ("ready/sends-only", "ready:"),
    "knows-no-data": ("addressed/sends-only", "addressed:"),
    "answers-each-line": ("ready/sends-only", "ready:"),
    "takes-one-line": ("ready/sends-only", "ready:"),
    "content-twice": ("ready/sends-only", "ready:"),
    "content-closes": ("content/within", "content:"),
    "content-mute": ("/hears-CONTENT|/sends-only", STATE),
    "no-buffer": ("wire/cut|sends-only|hears-", ""),
}
CASES = ("of1,seat0,seed7", "of1,seat0,seed8", "of1,seat0,seed7,bytes")
SOME = ("knows-no-data", "ehlo-one-more")


def test_there_are_thirty_of_them() -> None:
    assert len(PLANTED) >= 30
    assert set(SOME) < set(PLANTED)


@pytest.mark.parametrize(
    "style", [pytest.param(one, marks=() if one in SOME else pytest.mark.release) for one in sorted(PLANTED)]
)
def test_a_mistake_planted_in_a_server_is_found_with_its_line(style: str, capsys: pytest.CaptureFixture[str]) -> None:
    id_, begins = PLANTED[style]
    program = f"{sys.executable} {HERE / 'smtp_server.py'} {{port}} {style}"
    only = [word for case in CASES for word in ("--only", f"server/*@{case}")]
    code = main(["conform", "smtp", "server", "--run", program, "--json", "--budget", "400", *only])
    told = json.loads(capsys.readouterr().out)

    fails = [one for one in told["requirements"] if one["verdict"] == "fail" and re.search(id_, one["id"])]
    assert code == 1
    assert fails, [one["id"] for one in told["requirements"] if one["verdict"] == "fail"]
    for found in fails:
        assert re.match(begins, SPEC[int(found["place"].split(":")[1]) - 1].strip())
        assert found["confirmed"] == [3, 3]
        assert found["way"]


@pytest.mark.parametrize(
    "style", [pytest.param(one, marks=() if one == "plain" else pytest.mark.release) for one in smtp_server.RIGHT]
)
def test_a_right_server_is_not_accused_in_any_style(style: str, capsys: pytest.CaptureFixture[str]) -> None:
    """However busy this machine is: a case waits for as many times as long as everything takes longer."""
    program = f"{sys.executable} {HERE / 'smtp_server.py'} {{port}} {style}"
    only = [word for case in CASES for word in ("--only", f"server/*@{case}")]
    main(["conform", "smtp", "server", "--run", program, "--json", "--budget", "400", *only])
    told = json.loads(capsys.readouterr().out)

    assert [one["id"] for one in told["requirements"] if one["verdict"] == "fail"] == []
    assert [(one["outcome"], one["why"]) for one in told["cases"]] == [("right", "")] * 3
