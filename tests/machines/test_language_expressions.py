"""The language, shown key by key: expressions, as a running spec evaluates them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.tiny import returned, shows, start

VALUES: list[tuple[str, Any]] = [
    ("1 + 2 * 3 - -1", 8),
    ("'a' + 'b'", "ab"),
    ("'it''s'", "it's"),
    ("[1] + [2, 3]", (1, 2, 3)),
    ("1..3 == 1..3", True),
    ("1 == 1.0", True),
    ("true == 1", False),
    ("1 in [true]", False),
    ("null == 0", False),
    ("2 < 3 and not ('b' < 'a')", True),
    ("3 <= 3 and 3 >= 3", True),
    ("2 in 1..3", True),
    ("'b' in 'abc'", True),
    ("'low' in record", True),
    ("record.low + record['low']", 10),
    ("[7, 8, 9][1]", 8),
    ("list[len(list) - 1]", 3),
    ("if record.low > 3 then 'more' else 'less'", "more"),
    ("1 + (if 3 in list then 10 else 20)", 11),
    ("if len(list) > 9 then list[9] else if 'a' in record then record.a else list[2]", 3),
    ("[if true then 1 else 2, if false then 1 else 2]", (1, 2)),
    ("[n * n for n in list if n != 2]", (1, 9)),
    ("[{n: n, low: record.low} for n in 1..2][1].n", 2),
    ("len([[n, 0] for n in [m for m in list]])", 3),
    ("head('hello', 2) + '.' + tail('hello', 3) + tail('a', 2)", "he.lo"),
    ("len('four') + len(1..3) + len(record) + len([])", 8),
]


@shows("built-in.len", *(f"operator.{sign}" for sign in ("+", "-", "*", "..", "==", "!=", "<", "<=", ">", ">=")))
@shows("operator.in", "operator.and", "operator.or", "operator.not", "operator.a.b", "operator.a[b]")
@shows("operator.if then else", "operator.[a for x in b if c]", "operator.{a: b}")
@pytest.mark.parametrize(("text", "value"), VALUES, ids=[text for text, _ in VALUES])
def test_what_an_expression_gives(text: str, value: Any) -> None:
    # for in { } if then else len + - * .. == != < <= > >= in and or not a.b a[b]
    run = start(
        f"""
        messages: {{}}
        roles:
          client:
            main:
              first:
                let:
                  record: {{low: 5}}
                  list: [1, 2, 3]
                then: last
              last:
                let:
                  used: [record, list]
                  got: ({text})
                then: end
              end: {{return: got}}
        """,
        "client",
    )

    assert returned(run) == value


FAILS = [
    ("if: n", "true or false is needed"),  # no truthiness
    ("if: n and true", "true or false is needed"),
    ("if: n < 'a'", "cannot be compared"),
    ("let: {m: n + 'a'}", "cannot be added"),
    ("let: {m: n * 9223372036854775807}", "64 bits"),
    ("""let: {m: "[1][n]"}""", "there is no element 2"),
    ("let: {m: server.name}", "has no 'name'"),
]


@shows("state.failed")
@pytest.mark.parametrize(("keys", "words"), FAILS, ids=[keys for keys, _ in FAILS])
def test_what_has_no_meaning_fails_and_changes_nothing(keys: str, words: str) -> None:
    run = start(
        f"""
        messages:
          server: {{GO: [go, $n any]}}
        roles:
          client:
            main:
              listening:
                within: never
                receive: {{GO: {{{keys}, then: stay}}}}
                closed: {{return: null}}
                failed: {{return: reason}}
        """,
        "client",
    )

    run.say(0, ["go", 2])

    assert returned(run) == "failed"
    assert any(words in note for note in run.notes)
