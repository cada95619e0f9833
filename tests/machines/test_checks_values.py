"""What is done with the data of peers (A342, A343): told where a value that the types allow would end a session."""

from __future__ import annotations

import pytest

from machines.problems import Problem
from tests.support.quiz import found

# A client says something, and the server tells it on or counts with it.
ECHO = """\
protocol: echo
wire: {framing: FRAMING}
connects: {client: server}
types:
  Name: {string: "[a-z]{1,8}"}
  Few: {int: 0..9}
  Words: [string, ... 0..3]
messages:
  client: {SAY: SAY_BODY, MORE: {more: true}}
  server: {TELL: TELL_BODY}
roles:
  server:
    main(client):
      begin:
        let: {left: 9, all: []}
        then: heard
      heard:
        within: 5 s
        receive:
          SAY: ANSWER
          MORE: stay
        fault: {return: null}
      told: {send: TELL(left), then: heard}
      judged: DECIDED
  client:
    main:
      always: {within: never, closed: {return: null}, receive: {TELL: stay}}
      begin: {ask: say, receive: {SAY: {send: SAY, then: begin}, MORE: {send: MORE, then: begin}}}
"""


def echo(say: str, tell: str, answer: str, *, decided: str = "{return: null}", framing: str = "lines") -> list[Problem]:
    text = ECHO.replace("SAY_BODY", say).replace("TELL_BODY", tell).replace("FRAMING", framing)
    if framing == "text":
        text = text.replace("{more: true}", "more")
    text = text.replace("ANSWER", answer).replace("DECIDED", decided)
    return [problem for problem in found(text) if problem.code not in ("A320", "A330", "A332")]


def said(*given: str, decided: str = "{return: null}", framing: str = "lines") -> list[str]:
    return [f"{problem.code} {problem.text}" for problem in echo(*given, decided=decided, framing=framing)]


def test_a_name_told_on_by_a_field_that_takes_fewer_names() -> None:
    wide = said("{say: $name string}", "{tell: $who Name}", "{send: TELL(name), then: stay}")

    assert wide == ["A342 the field 'who' of TELL takes Name, and name may be \"\""]
    assert said("{say: $name Name}", "{tell: $who Name}", "{send: TELL(name), then: stay}") == []
    assert said("{say: $name Name}", "{tell: $who string}", "{send: TELL(name), then: stay}") == []


def test_a_text_that_holds_what_ends_its_field() -> None:
    answer = "{send: TELL(name), then: stay}"

    assert said('"my ${name string}"', '"${who string} says hello"', answer, framing="text") == [
        "A342 the field 'who' of TELL takes string without what stands behind it, and name may be \" says hello\""
    ]
    assert said('"my ${name string}"', '"hello ${who string}"', answer, framing="text") == []
    # What is read up to the same mark does not hold it.
    assert said('"${name string}!"', '"hello ${who string}!"', answer, framing="text") == []


def test_a_line_within_json_may_hold_a_line_end() -> None:
    found_ = said("{say: $name string}", '"by ${who string}"', "{send: TELL(name), then: stay}")

    assert len(found_) == 1
    assert found_[0].endswith('and name may be "\\n"')


@pytest.mark.parametrize(
    ("answer", "codes"),
    [
        ("{let: {left: left - count}, then: told}", ["A342"]),
        ("[{if: count <= left, let: {left: left - count}, then: told}, {return: left}]", []),
        ("[{if: count < 0 or count > left, return: left}, {let: {left: left - count}, then: told}]", []),
        ("{let: {left: count}, then: told}", ["A342"]),
        ("{if: count in 0..9, let: {left: count}, then: told}", []),
        ("{if: count >= 0 and count < 10, let: {left: count}, then: told}", []),
        ("{if: count >= 0 and count < 11, let: {left: count}, then: told}", ["A342"]),
        ("[{if: count < 0, return: 0}, {if: count > 9, return: 9}, {let: {left: count}, then: told}]", []),
        ("[{if: not (count > 0), return: 0}, {if: count > 9, return: 9}, {let: {left: count}, then: told}]", []),
        ("{let: {left: count * 0}, then: told}", []),
        ("{let: {left: if count in 0..9 then count else 0}, then: told}", []),
        ("{let: {left: if count > 9 then 9 else count}, then: told}", ["A342"]),
        ("{let: {left: if count > 9 then 9 else if count < 0 then 0 else count}, then: told}", []),
        ("{let: {left: 0 - left}, then: told}", ["A342"]),
        ("[{if: left == 0, return: 0}, {let: {left: left - 1}, then: told}]", []),
    ],
)
def test_a_number_that_leaves_the_range_of_its_field(answer: str, codes: list[str]) -> None:
    problems = echo("{say: $count int}", "{tell: $n Few}", answer)

    assert [problem.code for problem in problems] == codes
    assert all("takes Few, and left may be" in problem.text for problem in problems)


def test_what_grows_with_each_round_is_not_told() -> None:
    assert said("{say: $count Few}", "{tell: $n Few}", "{let: {left: left + 1}, then: told}") == []


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("int(text) + 1", "'+' takes two numbers, two texts or two lists, and int(text) may be null"),
        ("1 - int(text)", "'-' takes two numbers, and int(text) may be null"),
        ("words[0]", "it may have no element 0, and words may be []"),
        ("if few > 1 then words[0] else ''", "it may have no element 0, and words may be []"),
        ("1 + (if few > 1 then int(text) else 2)", "'+' takes two numbers"),
        (
            "[int(word) + 1 for word in words]",
            "'+' takes two numbers, two texts or two lists, and int(word) may be null",
        ),
        ("join([n for n in [few, 2]], ' ')", "each element 'join' is given must be a text"),
        ("words[2]", "it may have no element 2, and words may be []"),
        ("[4, 5][few]", "it may have no element 2, and [4, 5] may be"),
        ("words[few - 1]", "a list begins with its element 0, and few - 1 may be -1"),
        ("head(words, few - 1)", "'head' takes a number from 0 on, and few - 1 may be -1"),
        ("join(words + [1], ' ')", "each element 'join' is given must be a text, and words + [1] may be"),
        ("sum(words)", "each element 'sum' is given must be a number, and words may be [\"text\"]"),
        ("sum([few, text])", "each element 'sum' is given must be a number, and [few, text] may be"),
        ("join([client], ' ')", "each element 'join' is given must be"),
    ],
)
def test_an_expression_without_a_value_for_some_data(expression: str, why: str) -> None:
    say = "{text: $text string, words: $words Words, few: $few Few}"
    answer = f'\n            let: {{x: "{expression}"}}\n            return: x'
    (problem,) = echo(say, "{tell: $n any}", answer)

    assert problem.code == "A343"
    assert why in problem.text


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("sum(text)", "'sum' takes a list or a range, and text is a text"),
        ("lower(few)", "'lower' takes a text, and few is a whole number"),
        ("len(few + 1)", "few + 1 is a whole number"),
        ("keys(words)", "'keys' takes a mapping, and words is a list"),
        ("join(words, few)", "'join' takes a text"),
        ("head(words, text)", "'head' takes a number"),
        ("split(text, few)", "'split' takes a text"),
    ],
)
def test_a_function_given_a_kind_that_it_never_takes(expression: str, why: str) -> None:
    say = "{text: $text string, words: $words Words, few: $few Few}"
    (problem,) = echo(say, "{tell: $n any}", f'{{let: {{x: "{expression}"}}, return: x}}')

    assert problem.code == "A340"
    assert why in problem.text


@pytest.mark.parametrize(
    "answer",
    [
        "[{if: int(text) == null, return: 0}, {return: int(text) + 1}]",
        "{return: if int(text) == null then 0 else int(text) + 1}",
        "{return: if len(words) == 0 then 0 else words[0]}",
        "{if: int(text) != null and int(text) + 1 > 3, return: int(text) + 1}",
        "{let: {n: int(text)}, then: [{if: n == null, return: 0}, {return: n + 1}]}",
        "{let: {n: int(text)}, then: judged}",
        "[{if: len(words) == 0, return: 0}, {return: 'words[0]'}]",
        "{if: count >= 0 and count < len(words), return: 'words[count]'}",
        "[{if: len(words) > 2, return: 'words[2]'}, {return: 0}]",
        "\n            let: {all: 'all + [count]'}\n            return: \"all[0]\"",
        "\n            if: text in ['1', '2']\n            return: int(text) + 1",
        "\n            return: sum([count, 1])",
        "{let: {all: [int(word) for word in words]}, return: sum([n + 1 for n in all if n != null])}",
    ],
)
def test_what_was_asked_first_is_not_told(answer: str) -> None:
    say = "{text: $text string, words: $words Words, count: $count int}"
    decided = "[{if: n == null, return: 0}, {return: n + 1}]"
    if "judged" not in answer:
        decided = "{return: null}"

    assert said(say, "{tell: $n any}", answer, decided=decided) == []


ROOM = """\
protocol: room
wire: {framing: lines}
connects: {guest: host}
types: {Name: {string: "[a-z]{1,8}"}}
messages:
  guest: {HI: {hi: $name string}, TALK: talk}
  host: {SAID: {said: $who Name}}
roles:
  host:
    main:
      room:
        accept: welcome(peer)
        as: guests
        await: guests
        within: never
        receive: {TALK: {send: {guests: SAID(peer.name)}, then: stay}}
        invalid: {drop: peer, then: stay}
    welcome(peer):
      named: {await: peer, within: 5 s, receive: {HI: {return: {name: name}}}}
  guest:
    main:
      always: {within: never, closed: {return: null}, receive: {SAID: stay}}
      begin: {send: HI(my.name), then: talking}
      talking: {ask: talk, receive: {TALK: {send: TALK, then: talking}}}
"""


def test_a_name_from_a_sign_up_would_end_the_session_of_all() -> None:
    (problem,) = found(ROOM)

    assert problem.code == "A342"
    assert "peer.name may be" in problem.text
    assert problem.text.endswith(": it would end the session of all")
    assert found(ROOM.replace("$name string", "$name Name")) == []


def test_a_name_that_the_sign_up_asked_about_is_fine() -> None:
    asked = ROOM.replace(
        "{return: {name: name}}", "[{if: name == 'ann', return: {name: name}}, {drop: peer, return: null}]"
    )

    assert found(asked) == []


def test_a_machine_that_answers_its_failure_is_fine() -> None:
    assert found(ROOM.replace("invalid: {drop", "failed: stay\n        invalid: {drop")) == []


SEATED = """\
protocol: room
types: {N: VALUE}
connects: {client: server}
messages:
  client: {HELLO: {hello: $name string}}
  server: {SEAT: {seat: $n N}}
roles:
  server:
    main:
      door: {accept: sign_up(peer), as: all, seats: 1..2, within: 5 s, timeout: over, then: seated}
      seated: {each: one in all, send: {one: "SEAT(WHAT)"}, then: over}
      over: {return: null}
    sign_up(peer):
      named: {await: peer, within: 5 s, receive: {HELLO: {return: {name: name}}}}
  client:
    main:
      begin: {send: HELLO(my.name), within: 1 min, receive: {SEAT: {return: n}}, closed: {return: null}}
"""


def seated(what: str, type_: str = "any") -> list[str]:
    text = SEATED.replace("VALUE", type_)
    return [f"{one.code} {one.text} ({one.hint})" for one in found(text.replace("WHAT", what))]


@pytest.mark.parametrize("what", ["one.nick", "all[0].nick", "one.nam"])
def test_a_field_of_a_peer_that_no_sign_up_gives(what: str) -> None:
    whose, _, field = what.partition(".")

    (told,) = seated(what)
    assert told == (
        f"A343 {what} has no value: no sign-up gives a peer the field '{field}': it would end the session of all "
        "(peers have name, number: give the field in what the sign-up returns, or in a 'let')"
    )
    assert seated(f"{whose}.name") == seated(f"{whose}.number") == []


def test_what_a_let_gives_a_peer_is_a_field_of_it_too() -> None:
    text = SEATED.replace("VALUE", "any").replace("WHAT", "one.nick")
    given = text.replace("as: all, seats", "as: all, seated: {let: {peer.nick: \"'ann'\"}, then: stay}, seats")

    assert [one.code for one in found(text)] == ["A343"]
    assert found(given) == []


def test_the_number_of_a_peer_is_a_whole_number() -> None:
    assert seated("one.number", "int") == []
    (told,) = seated("one.number", "{int: 0..9}")
    assert told.startswith("A342 the field 'n' of SEAT takes ")


LOOP = """\
protocol: counts
connects: {client: server}
types: {Few: [int, ... 10000], Many: [int, ...]}
messages:
  client: {COUNT: {count: $what KIND}}
  server: {DONE: {done: $total int}}
roles:
  server:
    main(client):
      asked: {let: {total: 0}, within: 1 min, receive: {COUNT: BRANCH}, fault: {return: 0}}
      counted: {each: one in OVER, let: {total: total + 1}, then: told}
      told: {send: DONE(total), return: total}
  client:
    main:
      begin: {ask: count, within: 50 s, receive: {COUNT: {send: COUNT, then: waiting}}, timeout: {return: null}}
      waiting: {within: 1 min, receive: {DONE: {return: null}}, fault: {return: null}}
"""


def loop(kind: str, over: str, branch: str = "counted") -> list[str]:
    text = LOOP.replace("KIND", kind).replace("OVER", over).replace("BRANCH", branch)
    return [f"{one.code} {one.text}" for one in found(text) if one.code != "A332"]


def test_a_loop_that_does_not_wait_over_as_many_as_a_peer_says() -> None:
    told = "A343 'each' goes through {} without waiting, which 10000 items at most can be, and {}"

    assert loop("int 0..20000", "1..what") == [told.format("1..what", "what may be 20000")]
    assert loop("Many", "what") == [told.format("what", "a message has room for 524288 of them")]
    assert loop("int 0..10000", "1..what") == loop("Few", "what") == []
    assert loop("int", "1..what", "[{if: what < 100, then: counted}, {return: 0}]") == []


def test_a_list_of_more_numbers_than_a_list_has() -> None:
    told = "A343 1..what may have no value: a list has at most 1000000 numbers, and what may be 1000001"

    assert loop("int 0..2000000", "[k for k in 1..what if k < 3]") == [told]
    assert loop("int 0..1000000", "[k for k in 1..what if k < 3]") == []


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("where(all, 'name', word)[0]", "it may have no element 0"),
        ("split(word, ' ')[1]", "it may have no element 1"),
        ("split(word, ' ')[0]", ""),
    ],
)
def test_an_element_of_a_list_made_of_what_a_peer_says(value: str, why: str) -> None:
    told = said("{say: $word string}", "{tell: $left any}", f"{{let: {{left: {value}}}, send: TELL(left), then: stay}}")
    asked = said(
        "{say: $word string}",
        "{tell: $left any}",
        f"[{{if: word in split('a b', ' '), let: {{left: {value}}}, send: TELL(left), then: stay}}, stay]",
    )

    assert any(why in one for one in told) if why else not [one for one in told if "A343" in one]
    assert not [one for one in asked if "A343" in one]


# -- what is no whole number -----------------------------------------------------------------------------------------

CLOCK = """\
protocol: clock
connects: {client: server}
settings: {reply: 5 s, half: 1.5 s, share: 0.25, rounds: 3}
messages:
  client: {DONE: {done: $x number}}
  server: {TICK: {tick: $left int}}
roles:
  server:
    main(client):
      begin: {let: {spent: 0, three: 3}, then: timed}
      timed:
        within: reply
        every: {1 s: {send: TICK(VALUE)}}
        receive: {DONE: {return: x + half * share * rounds}}
        fault: {return: null}
  client:
    main:
      begin: {send: DONE(0.5), then: counting}
      counting: {within: 9 s, closed: {return: null}, receive: {TICK: stay}}
"""


def ticked(value: str) -> list[str]:
    return [problem.code for problem in found(CLOCK.replace("VALUE", value)) if problem.code not in ("A320", "A332")]


@pytest.mark.parametrize(
    "value",
    [
        "elapsed", "reply - elapsed", "spent + elapsed", "-elapsed", "elapsed * 1000", "half", "share", "0.5",
        "1.5 + 2",
        "sum([1, elapsed])", "min([elapsed, 3])", "max([half, 3])", "sorted([elapsed])[0]", "get([0.5], 0, 1)",
        "head([share], 1)[0]", "values({spent: elapsed})[0]", "{spent: elapsed}['spent']",
        "[n * share for n in 1..3][0]",
        "if spent == 0 then half else 3",
    ],
)  # fmt: skip
def test_a_fraction_in_a_field_of_whole_numbers(value: str) -> None:
    assert ticked(value) == ["A342"]


@pytest.mark.parametrize(
    "value",
    [
        "round(elapsed)", "round(reply - elapsed)", "reply", "reply * 2", "rounds", "1.0", "len('abc')", "seed",
        "running",
        "sum([1, rounds])", "min([three, 3])", "round(half) + 1", "get([1], 0, 2)", "client.number",
    ],
)  # fmt: skip
def test_a_whole_number_in_a_field_of_whole_numbers(value: str) -> None:
    assert ticked(value) == []


def test_a_fraction_is_told_with_both_ways_out() -> None:
    told = [problem for problem in found(CLOCK.replace("VALUE", "elapsed")) if problem.code == "A342"]

    assert [problem.text for problem in told] == ["the field 'left' of TICK takes int, and elapsed may be 0.5"]
    assert told[0].hint == "send the nearest whole number, round(elapsed), or let the field be a number"
    assert "A342" not in [
        problem.code for problem in found(CLOCK.replace("VALUE", "elapsed").replace("$left int", "$left number"))
    ]


def test_a_number_that_was_asked_for_may_be_told_on_as_a_whole_one() -> None:
    answer = "[{if: count in 0..9, let: {left: count}, then: told}, {return: 0}]"

    assert [problem.code for problem in echo("{say: $count number}", "{tell: $n Few}", answer)] == []
    assert [
        problem.code for problem in echo("{say: $count number}", "{tell: $n Few}", "{let: {left: count}, then: told}")
    ] == ["A342"]


def test_a_range_and_a_peer_are_no_values_of_a_message() -> None:
    assert ticked("1..3") == ["A340"]
    assert ticked("client") == ["A342"]


@pytest.mark.parametrize("value", ["[7, 8][elapsed]", "head([7, 8], elapsed)[0]", "len(1..elapsed)"])
def test_a_fraction_where_only_whole_numbers_have_a_meaning(value: str) -> None:
    assert ticked(value) == ["A343"]
    assert ticked(value.replace("elapsed", "round(elapsed)")) == []
