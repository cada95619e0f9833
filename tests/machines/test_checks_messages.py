"""Messages sent, heard and told apart: a bad text and a mended one for each check."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from machines.checks.ambiguity import apart
from machines.messages.types import compile_message, overlap
from machines.model import Body, BodyList, BodyMap, Field, LiteralBody, Message, Scalar
from machines.problems import Place
from tests.support.quiz import (
    CLIENT,
    RESIGN,
    TURN,
    Case,
    changed,
    found,
)

ASKED = (
    ("ASK:  [{if: my.tired, send: RESIGN, then: stay}, {send: MOVE(1), then: stay}]", "ASK: asked"),
    (
        CLIENT,
        "      asked:\n        ask: move\n        within: 1 min\n        receive: ANSWERS\n"
        "      moved: {send: MOVE, then: playing}\n      resigned: {send: RESIGN, then: playing}\n" + CLIENT,
    ),
)

# A MOVE may come at any time, and a RESIGN has a word.
SURRENDER = (
    ("      door:\n", "      always: {receive: {MOVE: over}}\n      door:\n"),
    (f"{TURN}, {RESIGN}", "RESIGN: {return: word}"),
    ("send: RESIGN", "send: RESIGN('no')"),
    ("        return: score\n    join", "        return: null\n    join"),
)

# -- messages --------------------------------------------------------------------------------------------------------

AWAITED = "await: players\n        "
LAST_WORD = "within: reply\n        receive: {RESIGN: {return: score}}\n        fault: {return: score}"

MESSAGES = [
    Case(
        "a message that nobody sends",
        "A330",
        bad=(("    NEWS:", "    MORE: more\n    NEWS:"), ("NEWS: stay", "NEWS: stay\n          MORE: stay")),
        good=(("    NEWS:", "    MORE: more\n    NEWS:"), ("NEWS: stay", "NEWS: stay\n          MORE: stay"),
              ("[OVER, NEWS('bye')]", "[MORE, NEWS('bye'), OVER]")),
        at="MORE: more",
        says="no machine of server does",
    ),
    Case(
        "a message that nobody receives",
        "A331",
        bad=(("          NEWS: stay\n", ""),),
        good=(("          NEWS: stay\n", "          NEWS: {let: {last: text}, then: stay}\n"),),
        at="NEWS: [news, $text string]",
        says="no machine of client does",
    ),
    Case(
        "a type that no message uses",
        "A332",
        bad=(("types:\n", "types:\n  Names: [Name, ...]\n"),),
        good=(("types:\n", "types:\n  Names: [Name, ... 3]\n"), ("$text string", "$text Names"),
              ("NEWS('bye')", "NEWS(players)")),
        at="Names:",
    ),
    Case(
        "a setting that nothing reads",
        "A333",
        bad=(("  reply: 5 s\n", "  reply: 5 s\n  think: 4 s\n"),),
        good=(("  reply: 5 s\n", "  reply: 5 s\n  think: 4 s\n"), ("within: never\n", "within: think\n")),
        at="think:",
    ),
    Case(
        "two messages of one state that one value fits",
        "A334",
        bad=(("$text string]", "$text string]\n    LATE: [news, $why string]"), ("[OVER,", "[LATE('no'), OVER,"),
             ("NEWS: stay\n", "NEWS: stay\n          LATE: stay\n")),
        good=(("$text string]", "$text string]\n    LATE: [late, $why string]"), ("[OVER,", "[LATE('no'), OVER,"),
              ("NEWS: stay\n", "NEWS: stay\n          LATE: stay\n")),
        at="LATE: stay",
        says='["news", ',
    ),
    Case(
        "a message that an always takes for another",
        "A334",
        bad=(*SURRENDER, ("RESIGN: [resign]", "RESIGN: [$word string, 7]")),
        good=(*SURRENDER, ("RESIGN: [resign]", "RESIGN: [$word string, no]")),
        at="RESIGN: {return: word}",
        says="the 'always' of main around it",
    ),
    Case(
        "the exception behind the rule",
        "A334",
        bad=(("RESIGN: [resign]", "RESIGN: [move, 0]"),),
        good=(("RESIGN: [resign]", "RESIGN: [move, 0]"),
              (f"{TURN}, {RESIGN}", f"{RESIGN}, {TURN}")),
        at="RESIGN: {return: score}",
        says='["move", 0] is either',
    ),
    Case(
        "two answers to one question that one value fits",
        "A335",
        bad=(*ASKED, ("ANSWERS", "{MOVE: moved, RESIGN: resigned}"), ("RESIGN: [resign]", "RESIGN: [move, 0]"),
             (f"{TURN}, {RESIGN}", f"{RESIGN}, {TURN}")),
        good=(*ASKED, ("ANSWERS", "{RESIGN: resigned, MOVE: moved}"), ("RESIGN: [resign]", "RESIGN: [move, 0]"),
              (f"{TURN}, {RESIGN}", f"{RESIGN}, {TURN}")),
        at="receive: {MOVE: moved, RESIGN: resigned}",
    ),
    Case(
        "an urgent message like another",
        "A336",
        bad=(("roles:\n", "urgent: [RESIGN]\nroles:\n"), ("RESIGN: [resign]", "RESIGN: [hello, bye]")),
        good=(("roles:\n", "urgent: [RESIGN]\nroles:\n"), ("RESIGN: [resign]", "RESIGN: [bye, bye]")),
        at="RESIGN: [hello, bye]",
        says='["hello", "bye"] is either',
    ),
    Case(
        "a wait that does not say for whom, in a machine without a parameter",
        "A337",
        bad=(("NEWS('bye')]}\n        return: score", f"NEWS('bye')]}}\n        {LAST_WORD}"),),
        good=(("NEWS('bye')]}\n        return: score", f"NEWS('bye')]}}\n        {AWAITED}{LAST_WORD}"),),
        at="over:",
        says="server has several peers",
    ),
    Case(
        "a send with nobody at hand",
        "A338",
        bad=(("send: {players: [OVER, NEWS('bye')]}", "send: [OVER, NEWS('bye')]"),),
        good=(("send: {players: [OVER, NEWS('bye')]}", "send: {players: [NEWS('bye'), OVER]}"),),
        at="send: [OVER",
        says="OVER and NEWS",
    ),
    Case(
        "a send where a call failed",
        "A338",
        bad=(("        as: score\n", "        as: score\n        failed: {send: OVER, then: over}\n"),),
        good=(("        as: score\n", "        as: score\n        failed: {send: {players: OVER}, then: over}\n"),),
        at="failed: {send: OVER",
    ),
]  # fmt: skip


@pytest.mark.parametrize("case", MESSAGES, ids=lambda case: case.name)
def test_a_fault_is_told_and_a_mended_one_is_not(case: Case) -> None:
    case.judge()


# -- fixed words that tell messages apart -----------------------------------------------------------------------------

PLACE = Place("spec.yaml", 1, 1)
words = st.sampled_from([None, True, False, 0, 1, 1.0, "a", "b"]).map(LiteralBody)
types = st.sampled_from([Scalar("int"), Scalar("bool"), Scalar("string"), Scalar("null"), Scalar("any")])


def field(kind: Scalar, optional: bool = False) -> Field:
    return Field("h", kind, PLACE, optional, {"int": 0, "bool": True, "string": "", "null": None}.get(kind.kind))


bodies: st.SearchStrategy[Body] = st.recursive(
    words | types.map(field),
    lambda inner: (
        st.lists(inner, max_size=2).map(lambda items: BodyList(tuple(items)))
        | st.dictionaries(st.sampled_from("kl"), inner | types.map(lambda kind: field(kind, True)), max_size=2).map(
            lambda items: BodyMap(tuple(items.items()))
        )
    ),
    max_leaves=4,
)


def numbered(body: Body, name: str) -> Body:
    """Return the body with each field's name its own."""
    match body:
        case Field():
            return replace(body, name=f"h{name}")
        case BodyList(items):
            return BodyList(tuple(numbered(item, f"{name}{index}") for index, item in enumerate(items)))
        case BodyMap(pairs):
            return BodyMap(tuple((key, numbered(item, f"{name}{key}")) for key, item in pairs))
        case _:
            return body


@settings(max_examples=200, deadline=None)
@given(bodies, bodies)
def test_what_fixed_words_tell_apart_has_no_value_in_common(a: Body, b: Body) -> None:
    one, other = (compile_message(Message("M", ("c",), numbered(body, "_"), (), False, PLACE), {}) for body in (a, b))

    if apart(a, b):
        assert overlap(one, other) is None
    assert apart(a, b) == apart(b, a)


# -- two roles at the other end ----------------------------------------------------------------------------------------

RELAY = """\
protocol: relay
connects: {client: [server, ai]}
messages:
  client: {QUESTION: [q, $n int]}
  client, ai: {ANSWER: [a, $n int]}
  server: {BEGIN: begin, STOP: ['a', 0]}
roles:
  server:
    main:
      door: {accept: join(peer), as: players, seats: 1, within: 5 s, timeout: {return: null}, then: asking}
      asking: {await: players, within: 5 s, receive: {ANSWER: done}, fault: done}
      done: {send: {players: STOP}, return: null}
    join(peer):
      told: {send: BEGIN, await: peer, within: 5 s, receive: {ANSWER: {return: {}}}}
  client:
    main:
      always: {await: server, within: 5 s, receive: {STOP: {return: null}}}
      begin: {await: server, receive: {BEGIN: thinking}}
      thinking: {send: {ai: QUESTION(1)}, await: ai, receive: {ANSWER: {send: {server: ANSWER}, then: begin}}}
  ai:
    main(client):
      ready: {within: 5 s, receive: {QUESTION: {send: ANSWER, return: null}}}
"""


def test_messages_of_different_senders_may_be_alike() -> None:
    # STOP is the server's and looks like an ANSWER, but the state that expects an ANSWER hears the ai.
    assert found(RELAY) == []


def test_messages_of_one_sender_may_not_be_alike_though_it_shares_one_with_others() -> None:
    text = changed(("BEGIN: begin", "BEGIN: ['a', 0]"), text=RELAY)

    assert [problem.code for problem in found(text)] == ["A334"]


def test_every_sender_of_a_message_has_to_send_it() -> None:
    text = changed(("send: {server: ANSWER}, then: begin", "then: begin"), text=RELAY)

    assert [(problem.code, problem.text) for problem in found(text)] == [
        ("A330", "ANSWER is never sent: no machine of client does")
    ]


# A room that those who have a seat speak in; what somebody says who is about to sign up is heard by the sign-up alone.
ROOM = """\
protocol: room
wire: {framing: text}
connects: {guest: host}
messages:
  guest: {NAME: "iam ${name string}", TALK: "say ${line string 0..60}", ANY: $words string}
  host: {HOW: "who are you?", SAID: "said ${line string}"}
roles:
  host:
    main:
      open:
        accept: welcome(peer)
        as: guests
        await: guests
        within: never
        receive: {TALK: {send: {guests: SAID(line)}, then: stay}}
        invalid: stay
    welcome(peer):
      asked:
        await: peer
        within: 5 s
        receive: {NAME: {return: {name: name}}, ANY: greeted}
      greeted: {run: helped(peer), as: name, return: {name: name}}
    helped(who):
      told: {send: {who: HOW}, await: who, within: 5 s, receive: {NAME: {return: name}, ANY: stay}}
  guest:
    main:
      always: {within: never, closed: {return: null}}
      begin: {send: [ANY('hello'), NAME(my.name), TALK('hello')], then: listening}
      listening: {receive: {HOW: stay, SAID: stay}}
"""


def test_what_the_seated_say_is_not_taken_for_what_a_newcomer_says() -> None:
    assert found(ROOM) == []


ALWAYS = (
    ("      open:\n", "      always: {await: guests, receive: {TALK: stay}, invalid: stay}\n      open:\n"),
    ("        receive: {TALK: {send: {guests: SAID(line)}, then: stay}}\n", ""),
    ("listening: {receive: {HOW: stay, SAID: stay}}", "listening: {receive: {HOW: stay}}"),
    (', SAID: "said ${line string}"', ""),
)


def test_an_always_that_names_the_seated_does_not_hear_a_newcomer() -> None:
    assert found(changed(*ALWAYS, text=ROOM)) == []


@pytest.mark.parametrize(
    "edits",
    [
        (("always: {await: guests, receive", "always: {await: 'guests + others', receive"),),
        (
            ("        await: peer\n", "        await: guests\n"),
            ("        receive: {NAME", "        invalid: stay\n        receive: {NAME"),
        ),
    ],
    ids=["a layer that may name others", "a sign-up that awaits the seated"],
)
def test_who_may_be_heard_by_both_is_told(edits: tuple[tuple[str, str], ...]) -> None:
    text = changed(
        *ALWAYS,
        *edits,
        ("    main:\n      always: {await", "    main:\n      live: {others: []}\n      always: {await"),
        text=ROOM,
    )

    assert "A334" in [problem.code for problem in found(text)]
