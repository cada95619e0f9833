"""What is read on the pages can be read: every colour of the drawings has one for the dark, all pairs differ enough."""

from __future__ import annotations

import re
from itertools import product

import pytest

from diagrams.rendering import style
from runtime.studio.page import text_of

CONTRAST_MIN = 4.5  # of a text to what is behind it, WCAG 2.2 AA
LIT = 0.22  # how much of its own colour the light of a state lays over its box
LIGHT_OF_STATE = "#ff8a3d"
COLOURS = {name: value for name, value in vars(style).items() if name.isupper() and str(value).startswith("#")}
TEXTS = ("INK", "QUIET", "RECEIVED", "SENT", "LATE", "WRONG", "BROKEN")
BEHIND = ("PAPER", "BOX", "BOX_CALL", "BAND")


def dark(name: str) -> dict[str, str]:
    """Return for each colour of the drawings that which a page shows in the dark."""
    return dict(re.findall(rf'\[{name}="(#\w+)"\]\) {{ {name}: (#\w+); }}', text_of("common.css")))


def parts(colour: str) -> list[float]:
    text = colour.lstrip("#")
    text = "".join(2 * one for one in text) if len(text) == 3 else text
    return [int(text[at : at + 2], 16) / 255 for at in (0, 2, 4)]


def luminance(colour: list[float]) -> float:
    linear = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in colour]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: list[float], other: list[float]) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def lit(colour: list[float]) -> list[float]:
    return [(1 - LIT) * own + LIT * light for own, light in zip(colour, parts(LIGHT_OF_STATE), strict=True)]


def test_every_colour_of_the_drawings_has_one_for_the_dark() -> None:
    assert set(dark("fill")) == set(dark("stroke")) == set(COLOURS.values())
    assert dark("fill") == dark("stroke")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_each_text_of_a_drawing_can_be_read_on_each_box_lit_or_not(scheme: str) -> None:
    shown = {name: parts(value if scheme == "light" else dark("fill")[value]) for name, value in COLOURS.items()}
    low = {
        (text, box): round(contrast(shown[text], behind), 2)
        for text, box in product(TEXTS, BEHIND)
        for behind in (shown[box], lit(shown[box]))
        if contrast(shown[text], behind) < (CONTRAST_MIN if behind == shown[box] else 3.0)
    }
    assert low == {}
    assert contrast(shown["PAPER"], shown["INK"]) >= CONTRAST_MIN, "what stands on an end of a machine"


@pytest.mark.parametrize("file", ["common.css", "seat.css"])
@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_the_pages_own_texts_can_be_read(file: str, scheme: int) -> None:
    roots = [dict(re.findall(r"--(\w+): (#\w+)", one)) for one in re.findall(r":root {([^}]+)}", text_of(file))]
    own = {**roots[0], **(roots[1] if scheme else {})}
    texts = {"ink", "quiet", "here", "last", "bad", "mark" if file == "seat.css" else "ink"} & set(own)
    for text, behind in product(texts, ("paper", "ground")):
        assert contrast(parts(own[text]), parts(own[behind])) >= CONTRAST_MIN, (text, behind)
