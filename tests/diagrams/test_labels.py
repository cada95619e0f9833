"""Labels: whatever a spec calls its things, it stays text."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagrams.rendering.labels import ATTRIBUTE_CHARACTERS_MAX, attribute, distinct, markup, stem, visible, wrap

ANY_TEXT = st.text(st.characters(), max_size=60)  # lone surrogates too


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("asked", "asked"),
        ("a\nb", r"a\nb"),
        ("a\x00b\x1b", r"a\x00b\x1b"),
        ("right\u202eleft", r"right\u202eleft"),
        ("\ud800", r"\ud800"),
        ("\ufffe", r"\ufffe"),
        ("שלום", "שלום"),
        ("👩\u200d🚀", "👩\u200d🚀"),
        ("]]>", "]]>"),
    ],
)
def test_what_has_no_glyph_is_written_out_and_letters_stay(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(ANY_TEXT)
def test_markup_reads_back_as_the_visible_text(text: str) -> None:
    read = ElementTree.fromstring(f"<FONT>{markup(text)}</FONT>")

    assert list(read) == []
    assert (read.text or "") == visible(text)


@given(ANY_TEXT)
def test_an_attribute_has_no_entity_no_escape_and_a_bound(text: str) -> None:
    shown = attribute(text)

    assert "\n" not in shown
    assert shown.replace("&amp;", "").count("&") == 0
    assert shown.replace(r"\\", "").replace(r"\n", "").count("\\") == 0
    assert len(shown.replace("&amp;", "&").replace(r"\\", "\\").replace(r"\n", "\n")) <= ATTRIBUTE_CHARACTERS_MAX


@given(ANY_TEXT, st.integers(8, 50), st.integers(1, 6))
def test_wrapped_text_stays_within_its_width_and_its_lines(text: str, width: int, lines_max: int) -> None:
    lines = wrap(text, width, lines_max)

    assert 1 <= len(lines) <= lines_max
    assert all(len(line) <= width for line in lines)


def test_what_does_not_fit_is_seen_to_be_missing() -> None:
    assert wrap("one two three four five", 9, 2) == ("one two", "\N{NO-BREAK SPACE}" * 2 + "three…")
    assert wrap("one two", 9, 2) == ("one two",)


@given(st.lists(st.sampled_from(["a", "A", "a-2", "b", "a_2", "A-2-2"]), max_size=12))
def test_distinct_names_differ_by_more_than_case_and_keep_their_order(names: list[str]) -> None:
    result = distinct(names)

    assert len({name.casefold() for name in result}) == len(names)
    assert all(new.startswith(old) for old, new in zip(names, result, strict=True))


@given(st.lists(ANY_TEXT, min_size=1, max_size=3))
def test_a_file_name_is_safe_on_every_system_and_in_a_link(words: list[str]) -> None:
    assert set(stem(*words)) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
    assert stem(*words)
