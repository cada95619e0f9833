"""A small spec that is good, for tests that change one thing in it."""

from machines.parser.loader import load_text
from machines.problems import Problem, SpecError

GOOD = """\
protocol: talk
title: Two that talk
wire: {framing: lines}
connects: {client: server}
settings:
  reply: 5 s
  often: 3 per 1 s
  word: hello
types:
  Name: {string: "[a-z]+"}
messages:
  client:
    HELLO: $name Name
    BYE: bye
    NUMBERS: [$x int, $y int]
  server:
    WELCOME: {you: $name Name}
    DONE: done
also:
  BYE: [goodbye]
urgent: [DONE]
roles:
  server:
    main:
      door:
        accept: greet(peer)
        as: guests
        seats: 1..3
        within: reply
        timeout: {return: null}
        then: talk
      talk:
        each: guest in guests
        run: serve(guest)
        then: over
      over:
        send: {guests: DONE}
        return: null
    greet(peer):
      asked:
        await: peer
        within: reply
        receive:
          HELLO: {return: {name: name}}
    serve(guest):
      always: {fault: out}
      ready:
        await: guest
        within: reply
        receive:
          NUMBERS:
            limit: often
            let: {sum: x + y}
            then: again
          BYE: out
      out:
        drop: guest
        return: null
  client:
    main:
      begin: {send: HELLO(my.name), then: asked}
      asked:
        ask: next
        within: 4 s
        receive:
          NUMBERS: {send: NUMBERS, then: asked}
          BYE: {send: BYE, then: last}
          DONE: last
      last: {return: null}
"""


def faults(text: str) -> list[Problem]:
    """Return the problems of a text, none if it is a spec."""
    try:
        load_text(text, "talk.yaml")
    except SpecError as error:
        return list(error.problems)
    return []


def changed(old: str, new: str) -> str:
    """Return the good spec with a part of it, which it has once, replaced."""
    assert GOOD.count(old) == 1, f"{old!r} must stand once in the good spec"
    return GOOD.replace(old, new)
