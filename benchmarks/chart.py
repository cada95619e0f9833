"""Bars as SVG, for the README: one for each server, as long as its CPU a move."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import log10
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


def curves(title: str, rows: Sequence[tuple[str, Sequence[tuple[int, float]]]], unit: str) -> str:
    """Return small charts side by side, of (name, points) rows: cost upward from 0, size rightward by its logarithm."""
    width, height, left, top, across = 230, 150, 46, 58, 3
    lines = -(-len(rows) // across)
    size = f"0 0 {across * width + 20} {lines * height + 40}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{size}" font-family="sans-serif" font-size="11">',
        f'<rect width="{across * width + 20}" height="{lines * height + 40}" fill="white"/>',
        f'<text x="8" y="20" font-size="13" font-weight="bold">{escape(title)}</text>',
    ]
    for number, (name, points) in enumerate(rows):
        x0, y0 = left + number % across * width, top + number // across * height
        wide, high = width - left - 12, height - 62
        logs = [log10(size) for size, _ in points]
        most = 1.25 * max(cost for _, cost in points)
        span = logs[-1] - logs[0] or 1
        placed = [
            (x0 + wide * (at - logs[0]) / span, y0 + high * (1 - cost / most))
            for at, (_, cost) in zip(logs, points, strict=True)
        ]
        line = " L".join(f"{x:.1f} {y:.1f}" for x, y in placed)
        parts += [
            f'<text x="{x0 - 38}" y="{y0 - 10}">{escape(name)}</text>',
            f'<path d="M{x0} {y0}V{y0 + high}H{x0 + wide}" fill="none" stroke="#9fb3c8"/>',
            f'<path d="M{line}" fill="none" stroke="#27496d" stroke-width="2"/>',
        ]
        for (size_, cost), (x, y) in zip(points, placed, strict=True):
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="#27496d"/>')
            if size_ in (points[0][0], points[-1][0]):
                parts.append(f'<text x="{x:.1f}" y="{y0 + high + 14}" text-anchor="middle">{size_:,}</text>')
                parts.append(
                    f'<text x="{x:.1f}" y="{y - 7:.1f}" text-anchor="middle">{cost:,.0f} {escape(unit)}</text>'
                )
    return "\n".join([*parts, "</svg>", ""])
