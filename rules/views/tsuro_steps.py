"""A person's turn in Tsuro at a terminal: each tile drawn with its paths, and a first placement decided in steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rules.tsuro_board import PORTS, Tile, tile_text, turned
from rules.views.offered import Answer, Step
from rules.views.tsuro_svg import bends

WIDE, HIGH = 12, 6  # Characters of a tile inside its frame; a character is twice as high as wide.
FAR = 0.2  # Nearly straight: where four paths meet in the middle of a tile, one sees which is which.
SAMPLES = 100  # Points of a path, more than twice as many as the dots that it can pass.
# The bits of the eight dots of a Braille character, row by row.
DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
BLANK = 0x2800


def tile_lines(tile: Tile) -> tuple[str, ...]:
    """Return a tile in 8 lines of 14 characters: its paths in Braille dots, the letters of its ports in the frame."""
    cells = [[0] * WIDE for _ in range(HIGH)]
    for start, end in tile:
        curve = bends(PORTS.index(start), PORTS.index(end), 0, 0, 2 * WIDE - 1, far=FAR)
        for sample in range(SAMPLES + 1):
            x, y = _along(curve, sample / SAMPLES)
            cells[y // 4][x // 2] |= DOTS[y % 4][x % 2]
    rows = ["".join(chr(BLANK + cell) if cell else " " for cell in row) for row in cells]
    sides = zip("││HG││", rows, "││CD││", strict=True)
    return "┌────A──B────┐", *(left + row + right for left, row, right in sides), "└────F──E────┘"


def _along(curve: Sequence[tuple[float, float]], part: float) -> tuple[int, int]:
    """Return the dot at a part, 0 to 1, of a cubic curve."""
    rest = 1 - part
    weights = (rest**3, 3 * part * rest**2, 3 * part**2 * rest, part**3)
    x, y = (sum(weight * at[axis] for weight, at in zip(weights, curve, strict=True)) for axis in (0, 1))
    return round(x), round(y)


def steps(question: str, arguments: Mapping[str, Any], choices: Sequence[Answer]) -> list[tuple[Step, ...]]:
    """Return for each of the ``choices`` the steps in which a person comes to it.

    A first placement is a tile, how it lies, and where one begins; a later one is a step with the tile as it will lie.
    """
    if question != "initial":
        lies = [tile_lines(fields["tile"]) for _, (_, fields) in choices]
        return [
            (Step("number", str(number), told, drawing),)
            for number, ((told, _), drawing) in enumerate(zip(choices, lies, strict=True), 1)
        ]
    dealt = [
        Step("tile", str(number), tile_text(tile), tile_lines(tile)) for number, tile in enumerate(arguments["hand"], 1)
    ]
    rotations = {
        turned(tile, quarters): (step, _turn(turned(tile, quarters), quarters))
        for tile, step in reversed(list(zip(arguments["hand"], dealt, strict=True)))
        for quarters in (3, 2, 1, 0)  # A tile that looks the same twice is turned as little as can be.
    }
    return [(*rotations[fields["tile"]], _beginning(told, fields)) for told, (_, fields) in choices]


def _turn(tile: Tile, quarters: int) -> Step:
    degrees = 90 * quarters
    how = f"turned {degrees} degrees" if quarters else "as dealt"
    return Step("degrees to turn it by", str(degrees), f"{how} ({tile_text(tile)})", tile_lines(tile))


def _beginning(told: str, fields: Mapping[str, Any]) -> Step:
    """Return where one begins, and what comes of it: what a choice says after its tile."""
    _, _, outcome = told.partition(f"({tile_text(fields['tile'])}), ")
    return Step("where you begin", f"{fields['x']},{fields['y']} {fields['port']}", outcome)
