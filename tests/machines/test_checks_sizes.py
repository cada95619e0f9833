"""A message of our own over the limit (A347): told where what peers send would end the session of others."""

from __future__ import annotations

import pytest

from tests.support.quiz import found
from tests.support.session_harness import Run
from tests.support.tiny import start

TYPES = """types: {Short: {string: "[a-z]{1,9}"}, Open: {string: "[a-z]+!"}}
"""
FORUM = """\
protocol: forum
wire: {framing: FRAMING, message_bytes_max: 300}
connects: {poster: server}
types: {Short: {string: "[a-z]{1,9}"}, Open: {string: "[a-z]+!"}}
messages:
  poster: {IN: {in: $who string}, POST: POSTED}
  server: {NEWS: TOLD}
roles:
  server:
    main:
      open:
        accept: enter(peer)
        as: all
        await: all
        within: never
        receive: {POST: {send: {all: WHAT}, then: stay}}
        invalid: {drop: peer, then: stay}
    enter(peer): {named: {await: peer, within: 5 s, receive: {IN: {return: {who: who}}}}}
  poster:
    main:
      always: {within: never, closed: {return: null}, receive: {NEWS: stay}}
      begin: {send: IN(my.name), then: posting}
      posting: {ask: post, receive: {POST: {send: POST, then: posting}}}
"""


def forum(posted: str, told: str, what: str = "NEWS(text)", framing: str = "lines") -> str:
    text = FORUM.replace("POSTED", posted).replace("TOLD", told).replace("WHAT", what)
    return text.replace("FRAMING", framing)


def told(*given: str, **more: str) -> list[str]:
    return [f"{one.code} {one.text}" for one in found(forum(*given, **more)) if one.code not in ("A332", "A305")]


def test_a_text_that_is_told_on_with_more_beside_it() -> None:
    (long,) = told("{post: $text string}", "{posted: $text string}")
    assert long == (
        "A347 NEWS may have 302 bytes, and message_bytes_max allows 300: text may be a text of 289: "
        "it would end the session of all"
    )
    assert told("{posted: $text string}", "{post: $text string}") == []  # what was beside it had more


def test_a_text_has_another_name_by_then() -> None:
    kept = forum("{post: $text string}", "{posted: $line string}", "NEWS(kept)").replace(
        "{send: {all: NEWS(kept)}, then: stay}", "{let: {kept: text}, send: {all: NEWS(kept)}, then: stay}"
    )

    assert [one.code for one in found(kept) if one.code != "A332"] == ["A347"]


def test_it_is_so_in_a_run_to_the_byte() -> None:
    def said(length: int) -> Run:
        server = start(
            forum("{post: $text string}", "{posted: $text string}").replace(TYPES, "accepted: {A347: seen}\n")
        )
        ann = server.join()
        server.say(ann, {"in": "ann"})
        server.say(ann, {"post": "x" * length})
        return server

    assert said(287).ended is None
    assert "message_bytes_max" in str(said(288).ended)


@pytest.mark.parametrize("type_", ["string", "Open"])
def test_two_texts_of_any_length_are_too_many(type_: str) -> None:
    shown = told(
        "{post: $text TYPE}".replace("TYPE", type_),
        "{x: $who string, y: $text string}",
        "NEWS(peer.who, text)".join('""'),
    )

    assert [one.split(" may have")[0] for one in shown] == ["A347 NEWS"]


@pytest.mark.parametrize(
    ("posted", "news", "what"),
    [
        ("{post: $text Short}", "{posted: $text string}", "NEWS(text)"),
        ("{post: $text string}", "{posted: $text any}", "NEWS(len(text))"),
        ("{post: $text string}", "{posted: $text any}", "NEWS('a longer text than it had')"),
    ],
    ids=["a text with an end", "what is no text of theirs", "a text of our own"],
)
def test_what_cannot_be_long_is_not(posted: str, news: str, what: str) -> None:
    assert told(posted, news, what) == []


def test_who_only_ends_a_session_of_its_own_is_not_told_of() -> None:
    own = """\
protocol: mirror
wire: {framing: lines, message_bytes_max: 300}
connects: {poster: server}
messages: {poster: {POST: {post: $text string}}, server: {NEWS: {posted: $text string}}}
roles:
  server:
    main(poster): {open: {within: never, receive: {POST: {send: NEWS(text), then: open}}, invalid: {return: null}}}
  poster:
    main:
      always: {within: never, closed: {return: null}, receive: {NEWS: stay}}
      posting: {ask: post, receive: {POST: {send: POST, then: posting}}}
"""

    assert found(own) == []
