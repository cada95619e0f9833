"""The page of a document as a browser shows it: on a phone, in the dark, in print, and read out."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from diagrams.catalogue import album
from diagrams.documents.builder import document
from diagrams.documents.html import page
from diagrams.render import render
from machines.parser.loader import load
from tests.support.browser import browser as browser

pytestmark = pytest.mark.xdist_group("browser")

PAPER_HEIGHT = 27 / 2.54 * 96  # of A4 within its margins, in pixels
OVERLAPS = """
() => {
  const boxes = [...document.querySelectorAll('nav a')].flatMap(one => [...one.getClientRects()]);
  return boxes.filter((a, i) => boxes.some((b, j) => i < j
    && Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 8)).length;
}
"""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    spec = load("santorini-relay")
    svgs = {drawing.stem: render(drawing.dot, "svg") for drawing in album(spec)}
    made = tmp_path_factory.mktemp("page") / "page.html"
    made.write_text(page(document(spec), svgs), encoding="utf-8")
    return made


@pytest.mark.parametrize("width", [320, 375, 800, 1400])
def test_no_width_is_too_narrow(width: int, path: Path, browser: Any) -> None:
    shown = browser.new_page(viewport={"width": width, "height": 800})
    shown.goto(path.as_uri())
    assert shown.evaluate("document.documentElement.scrollWidth") <= width
    assert shown.evaluate(OVERLAPS) == 0
    shown.close()


def test_in_the_dark_words_are_bright_and_pictures_keep_their_paper(path: Path, browser: Any) -> None:
    shown = browser.new_page(color_scheme="dark")
    shown.goto(path.as_uri())

    def light(element: str, of: str) -> float:
        found = shown.evaluate(f"getComputedStyle(document.querySelector('{element}')).{of}")
        return sum(map(int, re.findall(r"\d+", found)[:3])) / 765

    assert light("body", "backgroundColor") < 0.2
    for element in ("body", "a", "th", "td", "figcaption", "code"):
        assert light(element, "color") > 0.6, element
    assert light("svg", "backgroundColor") == 1
    assert light("th", "backgroundColor") < 0.3
    shown.close()


def test_in_print_each_picture_fits_a_page_and_keeps_its_heading(path: Path, browser: Any) -> None:
    shown = browser.new_page(viewport={"width": 700, "height": 1000}, color_scheme="dark")
    shown.goto(path.as_uri())
    shown.emulate_media(media="print")

    heights = shown.evaluate("[...document.querySelectorAll('figure')].map(one => one.getBoundingClientRect().height)")
    wide = shown.evaluate("Math.max(...[...document.querySelectorAll('svg')].map(one => one.clientWidth))")
    breaks = shown.evaluate("[...document.querySelectorAll('h2, h3, h4')].map(one => getComputedStyle(one).breakAfter)")

    assert max(heights) < PAPER_HEIGHT
    assert wide <= 700
    assert set(breaks) == {"avoid"}
    assert shown.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    shown.close()


def test_each_picture_has_a_label_of_its_own_for_who_cannot_see_it(path: Path, browser: Any) -> None:
    shown = browser.new_page()
    shown.goto(path.as_uri())
    labels = shown.evaluate("[...document.querySelectorAll('svg')].map(one => one.getAttribute('aria-label'))")
    shown.close()

    assert len(labels) == len(list(album(load("santorini-relay"))))
    assert len(set(labels)) == len(labels)
    assert "server: plug_in(peer). What is said, and the cases" in labels
