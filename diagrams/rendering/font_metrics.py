"""How wide a text is in DejaVu Sans, so that room can be made for it before Graphviz draws it.

The advances are those of the font's own table, in thousandths of its size. Other fonts of the list in ``looks`` are
narrower, or as wide.
"""

from __future__ import annotations

from typing import Final

MARGIN: Final = 1.05  # kerning and rounding to whole pixels
BOLD: Final = 1.14  # the mean of DejaVu Sans Bold's advances to those of the plain face
OTHER: Final = 720  # letters of other alphabets
WIDE: Final = 1250  # ideographs and emoji
WIDE_FROM: Final = 0x2E80
_ADVANCES: Final = {
    278: "ijl", 295: "IJ", 318: " .,", 337: ":;/|\\", 361: "-", 390: "()[]", 352: "ft", 411: "r", 401: "!",
    500: "_*", 275: "'", 460: '"', 521: "s", 525: "z", 531: "?", 550: "c", 557: "L", 579: "k", 592: "vxy", 575: "F",
    613: "aeo", 611: "TY", 634: "E", 636: "bdghnpqu0123456789{}$#", 603: "P", 635: "S", 686: "ABKVXZ", 698: "CR",
    732: "U", 752: "HN", 770: "D", 787: "GOQ&", 818: "w", 838: "+=<>~^", 863: "M", 950: "%", 974: "m", 989: "W",
    1000: "@→←↺…",
}  # fmt: skip
_OF: Final = {letter: advance for advance, letters in _ADVANCES.items() for letter in letters}


def width(text: str, size: float, *, bold: bool = False) -> float:
    """Return about how many points a line of text takes at a size in points; never less than it does."""
    thousandths = sum(_OF.get(letter) or (OTHER if ord(letter) < WIDE_FROM else WIDE) for letter in text)
    return thousandths / 1000 * size * MARGIN * (BOLD if bold else 1)
