"""What a person may answer, and how what a person writes is read: at the terminal and in a browser alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from machines.messages.types import Mismatch, Shape, compile_type
from machines.model import Field, Named, Pattern, Scalar, Spec, Type
from machines.values import plain
from runtime.players.companions import companions

BRIEF_CHARACTERS = 120


class FieldReader:
    """Reads what a person writes for a field of a message."""

    def __init__(self, spec: Spec, field: Field) -> None:
        # A declared type is explained by what it stands for, not by its name.
        wanted: Type = spec.types[field.type.name].type if isinstance(field.type, Named) else field.type
        self._shape: Shape = compile_type(wanted, spec.types)
        self._texts_first = isinstance(wanted, Pattern) or wanted == Scalar("string")

    def describe(self) -> str:
        """Return what the field may be, in words."""
        return self._shape.describe()

    def read(self, text: str) -> Any:
        """Return the value that a text stands for: the text itself, or the JSON value it is.

        Raises:
            Mismatch: it stands for none that fits.
        """
        wrong: Mismatch | None = None
        for value in _readings(text, texts_first=self._texts_first):
            try:
                return self._shape.freeze(value)
            except Mismatch as mismatch:
                wrong = wrong or mismatch
        assert wrong is not None, "there is one reading at least"
        raise wrong


def legal_answers(spec: Spec, question: str, arguments: dict[str, Any]) -> Sequence[tuple[str, Any]]:
    """Return the legal answers, each with what it does in words, where the game can list them; else none."""
    for module in companions(spec, "players"):
        choices: Callable[..., Any] | None = getattr(module, "choices", None)
        if choices is not None:
            listed = _listed(choices, question, arguments)
            if listed:
                return listed
    return ()


def brief(value: Any) -> str:
    """Return a value as a person may read it, cut to a line."""
    text = value if isinstance(value, str) else msgspec.json.encode(plain(value)).decode()
    return text if len(text) <= BRIEF_CHARACTERS else text[: BRIEF_CHARACTERS - 3] + "..."


def _listed(choices: Callable[..., Any], question: str, arguments: dict[str, Any]) -> Sequence[tuple[str, Any]]:
    """Return the game's legal answers; none if it does not know the question, or not as it is asked here."""
    try:
        listed: Sequence[tuple[str, Any]] = choices(question, arguments)
    except Exception:  # a variant may ask the same with other values
        return ()
    return listed


def _readings(text: str, *, texts_first: bool) -> list[Any]:
    """Return what a line may mean: the text itself, or the JSON value it is; the likelier first."""
    try:
        value = msgspec.json.decode(text.encode("utf-8", "surrogateescape"))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return [text]
    return [text, value] if texts_first else [value, text]
