"""What a role's own player answers, read as a message."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from machines.engine.compiler import MessageHandler
from machines.messages.shapes import Mismatch
from machines.model import Spec


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
