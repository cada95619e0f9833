"""The functions that are in the language itself: total over the kinds they take, and bounded.

    len(x)                     how many                     put(x, key, value)     x with this value under this key
    any(list) all(list)        of booleans                  without(x, what)       a mapping without a key, a list
    min(x) max(x)              null if there is nothing                            without a value, wherever it stands
    sum(x)                     0 if there is nothing        get(x, key, default)   the value, or the default
    sorted(x)                  numbers, or texts            column(list, field)    that field of each
    keys(x) values(x)          of a mapping, in order       where(list, field, v)  those of which it is v
    head(x, n) tail(x, n)      the first n of a list or text, all but those
    [f(x) for x in list if c]  of each of a list, or some
    round(x)                   the nearest whole number
    str(x) int(text)           int is null if it is none    split(text, by) join(list, by) lower(text) upper(text)
    base64(text) unbase64(x)   null if a character is no byte, or it is no base64

Nothing is changed: each gives a new value. What one makes has at most LENGTH_MAX elements or characters.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from math import floor, isfinite
from typing import Any

from machines.expressions.operations import (
    INTEGER_MAX,
    INTEGER_MIN,
    LENGTH_MAX,
    OperandError,
    attribute,
    bounded,
    element,
    is_number,
    key_of,
    kind_of,
    length,
    typed_equal,
    whole,
)
from machines.flat_records import flat, is_scalar
from machines.values import Peer, Range, Record
from machines.work import CHARACTERS, SHORT, SORTING, spend

_WHOLE = re.compile(r"-?(?:0|[1-9][0-9]{0,18})")


def _listed(value: Any, name: str) -> Sequence[Any]:
    """Return the elements of a list or a range, all to be gone through by the function called ``name``."""
    if isinstance(value, tuple | list):
        if len(value) > SHORT:
            spend(len(value))
        return value
    if isinstance(value, Range):
        if length(value) > LENGTH_MAX:
            raise OperandError(f"{name} of more than {LENGTH_MAX} numbers")
        spend(length(value))
        return tuple(value)
    raise OperandError(f"{name} takes a list, not {kind_of(value)}")


def _mapping(value: Any, name: str) -> Mapping[str, Any]:
    if isinstance(value, Mapping):
        return value
    raise OperandError(f"{name} takes a mapping, not {kind_of(value)}")


def _copied(value: Any, name: str) -> Mapping[str, Any]:
    """Return a mapping of which the function called ``name`` makes another, or a list."""
    mapping = _mapping(value, name)
    if len(mapping) > SHORT:
        spend(len(mapping))
    return mapping


def _long_text(value: Any, name: str) -> str:
    """Return a text that the function called ``name`` goes through."""
    text = _text(value, name)
    spend(len(text) // CHARACTERS)
    return text


def _text(value: Any, name: str) -> str:
    if isinstance(value, str):
        return value
    raise OperandError(f"{name} takes a text, not {kind_of(value)}")


def _key(value: Any, name: str) -> str:
    """Return the key that a text or a peer is."""
    key = key_of(value)
    if key is None:
        raise OperandError(f"{name} takes a text or a peer, not {kind_of(value)}")
    return key


def _within(count: int, name: str) -> None:
    if count > LENGTH_MAX:
        raise OperandError(f"what {name} makes would be longer than {LENGTH_MAX}")


def _truths(value: Any, name: str) -> Iterable[bool]:
    for item in _listed(value, name):
        if item is not True and item is not False:
            raise OperandError(f"{name} takes a list of booleans, not of {kind_of(item)}")
        yield item


def any_of(list: Any, /) -> bool:  # noqa: A002 (shown to authors, as are all parameters here)
    """Return whether one of a list of booleans is true; false if it is empty."""
    return sum(_truths(list, "any")) > 0


def all_of(list: Any, /) -> bool:  # noqa: A002
    """Return whether all of a list of booleans are true; true if it is empty."""
    return sum(not truth for truth in _truths(list, "all")) == 0


def in_order(list: Any, /) -> tuple[Any, ...]:  # noqa: A002
    """Return a list of numbers, or of texts, from the least to the greatest; equal ones stay as they stood.

    Raises:
        OperandError: it is no list, or holds other kinds, or both.
    """
    items = _listed(list, "sorted")
    numbers = all(map(is_number, items))
    if not numbers and not all(isinstance(item, str) for item in items):
        raise OperandError("only numbers, or only texts, have an order")
    if len(items) > SHORT:
        spend(len(items) * SORTING)
    return tuple(sorted(items))


def least(list: Any, /) -> Any:  # noqa: A002
    """Return the least of numbers or of texts, null if there are none."""
    return next(iter(in_order(list)), None)


def greatest(list: Any, /) -> Any:  # noqa: A002
    """Return the greatest of numbers or of texts, null if there are none."""
    found = in_order(list)
    return found[-1] if found else None


def total(list: Any, /) -> Any:  # noqa: A002
    """Return the sum of a list of numbers, 0 if it is empty; raises OperandError over 64 bits."""
    found: Any = 0
    for item in _listed(list, "sum"):
        if not is_number(item):
            raise OperandError(f"sum takes numbers, not {kind_of(item)}")
        found = bounded(found + item, found, item)
    return found


def rounded(number: Any, /) -> int:
    """Return the whole number nearest to a number; of two that are equally near, the greater.

    Raises:
        OperandError: it is no number, not finite, or over 64 bits.

    >>> [rounded(number) for number in (1.4, 2.5, -2.5, 7)]
    [1, 3, -2, 7]
    """
    if not is_number(number):
        raise OperandError(f"round takes a number, not {kind_of(number)}")
    if not isfinite(number):
        raise OperandError("no whole number is near to a duration without an end")
    below = floor(number)
    return int(bounded(below + (number - below >= 0.5), number, 0))


def keys(mapping: Any, /) -> tuple[str, ...]:
    """Return the keys of a mapping, in the order in which they were put."""
    return tuple(_copied(mapping, "keys"))


def values(mapping: Any, /) -> tuple[Any, ...]:
    """Return the values of a mapping, in the order of its keys."""
    return tuple(_copied(mapping, "values").values())


def put(of: Any, key: Any, value: Any, /) -> Any:
    """Return a mapping with a value under a key, new or old, or a list with another element.

    Raises:
        OperandError: the key is no text and no peer, the list has no such element, or it would be longer than
            LENGTH_MAX.
    """
    if isinstance(of, tuple | list):
        element(of, key)  # says what is wrong with the index
        number = whole(key)
        spend(len(of))
        return (*of[:number], value, *of[number + 1 :]) if number is not None else of
    mapping = _copied(of, "put")
    _within(len(mapping) + 1, "put")
    name = _key(key, "put, as a key,")
    if is_scalar(value) and name.isascii():  # a store grows by one such after another: it is not looked through again
        known = flat(mapping)
        if known is not None:
            return known.with_item(name, value)
    return Record({**mapping, name: value})


def without(of: Any, what: Any, /) -> Any:
    """Return a mapping without a key, or a list without all that is equal to a value; what is not there is no matter.

    ``a except b``, with lists, is ``a`` without each of ``b``.
    """
    if isinstance(of, Mapping):
        key = _key(what, "without, as a key,")
        _copied(of, "without")
        return Record((name, value) for name, value in of.items() if name != key) if key in of else of
    items = _listed(of, "without")
    if type(what) is str or type(what) is Peer:
        return tuple([item for item in items if item != what])
    return tuple([item for item in items if not typed_equal(item, what)])


def excepting(of: Any, what: Any, /) -> Any:
    """Return a list without a value, or without each of a list of values; or a mapping without a key or keys."""
    if not isinstance(what, tuple | list):
        return without(of, what)
    if isinstance(of, Mapping):
        gone = {_key(key, "except, as a key,") for key in what}
        _copied(of, "except")
        spend(len(gone))
        return Record((name, value) for name, value in of.items() if name not in gone)
    items = _listed(of, "except")
    _listed(what, "except")
    plain = {item for item in what if type(item) is str or type(item) is Peer}
    rest = [item for item in what if type(item) is not str and type(item) is not Peer]
    _within(len(items) * len(rest), "except")  # the only function whose work is a product
    spend(len(items) * len(rest))
    return tuple(
        [
            item
            for item in items
            if not ((type(item) is str or type(item) is Peer) and item in plain)
            and not any(typed_equal(item, other) for other in rest)
        ]
    )


def get(of: Any, key: Any, default: Any, /) -> Any:
    """Return a mapping's value, a list's element, a peer's field, or the default if there is none."""
    if isinstance(of, Peer):
        if key == "number":
            return of.number
        of = of.fields
    if isinstance(of, Mapping):
        return of.get(_key(key, "get, as a key,"), default)
    items = of if isinstance(of, tuple | list) else _listed(of, "get")
    number = whole(key)
    if number is None:
        raise OperandError(f"a list is indexed by a whole number, not by {kind_of(key)}")
    return items[number] if 0 <= number < len(items) else default


def head(list: Any, count: Any, /) -> Any:  # noqa: A002
    """Return the first so many of a list, or characters of a text; all if it has no more."""
    number = _number(count, "head")
    if isinstance(list, str):
        return _long_text(list, "head")[:number]
    if isinstance(list, tuple):
        spend(min(number, len(list)))
        return list[:number]
    return tuple(_listed(list, "head")[:number])


def tail(list: Any, count: Any, /) -> Any:  # noqa: A002
    """Return a list, or a text, without its first so many."""
    if isinstance(list, str):
        return _long_text(list, "tail")[_number(count, "tail") :]
    return tuple(_listed(list, "tail")[_number(count, "tail") :])


def _number(value: Any, name: str) -> int:
    number = whole(value)
    if number is None or number < 0:
        raise OperandError(f"{name} takes a whole number from 0 on, not {kind_of(value) if number is None else number}")
    return number


def column(list: Any, field: Any, /) -> tuple[Any, ...]:  # noqa: A002
    """Return a field of each of a list: ``column(players, 'name')``. Raises OperandError if one has none."""
    name = _text(field, "column, as a field,")
    return tuple([attribute(item, name) for item in _listed(list, "column")])


def where(list: Any, field: Any, value: Any, /) -> tuple[Any, ...]:  # noqa: A002
    """Return those of a list of which a field is equal to a value: ``where(players, 'name', to)``."""
    items = _listed(list, "where")
    found = column(items, field)
    return tuple([item for item, own in zip(items, found, strict=True) if typed_equal(own, value)])


def made_of(
    work: int, over: Any, make: Callable[[Any], Any], keep: Callable[[Any], bool] | None = None, /
) -> tuple[Any, ...]:
    """Return what a function makes of each of a list, or of those that are kept; each item goes for ``work`` elements.

    It is ``[make(x) for x in over if keep(x)]``. Raises OperandError if ``over`` is neither a list nor a range.
    """
    items = _listed(over, "for ... in")
    spend(len(items) * work)
    return tuple([make(item) for item in items if keep is None or keep(item)])


def as_text(value: Any, /) -> str:
    """Return a number, boolean or null as JSON writes it, a text as it is. Raises OperandError for other kinds."""
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, bool) or is_number(value):
        return json.dumps(value)
    raise OperandError(f"{kind_of(value)} has no text")


def as_whole(text: Any, /) -> int | None:
    """Return the whole number that a text is, of 64 bits and as JSON writes it; null if it is none."""
    written = _text(text, "int")
    if len(written) > 20 or not _WHOLE.fullmatch(written) or written == "-0":
        return None
    number = int(written)
    return number if INTEGER_MIN <= number <= INTEGER_MAX else None


def split(text: Any, by: Any, /) -> tuple[str, ...]:
    """Return the parts of a text between the places where another stands; raises OperandError for an empty one."""
    sign = _text(by, "split")
    if not sign:
        raise OperandError("split takes a text that is not empty to split by")
    parts = _long_text(text, "split").split(sign)
    spend(len(parts))
    return tuple(parts)


def join(list: Any, by: Any, /) -> str:  # noqa: A002
    """Return the texts of a list in one, with another between them."""
    between = _text(by, "join")
    parts = [_text(item, "join") for item in _listed(list, "join")]
    made = sum(map(len, islice(parts, LENGTH_MAX))) + len(between) * len(parts)
    _within(made, "join")
    spend(made // CHARACTERS)
    return between.join(parts)


def lower(text: Any, /) -> str:
    """Return a text in small letters."""
    return _long_text(text, "lower").lower()


def upper(text: Any, /) -> str:
    """Return a text in capital letters."""
    return _long_text(text, "upper").upper()


def as_base64(text: Any, /) -> str | None:
    """Return a text in base64, a character for each byte as under ``charset: latin-1``; null if one is above U+00FF."""
    try:
        return b64encode(_long_text(text, "base64").encode("latin-1")).decode()
    except UnicodeEncodeError:
        return None


def of_base64(text: Any, /) -> str | None:
    """Return what a text in base64 says, a character for each byte; null if it is none, as RFC 4648 has it."""
    written = _long_text(text, "unbase64")
    try:
        said = b64decode(written, validate=True)
    except ValueError:
        return None
    return said.decode("latin-1") if b64encode(said) == written.encode() else None


# The functions that are in the language itself and need no session.
TOTAL: dict[str, Callable[..., Any]] = {
    "len": length, "any": any_of, "all": all_of, "min": least, "max": greatest, "sum": total, "sorted": in_order,
    "keys": keys, "values": values, "put": put, "without": without, "get": get, "column": column, "where": where,
    "head": head, "tail": tail,
    "round": rounded, "str": as_text, "int": as_whole, "split": split, "join": join, "lower": lower, "upper": upper,
    "base64": as_base64, "unbase64": of_base64,
}  # fmt: skip
