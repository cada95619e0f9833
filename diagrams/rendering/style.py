"""How the drawings look: colours and sizes.

The colours are those of Okabe and Ito's palette for colour-blind readers, darkened to a contrast of at least 4.5 on
white.
"""

from __future__ import annotations

# Wide like Verdana: where a viewer lacks the font, its own is not wider, so that no text leaves its box.
FONTS = "DejaVu Sans,Verdana,Helvetica,Arial,sans-serif"
SIZE = 10
SIZE_SMALL = 8.5

INK = "#222222"
QUIET = "#666666"
PALE = "#8a8a8a"  # what runs have never reached
PAPER = "#ffffff"
BOX = "#f7f9fc"
BOX_CALL = "#eef3ee"
BAND = "#e3e9f2"
RECEIVED = "#005a9c"
SENT = "#00694f"
LATE = "#9a4f00"
WRONG = "#a3195b"
BROKEN = "#7a1f1f"
