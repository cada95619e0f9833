"""What the pictures of all games share: whatever a name holds, the file is XML, and a text is as long as it may be."""

from __future__ import annotations

from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from rules.views.svg import opening, short, written

TEXTS = st.text(st.characters(codec=None), max_size=40) | st.sampled_from(
    ["\x00", "\ud800", "\uffff", "]]>", "<b>&amp;"]
)


@given(TEXTS, TEXTS)
def test_any_text_stands_in_a_picture(title: str, text: str) -> None:
    parts = [*opening(title, "text{fill:#000}", 10, 20.5, "#ffffff"), written(1, 2.5, text, "head"), "</svg>"]

    root = ElementTree.fromstring("\n".join(parts).encode())
    told = root.find("{*}text")
    assert told is not None
    assert (told.get("class"), told.get("x"), told.get("y")) == ("head", "1", "2.5")
    found = (told.text or "").replace("\n", "").replace("\r", "")
    assert len(found) == len(text.replace("\n", "").replace("\r", ""))
    assert root.get("viewBox") == "0 0 10 20.5"


@given(st.text(max_size=40), st.integers(1, 40))
def test_a_short_text_is_whole_and_a_long_one_ends_in_an_ellipsis(text: str, most: int) -> None:
    found = short(text, most)

    assert len(found) <= most
    assert found == text or (found.endswith("…") and text.startswith(found[:-1]) and len(text) > most)
