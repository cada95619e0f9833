"""Texts of a spec in the languages of other drawing tools, which are to show them and not to act on them."""

from __future__ import annotations

import re
from typing import Final

from diagrams.rendering.labels import shorten, visible

MERMAID_PLAIN: Final = re.compile(r"[^A-Za-z0-9 ,.()\[\]_=:+*/'?!-]")  # all else is written as Mermaid's entity, #NNN;
PLANTUML_PLAIN: Final = re.compile(
    r"[^A-Za-z0-9 ,.()\[\]=:+?!-]"
)  # all else is written as <U+NNNN>: no markup, no end of a line
TEXT_CHARACTERS_MAX: Final = 300


def mermaid_text(text: str) -> str:
    """Return a text that Mermaid shows and does not act on: no word of its language, no line end, no markup."""
    cut = shorten(visible(text), TEXT_CHARACTERS_MAX)
    written = MERMAID_PLAIN.sub(lambda found: f"#{ord(found[0])};", cut).strip()
    # `end` by itself would close a box.
    return re.sub(r"\b(e)(nd)\b", r"#101;\2", written, flags=re.IGNORECASE) or "#160;"


def plantuml_text(text: str) -> str:
    """Return a text that PlantUML shows and does not act on."""
    cut = shorten(visible(text), TEXT_CHARACTERS_MAX)
    written = PLANTUML_PLAIN.sub(lambda found: f"<U+{ord(found[0]):04X}>", cut).strip()
    # Two of a kind in a row are markup: --struck out--, [[a link]], ..a line..
    return re.sub(r"([-.\[\]=+!?:(])(?=\1)", lambda found: f"<U+{ord(found[0]):04X}>", written) or "<U+00A0>"
