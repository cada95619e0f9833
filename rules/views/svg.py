"""What the pictures of all games share: how an SVG file begins, text that it may hold, and text that fits."""

from __future__ import annotations

from xml.sax.saxutils import escape


def opening(title: str, style: str, width: float, height: float, ground: str) -> list[str]:
    """Return how a picture of so many pixels begins, on a ground of this colour; ``</svg>`` ends it."""
    size = f'width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}"'
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size}>',
        f"<title>{safe(title)}</title><style>{style}</style>",
        f'<rect width="{width:g}" height="{height:g}" fill="{ground}"/>',
    ]


def written(x: float, y: float, text: str, kind: str, anchor: str = "start") -> str:
    """Return a text at a place; ``kind`` is its class in the style, ``anchor`` which part of it stands there."""
    return f'<text class="{kind}" x="{x:g}" y="{y:g}" text-anchor="{anchor}">{safe(text)}</text>'


def short(text: str, most: int) -> str:
    """Return a text, or as many characters of it as fit, the last of them an ellipsis.

    >>> short("santorini", 9), short("santorini", 5)
    ('santorini', 'sant…')
    """
    return text if len(text) <= most else text[: most - 1] + "…"


def safe(text: str) -> str:
    """Return text as XML may hold it: markup escaped, and what XML 1.0 cannot hold at all replaced."""
    allowed = (char if char in "\t\n\r" or " " <= char <= "\ud7ff" or char >= "\ue000" else "\ufffd" for char in text)
    return escape("".join(char if char not in "\ufffe\uffff" else "\ufffd" for char in allowed))
