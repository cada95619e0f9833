"""What ``accord check`` finds is seen step by step, over the pictures of all roles."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from diagrams.states.marks import Marks
from machines.model import Spec
from machines.parser.loader import load_text
from machines.verification.verdict import Finding
from runtime.cli import main
from runtime.commands.verification import Bounds, explored
from runtime.studio.traces import role_of, trace_steps

PAIR = """\
protocol: pair
connects: {client: server}
settings: {reply: 5 s}
messages:
  client: {HI: hi, BYE: bye}
  server: {YES: yes}
roles:
  server:
    main:
      door: {accept: named(peer), as: peers, seats: 1..2, within: 9 s, timeout: {return: null}, then: asked}
      asked:
        {send: {peers: YES}, await: peers, within: reply, receive: {BYE: {return: 1}}, fault: {return: 3}}
    named(peer):
      first: {await: peer, within: reply, receive: {HI: {return: {name: "'x'"}}}, fault: {return: {name: "'y'"}}}
  client:
    main:
      begin: {send: HI, within: 1 min, receive: {YES: last}, fault: {return: 1}}
      last: [{if: my.polite, send: BYE, return: null}, {send: HI, return: null}]
"""


@pytest.fixture(scope="module")
def spec() -> Spec:
    return load_text(PAIR)


@pytest.fixture(scope="module")
def finding(spec: Spec) -> Finding:
    return next(one for one in explored(spec, [], Bounds(clients=2), "pair").findings if one.trace)


def test_each_step_of_a_trace_is_a_step_and_lights_where_its_party_is_then(spec: Spec, finding: Finding) -> None:
    marks = Marks(spec)
    steps, parties = trace_steps(spec, marks, finding.trace)

    assert len(steps) == len(finding.trace) > 3
    ids = {party.name: party.id for party in parties}
    assert parties[0].root, "who listens stands in the middle"
    for step, told in zip(steps, finding.trace, strict=True):
        assert step.said[0].text == told.does
        assert [(one.source, one.target, one.text) for one in step.said[1 : 1 + len(told.sent)]] == [
            (ids[told.who], ids[to], message) for to, message in told.sent
        ]
        role = role_of(spec, told.who)
        boxes = {marks.box(role, *where.split(".")) for where in told.where.split(", ") if "." in where}
        assert set(step.stands.get(ids[told.who], ())) == boxes
    known = {one for ids in marks.keys().values() for one in ids}
    assert known >= {arrow for step in steps for arrow in step.arrows}
    assert any(step.arrows for step in steps)


@pytest.mark.parametrize(
    ("name", "role"), [("client 2", "client"), ("server", "server"), ("server of client 1", "server"), ("x", "x")]
)
def test_the_role_of_a_party_is_in_its_name(name: str, role: str, spec: Spec) -> None:
    assert role_of(spec, name) == role


def test_a_check_that_is_watched_has_no_page(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("starlette", reason="the extra 'web' is not installed")
    assert main(["check", "sticks", "--studio", "--watch"]) == 2
    assert "--studio shows what one check found" in capsys.readouterr().err


def test_where_nothing_is_found_nothing_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("starlette", reason="the extra 'web' is not installed")
    assert main(["check", "sticks", "--studio"]) == 0
    assert "so there is nothing to show" in capsys.readouterr().err


@pytest.mark.xdist_group("browser")
def test_a_finding_is_stepped_through_in_a_browser(tmp_path: Path, browser: Any) -> None:
    pytest.importorskip("starlette", reason="the extra 'web' is not installed")
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="the extra 'test-web' is not installed")
    path = tmp_path / "pair.yaml"
    path.write_text(PAIR)
    words = [sys.executable, "-m", "runtime", "check", str(path), "--studio"]
    check = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert check.stderr is not None
    link = None
    while link is None:
        line = check.stderr.readline().decode()
        assert line, "it says where the page is"
        link = re.search(r"studio: (http://\S+)", line)
    page = browser.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(link[1])
    page.wait_for_selector("body[data-ready]")

    assert "HI is not expected" in page.inner_text("#which option:checked")
    assert page.inner_text("#where").startswith("step 1 of ")
    page.keyboard.press("End")
    page.wait_for_selector("#detail h2")
    assert page.inner_text("#violation") == "next violation (1)"
    assert "HI is not expected" in page.inner_text(".row.violation"), "the last step says what is wrong"
    assert page.locator(".row.now").count() >= 1
    with page.expect_navigation():
        page.select_option("#which", "0")
    page.wait_for_selector("body[data-ready]")
    assert axe.Axe().run(page).response["violations"] == []
    for asked in ("/run.json?trace=99", "/run.json?trace=-1", "/step/0?trace=x"):
        assert page.request.get(link[1].partition("/enter")[0] + asked).status == 404
    page.close()
    check.terminate()
    check.communicate()
    assert said == []
