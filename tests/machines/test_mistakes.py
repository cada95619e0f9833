"""Eighty mistakes that people who tried the language made, and their neighbours: each is told in its line."""

from __future__ import annotations

import pytest

from machines.checks import check
from machines.parser.loader import load_text
from machines.problems import Problem, SpecError

BIDS = """\
protocol: bids
connects: {guest: host}
settings: {seats: 2..8, window: 20 s, reply: 5 s}
types: {Coins: int 0..100}
messages:
  guest: {HELLO: {hello: $name string 0..40}, BID: {amount: $amount Coins}}
  host: {ASK: {ask: bid, best: $best int}, OVER: {over: $best int}}
roles:
  host:
    main:
      door:
        accept: sign_up(peer)
        as: guests
        seats: seats
        within: window
        timeout: {return: null}
        then: begin
      begin: {let: {best: 0}, then: round}
      round:
        each: guest in guests
        run: turn(guest, best)
        as: best
        then: over
      over:
        send: {guests: OVER(best)}
        return: best
    sign_up(peer):
      named:
        await: peer
        within: reply
        receive:
          HELLO: {return: {name: name}}
    turn(guest, best):
      asked:
        send: ASK(best)
        await: guest
        within: reply
        receive:
          BID:
            - {if: amount > best, return: amount}
            - {return: best}
        fault: {return: best}
  guest:
    main:
      always: {within: 10 min, closed: {return: null}}
      arrive: {send: HELLO(my.name), then: listening}
      listening:
        receive:
          ASK: bidding
          OVER: {return: best}
      bidding:
        ask: bid(best)
        within: 4 s
        receive:
          BID: {send: BID, then: listening}
"""

# What is mistaken, what stands there, what is written instead, the code, and what the message has to say.
MISTAKES = [
    (
        "a unit that is none",
        "within: reply\n        receive:\n          HELLO",
        "within: 5 sec\n        receive:\n          HELLO",
        "A261",
        "did you mean '5 s'",
    ),
    ("a range in words", "seats: seats", "seats: 2 to 8", "A261", "a range is written 2..8"),
    ("a setting with a unit that is none", "reply: 5 s", "reply: 5sek", "A129", "did you mean '5 s'"),
    ("a text without its quotes", "if: amount > best", "if: call == setup", "A301", "a text is written"),
    (
        "a text in the quotes of YAML alone",
        "OVER: {return: best}",
        "OVER: {return: 'done'}",
        "A301",
        "a text is written",
    ),
    ("a word of another language", "let: {best: 0}", "let: {best: none}", "A301", "did you mean 'null'"),
    ("and another one", "let: {best: 0}", "let: {best: False}", "A301", "did you mean 'false'"),
    (
        "an else",
        "            - {return: best}\n",
        "            - {else: {return: best}}\n",
        "A111",
        "a branch without 'if', the last of its list, is for all else",
    ),
    ("a loop of another language", "each: guest in guests", "for: guest in guests", "A111", "did you mean 'each'"),
    ("a loop without its name", "each: guest in guests", "each: guests", "A135", "like each: player in players"),
    ("an assignment that was a comparison", "if: amount > best", "if: amount = best", "A254", "use == to compare"),
    ("an and of another language", "if: amount > best", "if: amount > best && amount < 9", "A254", "use `and`"),
    ("a remainder", "if: amount > best", "if: amount % 2 == 0", "A253", "let a rule do it"),
    ("a number for a condition", "if: amount > best", "if: amount", "A340", "there is no truthiness"),
    ("a number compared with a text", "if: amount > best", "if: amount > 'a'", "A341", "nothing is converted"),
    (
        "the length of a number",
        "if: amount > best",
        "if: len(amount) > 1",
        "A340",
        "'len' takes a text, a list, a range or a mapping",
    ),
    ("a bracket that is not closed", "ask: bid(best)", "ask: bid(best", "A257", "is never closed"),
    (
        "the peer of a sign-up by another name",
        "HELLO: {return: {name: name}}",
        "HELLO: {send: {player: OVER(1)}, return: {name: name}}",
        "A301",
        "did you mean 'peer'",
    ),
    (
        "a sign-up that returns the name alone",
        "HELLO: {return: {name: name}}",
        "HELLO: {return: name}",
        "A340",
        "name is a text: the peer would get no seat (give the fields names, like return: {name: name}, or return null)",
    ),
    (
        "a sign-up that returns the name or nothing",
        "HELLO: {return: {name: name}}",
        "HELLO: {return: if name == 'ann' then null else name}",
        "A340",
        "may be a text: the peer would get no seat",
    ),
    (
        "a sign-up that returns what it has bound before",
        "HELLO: {return: {name: name}}",
        "HELLO: {let: {who: [name]}, then: more}\n      more: {return: who}\n",
        "A340",
        "who is a list: the peer would get no seat",
    ),
    (
        "a sign-up that names nobody",
        "        accept: sign_up(peer)\n        as: guests\n",
        "        accept: sign_up(peer)\n",
        "A113",
        "'as' is missing: the name for those seated",
    ),
    (
        "a result that nobody takes",
        "        as: best\n        then: over",
        "        then: over",
        "A315",
        "take it with 'as: NAME'",
    ),
    (
        "a field of a list",
        "send: {guests: OVER(best)}",
        "send: {guests: OVER(guests.name)}",
        "A340",
        "column(guests, 'name') has that of each",
    ),
    (
        "a role misspelt where it connects",
        "connects: {guest: host}",
        "connects: {guets: host}",
        "A107",
        "did you mean 'guest'",
    ),
    (
        "a role misspelt where its machines stand",
        "  host:\n    main:",
        "  hots:\n    main:",
        "A133",
        "did you mean 'host'",
    ),
    ("a state misspelt", "then: begin", "then: bgin", "A103", "did you mean 'begin'"),
    ("a state misspelt behind a message", "ASK: bidding", "ASK: biding", "A103", "did you mean 'bidding'"),
    ("a machine misspelt", "run: turn(guest, best)", "run: trun(guest, best)", "A104", "did you mean 'turn'"),
    ("a value too few", "run: turn(guest, best)", "run: turn(guest)", "A117", "it is written as turn(guest, best)"),
    ("a field too many", "send: ASK(best)", "send: ASK(best, 2)", "A118", "ASK has 1 field, not 2"),
    ("a message of the other side", "send: ASK(best)", "send: BID(best)", "A119", "host sends ASK, OVER"),
    (
        "a key misspelt",
        "        await: guest\n        within: reply\n        receive:\n          BID",
        "        awaits: guest\n        within: reply\n        receive:\n          BID",
        "A111",
        "did you mean 'await'",
    ),
    (
        "a wait without a limit",
        "        within: reply\n        receive:\n          BID",
        "        receive:\n          BID",
        "A325",
        "add 'within'",
    ),
    ("a fault without an answer", "        fault: {return: best}\n", "", "A326", "fault: STATE"),
    ("a window without an end", "        timeout: {return: null}\n", "", "A326", "timeout: STATE"),
    (
        "a player who may think for longer than it is waited for",
        "within: 4 s",
        "within: 40 s",
        "A346",
        "give the player less",
    ),
    ("a type misspelt", "$amount Coins", "$amount Coin", "A201", "did you mean 'Coins'"),
    ("a type of another language", "Coins: int 0..100", "Coins: integer", "A201", "did you mean 'int'"),
    ("a range the wrong way round", "Coins: int 0..100", "Coins: int 100..0", "A204", "no number is in 100..0"),
    (
        "a field without a type",
        "host: {ASK: {ask: bid, best: $best int}",
        "host: {ASK: {ask: bid, best: ${best}}",
        "A220",
        "has no type",
    ),
    (
        "a branch that leads nowhere",
        "BID: {send: BID, then: listening}",
        "BID: {send: BID}",
        "A124",
        "add 'then: STATE'",
    ),
    (
        "a branch that leads to two places",
        "BID: {send: BID, then: listening}",
        "BID: {send: BID, then: listening, return: null}",
        "A121",
        "either go on or end the machine",
    ),
    (
        "a value that nothing binds",
        "begin: {let: {best: 0}, then: round}",
        "begin: {then: round}",
        "A302",
        "bind it in a state that every way passes",
    ),
    ("a setting that is bound", "let: {best: 0}", "let: {reply: 0}", "A303", "choose another name"),
    ("a colon that is missing", "OVER: {return: best}", "OVER: {return best}", "A111", "did you mean 'return: best'?"),
    ("nobody at hand", "send: {guests: OVER(best)}", "send: OVER(best)", "A338", "name the receiver"),
    ("a name misspelt", "send: {guests: OVER(best)}", "send: {guests: OVER(bst)}", "A301", "did you mean 'best'"),
    ("a state without its colon", "      listening:\n", "      listening\n", "A100", "add ': '"),
    (
        "a state that leads nowhere",
        "        send: {guests: OVER(best)}\n        return: best\n",
        "        send: {guests: OVER(best)}\n",
        "A123",
        "add 'then: STATE'",
    ),
    (
        "a message that nobody takes",
        "          ASK: bidding\n          OVER: {return: best}",
        "          ASK: bidding",
        "A331",
        "list it under 'receive', or leave it out",
    ),
    (
        "a let that is no mapping",
        "let: {best: 0}, then: round",
        "let: best = 0, then: round",
        "A112",
        "like let: {count: count + 1}",
    ),
    (
        "a key of another language",
        "let: {best: 0}, then: round",
        "set: {best: 0}, then: round",
        "A111",
        "did you mean 'let'",
    ),
    (
        "a guard by another name",
        "{if: amount > best, return: amount}",
        "{guard: amount > best, return: amount}",
        "A111",
        "did you mean 'if'",
    ),
    (
        "a condition in place of its key",
        "{if: amount > best, return: amount}",
        "{if amount > best: amount}",
        "A111",
        "did you mean 'if: amount > best'",
    ),
    (
        "a branch in one sentence",
        "{if: amount > best, return: amount}",
        "{if: amount > best then return amount}",
        "A261",
        "{if: c, return: x}",
    ),
    (
        "an end in place of a state",
        "OVER: {return: best}",
        "OVER: return",
        "A103",
        "the machine ends with {return: null}",
    ),
    (
        "an end by another word",
        "timeout: {return: null}",
        "timeout: exit",
        "A103",
        "the machine ends with {return: null}",
    ),
    ("nothing by another word", "fault: {return: best}", "fault: pass", "A103", "'stay' keeps the state"),
    ("a time in place of a branch", "within: 4 s", "timeout: 4 s", "A103", "'within: 4 s'"),
    (
        "a message in place of a state",
        "ASK: bidding",
        "ASK: HELLO(my.name)",
        "A103",
        "{send: HELLO(my.name), then: STATE}",
    ),
    ("a range with a dash", "seats: 2..8", "seats: 2-8", "A129", "did you mean '2..8'"),
    ("a range with a dash in its place", "seats: seats", "seats: 2-8", "A340", "a range is written 2..8"),
    ("a range that is a type", "Coins: int 0..100", "Coins: 0..100", "A200", "did you mean 'int 0..100'"),
    ("a range that is a call", "Coins: int 0..100", "Coins: int(0, 100)", "A200", "did you mean 'int 0..100'"),
    ("a type with a dash", "Coins: int 0..100", "Coins: int 0-100", "A204", "did you mean 'int 0..100'"),
    ("a range of any numbers", "Coins: int 0..100", "Coins: number 0..1", "A200", "a number has no range"),
    ("words in place of types", "Coins: int 0..100", "Coins: red | blue", "A201", "{enum: [red, blue]}"),
    ("a mark for what may be missing", "$amount Coins", "$amount Coins?", "A200", "like Coins | null"),
    ("a field without its dollar", "$amount Coins", "amount Coins", "A301", "a field is written $amount Coins"),
    ("a type in place of a field", "$amount Coins", "Coins", "A332", "a field is written $name Coins"),
    ("a time in quotes", "reply: 5 s", 'reply: "5 s"', "A340", "write reply: 5 s"),
    (
        "parameters without commas",
        "turn(guest, best):",
        "turn(guest best):",
        "A114",
        "parameters have commas between them: guest, best",
    ),
    (
        "a call without brackets",
        "run: turn(guest, best)",
        "run: turn guest, best",
        "A261",
        "a call has brackets: turn(guest)",
    ),
    (
        "what is folded is given too",
        "        as: best\n        then: over",
        "        fold: best\n        then: over",
        "A117",
        "run: turn(guest)",
    ),
    ("whom it is for behind it", "send: ASK(best)", "send: ASK(best) to guest", "A261", "send: {peer: MESSAGE(x)}"),
    ("the name by itself", "HELLO(my.name)", "HELLO(name)", "A301", "'my.name'"),
    (
        "a message in place of its field",
        "if: amount > best",
        "if: BID.amount > best",
        "A301",
        "names by themselves: amount",
    ),
    ("an event of another language", "if: amount > best", "if: event.amount > best", "A301", "'peer' is who sent it"),
    (
        "the length of a text by a dot",
        "HELLO: {return: {name: name}}",
        "HELLO: {if: name.length > 1, return: {name: name}}",
        "A340",
        "len(name)",
    ),
    ("chance in an expression", "let: {best: 0}", "let: {best: random(6)}", "A404", "of 'seed'"),
    ("a count of another language", "each: guest in guests", "each: guest in range(3)", "A404", "like 1..3"),
    ("a number that is counted up", "let: {best: 0}", "let: {best: best += 1}", "A253", "let: {count: count + 1}"),
    ("a name with capitals and blanks", "protocol: bids", "protocol: My Bids", "A114", "like my-bids"),
    (
        "all by a word",
        "send: {guests: OVER(best)}",
        "send: {all: OVER(best)}",
        "A301",
        "for each of a list, name the list",
    ),
    ("a key of another language for a send", "send: ASK(best)", "broadcast: ASK(best)", "A111", "did you mean 'send'"),
]
# A mistake that shows elsewhere: the text of the line that has to be named.
ELSEWHERE = {
    "a result that nobody takes": "run: turn(guest, best)",
    "a wait without a limit": "asked:",
    "a fault without an answer": "asked:",
    "a window without an end": "door:",
    "a value that nothing binds": "run: turn(guest, best)",
    "a state that leads nowhere": "over:",
    "a message that nobody takes": "OVER: {over",
    "a field without its dollar": "if: amount > best",
    "a type in place of a field": "types: {Coins",
    "a time in quotes": "within: reply",
    "what is folded is given too": "run: turn(guest, best)",
}


def problems(text: str) -> tuple[Problem, ...]:
    """Return what is told of a text."""
    try:
        return tuple(check(load_text(text, "bids.yaml")))
    except SpecError as error:
        return error.problems


def test_the_protocol_without_mistakes_has_no_problems() -> None:
    assert problems(BIDS) == ()


@pytest.mark.parametrize(
    ("what", "right", "wrong", "code", "says"), MISTAKES, ids=[mistake[0].replace(" ", "-") for mistake in MISTAKES]
)
def test_a_mistake_is_told_in_its_line_with_a_way_out(what: str, right: str, wrong: str, code: str, says: str) -> None:
    assert BIDS.count(right) == 1
    text = BIDS.replace(right, wrong)
    first = text[: BIDS.index(right)].count("\n")
    lines = text.splitlines()

    told = [problem for problem in problems(text) if problem.code == code]

    assert told, problems(text)
    problem = told[0]
    assert says in f"{problem.text} ({problem.hint})"
    assert problem.hint
    if what in ELSEWHERE:
        assert ELSEWHERE[what] in lines[problem.place.line - 1]
    else:
        assert first + 1 <= problem.place.line <= first + 1 + wrong.rstrip("\n").count("\n")
