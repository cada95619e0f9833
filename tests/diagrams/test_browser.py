"""Pictures as a browser shows them, whatever its fonts: no text runs into another, none leaves its dark box."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from diagrams.catalogue import album
from diagrams.render import render
from diagrams.rendering.text_lengths import with_lengths
from machines.parser.loader import load, shipped
from tests.parts import by_default
from tests.support.browser import browser as browser

SLACK = 1.5  # pixels: Graphviz rounds where a run of text begins

MEASURE = """
() => {
  const faults = [];
  const texts = [...document.querySelectorAll('text')].filter(one => one.textContent.trim());
  const boxes = texts.map(one => one.getBoundingClientRect());
  texts.forEach((text, i) => boxes.forEach((other, j) => {
    const own = boxes[i];
    const across = Math.min(own.right, other.right) - Math.max(own.left, other.left);
    const down = Math.min(own.bottom, other.bottom) - Math.max(own.top, other.top);
    if (i < j && across > SLACK && down > 0.6 * Math.min(own.height, other.height))
      faults.push(`${text.textContent} runs ${across.toFixed(1)} into ${texts[j].textContent}`);
  }));
  texts.filter(one => one.getAttribute('fill') === '#ffffff').forEach(text => {
    const own = text.getBoundingClientRect();
    const within = [...document.querySelectorAll('polygon, path')].some(shape => {
      const box = shape.getBoundingClientRect();
      return shape.getAttribute('fill') === '#222222' && box.left <= own.left + SLACK
        && own.right <= box.right + SLACK && box.top <= own.bottom && own.top <= box.bottom;
    });
    if (!within) faults.push(`${text.textContent} is white on white`);
  });
  return faults;
}
""".replace("SLACK", str(SLACK))


@pytest.mark.xdist_group("browser")
@pytest.mark.parametrize("font", ["", "DejaVu Sans Mono", "serif"])
@pytest.mark.parametrize("name", by_default(shipped(), ["santorini-relay", "trains-official"]))
def test_texts_stay_where_they_belong_in_whatever_font(name: str, font: str, browser: Any, tmp_path: Path) -> None:
    faults: list[str] = []
    page = browser.new_page()
    path = tmp_path / "picture.svg"
    for drawing in album(load(name)):
        path.write_bytes(render(drawing.dot, "svg"))
        page.goto(path.as_uri())
        if font:
            page.evaluate(
                "font => document.querySelectorAll('text').forEach(one => one.setAttribute('font-family', font))", font
            )
        faults += [f"{drawing.stem}: {fault}" for fault in page.evaluate(MEASURE)]
    page.close()
    assert faults == []


def test_a_text_gets_the_width_of_its_place_and_one_that_is_not_laid_out_none() -> None:
    svg = '<text fill="#222222" x="1" y="-2.04">a &lt; b</text><text fill="#222222" x="1" y="-9">a</text>'
    layout = (
        '{"objects": [{"_ldraw_": [{"op": "T", "pt": [1.0, 2.0], "align": "l", "width": 30.75, "text": "a < b"}]}]}'
    )
    first, second = with_lengths(svg, layout).split("</text>")[:2]
    assert first == '<text fill="#222222" x="1" y="-2.04" textLength="30.75" lengthAdjust="spacingAndGlyphs">a &lt; b'
    assert "textLength" not in second
