"""Patterns mean what the engine that matches them means, and what cannot be compared is refused."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from machines.messages import automata
from machines.messages.automata import (
    EVERY,
    TooLargeError,
    both,
    exactly,
    included,
    outside,
    shared_text,
    shortest,
    up_to,
)
from machines.messages.regex import PatternError, anchored, automaton, bare, escaped, matcher

ATOMS = [*"abAB01-_ .^$|?*+()[]{}\\/é\n", r"\d", r"\w", r"\s", r"\.", r"\x41", r"\u0042", r"\n", r"\-", r"\$"]
SETS = ["[a-c]", "[^ab]", "[-a]", "[a-]", r"[\d_]", "[ab&c]", "[a~]", "[.$]", "{1,2}", "{2}", "{0,}", "(?:", "(a|b)"]
regexes = st.lists(st.sampled_from(ATOMS + SETS), max_size=7).map("".join)
texts = st.text(alphabet="abcAB01-_ .^$|\né]}&~", max_size=5)


@settings(max_examples=300, deadline=None)
@given(regexes, st.lists(texts, max_size=8))
def test_the_automaton_accepts_exactly_what_the_engine_matches(regex: str, tried: list[str]) -> None:
    try:
        matches = matcher(regex)
    except PatternError as error:
        refused = error.text, error.column
        assert refused[0] != "the engine cannot read it"
        assert 0 <= refused[1] <= len(regex)
        return
    found = automaton(regex)
    samples = [text for text in (shortest(found), shortest(found, 1)) if text is not None]

    assert samples
    assert all(matches(text) for text in samples)
    assert all(matches(text) == found.accepts(text) for text in tried)
    assert all(matcher(f"(?:{bare(regex)})")(text) == matches(text) for text in tried)


@pytest.mark.parametrize(
    "regex", [r"\d", r"\D", r"\w", r"\W", r"\s", r"\S", ".", r"[^\s\d]", r"[\s\w-]", "[^a]", r"\/"]
)
def test_a_set_of_characters_is_the_same_over_all_of_the_basic_plane(regex: str) -> None:
    matches, found = matcher(regex), automaton(regex)

    differ = [
        point for point in range(0x10000) if matches(chr(point)) != any(_in(point, move) for move in found.moves[0])
    ]

    assert differ == []


def _in(point: int, move: tuple[int, int, int]) -> bool:
    return move[0] <= point <= move[1]


@pytest.mark.parametrize(
    ("regex", "text", "column"),
    [
        ("a(?=b)", "look-around", 1),
        ("(?<!a)b", "look-around", 0),
        (r"(a)\1", "a back-reference", 3),
        (r"\bword", r"\b, which Accord does not know", 0),
        (r"\p{L}", r"\p, which Accord does not know", 0),
        (r"\<a", r"\<, which Accord does not know", 0),
        ("a\\", "a lone \\", 1),
        ("(?i)a", "a group is written", 0),
        ("(?P<n>a)", "a group is written", 0),
        ("(a", "a '(' without its ')'", 0),
        ("a)", "a ')' too many", 1),
        ("[ab", "a '[' without its ']'", 0),
        ("[]", "an empty set", 0),
        ("[[a]", "'[' within a set", 1),
        ("[a&&b]", "'&&' within a set", 2),
        ("[z-a]", "a stretch of characters whose end is below its start", 2),
        (r"[\d-z]", "'-' between sets", 3),
        ("a**", "two counts in a row", 2),
        ("a+{2}", "two counts in a row", 2),
        ("*a", "'*' counts nothing", 0),
        ("a{3,2}", "a count whose end is below its start", 1),
        ("a{,3}", "a count is written", 1),
        ("a{9999}", "a count over 5000", 1),
        ("a^b", "'^' within a pattern", 1),
        ("a$b", "'$' within a pattern", 1),
        (r"\x4", r"\x takes 2 hexadecimal digits", 0),
        (r"\ud800", "a lone surrogate", 0),
        ("(a?){2000}", "it is too large", 0),
        ("((a{5000}){5000}){5000}", "it is too large", 2),
        ("(" * 40 + ")" * 40, "groups are nested deeper than 32", 33),
        ("a" * 1001, "it is longer than 1000 characters", 1000),
        (r"[^\s\S]", "it matches no text at all", 0),
    ],
)
def test_what_two_engines_could_take_differently_is_refused(regex: str, text: str, column: int) -> None:
    with pytest.raises(PatternError) as caught:
        matcher(regex)

    assert caught.value.text.startswith(text)
    assert caught.value.column == column


def test_a_match_takes_linear_time_whatever_the_pattern() -> None:
    matches = matcher("(a*)*(a|aa)*b")

    assert not matches("a" * 200_000)
    assert not matches("\ud800")


@pytest.mark.parametrize(
    ("a", "b", "shared"),
    [
        ("[a-z]+", "[a-z]+[12]", None),
        ("[a-z0-9]+", "[a-z]+[12]", "a1"),
        ("[A-Za-z]{1,50}", "more cards", None),
        (".{0,1000}", "[^x]{3}", "aaa"),
        ("(ab)*", "(ba)*", ""),
        ("(ab)*a", "a(ba)*", "a"),
        ("a*b", "[^b]*", None),
    ],
)
def test_two_patterns_share_a_text_or_provably_none(a: str, b: str, shared: str | None) -> None:
    assert shared_text(automaton(a), automaton(b)) == shared
    assert shared_text(automaton(b), automaton(a)) == shared


@pytest.mark.parametrize(
    ("a", "b", "within"),
    [
        ("[a-z]+[12]", "[a-z0-9]+", True),
        ("[a-z0-9]+", "[a-z]+[12]", False),
        ("(ab)*a", "a(ba)*", True),
        ("a{2,3}", "a{1,3}", True),
        ("a|b|cc", "[abc]{1,2}", True),
        (".", "[^x]|x", True),
        ("[^x]|x", ".", False),
        ("(a|b)*a(a|b){12}", "(a|b)*", True),
    ],
)
def test_one_pattern_holds_another(a: str, b: str, within: bool) -> None:
    assert included(automaton(a), automaton(b)) == within


def test_a_search_that_takes_too_long_is_given_up_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    one, same = automaton("(a|b)*a(a|b){20}c"), automaton("(b|a)*a(b|a){20}c")

    assert not included(one, same)
    monkeypatch.setattr(automata, "PAIRS_MAX", 10)
    with pytest.raises(TooLargeError):
        both(one, same)


@given(st.text(alphabet="ab", max_size=8), st.text(alphabet="ab", min_size=1, max_size=4))
def test_up_to_holds_the_texts_with_a_literal_at_the_end_and_nowhere_before(text: str, literal: str) -> None:
    assert up_to(literal).accepts(text) == (text.find(literal) == len(text) - len(literal) >= 0)


@given(st.lists(texts, max_size=4), texts)
def test_exactly_holds_its_texts_and_no_others(listed: list[str], text: str) -> None:
    assert exactly(listed).accepts(text) == (text in listed)


@given(st.lists(st.tuples(st.integers(0, 0x10FFFF), st.integers(0, 0x300)), max_size=4), st.integers(0, 0x10FFFF))
def test_outside_holds_the_other_characters(starts: list[tuple[int, int]], point: int) -> None:
    stretches = tuple((low, min(low + more, 0x10FFFF)) for low, more in starts)
    character = any(low <= point <= high for low, high in EVERY)
    taken = any(low <= point <= high for low, high in stretches)

    assert any(low <= point <= high for low, high in outside(stretches)) == (character and not taken)


@given(st.text())
def test_an_escaped_text_is_the_pattern_of_itself(text: str) -> None:
    if len(escaped(text)) <= 1000 and not any(0xD800 <= ord(character) <= 0xDFFF for character in text):
        assert matcher(escaped(text))(text)
        assert anchored(escaped(text)).startswith("^(?:")
