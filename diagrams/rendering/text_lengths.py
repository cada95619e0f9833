"""Each text of an SVG takes the width that the layout gave it, in whatever font and browser it is shown.

Graphviz measures a text with the fonts that it finds, a viewer draws it with its own: bold ones came out wider than
their boxes. ``textLength`` has the viewer fit them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape
from typing import Any

_TEXT = re.compile(r'<text (?P<looks>[^>]*? x="(?P<x>[^"]*)" y="(?P<y>[^"]*)"[^>]*)>(?P<text>[^<]*)</text>')

Key = tuple[str, float, float]


def with_lengths(svg: str, layout: str) -> str:
    """Return an SVG of Graphviz's whose texts have the widths, in points, of the same layout as Graphviz's JSON.

    A text that the layout does not have stays as it is.
    """
    widths = {_key(text, x, y): wide for text, x, y, wide in _texts(json.loads(layout))}

    def fitted(found: re.Match[str]) -> str:
        wide = widths.get(_key(unescape(found["text"]), float(found["x"]), -float(found["y"])), 0.0)
        if wide <= 0:
            return found[0]
        return f'<text {found["looks"]} textLength="{wide:g}" lengthAdjust="spacingAndGlyphs">{found["text"]}</text>'

    return _TEXT.sub(fitted, svg)


def _key(text: str, x: float, y: float) -> Key:
    return text, round(x, 1), round(y, 1)


def _texts(layout: dict[str, Any]) -> Iterator[tuple[str, float, float, float]]:
    """Yield each text that is drawn: what it says, where it begins or its middle is, and how wide it is."""
    for part in (layout, *layout.get("objects", ()), *layout.get("edges", ())):
        for name, done in part.items():
            if name.endswith("draw_"):  # of the part itself, its label, its ends and theirs
                yield from ((op["text"], *op["pt"], op["width"]) for op in done if op["op"] == "T")
