"""What a role's own player answers, read as a message."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from machines.effects import Note
from machines.engine import violations
from machines.engine.compiled_states import MessageHandler
from machines.messages.shapes import Mismatch
from machines.model import Spec

if TYPE_CHECKING:
    from machines.engine.call_stack import CallFrame
    from machines.engine.interpreter import Interpreter


def read_answer(
    spec: Spec, reader: MessageHandler, given: Mapping[str, Any]
) -> tuple[tuple[MessageHandler, tuple[Any, ...]] | None, str]:
    """Read an answer of a message's name and its fields, those with a default left out at will; or say why not."""
    shape = reader[1]
    message = spec.messages[shape.name]
    values = {field.name: field.default for field in message.fields if field.optional}
    values.update(given)
    strange = [field for field in values if field not in shape.fields]
    missing = [field for field in shape.fields if field not in values]
    if strange or missing:
        wrong = f"has no {strange[0]!r}" if strange else f"wants {missing[0]!r}"
        return None, f"{shape.name} {wrong}: it takes {', '.join(shape.fields) or 'nothing'}"
    try:
        fields = shape.read(shape.build([values[field] for field in shape.fields]))
    except Mismatch as error:
        return None, f"{shape.name}: {error}"
    return ((reader, fields), "") if fields is not None else (None, f"{shape.name}: it would be read as another")


def judge(session: Interpreter, frame: CallFrame, value: Any) -> tuple[str, str] | None:
    """Judge a player's answer as a peer's message would be, and take it if it may be taken.

    Return None if it was; else the reason why not, in a word and in a sentence. That is noted as a violation.
    """
    layer = frame.node.layer
    found: tuple[MessageHandler, tuple[Any, ...]] | None = None
    why = violations.NO_LIKENESS
    match value:
        case (str() as name, Mapping() as given) if name in layer.answers:
            found, why = read_answer(session.program.spec, layer.answers[name], given)
    if found is None:  # it may be a body, even one that begins with a message's name
        for reader in layer.answers.values():
            fields = reader[1].read(value)
            if fields is not None:
                found = (reader, fields)
                break
    if found is None:
        kind, words = violations.not_like([shape for _, shape, _ in layer.answers.values()], (), value)
        why = words if why == violations.NO_LIKENESS else why
        text = f"the player's answer to {frame.node.name} is malformed: {why}"
        violations.note(session, None, kind, frame, why=why, came=violations.of_player(value))
        session.effects.append(Note("warning", text))
        return "malformed", text
    reader, fields = found
    if not session.fire(frame, layer, reader[0], None, None, fields):
        reason = "limit" if session.over_limit else "illegal"
        rule, words = violations.refusal(session, frame, layer, reader, fields, None)
        violations.note(session, None, reason, frame, rule=rule, why=words, came=violations.of_player(value))
        text = f"the player's {reader[1].name} is {reason}"
        session.effects.append(Note("warning", text))
        return reason, text
    return None
