"""What the fields of messages may hold that come in: what their types say, and in texts what stands around them."""

from __future__ import annotations

from collections.abc import Iterator

from machines.analysis.value_sets import LINE, TEXT, UNKNOWN, members, union
from machines.messages.automata import TooLargeError, Work
from machines.messages.compiler import compile_type
from machines.messages.outliers import outlier_of_field
from machines.messages.shapes import NO_MATCH
from machines.messages.templates import TextField
from machines.model import Body, BodyList, BodyMap, CompositeFrame, Field, FrameLine, Message, Pattern, Spec, Text, Type

WORK_MAX = 200_000  # steps of comparing texts, for all fields of a spec


def field_sets(spec: Spec) -> dict[str, dict[str, Type]]:
    """Return, for each message, the sets of its fields when it is read."""
    work = Work(WORK_MAX)
    return {message.name: _fields(message, spec, work) for message in spec.messages.values()}


def _fields(message: Message, spec: Spec, work: Work) -> dict[str, Type]:
    found: dict[str, list[Type]] = {}
    frame = spec.frames.get(message.name, ())
    for body in (message.body, *message.also):
        for field, until in placed(body, frame):
            found.setdefault(field.name, []).append(_set_of(field, until, message, spec, work))
    return {name: union(parts) for name, parts in found.items()}


def placed(body: Body, frame: CompositeFrame = ()) -> Iterator[tuple[Field, str | None]]:
    """Yield each field of a body with the text that ends it, None where it stands in no text and no line of a frame."""
    ends = dict(_in_lines(frame))
    for field, until in _placed(body):
        yield field, until if until is not None else ends.get(field.name)


def _in_lines(frame: CompositeFrame) -> Iterator[tuple[str, str]]:
    """Yield the names with a type in the lines of a frame, and what ends each; not those that may be missing."""
    for part in frame:
        if isinstance(part, FrameLine) and part.pattern is not None:
            typed = {name for name, type_ in part.values if type_ is not None}
            for name, until in zip(part.pattern[1::2], part.pattern[2::2], strict=True):
                if name in typed and all(name in way[1::2] for way in part.shorter):
                    yield name, until


def _placed(body: Body) -> Iterator[tuple[Field, str | None]]:
    match body:
        case Field():
            yield body, None
        case Text(parts):
            for index, part in enumerate(parts):
                if isinstance(part, Field):
                    after = parts[index + 1] if index + 1 < len(parts) else ""
                    yield part, after if isinstance(after, str) else ""
        case BodyList(items):
            for item in items:
                yield from _placed(item)
        case BodyMap(pairs):
            for _, item in pairs:
                yield from _placed(item)


def _set_of(field: Field, until: str | None, message: Message, spec: Spec, work: Work) -> Type:
    if field.optional:
        return UNKNOWN  # a default may be anything
    in_line = until is not None or (spec.wire.framing == "text" and message.name not in spec.frames)
    if not in_line:
        return field.type
    parts = members(field.type, spec.types)
    if any(part == TEXT for part in parts):
        if len(parts) > 1:
            return UNKNOWN
        if not until:
            return LINE
        return Pattern(rf"[^\x{ord(until):02x}\n\r]*") if len(until) == 1 and until.isascii() else UNKNOWN
    try:
        in_text = TextField(field.name, compile_type(field.type, spec.types), until or "")
        fits = outlier_of_field(in_text.shape, in_text, work) is NO_MATCH
    except TooLargeError:
        return UNKNOWN
    return field.type if fits and work.left > 0 else UNKNOWN
