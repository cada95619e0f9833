"""Ways to lose any game: what a player called ann does when it is asked for the first time, and what must be said."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import anyio

from machines.messages.bodies import compile_message
from machines.model import Spec
from runtime.players.base import DecisionError, EndlessAnswer, Player, RawAnswer, Vanish
from runtime.players.registry import default_kind, open_player

CULPRIT: Final = "ann"
GAMES: Final = (
    "sticks",
    "tsuro",
    "trains",
    "trains-official",
    "santorini-relay",
    "santorini-prompts",
    "santorini-rulecheck",
    "santorini-official",
)
ILLEGAL: Final = {"sticks": "", "tsuro": "illegal", "trains": "cheat", "trains-official": "cheat"}
SOON: Final = {"think": "800 ms", "reply": "3 s"}  # the own client's limit is over first
SERVER_FIRST: Final = {"think": "5 s", "reply": "1 s"}

# There the player is a role behind its client, which waits for it: of what it does not say the server hears nothing.
ANOTHER_KIND: Final = {
    ("santorini-relay", "another message"): frozenset({"wrong type"}),  # a sign-up is its client's to send
    ("santorini-relay", "hangs up"): frozenset({"late"}),
    ("santorini-relay", "half a message"): frozenset({"late", "half a message"}),  # both have the same limit
}

Answer = Callable[[Spec, tuple[str, ...]], Any]


@dataclass(frozen=True, slots=True)
class Way:
    """What ``ann`` does: ``answers`` a question, or is of a ``kind``. ``kinds`` are what that may be called.

    ``program`` is a file's name and text, and ``command`` what runs it; ``needs`` is what must be installed for it.
    """

    does: str
    kinds: frozenset[str]
    answers: Answer | None = None
    settings: Mapping[str, str] | None = None
    kind: str = ""
    program: tuple[str, str] = ("", "")
    command: str = ""
    needs: str = ""


class Culprit:
    """Answers the first question as it should not."""

    def __init__(self, way: Way, spec: Spec) -> None:
        self._way = way
        self._spec = spec

    async def decide(self, question: str, arguments: Any, messages: tuple[str, ...], seconds: float | None) -> Any:
        assert self._way.answers is not None
        answer = self._way.answers(self._spec, messages)
        if answer is None:
            await anyio.sleep_forever()
        return answer

    def heard(self, message: str, fields: dict[str, Any]) -> None:
        pass


def player_maker(way: Way, folder: Path) -> Callable[..., Any]:
    """Return what makes ann as a way has it, and all others as the game likes them."""

    @asynccontextmanager
    async def make(kind: str, *, spec: Spec, name: str, seed: int, **more: Any) -> AsyncIterator[Player]:
        if name == CULPRIT and way.answers is not None:
            yield Culprit(way, spec)
            return
        kind = default_kind(spec)
        if name == CULPRIT:
            kind = way.kind or f"exec:{way.command.format(folder / way.program[0])}"
        async with open_player(kind, spec=spec, name=name, seed=seed, **more) as player:
            yield player

    return make


# -- what is answered ------------------------------------------------------------------------------------------------


def raises(error: Exception) -> Answer:
    def answer(spec: Spec, messages: tuple[str, ...]) -> Any:
        raise error

    return answer


def raw(jsonic: bytes, text: bytes) -> Answer:
    """Write these bytes past the client: the first where messages are JSON."""
    return lambda spec, messages: RawAnswer(text if spec.wire.framing == "text" else jsonic)


def example(spec: Spec, name: str) -> Any:
    return compile_message(spec.messages[name], spec.types).example()


def of_wrong_type(value: Any) -> Any:
    """Return a body with its last value of another type."""
    if isinstance(value, dict):
        *kept, last = value.items()
        return dict([*kept, (last[0], of_wrong_type(last[1]))])
    if isinstance(value, list | tuple) and value:
        return [*value[:-1], of_wrong_type(value[-1])]
    return {"no": "such thing"}


def wrong_type(spec: Spec, messages: tuple[str, ...]) -> Any:
    if spec.wire.framing == "text":
        return RawAnswer(b"take one\n")
    return RawAnswer(json.dumps(of_wrong_type(example(spec, messages[0]))).encode() + b"\n")


def another_message(spec: Spec, messages: tuple[str, ...]) -> Any:
    """Sign up once more."""
    sender = spec.messages[messages[0]].senders[0]
    name = next(name for name, message in spec.messages.items() if sender in message.senders)
    body = example(spec, name)
    return RawAnswer((body if spec.wire.framing == "text" else json.dumps(body)).encode() + b"\n")


def too_long(spec: Spec, messages: tuple[str, ...]) -> Any:
    most = spec.wire.message_bytes_max
    return RawAnswer(b'"' + b"x" * most + b'"\n')


def field_too_many(spec: Spec, messages: tuple[str, ...]) -> Any:
    return messages[0], {"nonsense": 1}


CRASHES: Final = {
    "Python": ("crash.py", "import sys\nsys.stdin.readline()\nraise ValueError('no plan')\n", "python3 {}", "python3"),
    "JavaScript": (
        "crash.js",
        "process.stdin.once('data', () => { throw new Error('no plan'); });\n",
        "node {}",
        "node",
    ),
    "Java": (
        "Crash.java",
        """\
public class Crash {
    public static void main(String[] words) throws Exception {
        System.in.read();
        throw new IllegalStateException("no plan");
    }
}
""",
        "java {}",
        "java",
    ),
}

WAYS: Final[Mapping[str, Way]] = {
    "illegal": Way("makes a move that the rules refuse", frozenset({"illegal", "limit"})),
    "wrong type": Way(
        "has a value of a wrong type in its message", frozenset({"wrong type", "unknown"}), wrong_type, SERVER_FIRST
    ),
    "no message": Way(
        "sends what no message is like",
        frozenset({"unknown", "wrong type"}),
        raw(b'{"nonsense": 1}\n', b"nonsense\n"),
        SERVER_FIRST,
    ),
    "another message": Way(
        "sends a message that is not awaited", frozenset({"unexpected", "illegal"}), another_message, SERVER_FIRST
    ),
    "malformed": Way("sends what is no JSON, or no text", frozenset({"malformed"}), raw(b"!}{no\n", b"\xff\n")),
    "brackets": Way(
        "sends brackets that cannot match",
        frozenset({"malformed", "unknown", "half a message"}),
        raw(b'{"a": [1, }\n', b"{[\n"),
        SERVER_FIRST,
    ),
    "no UTF-8": Way(
        "sends bytes that are no UTF-8", frozenset({"malformed"}), raw(b'"\xff"\n', b"take \xff\n"), SERVER_FIRST
    ),
    "too deep": Way(
        "nests lists too deep",
        frozenset({"malformed", "unknown"}),
        raw(b"[" * 99 + b"]" * 99 + b"\n", b"[[\n"),
        SERVER_FIRST,
    ),
    "too many digits": Way(
        "sends a number of a hundred digits",
        frozenset({"malformed", "unknown", "wrong type"}),
        raw(b"1" * 100 + b"\n", b"take " + b"1" * 100 + b"\n"),
        SERVER_FIRST,
    ),
    "too long": Way("sends more than a message may have", frozenset({"too long", "malformed"}), too_long, SERVER_FIRST),
    "half a message": Way("sends half a message", frozenset({"half a message"}), raw(b'{"ta', b"tak"), SERVER_FIRST),
    "flood": Way(
        "sends without end",
        frozenset({"too long", "malformed", "half a message", "unknown"}),
        lambda spec, messages: EndlessAnswer(b"[0", b",0" * 32768, 0.001, 1 << 24),
        SERVER_FIRST,
    ),
    "silent": Way("never answers", frozenset({"late"}), lambda spec, messages: None, SOON),
    "late": Way("never answers, and its client waits", frozenset({"late"}), lambda spec, messages: None, SERVER_FIRST),
    "hangs up": Way("closes the connection", frozenset({"closed", "no answer"}), lambda spec, messages: Vanish()),
    "raises": Way("raises an exception", frozenset({"crash"}), raises(IndexError("board[9]"))),
    "has no answer": Way("has no answer", frozenset({"no answer"}), raises(DecisionError("it has no answer"))),
    "wrong name": Way(
        "answers with the name of no message",
        frozenset({"unknown", "wrong type"}),
        lambda spec, messages: ("Nonsense", {}),
        SOON,
    ),
    "wrong field": Way("answers with a field that is not there", frozenset({"unknown", "wrong type"}), field_too_many),
    "wrong body": Way(
        "answers with a body of no message", frozenset({"unknown", "wrong type"}), lambda spec, messages: {"no": 1}
    ),
    "exit": Way(
        "is a program that ends",
        frozenset({"exit"}),
        program=("exit.py", "import sys\nsys.stdin.readline()\nsys.exit(0)\n"),
        command="python3 {}",
    ),
    "no line end": Way(
        "is a program that writes no line end",
        frozenset({"late"}),
        settings={"think": "1500 ms", "reply": "5 s"},
        program=(
            "half.py",
            "import sys\nfor line in sys.stdin:\n    if '\"ask\"' in line: print('[1, 2', end='', flush=True)\n",
        ),
        command="python3 {}",
    ),
    "no JSON": Way(
        "is a program that prints what it thinks",
        frozenset({"malformed"}),
        settings={"think": "5 s", "reply": "6 s"},
        program=(
            "chat.py",
            "import sys\nfor line in sys.stdin:\n    if '\"ask\"' in line: print('thinking', flush=True)\n",
        ),
        command="python3 {}",
    ),
    **{
        f"crash in {language}": Way(
            f"is a program in {language} that crashes",
            frozenset({"crash"}),
            program=(name, text),
            command=command,
            needs=needs,
        )
        for language, (name, text, command, needs) in CRASHES.items()
    },
}


def take_three(spec: Spec, messages: tuple[str, ...]) -> Any:
    return RawAnswer(b"take 3\n")


def way_in(game: str, name: str) -> Way:
    """Return a way as it is gone in a game."""
    way = WAYS[name]
    if (game, name) in ANOTHER_KIND:
        way = replace(way, kinds=ANOTHER_KIND[game, name])
    if name != "illegal":
        return way
    if game == "sticks":
        return replace(way, answers=take_three, settings={**SERVER_FIRST, "sticks": "2", "again": "0"})
    return replace(way, kind=ILLEGAL.get(game, "illegal"))
