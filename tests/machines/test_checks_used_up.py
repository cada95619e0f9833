"""A limit that is never used up (A348): a number counts since the state was entered, and each use leaves it."""

from __future__ import annotations

import pytest

from machines.checks import check
from machines.parser.loader import load_text

HEAD = """
settings: {most: 2, pace: 2 per 10 s}
messages:
  server: {GO: go, STOP: stop}
  client: {A: a}
roles:
  client:
    main:
      ALWAYS
      listening: {within: never, receive: {GO: GOES, STOP: STOPS}, invalid: {return: reason}}
      other: {send: A, then: listening}
"""


def text_of(goes: str, stops: str = "{return: null}", always: str = "") -> str:
    return HEAD.replace("GOES", goes).replace("STOPS", stops).replace("      ALWAYS\n", always and f"      {always}\n")


def told(goes: str, stops: str = "{return: null}", always: str = "") -> int:
    text = "protocol: limits\nwire: {framing: json}\nconnects: {client: server}\n" + text_of(goes, stops, always)
    server = "  server: {main(c): {a: {within: 1 s, receive: {A: stay}, fault: {return: null}}}}\n"
    return [problem.code for problem in check(load_text(text + server))].count("A348")


@pytest.mark.parametrize(
    ("goes", "stops", "always", "count"),
    [
        ("{limit: 2, then: other}", "{return: null}", "", 1),
        ("{limit: most, then: other}", "{return: null}", "", 1),
        ("{limit: 2, then: listening}", "{return: null}", "", 1),  # it is entered afresh
        ("[{limit: 2, then: other}, {limit: 1, then: other}]", "{return: null}", "", 2),
        ("{limit: most, then: other}", "{limit: most, then: other}", "", 2),
        ("stay", "{return: null}", "always: {closed: {limit: 1, return: null}}", 1),
        ("{limit: 2, then: stay}", "{return: null}", "", 0),
        ("{limit: pace, then: other}", "{return: null}", "", 0),  # a rate counts on
        ("{limit: 0, then: other}", "{return: null}", "", 0),
        ("{limit: most, then: other}", "{limit: most, then: stay}", "", 0),  # the other one uses it up
        ("{limit: most, then: stay}", "{return: null}", "always: {closed: {limit: most, return: null}}", 0),
    ],
)
def test_a_limit_is_told_of_if_nothing_that_shares_it_stays(goes: str, stops: str, always: str, count: int) -> None:
    assert told(goes, stops, always) == count
