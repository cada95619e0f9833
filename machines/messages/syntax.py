"""How types and message bodies are written in YAML: nodes to `machines.model` types and bodies.

    string int number bool null any    [A, B]  [A, ...]  [A, ... 10]  [A, ... 0..6]     {key: A, other: B = default}
    Name   A | B   Tile | null         int 0..9  string 1..20
    {enum: [a, b], loose: true}  {int: 0..9}  {string: REGEX}  {map: [Key, Value]}

A mapping with one of the words enum, int, string, map as its only key is one of the last four; a key in quotes is
always a key. In a body everything is literal but

    $name Type          a field, $name [A, ...] too; as the value of a key also  $name Type = default
    text ${x int} of    fields within a text; $$ is a dollar

where an unquoted null, true, false or number is that JSON value and all else is text. What a name means, and whether
a default fits, is seen to later (`machines.messages.well_formed`), so a type may be used before it is declared.
"""

from __future__ import annotations

import math
import re
from difflib import get_close_matches
from typing import Any, Literal

import msgspec

from machines.messages.field_types import bracketed, split_default
from machines.messages.inline_types import INTERVAL, NAME, SCALARS, parse_inline_type, parse_interval
from machines.messages.regex import PatternError, matcher
from machines.messages.scalars import INT_MAX, INT_MIN, folded
from machines.model import (
    Body,
    BodyList,
    BodyMap,
    Enumeration,
    Field,
    Key,
    ListType,
    LiteralBody,
    MapOf,
    ObjectType,
    Pattern,
    Text,
    TupleType,
    Type,
)
from machines.problems import Place, Problems, near
from machines.values import freeze
from machines.yaml.nodes import ListNode, MapNode, Node, ScalarNode

REPEAT_MAX = 1_000_000  # No message of 1 MiB has more items.

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_REPEAT = re.compile(r"\.\.\.(?:\s*([0-9]{1,9})(?:\s*\.\.\s*([0-9]{1,9}))?)?")
_WORD = re.compile(r"\w+")
_DOLLAR = re.compile(r"\$(?:\$|\{([^{}]*)\})?")
_TEXT_HOLE = re.compile(r"\s*(\w*)(\s*)(.*)", re.DOTALL)
_FORMS = frozenset({"enum", "int", "string", "map"})


def inside(node: ScalarNode) -> Place:
    """Return where the text of a scalar starts: after its quote, if it has one."""
    return node.place if node.plain else node.place.right(1)


# -- literal values --------------------------------------------------------------------------------------------------


def parse_literal(text: str, place: Place, problems: Problems) -> Any:
    """Return the JSON value that an unquoted scalar is: null, true, false, a number, else its text.

    A whole number outside 64 bits and a number too large for a float are problems.
    """
    if text in ("null", "true", "false"):
        return {"null": None, "true": True, "false": False}[text]
    number = _NUMBER.fullmatch(text)
    if number is None:
        return text
    if number[1] is None and number[2] is None:
        if len(text) > 20 or not INT_MIN <= int(text) <= INT_MAX:
            problems.add(place, "A213", f"the number {text} does not fit 64 bits", "a text is written in quotes")
            return 0
        return int(text)
    if math.isinf(float(text)):
        problems.add(place, "A213", f"the number {text} is too large", "a text is written in quotes")
        return 0
    return float(text)


def _scalar_value(node: ScalarNode, problems: Problems) -> Any:
    return parse_literal(node.text, node.place, problems) if node.plain else node.text


def parse_json(node: Node, problems: Problems) -> Any:
    """Return the JSON value that a node is: scalars as in a body, without fields; its mappings are dicts."""
    match node:
        case ScalarNode():
            return _scalar_value(node, problems)
        case ListNode(items):
            return [parse_json(item, problems) for item in items]
        case MapNode(pairs):
            return {key.text: parse_json(value, problems) for key, value in pairs}


def _parse_default(text: str, place: Place, problems: Problems) -> Any:
    """Return what stands after ``=``: a literal, a text in quotes, or JSON in brackets."""
    if text[:1] in ("[", "{", '"'):
        try:
            return freeze(msgspec.json.decode(text))
        except (msgspec.DecodeError, RecursionError, TypeError):
            problems.add(place, "A212", f"the default {text} is not JSON", "like 0, true, white, [] or {}")
            return None
    if len(text) >= 2 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    if not text:
        problems.add(place, "A212", "a default is missing after '='", "like 0, true, white, [] or {}")
    return parse_literal(text, place, problems)


# -- types -----------------------------------------------------------------------------------------------------------


def parse_type(node: Node, problems: Problems) -> Type | None:
    """Return the type that a node is, None if none can be made of it; every fault goes to ``problems``."""
    match node:
        case ScalarNode():
            return parse_inline_type(node.text, inside(node), problems)
        case ListNode():
            return _parse_list(node, problems)
        case MapNode():
            return _parse_mapping(node, problems)


def _parse_list(node: ListNode, problems: Problems) -> Type | None:
    rest = [item for item in node.items if isinstance(item, ScalarNode) and item.plain and item.text.startswith("...")]
    if not rest:
        items = [parse_type(item, problems) for item in node.items]
        return None if None in items else TupleType(tuple(item for item in items if item is not None))
    written = rest[0]
    counts = _REPEAT.fullmatch(written.text)
    low, high = 0, None
    if len(node.items) != 2 or written is not node.items[1]:
        text = "'...' repeats one type and stands behind it"
        problems.add(written.place, "A206", text, "like [A, ...]; for several, declare [A, B] as a type of its own")
        return None
    if counts is None:
        problems.add(written.place, "A206", f"{written.text!r} is no count", "like ..., ... 10 or ... 0..6")
        return None
    if counts[1]:
        low = int(counts[1])
        high = int(counts[2]) if counts[2] else low
        if low > high:
            text, hint = f"{written.text!r} can never be: {low} is more than {high}", f"like ... {high}..{low}"
            problems.add(written.place, "A206", text, hint)
            return None
        if high > REPEAT_MAX:
            problems.add(written.place, "A206", f"{written.text!r} is too many", f"at most {REPEAT_MAX} items")
            return None
    item = parse_type(node.items[0], problems)
    return None if item is None else ListType(item, low, high)


def _parse_mapping(node: MapNode, problems: Problems) -> Type | None:
    words = [key.text for key, _ in node.pairs if key.plain]
    if len(words) == len(node.pairs):
        if len(words) == 1 and words[0] in _FORMS:
            value = node.pairs[0][1]
            match words[0]:
                case "enum":
                    return _parse_enumeration(value, False, problems)
                case "int":
                    return parse_interval(value.text if isinstance(value, ScalarNode) else "", value.place, problems)
                case "string":
                    return _parse_pattern(value, problems)
                case _:
                    return _parse_map(value, problems)
        if set(words) == {"enum", "loose"}:
            found = dict(zip(words, (value for _, value in node.pairs), strict=True))
            return _parse_enumeration(found["enum"], _parse_loose(found["loose"], problems), problems)
    meant = _misspelt_form(node)
    if meant:
        key = node.pairs[0][0]
        if key.text == meant:
            other = node.pairs[1][0]
            said = f"{other.text!r} has no meaning beside {meant!r}"
            problems.add(other.place, "A200", said, "it is for 'enum' alone")
            return None
        hint = f"{near(key.text, (meant,))} A key that is really called so stands in quotes"
        problems.add(key.place, "A200", f"{key.text!r} is no form of a type", hint)
        return None
    fields = [_parse_typed_key(key, value, problems) for key, value in node.pairs]
    return None if None in fields else ObjectType(tuple(field for field in fields if field is not None))


def _misspelt_form(node: MapNode) -> str:
    """Return the form that a mapping was to be, if its first key is spelt nearly so and its value is no type."""
    if not node.pairs or not node.pairs[0][0].plain:
        return ""
    key, value = node.pairs[0]
    matches = get_close_matches(key.text, _FORMS, n=1, cutoff=0.75)
    if not matches or not {other.text for other, _ in node.pairs[1:]} <= {"loose"}:
        return ""
    match matches[0]:
        case "enum":
            return "enum" if isinstance(value, ListNode) and _is_misread(value) else ""
        case "map":
            return "map" if isinstance(value, ListNode) and len(value.items) == 2 else ""
        case "int":
            return "int" if isinstance(value, ScalarNode) and INTERVAL.fullmatch(value.text) else ""
        case _:
            names = isinstance(value, ScalarNode) and (value.plain and NAME.fullmatch(value.text.split("|")[0].strip()))
            return "string" if isinstance(value, ScalarNode) and not names else ""


def _is_misread(values: ListNode) -> bool:
    """Whether a list has something that is surely no type: words in lower case that are none, or numbers."""
    return any(
        isinstance(item, ScalarNode)
        and item.text not in SCALARS
        and not item.text.startswith("...")
        and not item.text[:1].isupper()
        for item in values.items
    )


def _parse_typed_key(key: ScalarNode, value: Node, problems: Problems) -> Key | None:
    if isinstance(value, ScalarNode) and "=" in value.text:
        written, _, default = value.text.partition("=")
        type_ = parse_inline_type(written.rstrip(), inside(value), problems)
        place = inside(value).right(len(value.text) - len(default.lstrip()))
        parsed = _parse_default(default.strip(), place, problems)
        return None if type_ is None else Key(key.text, type_, True, parsed)
    type_ = parse_type(value, problems)
    return None if type_ is None else Key(key.text, type_)


def _parse_loose(node: Node, problems: Problems) -> bool:
    if isinstance(node, ScalarNode) and node.plain and node.text in ("true", "false"):
        return node.text == "true"
    problems.add(node.place, "A203", "'loose' is true or false", "like {enum: [North, South], loose: true}")
    return False


def _parse_enumeration(node: Node, loose: bool, problems: Problems) -> Type | None:
    example = "like {enum: [white, black]}"
    if not isinstance(node, ListNode) or not node.items:
        problems.add(node.place, "A203", "'enum' takes a list of at least one value", example)
        return None
    values: list[Any] = []
    seen: dict[tuple[Literal["word", "other"], Any], ScalarNode] = {}
    for item in node.items:
        if not isinstance(item, ScalarNode):
            problems.add(item.place, "A203", "a value of 'enum' is a text, a number, true, false or null", example)
            continue
        value = _scalar_value(item, problems)
        word = folded(value) if loose and isinstance(value, str) else value
        if loose and word == "":
            text = f"{item.text!r} is nothing without hyphens, underscores and blanks"
            problems.add(item.place, "A203", text, "without 'loose', it may be anything")
        # True is no number, but Python finds it equal to 1.
        key: tuple[Literal["word", "other"], Any] = ("word" if isinstance(value, bool) else "other", word)
        if key in seen:
            first = seen[key]
            same = "stands twice" if first.text == item.text else f"is the same as {first.text!r}"
            problems.add(item.place, "A203", f"{item.text!r} {same} in this enumeration", "leave one out")
            continue
        seen[key] = item
        values.append(value)
    return Enumeration(tuple(values), loose) if values else None


def _parse_pattern(node: Node, problems: Problems) -> Type | None:
    if not isinstance(node, ScalarNode):
        hint = 'like {string: "[a-z]+"}; for a key that is called string, put it in quotes'
        problems.add(node.place, "A205", "'string' takes a pattern", hint)
        return None
    try:
        matcher(node.text)
    except PatternError as error:
        place = inside(node).right(error.column)
        hint = "a pattern is for the whole text; write 'string' for any text"
        problems.add(place, "A205", f"the pattern {node.text!r} cannot be used: {error.text}", hint)
        return None
    return Pattern(node.text)


def _parse_map(node: Node, problems: Problems) -> Type | None:
    if not isinstance(node, ListNode) or len(node.items) != 2:
        hint = "like {map: [Name, int]}; for a key that is called map, put it in quotes"
        problems.add(node.place, "A207", "'map' takes the type of its keys and that of its values", hint)
        return None
    key, value = (parse_type(item, problems) for item in node.items)
    return None if key is None or value is None else MapOf(key, value)


# -- bodies ----------------------------------------------------------------------------------------------------------


def parse_body(node: Node, problems: Problems) -> Body | None:
    """Return the body that a node is, None if none can be made of it; every fault goes to ``problems``."""
    return _parse_body(node, problems, of_key=False)


def _parse_body(node: Node, problems: Problems, *, of_key: bool) -> Body | None:
    match node:
        case ScalarNode():
            return _parse_scalar(node, problems, of_key)
        case ListNode():
            items = [_parse_body(item, problems, of_key=False) for item in node.items]
            return None if None in items else BodyList(tuple(item for item in items if item is not None))
        case MapNode():
            pairs = []
            for key, value in node.pairs:
                name = _parse_key(key, problems)
                body = _parse_body(value, problems, of_key=True)
                if name is not None and body is not None:
                    pairs.append((name, body))
            return BodyMap(tuple(pairs)) if len(pairs) == len(node.pairs) else None


def _parse_key(key: ScalarNode, problems: Problems) -> str | None:
    if "$" in key.text.replace("$$", ""):
        hint = "write $$ for a dollar; for any keys, use a field of a type {map: [Key, Value]}"
        problems.add(key.place, "A225", f"the key {key.text!r} cannot be a field", hint)
        return None
    return key.text.replace("$$", "$")


def _parse_scalar(node: ScalarNode, problems: Problems, of_key: bool) -> Body | None:
    if node.plain and re.match(r"\$\w", node.text):
        return _parse_field(node, problems, of_key)
    if node.plain and not node.text:
        problems.add(node.place, "A220", "nothing stands here", "write null for the JSON value null, '' for no text")
        return None
    if "$" not in node.text:
        return LiteralBody(_scalar_value(node, problems))
    return _parse_text(node, problems)


def _parse_field(node: ScalarNode, problems: Problems, of_key: bool) -> Body | None:
    name = _WORD.match(node.text, 1)
    assert name is not None, "a word follows the dollar"
    if not _check_field_name(name[0], node.place.right(1), problems):
        return None
    written, equals, default = split_default(node.text[name.end() :])
    if not written.strip():
        problems.add(node.place, "A220", f"the field ${name[0]} has no type", f"like ${name[0]} string")
        return None
    place = node.place.right(name.end() + len(written) - len(written.lstrip()))
    type_: Type | None
    if written.lstrip()[0] in "[{":
        inner = bracketed(written.strip(), place, problems)
        type_ = parse_type(inner, problems) if inner is not None else None
    else:
        type_ = parse_inline_type(written.strip(), place, problems)
    if type_ is None:
        return None
    if not equals:
        return Field(name[0], type_, node.place)
    if not of_key:
        text = f"the field ${name[0]} has a default, but only a key may be missing"
        problems.add(node.place, "A222", text, "leave the default out")
        return None
    place = node.place.right(len(node.text) - len(default.lstrip()))
    return Field(name[0], type_, node.place, True, _parse_default(default.strip(), place, problems))


def _check_field_name(name: str, place: Place, problems: Problems) -> bool:
    if NAME.fullmatch(name):
        return True
    problems.add(place, "A220", f"{name!r} cannot name a field", "a letter first; write $$ for a dollar")
    return False


def _parse_text(node: ScalarNode, problems: Problems) -> Body | None:
    """Read a text with dollars in it: fields, and dollars written twice."""
    parts: list[str | Field] = [""]
    at = 0
    sound = True
    start = inside(node)
    for found in _DOLLAR.finditer(node.text):
        place = start.right(found.start())
        before = node.text[at : found.start()] + ("$" if found[0] == "$$" else "")
        at = found.end()
        assert isinstance(parts[-1], str), "after a field there is always a text, if only an empty one"
        parts[-1] += before
        if found[0] == "$":
            hint = "write $$ for a dollar"
            if node.text.startswith("${", found.start()):
                hint = "a field within a text is ${name Type}, and its type a name"
            elif found.start() == 0 and not node.plain:
                hint = "a field stands without quotes; write $$ for a dollar"
            problems.add(place, "A221", "a lone '$'", hint)
            sound = False
        elif found[0] != "$$":
            field = _parse_text_field(found[1], place, problems)
            if field is not None and len(parts) > 1 and not parts[-1]:
                text = f"nothing tells where the field before ${{{field.name}}} ends"
                problems.add(place, "A223", text, "put literal text between the two")
                field = None
            sound = sound and field is not None
            parts += [field, ""] if field is not None else []
    assert isinstance(parts[-1], str), "after a field there is always a text, if only an empty one"
    parts[-1] += node.text[at:]
    if not sound:
        return None
    if len(parts) == 1:
        return LiteralBody(parts[0])
    return Text(tuple(part for part in parts if part != ""))


def _parse_text_field(written: str, place: Place, problems: Problems) -> Field | None:
    found = _TEXT_HOLE.fullmatch(written)
    assert found is not None, "every text has this form"
    if not _check_field_name(found[1], place.right(2), problems):
        return None
    if "=" in found[3]:
        text = f"the field ${{{found[1]}}} has a default, but only a key may be missing"
        problems.add(place, "A222", text, "leave the default out")
        return None
    if not found[3]:
        problems.add(place, "A220", f"the field ${{{found[1]}}} has no type", f"like ${{{found[1]} string}}")
        return None
    type_ = parse_inline_type(found[3], place.right(2 + found.start(3)), problems)
    return None if type_ is None else Field(found[1], type_, place)
