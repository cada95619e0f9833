"""Which field of a body each name in a frame's lines is, and of which type.

A frame says a list of values, or one. A name of a line stands in that list for a text. If the body has a field of that
name there, the text is read as the field's type has it, and a line where it is none is not this frame.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from machines.frame_values import values_of
from machines.messages.compiler import compile_type
from machines.messages.templates import may_stand_in_text
from machines.messages.well_formed import named_types
from machines.model import (
    Body,
    BodyList,
    CompositeFrame,
    Field,
    FrameLine,
    FramePart,
    ListType,
    Message,
    Named,
    Scalar,
    TupleType,
    Type,
    TypeDeclaration,
    Union,
)
from machines.parser.context import ParseContext
from machines.parser.frame_kinds import check_kinds


def with_types(
    reading: ParseContext, frame: CompositeFrame, message: Message, types: Mapping[str, TypeDeclaration]
) -> CompositeFrame:
    """Return the frame of a message, the names in its lines with the types of the fields that they are.

    ``types`` are those without a problem.
    """
    count = sum(map(values_of, frame))
    bodies = [_in_place(body, count) for body in (message.body, *message.also)]
    if count != 1 and not _may_hold(message.body, count, types):
        text = f"a frame with {count or 'no'} values for {message.name}, whose body is no list of so many"
        reading.fault(frame[0].place, "A137", text, "the body is a list of what the parts say, in their order")
        return frame
    check_kinds(reading, frame, bodies[0], message, types)
    found: list[FramePart] = []
    at = 0
    for part in frame:
        if isinstance(part, FrameLine) and part.values:
            found.append(_line_with_types(reading, part, bodies, at, message, types))
        else:
            found.append(part)
        at += values_of(part)
    return tuple(found)


def _may_hold(body: Body, count: int, types: Mapping[str, TypeDeclaration]) -> bool:
    """Whether a body may be a list of so many values."""
    if isinstance(body, BodyList):
        return len(body.items) == count
    if not isinstance(body, Field):
        return False
    members = _structure(body.type, types)
    return not members or any(isinstance(one, ListType | TupleType) or one == Scalar("any") for one in members)


def _in_place(body: Body, count: int) -> tuple[Body, ...]:
    """Return the parts of a body that are the values of a frame, in order; none if it takes them all as one."""
    if count == 1:
        return (body,)
    return body.items if isinstance(body, BodyList) and len(body.items) == count else ()


def _line_with_types(
    reading: ParseContext,
    line: FrameLine,
    bodies: list[tuple[Body, ...]],
    at: int,
    message: Message,
    types: Mapping[str, TypeDeclaration],
) -> FrameLine:
    fields = {field.name for field in message.fields}
    typed: list[tuple[str, Type | None]] = []
    for index, (name, _) in enumerate(line.values, at):
        here = bodies[0][index] if bodies[0] else None
        if not (isinstance(here, Field) and here.name == name):
            if name in fields and bodies[0]:
                text = (
                    f"{name!r} is a field of {message.name}, but stands in another place than ${{{name}}} in its frame"
                )
                reading.fault(line.place, "A137", text, "the body is a list of what the parts say, in their order")
            typed.append((name, None))
            continue
        if any(used.name not in types for used in named_types(here.type)):
            typed.append((name, None))  # what is wrong with it is told elsewhere
            continue
        may_miss = any(name not in way[1::2] for way in line.shorter)
        type_ = _in_a_line(here.type, types)
        if type_ is None or (may_miss and not _takes_null(here.type, types)):
            needs = (
                "can be missing, so it is of a type with null: like string | null"
                if may_miss
                else ("stands in a line, so it is a text, a number or a boolean")
            )
            reading.fault(here.place, "A137", f"the field {name!r} of {message.name} {needs}", "give it such a type")
        if not all(other and _is_same(other[index], here) for other in bodies[1:]):
            type_ = None
        typed.append((name, type_))
    return replace(line, values=tuple(typed))


def _is_same(body: Body, field: Field) -> bool:
    return isinstance(body, Field) and (body.name, body.type) == (field.name, field.type)


def _structure(type_: Type, types: Mapping[str, TypeDeclaration]) -> tuple[Type, ...]:
    """Return the members of a type, declared names followed."""
    if isinstance(type_, Named):
        return _structure(types[type_.name].type, types) if type_.name in types else ()
    if isinstance(type_, Union):
        return tuple(part for member in type_.members for part in _structure(member, types))
    return (type_,)


def _takes_null(type_: Type, types: Mapping[str, TypeDeclaration]) -> bool:
    return Scalar("null") in _structure(type_, types)


def _in_a_line(type_: Type, types: Mapping[str, TypeDeclaration]) -> Type | None:
    """Return the type of what a line has for a field, null being a piece that is missing; None if there is none."""
    members = [member for member in _structure(type_, types) if member != Scalar("null")]
    return members[0] if len(members) == 1 and may_stand_in_text(compile_type(members[0], types)) else None
