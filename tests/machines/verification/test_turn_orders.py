"""A rule decides whose turn it is: an element of a list of peers is one peer, and so is a name that is used as one."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from machines.parser.loader import load_text
from machines.verification.verdict import PROVED, Verdict
from machines.verification.verify import verify

# A host asks its guests for a song each, in an order that a rule says.
SONGS = """
protocol: songs
rules: [turns]
connects: {guest: host}
types: {Name: {string: "[a-z]{1,9}"}}
messages:
  guest: {HERE: {here: $name Name}, SING: sing}
  host: {PLEASE: please, BEST: {best: $who Name}}
roles:
  host:
    main:
      door: {accept: sign_up(peer), as: guests, seats: 2, within: 1 min, timeout: {return: null}, then: begin}
      begin: {let: {best: ('nobody')}, then: round}
      round: {each: one in ITEMS, run: sung(ONE), as: {best: RESULT}, then: over}
      over: {send: {guests: BEST(best)}, return: null}
    sign_up(peer):
      named: {within: 5 s, receive: {HERE: {return: {name: name}}}}
    sung(guest):
      asked:
        send: PLEASE
        within: 5 s
        receive: {SING: {return: SANG}}
        fault: {drop: guest, return: ('nobody')}
  guest:
    main:
      always: {within: 1 min, closed: {return: null}}
      begin: {send: HERE(my.name), then: waiting}
      waiting: {receive: {PLEASE: {send: SING, then: waiting}, BEST: {return: who}}}
"""


RULES = """
def numbers(seed): return [1, 0]
def next(seed): return 0
def ordered(guests): return guests[::-1]
def rows(guests): return [{"who": guest} for guest in guests]
"""


@pytest.fixture(autouse=True)
def rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "turns.py").write_text(RULES, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    sys.modules.pop("turns", None)


def verdict(items: str, one: str, *, result: str = "result", sang: str = "guest.name") -> Verdict:
    text = SONGS.replace("ITEMS", items).replace("ONE", one).replace("RESULT", result).replace("SANG", sang)
    return verify(load_text(text, rules=("turns",)), {}, clients=(1, 2, 3), queue=2, most=60_000)


@pytest.mark.parametrize(
    ("items", "one"),
    [
        ("turns.numbers(seed)", "guests[one]"),
        ("turns.ordered(guests)", "one"),
        ("turns.rows(guests)", "one.who"),
        ("guests", "guests[turns.next(seed)]"),
        ("[1, 0]", "guests[one]"),
    ],
)
def test_whoever_a_rule_chooses_is_one_peer(items: str, one: str) -> None:
    found = verdict(items, one)

    assert found.state == PROVED, [str(one.text) for one in found.findings]


def test_what_is_a_key_where_a_machine_is_called_is_one_peer_in_it() -> None:
    found = verdict("turns.ordered(guests)", "one", result="get({a: best}, one, result)", sang="('somebody')")

    assert found.state == PROVED, [str(one.text) for one in found.findings]


def test_what_nothing_uses_as_one_peer_may_be_several() -> None:
    """A rule without a contract may return groups, and each of a group is sent to at once."""
    found = verdict("turns.ordered(guests)", "one", sang="('somebody')")

    assert found.state != PROVED
    assert not [one for one in found.findings if one.code == "A506"]
