"""What must hold of types and bodies once all of a spec is read: names, circles, sizes, defaults, fields in texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from machines import model
from machines.messages.compiler import Compiler
from machines.messages.inline_types import NAME, SCALARS
from machines.messages.shapes import Mismatch
from machines.messages.templates import TextField, may_stand_in_text
from machines.model import Body, Field, Message, Type, TypeDeclaration
from machines.problems import Place, Problems

# What the least value of a type may hold: types that hold types twice double it with each name.
PARTS_MAX = 100_000
DEPTH_MAX = 64  # of lists, mappings and names within each other; `Wire.depth_max` lets no more in by default

Size = tuple[int, int]  # how many parts the least value of a type has, and how deep they are nested

_TEXT_HINT = "a field within a text is a string, int, number or bool, a pattern, or one of some texts"


def check_names(
    types: Mapping[str, TypeDeclaration],
    messages: Iterable[Message],
    problems: Problems,
    declared: Iterable[str] = (),
) -> None:
    """Tell names of types that are not known, types that hold themselves, and fields that are there twice or missing.

    ``declared`` are names that count as known though ``types`` lacks them, since their types had problems.
    """
    known = {*types, *declared}
    for declaration in types.values():
        if declaration.name in SCALARS or not NAME.fullmatch(declaration.name):
            text = f"{declaration.name!r} is built in and no name for a type"
            if declaration.name not in SCALARS:
                text = f"{declaration.name!r} cannot name a type"
            problems.add(declaration.place, "A209", text, "letters, digits and underscores, a letter first")
        _check_known(declaration.type, declaration.place, known, problems)
    for circle in _circles(types):
        place = types[circle[0]].place
        text = f"the type {circle[0]!r} holds itself: {' -> '.join((*circle, circle[0]))}"
        problems.add(place, "A202", text, "a type may only hold others; for any value, write any")
    for message in messages:
        for body in (message.body, *message.also):
            for field in model.fields_of(body):
                _check_known(field.type, field.place, known, problems)
        _check_fields(message, problems)


def _check_known(type_: Type, place: Place, known: set[str], problems: Problems) -> None:
    for named in named_types(type_):
        if named.name not in known:
            hint = problems.near("A201", named.name, (*known, *SCALARS)) or _declared(type_, known)
            problems.add(named.place or place, "A201", f"unknown type {named.name!r}", hint)


def _declared(type_: Type, known: set[str]) -> str:
    """Return what to do about names that nobody declared; words in lower case may have been meant as they are."""
    words = [named.name for named in named_types(type_)]
    if words and all(word.islower() and word not in known for word in words):
        return f"declare it under 'types'; one of some texts is {{enum: [{', '.join(words[:4])}]}}"
    return "declare it under 'types'"


def field_meant(type_name: str, messages: Iterable[Message]) -> str:
    """Return how a field of a type is written that stands in a body as a text; nothing if none does."""
    for message in messages:
        for text in model.texts_of(message.body):
            if text.split()[-1:] == [type_name]:
                field = text if len(text.split()) == 2 else f"name {type_name}"
                return f"in {message.name} {text!r} is a text: a field is written ${field}"
    return ""


def named_types(type_: Type) -> Iterator[model.Named]:
    """Yield the names of types that stand in a type, in the order written."""
    match type_:
        case model.Named():
            yield type_
        case model.TupleType(inner) | model.Union(inner):
            for part in inner:
                yield from named_types(part)
        case model.ListType(item):
            yield from named_types(item)
        case model.ObjectType(fields):
            for field in fields:
                yield from named_types(field.type)
        case model.MapOf(key, value):
            yield from named_types(key)
            yield from named_types(value)
        case _:
            pass


def _circles(types: Mapping[str, TypeDeclaration]) -> Iterator[tuple[str, ...]]:
    """Yield circles of types that hold each other, each from its first name in the file; together they touch all.

    One walk through all names, without recursion: a chain of names may be longer than Python's stack.
    """
    order = {name: index for index, name in enumerate(types)}
    done: set[str] = set()
    for start in types:
        path: dict[str, Iterator[str]] = {}
        ahead: str | None = start if start not in done else None
        while ahead is not None or path:
            if ahead is not None:
                path[ahead] = (named.name for named in named_types(types[ahead].type) if named.name in types)
            here = next(reversed(path))
            ahead = next(path[here], None)
            if ahead is None:
                done.add(here)
                del path[here]
            elif ahead in path:
                names = list(path)
                circle = names[names.index(ahead) :]
                first = circle.index(min(circle, key=order.__getitem__))
                yield (*circle[first:], *circle[:first])
                ahead = None
            elif ahead in done:
                ahead = None


def _check_fields(message: Message, problems: Problems) -> None:
    own: dict[str, Field] = {}
    for field in message.fields:
        if field.name in own:
            text = f"{message.name} has a field ${field.name} already"
            problems.add(field.place, "A226", text, f"each field has its own name, like ${field.name}2")
        own.setdefault(field.name, field)
    for body in message.also:
        its: dict[str, Field] = {}
        for field in model.fields_of(body):
            if field.name in its:
                text = f"this body of {message.name} has a field ${field.name} already"
                problems.add(field.place, "A226", text, "each field has its own name")
            elif field.name not in own:
                hint = problems.near("A227", field.name, own) or "all bodies of a message have the same fields"
                problems.add(field.place, "A227", f"the body of {message.name} has no field ${field.name}", hint)
            elif field.type != own[field.name].type:
                text = f"the field ${field.name} of {message.name} is of another type in its body"
                problems.add(field.place, "A227", text, "all bodies of a message have the same fields")
            its[field.name] = field
        place = next((field.place for field in its.values()), message.place)
        for name, field in own.items():
            if name not in its and not field.optional:
                text = f"another body of {message.name} lacks the field ${name}"
                problems.add(place, "A227", text, "only a field with a default may be left out")


# -- what needs shapes -----------------------------------------------------------------------------------------------


def check_types(types: Mapping[str, TypeDeclaration], problems: Problems) -> dict[str, Size]:
    """Tell types that are too large or deep, keys of maps that are no texts, and defaults that do not fit.

    Returns the names that are sound, each with its size: what they hold is known, does not hold itself and is not too
    large. The others have their problems already, from here or from `check_names`.
    """
    sizes: dict[str, Size] = {}
    usable: dict[str, TypeDeclaration] = {}
    compiler = Compiler(usable)
    for name in _inside_first(types):
        declaration = types[name]
        if any(named.name not in usable for named in named_types(declaration.type)):
            continue
        size = _size(declaration.type, sizes)
        if _is_small(size, f"type {name!r}", declaration.place, problems) and _check_parts(
            declaration.type, declaration.place, compiler, problems
        ):
            sizes[name] = size
            usable[name] = declaration
    return sizes


def _is_small(size: Size, what: str, place: Place, problems: Problems) -> bool:
    parts, depth = size
    if parts > PARTS_MAX:
        text = f"the least value of {what} has {parts} parts, more than {PARTS_MAX}"
        problems.add(place, "A211", text, "no message could carry it")
    elif depth > DEPTH_MAX:
        text = f"the {what} is nested {depth} deep, more than {DEPTH_MAX}"
        problems.add(place, "A211", text, "no message could carry it")
    return parts <= PARTS_MAX and depth <= DEPTH_MAX


def _inside_first(types: Mapping[str, TypeDeclaration]) -> list[str]:
    """Return the declared names, each behind those it holds; names on a circle are left out, no recursion is used."""
    waiting = {name: {named.name for named in named_types(types[name].type) if named.name in types} for name in types}
    users: dict[str, list[str]] = {name: [] for name in types}
    for name, held in waiting.items():
        for other in held:
            users[other].append(name)
    order = [name for name, held in waiting.items() if not held]
    for name in order:  # grows while it is walked
        for user in users[name]:
            waiting[user].discard(name)
            if not waiting[user]:
                order.append(user)
    return order


def _size(type_: Type, sizes: Mapping[str, Size]) -> Size:
    """Return how many parts an example of a type has, and how deep it is nested."""

    def within(types: Iterable[Type], times: int = 1) -> Size:
        found = [_size(inner, sizes) for inner in types]
        return 1 + times * sum(parts for parts, _ in found), 1 + max((depth for _, depth in found), default=0)

    match type_:
        case model.Named(name):
            parts, depth = sizes[name]
            return parts, depth + 1
        case model.TupleType(items):
            return within(items)
        case model.ListType(item, low, high):
            return within((item,), max(low, 0 if high == 0 else 1))
        case model.ObjectType(fields):
            return within(field.type for field in fields)
        case model.MapOf(key, value):
            return within((key, value))
        case model.Union(members):
            found = [_size(member, sizes) for member in members]
            return max(parts for parts, _ in found), max(depth for _, depth in found)
        case _:
            return 1, 0


def _check_parts(type_: Type, place: Place, compiler: Compiler, problems: Problems) -> bool:
    """Tell wrong keys and defaults within a type; return whether it can be compiled."""
    sound = True
    match type_:
        case model.TupleType(inner) | model.Union(inner):
            sound = _check_all(inner, place, compiler, problems)
        case model.ListType(item):
            sound = _check_parts(item, place, compiler, problems)
        case model.ObjectType(fields):
            for field in fields:
                inside = _check_parts(field.type, place, compiler, problems)
                if field.optional and inside:
                    what = f"the default of the key {field.name!r}"
                    inside = _check_default(field.type, field.default, what, place, compiler, problems)
                sound = sound and inside
        case model.MapOf(key, value):
            sound = _check_all((key, value), place, compiler, problems)
            if sound and compiler.shape(key).kinds != {"text"}:
                problems.add(place, "A207", "the keys of a map are texts", "like {map: [string, int]}")
                sound = False
        case _:
            pass
    return sound


def _check_all(types: Iterable[Type], place: Place, compiler: Compiler, problems: Problems) -> bool:
    # A list, not a generator: all problems are told, not only the first.
    found = [_check_parts(type_, place, compiler, problems) for type_ in types]
    return all(found)


def _check_default(type_: Type, default: Any, what: str, place: Place, compiler: Compiler, problems: Problems) -> bool:
    try:
        compiler.shape(type_).freeze(default)
    except Mismatch as error:
        problems.add(place, "A210", f"{what} does not fit: {error}", f"its type is {compiler.shape(type_).describe()}")
        return False
    return True


def check_message(
    message: Message, types: Mapping[str, TypeDeclaration], sound: Mapping[str, Size], problems: Problems
) -> None:
    """Tell fields in texts that cannot stand there, what is wrong within their types, and defaults that do not fit.

    ``sound`` is what `check_types` returned; fields of other types are passed over, they have their problems.
    """
    compiler = Compiler({name: types[name] for name in sound})
    for body in (message.body, *message.also):
        _check_body(body, compiler, sound, problems)


def _check_body(body: Body, compiler: Compiler, sound: Mapping[str, Size], problems: Problems) -> None:
    match body:
        case Field():
            sized = _is_sound(body, sound) and _is_small(
                _size(body.type, sound), f"type of ${body.name}", body.place, problems
            )
            if sized and _check_parts(body.type, body.place, compiler, problems) and body.optional:
                what = f"the default of ${body.name}"
                _check_default(body.type, body.default, what, body.place, compiler, problems)
        case model.Text(parts):
            for index, part in enumerate(parts):
                if isinstance(part, Field) and _is_sound(part, sound):
                    after = parts[index + 1] if index + 1 < len(parts) else ""
                    _check_text_field(part, after if isinstance(after, str) else "", compiler, problems)
        case model.BodyList(items):
            for item in items:
                _check_body(item, compiler, sound, problems)
        case model.BodyMap(pairs):
            for _, item in pairs:
                _check_body(item, compiler, sound, problems)
        case model.LiteralBody():
            pass


def _is_sound(field: Field, sound: Mapping[str, Size]) -> bool:
    return all(named.name in sound for named in named_types(field.type))


def _check_text_field(field: Field, after: str, compiler: Compiler, problems: Problems) -> None:
    shape = compiler.shape(field.type)
    if not may_stand_in_text(shape):
        text = f"the field ${{{field.name}}} stands in a text, but is {shape.describe()}"
        problems.add(field.place, "A224", text, _TEXT_HINT)
    elif next(TextField(field.name, shape, after).samples(), None) is None:
        text = f"no {shape.describe()} can stand before {after!r}: it holds that text or a line end"
        problems.add(field.place, "A224", text, "put other text behind the field")
