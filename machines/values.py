"""The values that names of a spec are bound to: JSON values made immutable, peers, ranges and rates.

    null, true, 12, 1.5, 'text'    None, bool, int, float, str
    [a, b]                         tuple
    {key: a}                       Record, an immutable dict
    player                         Peer
    1..5                           Range
    10 per 1 s                     Rate
    5 s, never                     float, seconds; infinity for never
    what a rule returns            a frozen dataclass or named tuple of immutable values is handed on as it is

Everything bound to a name is immutable, so that a branch that fails leaves nothing half done.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from math import inf
from operator import attrgetter
from types import UnionType
from typing import Any, Final, Literal, NoReturn, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec

from machines.work import SHORT, spend

_T = TypeVar("_T")
_SURROGATE = re.compile("[\ud800-\udfff]").search


class FreezeError(TypeError):
    """A value is of a kind that a spec may not hold; the text says which and what to use instead."""


class Record(dict[str, Any]):
    """An immutable mapping with text keys; equal records hash equally. Values are frozen too."""

    __slots__ = ()

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError("a record is immutable")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[type[Record], tuple[dict[str, Any]]]:
        """Return how it is made in another process, where it could not be filled."""
        return Record, (dict(self),)

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"this record has no {name!r}, only {', '.join(self) or 'nothing'}") from None


NO_FIELDS = Record()


class Peer(msgspec.Struct, frozen=True, eq=False, gc=False):
    """A seat: the other end of one connection. Two peers are equal if they have the same ``number``.

    ``number`` counts the connections of a session from 0. ``fields`` is what the sign-up machine returned and is
    read as attributes: ``peer.name``. A peer never changes; seating makes a new value with the same number, so it is a
    struct, which is made in a tenth of the time of a dataclass.
    """

    number: int
    fields: Record = NO_FIELDS

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Peer) and other.number == self.number

    def __hash__(self) -> int:
        return hash(("peer", self.number))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            return self.fields[name]
        except KeyError:
            has = ", ".join(self.fields) or "nothing"
            raise AttributeError(f"peer {self.number} has no {name!r}, only {has}") from None

    def __repr__(self) -> str:
        return f"<peer {self.number}{' ' + repr(self.fields.get('name')) if 'name' in self.fields else ''}>"


@dataclass(frozen=True, slots=True)
class Range:
    """The integers from ``low`` to ``high``, both included; empty if ``high`` is below ``low``."""

    low: int
    high: int

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.low, self.high + 1))

    def __len__(self) -> int:
        return max(0, self.high - self.low + 1)

    def __contains__(self, value: object) -> bool:
        return type(value) is int and self.low <= value <= self.high

    def __str__(self) -> str:
        return f"{self.low}..{self.high}"


@dataclass(frozen=True, slots=True)
class Rate:
    """At most ``count`` times in any ``seconds``."""

    count: int
    seconds: float

    def __str__(self) -> str:
        return f"{self.count} per {self.seconds:g} s"


INTEGER_MAX = (1 << 63) - 1
INTEGER_MIN = -(1 << 63)
_FROZEN = (type(None), bool, Peer, Range, Rate)
# Kinds whose values are all frozen; dataclasses of nothing but numbers and texts are added as they are met.
FROZEN: set[type] = set(_FROZEN)
DEPTH_MAX = 64  # As deep as a message may be nested; what a rule returns has no reason to be deeper.
KNOWN_MAX = 10_000  # elements and letters / 8 of the values kept that were found frozen; then all are forgotten
PLAIN_MAX = 100_000  # values that `plain` writes out; a list of twice the same list, 40 levels deep, would be 10^12

# Values found frozen, by their ids, with how many lists they are deep: a rule hands back most of what it was given.
_known: dict[int, tuple[Any, int]] = {}
_room = KNOWN_MAX
_Reads = Callable[[Any], tuple[Any, ...]]
# Of frozen dataclasses and named tuples: what reads the fields that the annotations say to be immutable lists and the
# like, and what reads those which are to be looked through; None where there is no such field. Third, what reads that
# which is to be looked through by itself, if it is one field.
_Plan = tuple[_Reads | None, _Reads | None, Callable[[Any], Any] | None]
_plans: dict[type, _Plan] = {}
_OTHER: _Plan = (None, None, None)  # of classes that have none
_SCALARS = (int, float, str, bytes, *_FROZEN)
_CHANGING = frozenset({list, dict, set, bytearray})
_Seen = dict[int, tuple[Any, Any, int]]  # what is made immutable in one call, once however often it stands there


def freeze(value: Any) -> Any:
    """Return ``value`` with lists as tuples and mappings as Records, at every depth.

    Named tuples and frozen dataclasses are handed on as they are, so what they hold must be immutable already; a
    frozenset may be among it. A dataclass's fields of numbers, texts and the like are taken at their word, and so are
    those of lists of such, like ``tuple[tuple[int, str], ...]``, but for a list or mapping put there as it is; those of
    bare kinds, like ``Any`` and ``tuple``, are looked through. Infinity is the duration ``never``.

    Raises:
        FreezeError: it holds a set (its order changes from run to run), an object that can change, a mapping whose
            keys are not texts, a whole number over 64 bits, NaN or minus infinity, half a surrogate pair; or it is
            nested deeper than DEPTH_MAX.
    """
    kind = type(value)
    if kind in FROZEN or (kind is int and INTEGER_MIN <= value <= INTEGER_MAX):
        return value
    plan = _plans.get(kind)
    if plan is not None:
        reads, looks, only = plan
        if reads is None or _CHANGING.isdisjoint(map(type, reads(value))):
            if only is not None:
                if _is_shallow(only(value)):
                    return value
            elif looks is None or all(map(_is_shallow, looks(value))):
                return value
    elif kind is str:
        if value.isascii():
            return value
    elif kind is Record:  # most are what a sign-up returns: a name or two
        for name, item in value.items():
            if type(name) is not str or not name.isascii():
                break
            if type(item) not in FROZEN and not (type(item) is str and item.isascii()):
                break
        else:
            return value
    return _frozen(value, 0, {})[0]


def _is_shallow(item: Any) -> bool:
    """Whether what a rule's value holds is known to be immutable, or is soon found to be, and not too deep for it."""
    kind = type(item)
    if kind in FROZEN:
        return True
    known = _known.get(id(item))
    if known is None and kind is tuple:
        known = _remember(id(item), item, 2, len(item)) if _are_flat(item) else _frozen(item, 1, {})
    return known is not None and known[0] is item and known[1] < DEPTH_MAX


def _frozen(value: Any, depth: int, seen: _Seen) -> tuple[Any, int]:
    """Return a value made immutable, and how many lists it is deep: 0 for a number."""
    key = id(value)
    known = _known.get(key)
    if known is not None:
        _check_depth(depth + known[1] - 1)
        return known
    if key in seen:
        _, found, height = seen[key]
        _check_depth(depth + height - 1)
        return found, height
    kind = type(value)
    plan = _plans.get(kind)
    if kind is tuple or kind is list:
        # The common case, a tuple of frozen things, is handed back as it is, and shares its memory.
        found, height, weight = _all_frozen(value, depth, seen)
    elif plan is None and isinstance(value, Mapping):
        for name in value:
            if not isinstance(name, str):
                raise FreezeError("a mapping's keys must be texts")
            _check_scalar(name)
        given = tuple(value.values())
        items, height, weight = _all_frozen(given, depth, seen)
        found = value if kind is Record and items is given else Record(zip(value, items, strict=True))
    else:
        plan = plan or _plan(kind)
        if plan is None:
            return _check_scalar(value), 0
        reads, looks, _ = plan
        if kind in FROZEN:
            return value, 0
        given = looks(value) if looks is not None else ()
        items, height, weight = _all_frozen(given, depth, seen, held=True) if given else (given, 1, 0)
        if items is not given or not (reads is None or _CHANGING.isdisjoint(map(type, reads(value)))):
            raise FreezeError(f"a {kind.__name__} holds what can change: use tuples in it, not lists or mappings")
        found = value
    if found is not value:
        seen[key] = value, found, height
    elif depth or weight > 64:  # the whole is seldom seen again, and its parts are known
        _remember(key, value, height, weight)
    return found, height


def _all_frozen(
    given: Sequence[Any], depth: int, seen: _Seen, *, held: bool = False
) -> tuple[tuple[Any, ...], int, int]:
    """Return elements made immutable, how many lists they and what holds them are deep, and their weight.

    A tuple of which nothing had to be changed is returned itself. ``held`` says that they are the fields of a rule's
    own value: a frozenset among them is its own affair.
    """
    _check_depth(depth)
    height = 0
    weight = len(given)
    if weight > SHORT:
        spend(weight)
    changed: list[Any] | None = None
    for index, item in enumerate(given):
        kind = type(item)
        if kind in FROZEN or (kind is int and INTEGER_MIN <= item <= INTEGER_MAX):
            continue
        if kind is str:
            weight += len(item) >> 3
            if not item.isascii():
                _check_scalar(item)
            continue
        known = _known.get(id(item))
        if known is not None:
            if known[1] > height:
                height = known[1]
                _check_depth(depth + height)
            continue
        plan = _plans.get(kind)
        if plan is not None and _is_flat(plan, item):
            height = height or 1
            _remember(id(item), item, 1, 1)
            continue
        if held and kind is frozenset:
            continue
        found, deep = _frozen(item, depth + 1, seen)
        if deep > height:
            height = deep
        if found is not item:
            if changed is None:
                changed = list(given)
            changed[index] = found
    items = given if changed is None else changed
    return items if type(items) is tuple else tuple(items), height + 1, weight


def _is_flat(plan: _Plan, value: Any) -> bool:
    """Whether one look tells that a named tuple or dataclass is immutable; most are, and this is quick."""
    reads, looks, _ = plan
    return (reads is None or _CHANGING.isdisjoint(map(type, reads(value)))) and (
        looks is None or FROZEN.issuperset(map(type, looks(value)))
    )


def _are_flat(given: tuple[Any, ...]) -> bool:
    """Whether a tuple holds values of one class that hold but numbers, texts and a peer, like the seats of a game.

    It says no of others that are immutable too; nothing here runs in Python for each value.
    """
    kinds = set(map(type, given))
    reads, _, only = _plans.get(kinds.pop(), _OTHER) if len(kinds) == 1 else _OTHER
    return reads is None and only is not None and FROZEN.issuperset(map(type, map(only, given)))


def _check_depth(depth: int) -> None:
    if depth > DEPTH_MAX:
        raise FreezeError(f"nested deeper than {DEPTH_MAX}")


def _check_scalar(value: Any) -> Any:
    """Return a number or text, also one of a class of its own, or an Enum's member; raise FreezeError if it is none."""
    if isinstance(value, Enum):
        return value
    if isinstance(value, str):
        if not value.isascii() and _SURROGATE(value):
            raise FreezeError("a text holds half a surrogate pair")
        return value
    if isinstance(value, int):
        if INTEGER_MIN <= value <= INTEGER_MAX:
            return value
        raise FreezeError("a whole number does not fit 64 bits")
    if isinstance(value, float):
        if value == value and value != -inf:
            return value
        raise FreezeError(f"{value} is no number")
    if type(value) in FROZEN:
        return value
    if isinstance(value, set | frozenset):
        raise FreezeError("a set has no fixed order: use a sorted tuple")
    raise FreezeError(f"a {type(value).__name__} can change: use a tuple, a mapping or a frozen dataclass")


def _plan(kind: type) -> _Plan | None:
    """Return how a named tuple or frozen dataclass is looked through; None for what is neither."""
    plan: _Plan
    if issubclass(kind, tuple):
        plan = _plans[kind] = None, tuple, None
        return plan
    if issubclass(kind, Enum) or not is_dataclass(kind) or not kind.__dataclass_params__.frozen:  # type: ignore[attr-defined]
        return None
    names = [field.name for field in fields(kind)]
    try:
        hints = get_type_hints(kind)
    except Exception:  # an annotation names what is not there at run time
        hints = {}
    open_ = [name for name in names if not _is_immutable(hints.get(name, Any), frozenset({kind}))]
    listed = [name for name in names if name not in open_ and not _is_scalar(hints[name])]
    if not open_ and not listed:
        FROZEN.add(kind)
    plan = _plans[kind] = _reading(listed), _reading(open_), attrgetter(*open_) if len(open_) == 1 else None
    return plan


def _reading(names: list[str]) -> _Reads | None:
    if not names:
        return None
    read = attrgetter(*names)
    return read if len(names) > 1 else lambda value: (read(value),)


def _is_scalar(hint: Any) -> bool:
    """Whether all values of an annotation, which are immutable, hold no others."""
    if get_origin(hint) in (Union, UnionType):
        return all(map(_is_scalar, get_args(hint)))
    return get_origin(hint) is Literal or (
        hint is None or hint in _SCALARS or (isinstance(hint, type) and issubclass(hint, Enum))
    )


def _is_immutable(hint: Any, around: frozenset[type]) -> bool:
    """Whether all values of an annotation are immutable at every depth; ``around`` are the classes it stands in."""
    if _is_scalar(hint):
        return True
    origin = get_origin(hint)
    if origin in (tuple, frozenset, Union, UnionType):
        return all(part is Ellipsis or _is_immutable(part, around) for part in get_args(hint))
    if not isinstance(hint, type) or origin is not None:
        return False
    if hint in around:
        return True
    if not is_dataclass(hint) or not hint.__dataclass_params__.frozen:  # type: ignore[attr-defined]
        return False
    try:
        hints = get_type_hints(hint)
    except Exception:
        return False
    return all(_is_immutable(hints.get(field.name, Any), around | {hint}) for field in fields(hint))


def _remember(key: int, value: Any, height: int, weight: int) -> tuple[Any, int]:
    global _room
    known = value, height
    _room -= weight + 1
    if _room < 0:
        _known.clear()
        _room = KNOWN_MAX - weight - 1
        if _room < 0:  # too large to be kept at all
            _room = KNOWN_MAX
            return known
    _known[key] = known
    return known


def plain(value: Any) -> Any:
    """Return ``value`` as JSON-able data for a result or a journal: a peer becomes its fields and number.

    Past PLAIN_MAX values the rest is told as ``…``.
    """
    return _plain(value, [PLAIN_MAX])


_AS_THEY_ARE: Final = frozenset({str, int, bool, float, type(None)})


def _plain(value: Any, left: list[int]) -> Any:
    left[0] -= 1
    if left[0] < 0:
        return "…"
    kind = type(value)
    if kind in _AS_THEY_ARE:  # most are: all that follows takes longer to ask
        return value
    if kind is tuple:
        return [_plain(item, left) for item in _some(value, left)]
    if isinstance(value, Enum):
        return _plain(value.value, left)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Peer):
        return {"peer": value.number, **{key: _plain(item, left) for key, item in value.fields.items()}}
    if isinstance(value, Range | Rate):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(item, left) for key, item in _some(value.items(), left)}
    if isinstance(value, list | tuple):
        return [_plain(item, left) for item in _some(value, left)]
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name), left) for field in fields(value)}
    return str(value)


def _some(items: Iterable[_T], left: list[int]) -> Iterator[_T]:
    """Yield items until nothing is left to be told of them, and one more."""
    for item in items:
        yield item
        if left[0] < 0:
            return
