"""A spec is written in a browser: what is wrong is told as one types, pictures follow, the file changes on request."""

from __future__ import annotations

import json
import os
import signal
import stat
from collections.abc import Iterator
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import Any

import pytest

from machines.parser.loader import find, shipped
from runtime.cli import main
from runtime.studio.editing import Workbench
from tests.runtime.studio.test_traces import PAIR

pytest.importorskip("starlette", reason="the extra 'web' is not installed")

from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from runtime.studio import edit_site
from runtime.studio.bench import PATIENT, Bench, Request
from runtime.studio.edit_site import Drawings, EditSite, serve_editor
from runtime.studio.spec_file import BYTES_MAX, SpecFile, SpecFileError

HOST = "http://127.0.0.1:8000"
PAGE = "ws://127.0.0.1:8000/edit"
SPEC = """\
protocol: p
connects: {a: b}
messages: {a: {HI: hi}, b: {YES: yes}}
roles:
  b:
    main(peer):
      w: {within: 5 s, receive: {HI: {send: YES, return: null}}}
  a:
    main:
      s: {send: HI, within: 5 s, receive: {YES: {return: null}}}
"""
WRONG = SPEC.replace("send: YES", "send: YEZ")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "p.yaml"
    path.write_text(SPEC)
    return path


def told(path: Path, text: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for facts in Workbench(str(path)).told(text):
        found |= facts
    return found


# -- what a text says ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", shipped())
def test_what_ships_has_no_problems_and_a_picture_of_each_machine(name: str) -> None:
    found = told(Path(name), find(name).read_text())

    assert found["problems"] == []
    assert len({picture["id"] for picture in found["pictures"]}) == len(found["pictures"]) > 1


def test_what_is_told_of_a_text_is_what_accord_check_tells_of_a_file_that_has_it(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = told(path, WRONG)
    assert path.read_text() == SPEC, "nothing is written"

    path.write_text(WRONG)
    assert main(["check", str(path)]) == 2
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith(str(path))]
    assert lines == [
        f"{path}:{one['line']}:{one['column']}: {one['code']} {one['text']}"
        + (f" ({one['hint']})" if one["hint"] else "")
        for one in found["problems"]
    ]
    assert lines


@pytest.mark.parametrize(
    "text", ["", "a: [", "\x00", "protocol: p\n" * 3, "[" * 5000, "&a [*a]", "- 1", "x" * BYTES_MAX + "yz"]
)
def test_what_is_no_spec_has_problems_and_no_pictures(text: str, path: Path) -> None:
    found = told(path, text)

    assert found["problems"]
    assert found["unread"]
    assert "pictures" not in found


def test_a_variant_is_read_over_what_it_extends_and_says_in_which_file_a_problem_stands(path: Path) -> None:
    (path.parent / "v.yaml").write_text("extends: p\nprotocol: v\n")
    variant = "extends: p\nprotocol: v\nroles: {a: {main: {s: {within: 9 s}}}}\n"
    assert told(path.parent / "v.yaml", variant)["problems"] == []

    path.write_text(WRONG)
    files = {one["file"] for one in told(path.parent / "v.yaml", variant)["problems"]}
    assert files
    assert "" not in files


def test_a_spec_that_would_extend_itself_is_a_circle_before_it_is_saved(path: Path) -> None:
    (problem,) = told(path, f"extends: p\n{SPEC}")["problems"]
    assert (problem["code"], problem["text"]) == ("A136", "p extends itself, in a circle")


def test_rules_that_are_not_written_yet_are_no_hindrance(path: Path) -> None:
    text = SPEC.replace("messages:", "rules: [sums]\nmessages:").replace("{HI: {send", "{HI: {if: sums.even(2), send")
    found = told(path, text)
    assert "A400" not in [one["code"] for one in found["problems"]]
    assert found["pictures"]


# -- the file --------------------------------------------------------------------------------------------------------


def test_the_roles_of_a_text_together_are_told_as_accord_check_tells_them(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path.write_text(PAIR)
    facts = Workbench(str(path)).together(PAIR)["together"]

    assert main(["check", str(path), "--format", "json"]) == 2
    (report,) = json.loads(capsys.readouterr().out)["specs"]
    assert facts["state"] == report["explored"]["verdict"] == "refuted"
    assert {(one["code"], one["text"]) for one in facts["found"]} == {
        (one["code"], one["text"]) for one in report["explored"]["findings"]
    }
    assert all(one["steps"] and one["file"] == "" and one["line"] > 1 for one in facts["found"])


def test_what_a_spec_accepts_of_its_roles_together_is_not_told(path: Path) -> None:
    codes = {one["code"] for one in Workbench(str(path)).together(PAIR)["together"]["found"]}
    accepted = f"{PAIR}accepted:\n" + "".join(f"  {code}: it is so in the game\n" for code in codes)
    facts = Workbench(str(path)).together(accepted)["together"]
    assert (facts["found"], facts["state"]) == ([], "proved")


def test_a_text_with_problems_is_not_looked_at_further(path: Path) -> None:
    assert Workbench(str(path)).together(WRONG) == {}
    assert Workbench(str(path)).together("protocol: [") == {}


def test_a_file_is_written_whole_with_its_line_ends_and_its_rights(path: Path) -> None:
    path.write_bytes(b"a: 1\r\nb: 2\r\n")
    path.chmod(0o640)
    file = SpecFile(str(path))
    text, mark = file.read()
    assert text == "a: 1\nb: 2\n"

    file.write("a: 3\n", mark)

    assert path.read_bytes() == b"a: 3\r\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert os.listdir(path.parent) == ["p.yaml"], "nothing is left beside it"


def test_what_another_program_has_changed_is_not_written_over_unless_that_is_meant(path: Path) -> None:
    file = SpecFile(str(path))
    _, mark = file.read()
    path.write_text("theirs")

    with pytest.raises(SpecFileError, match="was changed by another program") as refused:
        file.write("ours", mark)
    assert path.read_text() == "theirs"
    file.write("ours", refused.value.there)
    assert path.read_text() == "ours"


def test_a_link_stays_one_and_what_it_leads_to_is_written(path: Path) -> None:
    link = path.parent / "link.yaml"
    link.symlink_to(path)
    file = SpecFile(str(link))
    file.write("ours", file.read()[1])
    assert link.is_symlink()
    assert path.read_text() == "ours"


def test_what_ships_what_is_too_long_and_what_is_gone_is_not_written(path: Path) -> None:
    shipped_file = SpecFile("sticks")
    with pytest.raises(SpecFileError, match="ships with Accord"):
        shipped_file.write("", shipped_file.read()[1])
    file = SpecFile(str(path))
    _, mark = file.read()
    with pytest.raises(SpecFileError, match="has at most"):
        file.write("x" * (BYTES_MAX + 1), mark)
    path.unlink()
    with pytest.raises(SpecFileError, match="cannot be read"):
        file.write("", mark)


# -- the process and the site ----------------------------------------------------------------------------------------


async def asked(bench: Bench, text: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []

    async def tell(facts: dict[str, Any]) -> None:
        found.append(facts)

    await bench.work(Request(text), tell)
    return found


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_what_takes_too_long_is_given_up_and_a_process_that_died_is_replaced(
    path: Path, anyio_backend: str
) -> None:
    hasty = Bench(str(path), seconds=0.0)
    assert "takes longer than 0 s" in (await asked(hasty, SPEC))[-1]["fault"]

    bench = Bench(str(path))
    try:
        before = await asked(bench, SPEC)
        assert [list(facts) for facts in before] == [["problems"], ["pictures"]]
        assert bench._child is not None
        os.kill(bench._child.pid, signal.SIGTERM)
        bench._child.wait()
        assert "has ended" in (await asked(bench, SPEC))[-1]["fault"]
        assert await asked(bench, SPEC) == before
    finally:
        bench.close()


@pytest.mark.skipif(not hasattr(os, "getpriority"), reason="this system has no such priorities")
@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_the_process_that_looks_at_all_roles_lets_others_go_first(path: Path, anyio_backend: str) -> None:
    found: list[dict[str, Any]] = []

    async def tell(facts: dict[str, Any]) -> None:
        found.append(facts)

    bench = Bench(str(path))
    try:
        await bench.work(Request(SPEC, together=True), tell)
        assert bench._child is not None
        assert os.getpriority(os.PRIO_PROCESS, bench._child.pid) >= PATIENT
        assert [one["together"]["state"] for one in found] == ["proved"]
    finally:
        bench.close()


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_page_that_leaves_in_the_midst_of_an_answer_spoils_none_of_another(
    path: Path, anyio_backend: str
) -> None:
    bench = Bench(str(path))
    try:
        whole = await asked(bench, SPEC)

        async def gone(_: dict[str, Any]) -> None:
            raise WebSocketDisconnect

        with pytest.raises(WebSocketDisconnect):
            await bench.work(Request(WRONG), gone)
        assert await asked(bench, SPEC) == whole
    finally:
        bench.close()


@pytest.fixture
def guest(path: Path) -> Iterator[TestClient]:
    site = EditSite(SpecFile(str(path)), Bench(str(path)), "secret", 8000, frozenset({"127.0.0.1"}))
    with TestClient(site.app, base_url=HOST) as guest:
        guest.cookies.set("accord-studio-8000", "secret")
        yield guest


def open_page(guest: TestClient, origin: str = HOST) -> Any:
    return guest.websocket_connect(PAGE, headers={"origin": origin})


def heard(page: Any, wanted: str) -> dict[str, Any]:
    while True:
        facts: dict[str, Any] = page.receive_json()
        if wanted in facts:
            return facts


def test_a_page_is_told_the_text_and_what_is_known_of_each_that_it_sends(guest: TestClient, path: Path) -> None:
    with open_page(guest) as page:
        first = page.receive_json()
        assert (first["text"], first["writable"]) == (SPEC, True)
        page.send_json({"seq": 1, "text": SPEC})
        assert heard(page, "problems") == {"seq": 1, "problems": []}
        pictures = heard(page, "pictures")["pictures"]
        assert [(one["role"], one["machine"]) for one in pictures] == [("b", "main"), ("a", "main")]
        drawn = guest.get(f"/drawn/{pictures[0]['version']}.svg")
        assert drawn.text.startswith("<svg")
        assert "script-src" not in drawn.headers["content-security-policy"]
        assert guest.get("/drawn/none.svg").status_code == 404

        page.send_json({"save": WRONG, "mark": first["mark"]})
        assert heard(page, "saved")["saved"]
        assert path.read_text() == WRONG
        page.send_json({"save": SPEC, "mark": first["mark"]})
        refused = heard(page, "saved")
        assert not refused["saved"]
        assert path.read_text() == WRONG


def test_all_roles_of_the_last_text_are_looked_at_together_and_those_of_no_other(
    guest: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(edit_site, "REST_SECONDS", 0.0)
    with open_page(guest) as page:
        for seq, text in enumerate((PAIR, SPEC, SPEC), start=1):
            page.send_json({"seq": seq, "text": text})
            if seq > 1:
                found = heard(page, "together")
                assert (found["seq"], found["together"]["state"]) == (seq, "proved")


@pytest.mark.parametrize("origin", ["http://evil.example", "null"])
def test_a_page_of_another_site_can_neither_read_nor_write_the_file(origin: str, guest: TestClient) -> None:
    with pytest.raises(WebSocketDisconnect):
        open_page(guest, origin).__enter__()
    guest.cookies.clear()
    with pytest.raises(WebSocketDisconnect):
        open_page(guest).__enter__()
    assert guest.get("/drawn/x.svg").status_code == 403


@pytest.mark.parametrize("sent", ["{", "[]", '{"text": 1}', '{"save": {"a": 1}}'])
def test_what_is_none_of_a_page_s_words_closes_it(sent: str, guest: TestClient, path: Path) -> None:
    with open_page(guest) as page:
        page.receive_json()
        page.send_text(sent)
        with pytest.raises(WebSocketDisconnect):
            page.receive_json()
    assert path.read_text() == SPEC


def test_pictures_that_nobody_asked_for_lately_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edit_site, "PICTURES_KEPT", 2)
    drawings = Drawings()
    first, *_, last = [drawings.version("x", f"digraph {{ a{number} }}") for number in range(3)]
    assert drawings.svg(first) is None
    assert drawings.svg(last)


def test_a_picture_that_is_too_much_for_graphviz_is_not_drawn_and_the_page_is_told(
    guest: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(edit_site, "DRAW_SECONDS", 0.0)
    with open_page(guest) as page:
        page.receive_json()
        page.send_json({"seq": 1, "text": SPEC.replace("protocol: p", "protocol: slow")})
        version = heard(page, "pictures")["pictures"][0]["version"]
        answer = guest.get(f"/drawn/{version}.svg")
        assert answer.status_code == 422
        assert "0 s" in answer.text
        monkeypatch.undo()
        assert guest.get(f"/drawn/{version}.svg").text.startswith("<svg"), "it may be drawn later"


@pytest.mark.parametrize("words", [["--save", "x.html"], ["--spec", "tsuro"], ["--force"]])
def test_what_is_for_a_journal_is_refused_for_a_spec(
    words: list[str], path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["studio", str(path), *words]) == 2
    assert "are for a journal" in capsys.readouterr().err


# -- in a browser ----------------------------------------------------------------------------------------------------


@pytest.fixture
def page(browser: Any, path: Path) -> Iterator[Any]:
    links: Queue[str] = Queue()
    Thread(target=serve_editor, args=(SpecFile(str(path)), (), "127.0.0.1", 0, links.put), daemon=True).start()
    page = browser.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(links.get(timeout=20))
    page.wait_for_selector("body[data-checked]")
    page.wait_for_selector("#pictures:not(.stale) svg")
    yield page
    page.close(run_before_unload=False)
    assert said == []


def until(page: Any, true: str, seconds: float = 20.0) -> None:
    """Wait until an expression holds in a page, whose policy lets nothing be evaluated there later."""
    page.evaluate(f"""() => new Promise((done, fail) => {{
        const end = performance.now() + {seconds * 1000};
        const look = () => ({true}) ? done() : performance.now() > end ? fail("never so") : requestAnimationFrame(look);
        look();
    }})""")


@pytest.mark.xdist_group("browser")
def test_a_designer_types_sees_what_is_wrong_mends_it_and_saves_by_keys_alone(page: Any, path: Path) -> None:
    assert page.inner_text("#state").startswith("no problems")
    assert page.locator("#pictures figure").count() == 2
    page.focus("#text")
    page.keyboard.press("Control+Home")
    for _ in range(6):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    page.keyboard.type("x")  # … return: null}}}x}
    page.wait_for_selector("#problems button")
    assert page.locator("#under .wrong").count() >= 1
    page.get_by_text("as of the last text that could be read").wait_for()
    page.get_by_text("as of the last text without problems").wait_for()
    assert page.get_attribute("#pictures", "class") == "stale", "the last good pictures stay, pale"
    assert page.locator("#pictures figure").count() == 2
    assert path.read_text() == SPEC, "nothing is written that nobody asked for"

    page.keyboard.press("Control+Home")
    page.keyboard.press("F8")
    line = page.evaluate(
        "(a => a.value.slice(0, a.selectionStart).split('\\n').length)(document.querySelector('#text'))"
    )
    assert line == int(page.inner_text("#problems button b").partition(":")[0])

    page.keyboard.press("Control+z")
    page.get_by_text("no problems; the roles together: proved").wait_for()
    page.get_by_text("as of the last text that could be read").wait_for(state="hidden")
    page.keyboard.press("Control+End")
    page.keyboard.type("# kept")
    page.get_by_text("no problems in any role alone; the roles together: still being looked at").wait_for()
    page.get_by_role("button", name="save").wait_for()
    page.keyboard.press("Control+s")
    page.get_by_text("saved").wait_for()
    assert path.read_text() == f"{SPEC}# kept"


@pytest.mark.xdist_group("browser")
def test_a_problem_clicked_puts_the_cursor_there_and_markup_in_a_text_is_text(page: Any) -> None:
    hostile = "<img src=x onerror=alert(1)>"
    page.fill("#text", SPEC.replace("YES: yes", f"{hostile}: yes").replace("send: YES", "send: YEZ"))
    page.wait_for_selector("#problems button")
    assert hostile in page.inner_text("#under")
    assert page.locator("main img, main script").count() == 0

    page.fill("#text", WRONG)
    page.locator("#problems button", has_text="YEZ").first.wait_for()
    page.locator("#problems button", has_text="YEZ").first.click()
    chosen = page.evaluate("(a => a.value.slice(a.selectionStart, a.selectionEnd))(document.querySelector('#text'))")
    assert chosen == "YEZ"


@pytest.mark.xdist_group("browser")
def test_what_is_wrong_with_the_roles_together_is_told_with_the_run_to_it(page: Any) -> None:
    page.fill("#text", PAIR)
    page.get_by_text("of the roles together").wait_for()
    assert page.locator("#pictures:not(.stale) svg").count() > 0, "each role can be read"
    run = page.locator("#problems details").first
    run.locator("summary").click()
    assert "HI" in run.locator("pre").inner_text()
    page.locator("#problems button").first.click()
    line = page.evaluate(
        "(a => a.value.slice(0, a.selectionStart).split('\\n').length)(document.querySelector('#text'))"
    )
    assert line == int(page.inner_text("#problems button b").partition(":")[0])
    page.fill("#text", SPEC)
    page.get_by_text("the roles together: proved").wait_for()


@pytest.mark.xdist_group("browser")
def test_a_file_changed_meanwhile_is_written_over_only_when_one_says_so(page: Any, path: Path) -> None:
    page.fill("#text", f"{SPEC}# ours")
    path.write_text(f"{SPEC}# theirs")
    page.keyboard.press("Control+s")
    page.get_by_text("was changed by another program").wait_for()
    assert path.read_text().endswith("# theirs")
    page.click("#over")
    page.get_by_text("saved", exact=True).wait_for()  # "not saved" was there before
    assert path.read_text().endswith("# ours")
