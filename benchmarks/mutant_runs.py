"""Games in memory for a spec whose one role has a fault, beside the same games without it.

What the exploration can not tell, because only data shows it, shows here: the same players with the same seeds play
against the roles as they were, in the scenes of `SCENES`, and `beside` says how the course of a game differs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Final, Literal, get_args

from benchmarks.mutating import Mutant
from machines.effects import Drop, Effect, Heard, Note, Send
from machines.engine.session import Program
from machines.model import Spec
from runtime.players import companions
from runtime.random_player import RandomPlayer
from tests.harness import Client, Network, Run

GOOD: Final = ("second", "random", "hold-10", "buy-now", "checker")
BAD: Final = ("illegal-later", "illegal", "check-flood", "bad-play", "bad-pick")
WEARY: Final = ("gives-up", "bad-win", "bad-more")
NAMES: Final = ("ann", "bob", "ann")  # two of one name: servers that rename do so
FAREWELL: Final = ("QUIT",)  # what ends a session in specs without strategies: it is said late
FAREWELL_AFTER: Final = 40
STEPS: Final = (0.25,) * 80 + (1.0,) * 20 + (20.0,) * 20 + (1000.0,) * 5
LIES_MAX: Final = 20  # how often another value is looked for
EFFECT_OF_TWICE: Final = 20  # from when on somebody says everything twice: after the sign-up
# Which client never answers again from its first, second or third kind of question on.
SILENT_FROM: Final[Mapping[str, Mapping[int, int]]] = {"silent": {0: 2, 1: 1}, "silent later": {0: 3}}
GARBAGE: Final = b"?!\r\n"  # no JSON, and in no spec a line that is a message
EFFECT_OF_FATE: Final = 60  # when somebody falls silent or goes: in the middle of a game
EFFECTS_MAX: Final = 20_000  # of one game; the longest without a fault has 4,000

Scene = Literal[
    "good", "bad", "liars", "other liars", "babble", "garbage", "cut", "silent", "silent later", "alone",
    "server hushed", "server gone", "twice", "server twice",
]  # fmt: skip
SCENES: Final[tuple[Scene, ...]] = get_args(Scene)
Difference = Literal["fails", "goes another way", "none"]


class EndlessError(Exception):
    """A game went on for more than EFFECTS_MAX effects."""


@dataclass(frozen=True, slots=True)
class Course:
    """What became of each session of a game: whether it ended, why it failed, whom it dropped, all that it sent."""

    ended: tuple[bool, ...]
    failed: tuple[str | None, ...]
    dropped: tuple[int, ...]
    values: tuple[str, ...]
    sent: tuple[tuple[tuple[int, bytes], ...], ...]


class _Game(Network):
    """A network in which a session's bytes may be kept back, and which ends in time."""

    victim = ""  # the role whose bytes are kept back from EFFECT_OF_FATE on; of clients only the second's
    closes = False  # and whose connections end then
    spoils = ""  # the role that says what is no message from then on; of clients only the second
    twice = ""  # the role that says everything twice from EFFECT_OF_TWICE on; of clients only the second
    effects = 0
    gone: frozenset[int] = frozenset()  # the sessions whose connections have ended

    def route(self, run: Run, effects: list[Effect]) -> None:
        self.effects += sum(not isinstance(effect, Note) for effect in effects)
        if self.effects > EFFECTS_MAX:
            raise EndlessError(f"more than {EFFECTS_MAX} effects")
        if self._is(self.twice, run) and self.effects >= EFFECT_OF_TWICE:
            effects = [effect for effect in effects for _ in range(2 if isinstance(effect, Send) else 1)]
        if self._is(self.spoils, run) and self.effects >= EFFECT_OF_FATE:
            effects = [Send(one.peer, GARBAGE, "") if isinstance(one, Send) else one for one in effects]
        if not self._is(self.victim, run) or self.effects < EFFECT_OF_FATE:
            super().route(run, effects)
        elif self.closes and id(run) not in self.gone:
            self.gone |= {id(run)}
            super().route(run, [Drop(number, "gone") for owner, number in self.links if owner == id(run)])

    def _is(self, role: str, run: Run) -> bool:
        return run.program.role.name == role and (run not in self.clients or self.clients.index(run) == 1)


class Speaker:
    """A player that says what it was told to, and nothing when it is through."""

    def __init__(self, words: tuple[tuple[str, dict[str, Any]], ...]) -> None:
        self._words = iter(words)

    def command(self, *arguments: Any) -> Any:
        """Return the next."""
        return next(self._words, ...)

    def content(self, *arguments: Any) -> Any:
        """Return a letter."""
        return "CONTENT", {"content": "hello"}


def _words(*words: str) -> tuple[str, dict[str, Any]]:
    return "COMMAND", {"words": words}


# What random values would hardly come upon: branches that ask which keys are there, or what was said before.
SAID: Final[Mapping[str, tuple[tuple[str, dict[str, Any]], ...]]] = {
    "redis": (
        ("SET", {"set": "SET", "key": "a", "value": "1"}),
        ("INCR", {"incr": "INCR", "key": "a"}),
        ("INCRBY", {"incrby": "INCRBY", "key": "a", "by": 9223372036854775806}),
        ("INCRBY", {"incrby": "INCRBY", "key": "a", "by": -3}),
        ("INCRBY", {"incrby": "INCRBY", "key": "a", "by": -9223372036854775807}),
        ("GET", {"get": "GET", "key": "missing"}),
        ("GET", {"get": "GET", "key": "a"}),
        ("SET", {"set": "SET", "key": "a", "value": "x"}),
        ("INCR", {"incr": "INCR", "key": "a"}),
        _words("EXISTS", "a", "b"),
        _words("EXISTS"),
        _words("DEL", "a", "b"),
        _words("DEL"),
        _words("EXISTS", "a"),
        _words("PING", "hello"),
        _words("PING", "a", "b"),
        _words("FLUSHALL"),
        ("INCR", {"incr": "INCR", "key": "new"}),
        ("QUIT", {"quit": "QUIT"}),
    ),
    "smtp": (
        ("NOOP", {"noop": "NOOP"}),
        ("RSET", {"rset": "RSET"}),
        ("DATA", {"data": "DATA"}),
        ("HELO", {"helo": "HELO", "domain": "a.example"}),
        ("DATA", {"data": "DATA"}),
        ("MAIL", {"mail": "MAIL FROM:", "sender": "ann", "options": ""}),
        ("DATA", {"data": "DATA"}),
        ("RCPT", {"rcpt": "RCPT TO:", "recipient": "bob", "options": ""}),
        ("DATA", {"data": "DATA"}),
        ("RSET", {"rset": "RSET"}),
        ("RCPT", {"rcpt": "RCPT TO:", "recipient": "bob", "options": ""}),
        ("MAIL", {"mail": "MAIL FROM:", "sender": "ann", "options": ""}),
        ("RCPT", {"rcpt": "RCPT TO:", "recipient": "bob", "options": ""}),
        ("QUIT", {"quit": "QUIT"}),
    ),
}


class Table:
    """The games of one spec: its roles compiled once, and the course of each scene without a fault."""

    def __init__(self, spec: Spec, rules: Mapping[str, ModuleType]) -> None:
        self.spec = spec
        self.rules = rules
        self.listener = spec.listeners()[0]
        self.caller = next(role for role in spec.roles if spec.connects.get(role))
        # A role with a session for each connection has none for all: then a client that is never heard stands there.
        self.shared = self.caller if spec.roles[self.listener].machines["main"].parameters else self.listener
        self.programs: dict[str, Program] = {}
        self.strategies = {name: kind for found in companions(spec, "players") for name, kind in found.PLAYERS.items()}
        self.courses: dict[Scene, Course] = {}
        for scene in SCENES:
            with suppress(EndlessError):  # a scene that does not end without a fault says nothing of one
                self.courses[scene] = self.play(scene, {})

    def beside(self, mutant: Mutant) -> tuple[Difference, str]:
        """Return how the games with a fault differ, and in which scene: a game that fails says more than another."""
        found: tuple[Difference, str] = ("none", "")
        try:
            programs = {mutant.role: Program(mutant.spec, mutant.role, self.rules)}
        except Exception as error:  # what the engine can not compile it refuses, in whatever way
            return "fails", f"compiled: {error}"
        for scene in self.courses:
            try:
                course = self.play(scene, programs)
            except EndlessError as error:
                return "fails", f"{scene}: {error}"
            was = self.courses[scene]
            if why := _worse(was, course):
                return "fails", f"{scene}: {why}"
            if course != was and found[0] == "none":
                found = ("goes another way", scene)
        return found

    def play(self, scene: Scene, faulty: Mapping[str, Program]) -> Course:
        """Play one game, with these roles instead of the spec's own.

        Raises:
            EndlessError: it does not end.
        """
        game = _Game(self.spec, self.shared, self.rules, seed=7, programs={**self.programs, **faulty})
        game.victim = {"cut": self.caller, "server hushed": self.listener, "server gone": self.listener}.get(scene, "")
        game.twice = {"twice": self.caller, "server twice": self.listener}.get(scene, "")
        game.spoils = self.caller if scene == "garbage" else ""
        game.closes = scene in ("cut", "server gone")
        players: dict[int, list[Any]] = {}
        news: Counter[int] = Counter()
        asked: dict[int, list[str]] = {}  # the kinds of questions that each was asked

        def decide(question: str, arguments: dict[str, Any]) -> Any:
            run = next(run for run in game.runs if isinstance(run, Client) and run.questions)
            # A role that a client connects to besides the server comes right behind it, and is decided by the same.
            at = max(0, sum(one in game.clients for one in game.runs[: game.runs.index(run) + 1]) - 1)
            known = list(dict.fromkeys([*asked.setdefault(id(run), []), question]))
            asked[id(run)] = known
            if scene in SILENT_FROM and len(known) >= SILENT_FROM[scene].get(at, len(known) + 1):
                return None
            if id(run) not in players:
                players[id(run)] = self._players(scene, at)
            _tell(run, players[id(run)], news)
            for one in players[id(run)]:
                if isinstance(one, RandomPlayer):
                    messages = _in_turn(run, at, run.questions[0].messages)
                    return _now(one.decide(question, tuple(arguments.items()), messages, None))
                if hasattr(one, question):
                    try:
                        answer = getattr(one, question)(*arguments.values())
                    except Exception:  # a strategy for another dialect: the next one decides
                        continue
                    return None if answer is ... else self._said(scene, run, at, answer)
            return None

        for at, name in enumerate(NAMES if scene != "alone" else NAMES[:1]):
            game.join(self.caller, decide, {"name": name}, at)
        for seconds in STEPS:
            if all(run.ended is not None for run in game.runs):
                break
            game.wait(seconds)
        if not faulty:
            self.programs.update(game.programs)
        return Course(
            tuple(run.ended is not None for run in game.runs),
            tuple(run.ended.failed if run.ended is not None else None for run in game.runs),
            tuple(len(run.dropped) for run in game.runs),
            tuple(repr(run.ended.value) if run.ended is not None else run.state() for run in game.runs),
            tuple(tuple((one.peer, one.data) for one in run.effects if isinstance(one, Send)) for run in game.runs),
        )

    def _said(self, scene: Scene, run: Run, at: int, answer: Any) -> Any:
        """Return an answer as it is said: liars change a hole of it, each in another one of the messages they say."""
        if scene not in ("liars", "other liars") or not isinstance(answer, tuple) or len(answer) != 2:
            return answer
        name, holes = answer
        known = list(dict.fromkeys([*[said for _, said in run.all_sent], name]))
        if known.index(name) != at + (1 if scene == "liars" else 2) or not holes:
            return answer
        hole = list(holes)[0 if scene == "liars" else -1]
        lie = RandomPlayer(self.spec, at)
        for _ in range(LIES_MAX):
            _, drawn = _now(lie.decide("", (), (name,), None))
            if drawn.get(hole) != holes[hole]:
                return name, {**holes, hole: drawn.get(hole)}
        return answer

    def _players(self, scene: Scene, at: int) -> list[Any]:
        names = [name for name in GOOD if name in self.strategies]
        if scene == "bad" and at in (0, 2):
            bad = BAD if at == 0 else WEARY
            names = [*[name for name in bad if name in self.strategies], *names]
        random = RandomPlayer(self.spec, at)
        if self.spec.protocol in SAID and at == 1:
            return [Speaker(SAID[self.spec.protocol])]
        if scene == "babble" and at == 0:
            return [random]
        return [*[self.strategies[name](NAMES[at], at) for name in names], random]


def _now(coroutine: Any) -> Any:
    """Return what a coroutine returns that waits for nothing."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        return done.value
    raise AssertionError("a random player waits for nothing")


def _tell(run: Run, players: list[Any], news: Counter[int]) -> None:
    """Tell the players of a client what it has heard since they were told the last time."""
    for effect in run.effects[news[id(run)] :]:
        if isinstance(effect, Heard):
            for one in players:
                if hasattr(one, "heard"):
                    one.heard(effect.message, effect.holes)
    news[id(run)] = len(run.effects)


def _in_turn(run: Run, at: int, messages: tuple[str, ...]) -> tuple[str, ...]:
    """Return what a player without a strategy chooses from: what it has said least often, and a farewell last."""
    said = Counter(name for _, name in run.all_sent)
    may = [name for name in messages if name not in FAREWELL or len(run.all_sent) > FAREWELL_AFTER] or list(messages)
    may = may[at:] + may[:at] if len(run.all_sent) < len(may) * 2 else may
    return (min(may, key=lambda name: said[name]),) if at < 2 else tuple(may)


def _worse(was: Course, now: Course) -> str:
    """Return what is wrong in a game that was right before; nothing if nothing is."""
    if len(now.ended) != len(was.ended):
        return "other sessions"
    for before, after in zip(was.failed, now.failed, strict=True):
        if after is not None and before is None:
            return f"a session fails: {after}"
    if any(before and not after for before, after in zip(was.ended, now.ended, strict=True)):
        return "a session does not end"
    if any(after > before for before, after in zip(was.dropped, now.dropped, strict=True)):
        return "somebody is dropped"
    return ""
