"""Bars as SVG, for the README: one for each server, as long as its CPU a move."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Final

BAR_HEIGHT: Final = 22  # pixels, the gap below included
BARS_LEFT: Final = 330
BARS_WIDTH: Final = 340


def bars(title: str, rows: Sequence[tuple[str, float]], unit: str) -> str:
    """Return a chart of (name, value) rows, the first of them dark: ours."""
    most = max(value for _, value in rows)
    height = 34 + BAR_HEIGHT * len(rows)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 740 {height}" font-family="sans-serif" font-size="13">',
        f'<rect width="740" height="{height}" fill="white"/>',
        f'<text x="8" y="20" font-weight="bold">{escape(title)}</text>',
    ]
    for number, (name, value) in enumerate(rows):
        top, width = 32 + BAR_HEIGHT * number, BARS_WIDTH * value / most
        color = "#27496d" if name.startswith("ours") else "#9fb3c8"
        parts += [
            f'<text x="{BARS_LEFT - 8}" y="{top + 13}" text-anchor="end">{escape(name)}</text>',
            f'<rect x="{BARS_LEFT}" y="{top}" width="{width:.1f}" height="{BAR_HEIGHT - 6}" fill="{color}"/>',
            f'<text x="{BARS_LEFT + width + 6:.1f}" y="{top + 13}">{value:.1f} {escape(unit)}</text>',
        ]
    return "\n".join([*parts, "</svg>", ""])
