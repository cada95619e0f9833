"""A small protocol with nothing wrong in it, and faults put into it: each bad change stands beside a mended one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType

from machines.checks import check
from machines.model import Spec
from machines.parser.reader import read
from machines.problems import Problem, Problems
from machines.yaml.nodes import parse_yaml

QUIZ = """\
protocol: quiz
title: Everybody answers one question after another
wire: {framing: json}
connects: {client: server}
settings:
  reply: 5 s
  window: 10 s
types:
  Name: {string: "[a-z]+"}
messages:
  client:
    HELLO: [hello, $name Name]
    MOVE: [move, $x int]
    RESIGN: [resign]
  server:
    ASK: [ask]
    NEWS: [news, $text string]
    OVER: [over]
roles:
  server:
    main:
      door:
        accept: join(peer)
        as: players
        seats: 2
        within: window
        timeout: {return: null}
        then: start
      start: {let: {score: 0}, then: rounds}
      rounds:
        each: player in players
        run: turn(player, score)
        as: score
        then: over
      over:
        send: {players: [OVER, NEWS('bye')]}
        return: score
    join(peer):
      named:
        await: peer
        within: reply
        receive: {HELLO: {return: {name: name}}}
    turn(player, score):
      asked:
        send: ASK
        await: player
        within: reply
        receive: {MOVE: {return: score + x}, RESIGN: {return: score}}
        fault: {return: score}
  client:
    main:
      hello: {send: HELLO(my.name), then: playing}
      playing:
        within: never
        receive:
          ASK:  [{if: my.tired, send: RESIGN, then: stay}, {send: MOVE(1), then: stay}]
          NEWS: stay
          OVER: {return: null}
"""

# Parts of it that are often changed.
TURN = "MOVE: {return: score + x}"
RESIGN = "RESIGN: {return: score}"
FAULT = "        fault: {return: score}\n"
LIMIT = "        await: player\n        within: reply\n"
OVER = "      over:\n"
CLIENT = "      playing:\n        within: never\n"
MORE = "    join(peer):\n"
AS = "        as: score\n"
WINDOW = "        within: window\n        timeout: {return: null}\n"


def spec_of(text: str) -> Spec:
    """Read a text in which the reader finds nothing wrong."""
    problems = Problems()
    node = parse_yaml(text, "quiz.yaml", problems)
    assert node is not None, list(problems)
    spec = read(node, "quiz.yaml", problems)
    assert not problems, "\n".join(map(str, problems))
    return spec


def changed(*edits: tuple[str, str], text: str = QUIZ) -> str:
    """Return the text with each first part, which must be there, replaced by the second."""
    for old, new in edits:
        assert old in text, f"not in the text: {old}"
        text = text.replace(old, new, 1)
    return text


UNREAD = ("A314", "A315")  # what is bound and not read, which is no matter where an edit is about something else


def found(text: str, rules: Mapping[str, ModuleType] | None = None) -> list[Problem]:
    """Return the problems of a text but those of UNREAD."""
    return [problem for problem in check(spec_of(text), rules) if problem.code not in UNREAD]


Edits = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Case:
    """A fault: its code, the edits of the quiz that make it, those of a mended one, and part of the line it is told in.

    ``says`` is part of what the problem says.
    """

    name: str
    code: str
    bad: Edits
    good: Edits
    at: str
    says: str = ""

    def judge(self, rules: Mapping[str, ModuleType] | None = None) -> None:
        """Require that the bad text has this problem alone, in its line, and the mended one none."""
        text = changed(*self.bad)
        problems = found(text, rules)
        assert [problem.code for problem in problems] == [self.code], "\n".join(map(str, problems))
        assert self.at in text.splitlines()[problems[0].place.line - 1], str(problems[0])
        assert self.says in str(problems[0])
        assert problems[0].hint, "every problem has a way out"
        assert found(changed(*self.good), rules) == []
