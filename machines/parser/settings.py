"""The values of settings as text, in a spec and on the command line: one grammar for both.

5 s, 300 ms, 10 min, 1 h, never    a duration, float seconds
3..5                               a Range
10 per 1 s                         a Rate
3, -1                              an int
0.5                                a number
true, false                        a bool
anything else                      a text; in a spec it stands in quotes if it begins like a number
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches
from typing import Any, Literal

from machines.model import Setting, Spec
from machines.problems import near
from machines.values import Range, Rate

Kind = Literal["duration", "range", "rate", "int", "number", "bool", "text"]

INT_MAX = (1 << 63) - 1
_UNITS = {"ms": 0.001, "s": 1.0, "min": 60.0, "h": 3600.0}
_NUMBER = r"\d{1,18}(?:\.\d{1,18})?"
_DURATION = re.compile(rf"({_NUMBER})\s*(ms|s|min|h)", re.ASCII)
_RANGE = re.compile(r"(-?\d{1,18})\s*\.\.\s*(-?\d{1,18})", re.ASCII)
_RATE = re.compile(rf"(\d{{1,18}})\s+per\s+({_NUMBER}\s*(?:ms|s|min|h))", re.ASCII)
_INT = re.compile(r"-?\d{1,19}", re.ASCII)
_LONG = re.compile(r"-?(?:\d+\s*\.\.\s*-?)?\d{19,}\b", re.ASCII)
_DECIMAL = re.compile(rf"-?{_NUMBER}", re.ASCII)

# How a value of each kind is written, for people who wrote another.
WRITTEN = {
    "duration": "a duration like 5 s, 300 ms or never",
    "range": "a range like 3..5",
    "rate": "a rate like 10 per 1 s",
    "int": "a whole number",
    "number": "a number",
    "bool": "true or false",
    "text": "a text",
}


# A text that begins as a number does, or has a part of a range or rate: nobody writes it without quotes on purpose.
_SPAN = re.compile(r"([0-9]{1,9})\s*(?:-|\u2013|to|\.\.\.)\s*([0-9]{1,9})")  # as others write a range
_NUMBERLIKE = re.compile(r"[-+]?\.?\d|.*\.\.\s*-?\d|.*\sper\s+\d", re.ASCII | re.DOTALL)
_MISTAKEN = re.compile(rf"(?P<before>(?:\d{{1,18}}\s+per\s+)?{_NUMBER})\s*(?P<unit>[A-Za-z]+)\.?", re.ASCII)
_LIKE_UNITS = {
    **dict.fromkeys(("msec", "msecs", "millis", "millisecond", "milliseconds"), "ms"),
    **dict.fromkeys(("sec", "secs", "sek", "second", "seconds"), "s"),
    **dict.fromkeys(("m", "mins", "minute", "minutes"), "min"),
    **dict.fromkeys(("hr", "hrs", "hour", "hours"), "h"),
}


class SettingError(Exception):
    """A setting given from outside does not exist or is given a value of another kind; the text says which."""


def parse_duration(text: str) -> float | None:
    """Return the seconds that ``5 s``, ``300 ms``, ``10 min``, ``1 h`` or ``never`` (infinity) stand for, else None."""
    if text == "never":
        return math.inf
    match = _DURATION.fullmatch(text)
    return float(match[1]) * _UNITS[match[2]] if match else None


def parse_rate(text: str) -> Rate | None:
    """Return the Rate that ``10 per 1 s`` stands for; None if it is none or its time is nothing."""
    match = _RATE.fullmatch(text)
    seconds = parse_duration(match[2]) if match else None
    return Rate(int(match[1]), seconds) if match and seconds else None


def parse_value(text: str, *, plain: bool = True) -> tuple[Kind, Any]:
    """Return the kind and the value of a setting's text. What nothing else fits, or is not ``plain``, is a text.

    Raises:
        ValueError: a range that ends before it starts, or a number beyond 64 bits.

    >>> parse_value("10 min"), parse_value("3..5")
    (('duration', 600.0), ('range', Range(low=3, high=5)))
    """
    if not plain:
        return "text", text
    duration = parse_duration(text)
    if duration is not None:
        return "duration", duration
    rate = parse_rate(text)
    if rate is not None:
        return "rate", rate
    match = _RANGE.fullmatch(text)
    if match:
        low, high = int(match[1]), int(match[2])
        if low > high:
            raise ValueError(f"the range {text} ends before it starts")
        return "range", Range(low, high)
    if _INT.fullmatch(text) and abs(int(text)) <= INT_MAX:
        return "int", int(text)
    if _LONG.match(text):
        raise ValueError("a number of more than 64 bits (a text of digits needs quotes)")
    if _DECIMAL.fullmatch(text):
        return "number", float(text)
    if text in ("true", "false"):
        return "bool", text == "true"
    return "text", text


def mistaken(text: str) -> str:
    """Return what an unquoted text that is no duration, range, rate or number was to be, for people; else nothing.

    >>> mistaken("5 sek"), mistaken("good morning")
    ("did you mean '5 s'? A text is written in quotes", '')
    """
    if not _NUMBERLIKE.match(text):
        return ""
    span = _SPAN.fullmatch(text)
    if span is not None:
        return f"did you mean '{span[1]}..{span[2]}'? A text is written in quotes"
    found = _MISTAKEN.fullmatch(text)
    meant = ""
    if found is not None:
        word = found["unit"].lower()
        unit = word if word in _UNITS else _LIKE_UNITS.get(word, "")
        if not unit:
            matches = get_close_matches(word, (*_UNITS, *_LIKE_UNITS), n=1, cutoff=0.7)
            unit = _LIKE_UNITS.get(matches[0], matches[0]) if matches else ""
        meant = f"did you mean '{found['before']} {unit}'?" if unit else "the units are ms, s, min and h."
        if unit and parse_value(f"{found['before']} {unit}")[0] == "text":
            meant = "the time of a rate is more than nothing, like 10 per 1 s."
    return f"{meant or 'like 5 s, 3..5, 10 per 1 s, 3 or 0.5.'} A text is written in quotes"


def override(setting: Setting, text: str) -> Setting:
    """Return the setting with the value that ``text`` stands for. Its kind stays: a single number is also a range.

    Raises:
        SettingError: the text is of another kind.
    """
    text = text.strip() if setting.kind != "text" else text
    value: Any
    if setting.kind == "text":
        return replace(setting, value=text)
    try:
        kind, value = parse_value(text)
    except ValueError as error:
        raise SettingError(f"setting {setting.name!r}: {error}") from None
    if setting.kind == "range" and kind == "int":
        kind, value = "range", Range(value, value)
    elif setting.kind == "number" and kind == "int":
        kind, value = "number", float(value)
    if kind != setting.kind:
        raise SettingError(f"setting {setting.name!r} is {WRITTEN[setting.kind]}, not {text!r}")
    return replace(setting, value=value)


def apply_settings(spec: Spec, given: Mapping[str, str]) -> Spec:
    """Return the spec with settings overridden from outside; ``given`` maps a setting's name to its text.

    Raises:
        SettingError: a name is no setting of the spec, or a text is of another kind than its setting.
    """
    if not given:
        return spec
    settings = dict(spec.settings)
    for name, text in given.items():
        if name not in settings:
            known = near(name, settings) or f"there are: {', '.join(settings) or 'none'}"
            raise SettingError(f"{spec.protocol} has no setting {name!r}: {known}")
        settings[name] = override(settings[name], text)
    return replace(spec, settings=settings)
