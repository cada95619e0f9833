"""Answers that are given beforehand: a question is always answered with them, and the player is not asked.

``QUESTION=JSON`` gives the message as it stands on the wire; ``QUESTION=@FILE`` has it in a file, JSON or YAML by its
name. They are held against the messages that may answer, and against what the game itself says of them: a module of
``rules.players`` may have ``CHECKS``, by question a function that raises ValueError: of the message's fields, and of
how many will play, None if nobody knows.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from machines.messages.bodies import MessageCodec, compile_message
from machines.model import Role, Spec
from machines.problems import near
from runtime.players.base import Arguments, Player
from runtime.players.companions import companions
from runtime.players.wrapped import WrappedPlayer

BYTES_MAX: Final = 1 << 20  # of a file: what one message may have if its spec does not say otherwise


class AnswerError(Exception):
    """An answer given beforehand is none: the form, the file, or what it says. The text is one sentence."""


class GivenAnswers(WrappedPlayer):
    """A player who is asked only what is not answered already."""

    def __init__(self, player: Player, answers: Mapping[str, Any]) -> None:
        super().__init__(player)
        self._answers = answers

    async def decide(
        self, question: str, arguments: Arguments, messages: tuple[str, ...], seconds: float | None
    ) -> Any:
        """See `Player.decide`."""
        if question in self._answers:
            return self._answers[question]
        return await super().decide(question, arguments, messages, seconds)


def answers_of(given: Sequence[str], spec: Spec, roles: Sequence[str], players: int | None = None) -> dict[str, Any]:
    """Return the messages given as ``question=JSON`` or ``question=@FILE``, by the question to the players of roles.

    ``players`` is how many will play, if that is known.

    Raises:
        AnswerError: one is not of that form, its file cannot be read, no question is called so, it is given twice, or
            it is no message that may answer.
    """
    asked = {question: names for role in roles for question, names in questions(spec, spec.roles[role])}
    found: dict[str, Any] = {}
    for text in given:
        question, equals, value = text.partition("=")
        question = question.strip()
        if not equals or not question:
            raise AnswerError(f"--answer {text!r} is not of the form QUESTION=JSON or QUESTION=@FILE")
        if question not in asked:
            hint = near(question, asked) or f"there is {', '.join(asked) or 'none'}"
            raise AnswerError(f"--answer {question}: {spec.protocol} has no question {question!r}: {hint}")
        if question in found:
            raise AnswerError(f"the answer to {question!r} is given twice")
        where = f"--answer {question}: {value[1:]}" if value.startswith("@") else f"--answer {question}"
        try:
            body = _read(Path(value[1:])) if value.startswith("@") else json.loads(value)
            _check(spec, question, asked[question], body, players)
        except (AnswerError, ValueError, RecursionError) as error:
            what = f"this is no JSON: {error}" if isinstance(error, json.JSONDecodeError) else error
            raise AnswerError(f"{where}: {what}") from None
        found[question] = body
    return found


def questions(spec: Spec, role: Role) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each question to the player of a role, and the messages that may answer it; one a state that asks."""
    for machine in role.machines.values():
        for state in machine.states.values():
            if state.ask is not None:
                # A state that asks may hear its peers too; the player answers with what its own role sends.
                names = (name for name in state.answers.receive if role.name in spec.messages[name].senders)
                yield state.ask.path, tuple(names)


def _read(path: Path) -> Any:
    """Return the value in a file, as YAML if its name says so, else as JSON."""
    try:
        with path.open("rb") as file:
            data = file.read(BYTES_MAX + 1)
    except (OSError, ValueError) as error:
        raise AnswerError(f"it cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if len(data) > BYTES_MAX:
        raise AnswerError(f"it has more than {BYTES_MAX} bytes")
    try:
        text = data.decode()
        return msgspec.yaml.decode(text) if path.suffix.lower() in (".yaml", ".yml") else json.loads(text)
    except UnicodeDecodeError:
        raise AnswerError("it is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise AnswerError(f"line {error.lineno}, column {error.colno}: it is no JSON: {error.msg}") from None
    except msgspec.DecodeError as error:
        raise AnswerError(f"it is no YAML: {' '.join(str(error).split())}") from None


def _check(spec: Spec, question: str, names: Sequence[str], body: Any, players: int | None) -> None:
    """Make sure that a body is a message that may answer a question, and one that the game has nothing against."""
    shapes = [compile_message(spec.messages[name], spec.types) for name in names]
    for shape in shapes:
        fields = shape.read(body)
        if fields is not None:
            _check_by_game(spec, question, dict(zip(shape.fields, fields, strict=True)), players)
            return
    raise AnswerError("; ".join(f"it is no {shape.name}: {_why_not(shape, body)}" for shape in shapes))


def _why_not(shape: MessageCodec, body: Any) -> str:
    try:
        return shape.why_not(body)
    except TypeError:  # YAML has values that no message has, such as dates
        return "it has a value that is none of JSON"


def _check_by_game(spec: Spec, question: str, fields: Mapping[str, Any], players: int | None) -> None:
    for module in companions(spec, "players"):
        check = getattr(module, "CHECKS", {}).get(question)
        if check is not None:
            check(fields, players)
