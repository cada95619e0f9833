"""A trial on the page: what its buttons do is what ``accord try`` does, and an edit does it again as far as it fits."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import Any

import pytest

from diagrams.states.marks import Marks
from machines.engine.routing import stands
from machines.parser.loader import find, load, load_text
from runtime.cli import main
from runtime.playground.repl import Repl
from runtime.playground.stubs import RuleStubs
from runtime.studio import trials
from runtime.studio.editing import Workbench
from runtime.studio.trials import Trial, trial_steps
from tests.runtime.studio.test_editing import until

pytest.importorskip("starlette", reason="the extra 'web' is not installed")

from runtime.studio.edit_site import serve_editor
from runtime.studio.spec_file import SpecFile

TWO = ["connect player ann", "connect player bob"]
GAME = [*TWO, "wait", "answer ann TAKE count=3", "answer bob TAKE count=2", "lose ann"]
RULED = """\
protocol: p
rules: [sums]
connects: {a: b}
messages: {a: {HI: hi}, b: {YES: yes}}
roles:
  b:
    main(peer):
      w: {within: 5 s, receive: {HI: [{if: sums.even(2), send: YES, return: null}, {return: 1}]}}
  a:
    main:
      s: {send: HI, within: 5 s, receive: {YES: {return: null}}, fault: {return: 2}}
"""


def made(lines: list[str], name: str = "sticks") -> Trial:
    spec = load(name)
    trial = Trial(spec, Marks(spec))
    trial.take(lines)
    return trial


def told(bench: Workbench, text: str, lines: list[str]) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    for one in bench.told(text, lines):
        facts |= one
    found: dict[str, Any] = facts["trial"]
    return found


def test_a_trial_shows_what_was_said_and_where_everybody_stands() -> None:
    trial = made(GAME)
    assert trial._desk is not None
    run = trial._desk.trial
    marks = Marks(load("sticks"))
    steps, parties = trial_steps(run, marks)

    assert [(party.name, party.root) for party in parties] == [("host", True), ("ann", False), ("bob", False)]
    ids = {party.name: party.id for party in parties}
    said = [(one.source, one.target, one.text) for step in steps for one in step.said]
    assert (ids["ann"], ids["host"], "TAKE") in said
    assert len([line for line in said if line[2] == "TAKE"]) == 2, "a message is one line, though two sessions know it"
    for name, party in run.parties.items():
        assert party.session is not None
        wanted = {marks.box(party.role, path, state) for path, state in stands(party.session)}
        assert set(steps[-1].stands.get(ids[name], ())) == wanted
    assert any(step.arrows for step in steps)


@pytest.mark.parametrize("cut", range(len(GAME)))
def test_what_goes_on_from_where_it_was_is_what_is_done_at_once(cut: int) -> None:
    text = find("sticks").read_text()
    whole = told(Workbench("sticks"), text, GAME)
    bench = Workbench("sticks")
    told(bench, text, GAME[:cut])
    assert told(bench, text, GAME) == whole
    assert told(bench, text, GAME[:cut]) == told(Workbench("sticks"), text, GAME[:cut]), "taken back"


def test_an_edit_does_the_choices_again_up_to_the_first_that_no_longer_fits() -> None:
    bench = Workbench("sticks")
    text = find("sticks").read_text()
    assert told(bench, text, GAME)["stopped"] == ""

    edited = told(bench, text.replace("Count: int 1..3", "Count: int 1..2"), GAME)
    assert edited["lines"] == GAME[:3]
    assert edited["left"] == 3
    assert "count" in edited["stopped"]
    assert told(bench, text, GAME)["lines"] == GAME


def test_a_choice_that_cannot_be_done_changes_nothing() -> None:
    trial = made(GAME)
    trial.take(["answer ann TAKE count=1"])
    facts = trial.facts([*GAME, "answer ann TAKE count=1"])
    assert facts["lines"] == GAME
    assert facts["stopped"] == "ann is not asked anything now"


def test_a_rule_that_is_not_there_is_asked_about_and_its_answer_is_a_line() -> None:
    spec = load_text(RULED, rules=["sums"])
    trial = Trial(spec, Marks(spec))
    trial.take(["connect a ann"])
    facts = trial.facts(["connect a ann"])
    assert facts["rule"] == {"call": "sums.even(2)", "boolean": True, "lines": ["connect a ann"]}
    assert facts["lines"] == []

    lines = ["connect a ann", "rule sums.even = true"]
    again = Trial(spec, Marks(spec))
    again.take(lines)
    assert again.facts(lines)["rule"] is None
    assert again.done == lines


def test_the_script_of_a_trial_is_one_for_accord_try(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "script.txt"
    script.write_text("\n".join(made(GAME).done))
    assert main(["try", "sticks", "--script", str(script)]) == 0
    assert "TAKEN" in capsys.readouterr().out


def test_what_a_person_says_by_hand_is_shown_and_so_is_what_is_no_message() -> None:
    trial = made(["hand player eve", "raw eve <b>nonsense</b>"])
    facts = trial.facts(trial.done)
    said = [line for row in facts["rows"] for line in row[7]]
    assert ["t1", "t0", "a message", 0] in said
    assert any(line[3] == facts["tones"]["violation"] for line in said)
    assert facts["byHand"] == []  # it is thrown out
    assert any("<b>nonsense</b>" in text for one in facts["details"] for text in one)


def test_the_legal_answers_of_a_game_are_offered_with_their_lines() -> None:
    lines = [f"connect client {name}" for name in ("ann", "bob", "cyd")]
    trial = made([*lines, "wait"], "tsuro")
    legal = trial.facts(trial.done)["legal"]["ann"]
    assert len(legal) == 320
    trial.take([legal[7][1]])
    assert trial.done[-1] == legal[7][1]
    steps, _ = trial_steps(trial._desk.trial, Marks(load("tsuro")))  # type: ignore[union-attr]
    assert not any(one.tone == 2 for step in steps for one in step.said), "it was legal"


def test_a_trial_tells_how_long_the_next_clock_takes_who_would_be_turned_away_and_what_was_late() -> None:
    trial = made(TWO)
    before = trial.facts(TWO)
    assert before["shut"] == []
    trial.take([f"wait {before['wait'] - 1}"])
    assert trial.facts(trial.done)["wait"] == pytest.approx(1.0)
    trial.take(["wait"])
    facts = trial.facts(trial.done)
    assert facts["shut"] == ["player"]
    assert any(offer["words"].startswith("connect player") for offer in facts["offers"]), "it may be tried all the same"

    trial.take(["wait"])
    said = [line[2] for row in trial.facts(trial.done)["rows"] for line in row[7]]
    assert [text for text in said if text.startswith("late")] == ["late: no answer to move"]


def test_a_trial_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials, "LINES_MAX", 3)
    trial = made(TWO)
    trial.take(["wait", "wait"])
    assert trial.done == TWO
    assert "at most 3 lines" in trial.facts(TWO)["stopped"]


def test_an_answer_without_end_leaves_the_trial_where_it_was() -> None:
    """What a person makes up is a choice that cannot be done, whatever it is."""
    spec = load("sticks")
    for line in (
        "",
        "nonsense",
        "answer",
        "answer ann TAKE count={",
        "wait 1e400",
        "connect player " + "x" * 70_000,
        "rule x = 1",
    ):
        trial = Trial(spec, Marks(spec))
        trial.take([*TWO, line])
        assert trial.done == TWO


def test_repl_says_which_rule_was_asked_about_when_the_lines_ended() -> None:
    spec = load_text(RULED, rules=["sums"])
    assert RuleStubs(spec, (), lambda *_: None).missing

    class Screen:
        def show(self, kind: str, line: str) -> None: ...

        def ask(self, prompt: str) -> None: ...

    desk = Repl(spec, ["connect a ann"], Screen(), strict=True)
    desk.run()
    assert desk.asked is not None
    assert (desk.asked.name, desk.asked.boolean) == ("sums.even", True)
    assert desk.done == []


# -- in a browser ----------------------------------------------------------------------------------------------------


@pytest.fixture
def page(browser: Any, tmp_path: Path) -> Iterator[Any]:
    path = tmp_path / "sticks.yaml"
    path.write_text(find("sticks").read_text())
    links: Queue[str] = Queue()
    Thread(target=serve_editor, args=(SpecFile(str(path)), (), "127.0.0.1", 0, links.put), daemon=True).start()
    page = browser.new_page(viewport={"width": 1400, "height": 850})
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(links.get(timeout=20))
    page.wait_for_selector("body[data-tried]")
    yield page
    page.close(run_before_unload=False)
    assert said == []


def choices(page: Any, count: int) -> None:
    page.get_by_text(f", {count} choice{'' if count == 1 else 's'}").wait_for()


@pytest.mark.xdist_group("browser")
def test_all_roles_are_played_by_buttons_and_an_edit_goes_on_from_there(page: Any) -> None:
    page.get_by_role("button", name="player ann comes").click()
    page.get_by_role("button", name="player bob comes").click()
    choices(page, 2)
    assert page.inner_text("#wait") == "wait 30 s", "the window"
    page.fill("#seconds", "1")
    assert page.inner_text("#wait") == "wait"
    page.fill("#seconds", "")
    page.click("#wait")
    choices(page, 3)
    assert page.get_by_text("who comes is turned away").count() == 1
    page.get_by_label("count").fill("2")
    page.get_by_role("button", name="TAKE", exact=True).click()
    choices(page, 4)
    assert page.locator("#pictures .token").count() == 2
    assert page.locator(".row", has_text="TAKEN").count() >= 1
    assert page.text_content("#script").splitlines()[-1] == "answer ann TAKE count=2"

    page.fill("#text", page.input_value("#text").replace("sticks: 21", "sticks: 22"))
    until(page, "document.body.dataset.tried === document.body.dataset.checked")
    choices(page, 4)
    page.click("#undo")
    choices(page, 3)
    page.get_by_label("count").fill("9")
    page.get_by_role("button", name="TAKE", exact=True).click()
    page.wait_for_selector("#stopped:visible")
    assert "count of TAKE" in page.inner_text("#stopped")

    page.fill("#text", page.input_value("#text").replace("connects", "conects"))
    page.get_by_text("waits until the spec has no problems").wait_for()
    assert page.locator("#parties button:not(:disabled)").count() == 0


@pytest.mark.xdist_group("browser")
def test_a_trial_is_played_by_keys_alone(page: Any) -> None:
    page.focus("#parties")
    for count in (1, 2):
        while not page.evaluate("document.activeElement.matches('button[title^=start]')"):
            page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        choices(page, count)
    page.focus("#wait")
    page.keyboard.press("Space")
    choices(page, 3)
    page.focus("#parties")
    while not page.evaluate("document.activeElement.matches('label input')"):
        page.keyboard.press("Tab")
    page.keyboard.press("Control+a")
    page.keyboard.type("3")
    page.keyboard.press("Enter")
    choices(page, 4)
    page.focus("#list")
    last = page.get_attribute("#list", "aria-activedescendant")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    assert page.get_attribute("#list", "aria-activedescendant") != last
    page.focus("#undo")
    page.keyboard.press("Enter")
    choices(page, 3)
