import math
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from machines.model import Setting
from machines.parser.settings import SettingError, mistaken, override, parse_duration, parse_rate, parse_value
from machines.problems import Place
from machines.values import Range, Rate

HERE = Place("a.yaml", 1, 1)

VALUES = [
    ("5 s", "duration", 5.0),
    ("5s", "duration", 5.0),
    ("300 ms", "duration", 0.3),
    ("1.5 min", "duration", 90.0),
    ("2 h", "duration", 7200.0),
    ("0 s", "duration", 0.0),
    ("never", "duration", math.inf),
    ("3..5", "range", Range(3, 5)),
    ("-3 .. 5", "range", Range(-3, 5)),
    ("10 per 1 s", "rate", Rate(10, 1.0)),
    ("0 per 500 ms", "rate", Rate(0, 0.5)),
    ("3", "int", 3),
    ("-1", "int", -1),
    ("0.5", "number", 0.5),
    ("true", "bool", True),
    ("false", "bool", False),
    ("True", "text", "True"),
    ("yes", "text", "yes"),
    ("5 days", "text", "5 days"),
    ("-5 s", "text", "-5 s"),
    ("10 per never", "text", "10 per never"),
    ("1 per 0 s", "text", "1 per 0 s"),
    ("٣", "text", "٣"),
    ("all", "text", "all"),
]


@pytest.mark.parametrize(("text", "kind", "value"), VALUES, ids=[row[0] for row in VALUES])
def test_a_value_is_of_the_first_kind_that_its_text_fits(text: str, kind: str, value: object) -> None:
    assert parse_value(text) == (kind, value)


@pytest.mark.parametrize(
    "text", ["5..3", "9223372036854775808", "9" * 5000, "1.." + "9" * 19, "-" + "9" * 30, "9" * 20 + " s"]
)
def test_a_value_that_nobody_could_mean_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"ends before it starts|64 bits"):
        parse_value(text)


def test_quotes_make_a_text_of_anything() -> None:
    assert parse_value("5 s", plain=False) == ("text", "5 s")


OVERRIDES = [
    ("duration", 5.0, "never", math.inf),
    ("duration", 5.0, " 100 ms ", 0.1),
    ("range", Range(3, 5), "4..4", Range(4, 4)),
    ("range", Range(3, 5), "4", Range(4, 4)),
    ("rate", Rate(1, 1.0), "2 per 1 s", Rate(2, 1.0)),
    ("number", 0.5, "2", 2.0),
    ("int", 1, "2", 2),
    ("bool", True, "false", False),
    ("text", "all", "5 s", "5 s"),
    ("text", "all", "", ""),
]


@pytest.mark.parametrize(("kind", "value", "text", "meant"), OVERRIDES)
def test_an_override_keeps_the_kind(kind: Any, value: object, text: str, meant: object) -> None:
    changed = override(Setting("a", value, kind, HERE), text)

    assert (changed.kind, changed.value) == (kind, meant)


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        ("duration", 5.0, "5"),
        ("duration", 5.0, "true"),
        ("range", Range(1, 2), "5..3"),
        ("range", Range(1, 2), "0.5"),
        ("int", 1, "0.5"),
        ("int", 1, "many"),
        ("bool", True, "1"),
        ("rate", Rate(1, 1.0), "10"),
        ("number", 0.5, "half"),
    ],
)
def test_an_override_of_another_kind_is_refused(kind: Any, value: object, text: str) -> None:
    with pytest.raises(SettingError, match="'a'"):
        override(Setting("a", value, kind, HERE), text)


@given(st.text(max_size=30))
def test_any_text_is_a_value_or_refused(text: str) -> None:
    for parse in (parse_duration, parse_rate):
        parse(text)
    try:
        kind, _ = parse_value(text)
    except ValueError:
        return
    assert kind


NUMBERS = st.sampled_from(["0", "5", "10", "1.5", "0.0", "007", "-3", "1e5"])
UNITS = st.sampled_from(["", "s", "S", "ms", "min", "h", "sek", "secs", "Minutes", "m", "x", "s."])
BLANKS = st.sampled_from(["", " ", "  "])


@given(st.tuples(st.sampled_from(["", "10 per ", "0 per  ", "3.."]), NUMBERS, BLANKS, UNITS).map("".join))
def test_what_is_proposed_is_never_what_stands_there_and_can_be_read(text: str) -> None:
    try:
        kind, _ = parse_value(text)
    except ValueError:
        return
    hint = mistaken(text) if kind == "text" else ""
    found = re.search(r"did you mean '(.*)'\?", hint)

    assert kind != "text" or hint
    if found:
        assert found[1] != text
        assert parse_value(found[1])[0] != "text"
