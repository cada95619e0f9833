"""What one event may cost is bounded, whatever its expressions do with large values, and the limit is named."""

from __future__ import annotations

import time

import pytest

from machines.messages.shapes import shown
from machines.work import METER, WORK_MAX
from tests.support.session_harness import Run
from tests.support.tiny import returned, shows, start

DOUBLED = """
protocol: doubled
wire: {{framing: lines}}
connects: {{client: server}}
types:
  Rows: [[int, ...], ...]
messages:
  client: {{GO: go}}
  server:
    ALL: [all, $list any]
    ROWS: [rows, $rows Rows]
roles:
  server:
    main(client):
      begin:
        within: never
        receive:
          GO:
            let: {{l: "[1, 2, 3]", o: "[]", n: 0}}
            then: double
      double:
        - if: n < {depth}
          let: {{{grow}, n: n + 1}}
          then: double
        - {{let: {{n: 0}}, then: end}}
{end}
      over: {{return: n}}
  client:
    main: {{idle: {{within: never}}}}
"""
AGAIN = """
      end:
        - if: n < 9000
          let: {{n: n + 1, k: "{work}"}}
          then: end
        - over
"""


def run(end: str, *, grow: str = 'l: "[l, l]"', depth: int = 40) -> Run:
    """Play one event: a list doubled so many times, and what is done with it."""
    server = Run(DOUBLED.format(end=end, grow=grow, depth=depth))
    server.say(0, "go")
    return server


def refused(server: Run) -> bool:
    """Whether the session has failed by the limit's name."""
    assert server.ended is not None
    return "(work_max)" in str(server.ended.failed)


@pytest.mark.parametrize("message", ["ALL(l)", "ALL([[l], l])", "ROWS(o)"])
def test_a_value_that_holds_the_same_list_over_and_over_is_not_written_out(message: str) -> None:
    grow = 'l: l + l, o: "o + o + [l]"' if message == "ROWS(o)" else 'l: "[l, l]"'

    assert refused(run(f"      end: {{send: '{message}', then: over}}", grow=grow, depth=16 if "o" in grow else 40))


@pytest.mark.parametrize(
    "work",
    [
        "sorted(l)", "min(l)", "sum(l)", "l + l", "tail(l, 1)", "put(l, 0, n)", "without(l, 9)", "l except [9]",
        "9 in l", "[x for x in l]", "[n for x in [y for y in l] if false]",
        "'x' in l", "l == o + l", "head(l, 40000)", "sum(1..(40000 + n))",
    ],
)  # fmt: skip
def test_what_is_done_with_a_long_list_again_and_again_counts(work: str) -> None:
    assert refused(run(AGAIN.format(work=work), grow="l: l + l", depth=14))


@pytest.mark.parametrize("work", ["l + l", "upper(l)", "split(l, 'x')", "join(split(l, ' '), '')", "'y' in l"])
def test_what_is_done_with_a_long_text_again_and_again_counts(work: str) -> None:
    server = Run(DOUBLED.format(end=AGAIN.format(work=work), grow="l: l + l", depth=17).replace("[1, 2, 3]", "'a b'"))
    server.say(0, "go")

    assert refused(server)


def test_short_lists_within_each_other_count_too() -> None:
    """Each has 64 items at most, which are not counted where they stand alone; six deep they are 50 to the 6."""
    inner = "n"
    for item in "abcdef":
        inner = f"[{inner} for {item} in 1..50]"

    assert refused(run(f"      end: {{let: {{k: {inner}}}, then: over}}"))


def test_a_loop_over_a_long_list_counts() -> None:
    loops = """
      end: {each: x in l, until: x == 1, then: once_more}
      once_more:
        - if: n < 9000
          let: {n: n + 1}
          then: end
        - over
"""

    assert refused(run(loops, grow="l: l + l", depth=14))


@shows("wire.work_max")
@pytest.mark.parametrize(("most", "fails"), [(2000, True), (100_000, False)])
def test_the_limit_can_be_set_and_is_one_of_each_event(most: int, fails: bool) -> None:
    client = start(
        f"""
        wire: {{framing: lines, work_max: {most}}}
        messages:
          server: {{GO: [go, $text string], END: end}}
        roles:
          client:
            main:
              asked:
                within: never
                receive:
                  GO:
                    let: {{least: "min(1..(1000 + len(text)))"}}
                    then: asked
                  END: {{return: 1}}
                failed: {{return: 2}}
        """,
        "client",
    )

    client.write(0, b'["go", ""]\n' * 30 + b'"end"\n')  # one input, thirty events

    assert returned(client) == (2 if fails else 1)


def test_outside_of_an_event_nothing_is_counted() -> None:
    server = run("      end: {then: over}")

    assert server.ended is not None
    assert METER.left > WORK_MAX


def test_a_value_is_shown_in_bounded_time_however_often_it_holds_the_same() -> None:
    value: tuple[object, ...] = ()
    for _ in range(8):
        value = (value,) * 60

    before = time.thread_time()

    assert len(shown(value)) <= 60
    assert time.thread_time() - before < 1
