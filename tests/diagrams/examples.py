"""Specs to draw: one with every construct, one whose every name is hostile."""

from __future__ import annotations

from machines.model import (
    Branch,
    Call,
    Choice,
    Constant,
    Goto,
    Handlers,
    LiteralBody,
    Machine,
    Message,
    Return,
    Role,
    SendMessages,
    Spec,
    State,
    Wire,
)
from machines.parser.loader import load_text
from machines.problems import Place

GAMES = """\
protocol: games
title: Every construct that a picture shows
connects: {client: server}
settings: {seats: 2..4, wait: 30 s, reply: 400 ms, slow: never, checks: 10 per 1 s, pace: 2}
types: {Word: {string: "[a-z]+"}}
messages:
  client:
    JOIN: {join: $name Word}
    MOVE: {move: $n int}
    ASK:  {ask: $m int}
    BYE:  bye
  server:
    HELLO: {hello: $to Word}
    YES:   {yes: $ok bool}
    OVER:  {over: $winner Word}
roles:
  server:
    main:
      gather:
        accept: join(peer)
        as: players
        seats: seats
        linger: wait
        within: slow
        seated:
          send: HELLO(peer.name)
        timeout: {return: null}
        then: rounds
      rounds:
        each: player in players
        parallel: pace
        run: turn(player, 3)
        as: last
        then: judged
      judged:
        - {if: last == 0, then: done}
        - rounds
      done:
        send:
          players: OVER('none')
        return: last
    join(peer):
      named:
        await: peer
        within: reply
        receive:
          JOIN: {return: {name: name}}
    turn(player, left):
      always:
        receive:
          BYE: {return: 0}
        closed: gone
        timeout: gone
      asked:
        await: player
        within: reply
        receive:
          ASK:
            limit: checks
            send: YES(m == left)
            then: stay
          MOVE:
            - {if: n > left, then: asked}
            - if: n == left
              send: YES(true)
              return: n
            - then:
                - {if: n == 1, then: asked}
                - {return: left}
        invalid: gone
      gone:
        drop: player
        return: 0
  client:
    main:
      always: {within: slow}
      start: {send: JOIN(my.name), then: wait}
      wait: {receive: {HELLO: choose}}
      choose:
        ask: move(to)
        within: reply
        receive:
          MOVE: {send: MOVE, then: told}
      told: {receive: {YES: choose, OVER: {return: winner}}}
"""


def games() -> Spec:
    """The spec above, read."""
    return load_text(GAMES, "folder/games.yaml")


def hostile(name: str) -> Spec:
    """A spec in which protocol, role, machine, states, message, peer and texts are all called ``name``."""
    here = Place(name, 1, 1)
    text = Constant(name, here)
    nothing = Handlers({})
    says = SendMessages(Constant(name, here), (Call(name, (text,), here),), here)
    received = Choice((Branch(text, None, (says,), Return(text, here), here),), here)
    other = Choice((Branch(None, None, (), Goto(name + "2", here), here),), here)

    def state(called: str, answers: Handlers, run: Call | None, then: Choice | None) -> State:
        return State(
            called, (says,), None, run, None, None, run is None, text, text, (), answers, then, None, here
        )  # fmt: skip

    first = state(name, Handlers({name: received}, timeout=other), None, None)
    second = state(name + "2", nothing, Call(name, (text,), here), received)
    machine = Machine(name, name, (name,), None, {first.name: first, second.name: second}, None, here)
    main = Machine("main", name, (), None, {first.name: first, second.name: second}, None, here)
    message = Message(name, (name,), LiteralBody(name), (), False, here)
    role = Role(name, {"main": main, name: machine}, None, here)
    return Spec(name, name, Wire(), (), {}, {}, {}, {name: message}, {name: role}, name, here)


STARTS = """\
protocol: starts
title: Tables beside their lobby
connects: {client: server}
settings: {reply: 5 s}
messages:
  client: {JOIN: join, MOVE: {move: $x int}}
  server: {TURN: turn}
roles:
  server:
    main:
      open:
        accept: join(peer)
        as: players
        within: never
        receive:
          MOVE: {start: table(peer), then: stay}
        invalid: stay
        closed: stay
        ended:
          - {if: result == 0, return: 0}
          - stay
    join(peer):
      named: {await: peer, within: reply, receive: {JOIN: {return: {a: 1}}}}
    table(player):
      asked: {send: TURN, await: player, within: reply, receive: {MOVE: {return: x}}, fault: {return: 0}}
  client:
    main:
      always: {within: 10 min, closed: {return: null}}
      begin: {send: JOIN, then: asking}
      asking: {send: MOVE(1), then: waiting}
      waiting: {receive: {TURN: asking}}
"""


def starts() -> Spec:
    """A spec whose server starts machines that nobody waits for, read."""
    return load_text(STARTS, "folder/starts.yaml")
