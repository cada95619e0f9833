"""The text that is written and the text that is coloured are one to who uses a mouse, keys, or a phone."""

from __future__ import annotations

from collections.abc import Iterator
from queue import Queue
from threading import Thread
from typing import Any

import pytest

from tests.runtime.studio.test_editing import until

pytest.importorskip("starlette", reason="the extra 'web' is not installed")

from runtime.studio.edit_site import serve_editor
from runtime.studio.spec_file import SpecFile

pytestmark = pytest.mark.xdist_group("browser")
LONG = 80  # lines above the roles: more than a screen has
SPEC = (
    """\
protocol: p
connects: {a: b}
messages: {a: {HI: hi}, b: {YES: yes}}
"""
    + "".join(f"# line {number}\n" for number in range(LONG))
    + f"""\
roles:
  b:
    main(peer):
      w: {{within: 5 s, receive: {{HI: {{send: YES, return: null}}}}}}
  a:
    main:
      s: {{send: HI, within: 5 s, receive: {{YES: {{return: null}}}}}} # {"wide " * 60}end
"""
)
SEEN = """() => {
  const text = document.querySelector('#text'), editor = document.querySelector('#editor').getBoundingClientRect();
  const before = text.value.slice(0, text.selectionEnd).split('\\n');
  const line = document.querySelectorAll('.code')[before.length - 1], range = document.createRange();
  const walk = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
  let left = before.at(-1).length, node = walk.nextNode();
  while (node && left > node.length) { left -= node.length; node = walk.nextNode(); }
  if (node) range.setStart(node, left);
  const caret = before.at(-1) ? range.getBoundingClientRect() : line.getBoundingClientRect();
  const gutter = parseFloat(getComputedStyle(line, '::before').width);
  return { line: before.length, shown: text.scrollTop === 0 && text.scrollLeft === 0 && caret.top >= editor.top - 1
    && caret.bottom <= editor.bottom + 1 && caret.left >= editor.left + gutter && caret.left <= editor.right };
}"""


@pytest.fixture(scope="module")
def link(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("spec") / "p.yaml"
    path.write_text(SPEC)
    links: Queue[str] = Queue()
    Thread(target=serve_editor, args=(SpecFile(str(path)), (), "127.0.0.1", 0, links.put), daemon=True).start()
    return links.get(timeout=20)


@pytest.fixture(params=[1440, 390])
def page(browser: Any, link: str, request: pytest.FixtureRequest) -> Iterator[Any]:
    page = browser.new_page(viewport={"width": request.param, "height": 900})
    page.goto(link)
    page.wait_for_selector("body[data-checked]")
    yield page
    page.close(run_before_unload=False)


def test_a_click_puts_the_cursor_where_the_text_is_and_the_wheel_scrolls_it(page: Any) -> None:
    page.locator(".code").nth(4).click(force=True, position={"x": 10, "y": 8})
    assert page.evaluate("document.activeElement.id") == "text"
    assert page.evaluate(SEEN)["line"] == 5
    page.locator(".code").nth(2).dblclick(force=True, position={"x": 20, "y": 8})
    chosen = page.evaluate("(a => a.value.slice(a.selectionStart, a.selectionEnd))(document.querySelector('#text'))")
    assert chosen == "messages"

    page.mouse.wheel(0, 400)
    until(page, "document.querySelector('#editor').scrollTop === 400")
    page.locator(".code").nth(24).click(force=True, position={"x": 10, "y": 8})
    assert page.evaluate(SEEN) == {"line": 25, "shown": True}


def test_keys_and_the_next_problem_bring_the_cursor_into_view(page: Any) -> None:
    page.focus("#text")
    for key, times in (("Control+Home", 1), ("ArrowDown", 60), ("Control+End", 1), ("ArrowUp", 1), ("End", 1)):
        for _ in range(times):
            page.keyboard.press(key)
        assert page.evaluate(SEEN)["shown"], key
    assert page.evaluate("document.querySelector('#editor').scrollLeft") > 0, "the line is wider than the page"
    page.keyboard.press("Home")
    assert page.evaluate(SEEN)["shown"]

    page.fill("#text", SPEC.replace("{return: null}", "{retrun: null}"))
    page.wait_for_selector("#problems button")
    page.keyboard.press("Control+Home")
    page.keyboard.press("F8")
    assert page.evaluate(SEEN) == {"line": SPEC.count("\n"), "shown": True}


def test_the_numbers_of_the_lines_stay_when_the_text_is_scrolled_sideways(page: Any) -> None:
    page.focus("#text")
    page.keyboard.press("Control+End")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("End")
    assert page.evaluate("document.querySelector('#editor').scrollLeft") > 0
    page.wait_for_selector("body[data-proved]")  # what is told above it moves no more
    corner = "document.querySelector('#editor').getBoundingClientRect()"
    clip = page.evaluate(f"(r => ({{x: r.left, y: r.top, width: 40, height: 300}}))({corner})")
    numbered = page.screenshot(clip=clip)
    page.evaluate("document.querySelector('#under').style.counterReset = 'line 500'")
    assert page.screenshot(clip=clip) != numbered, "other numbers, another picture: they are seen"
