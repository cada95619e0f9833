"""The parts of a frame that hold no others and have no type: texts, fixed bytes, numbers, bits.

The others are in `machines.model`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from machines.problems import Place


class NumberKind(NamedTuple):
    """How a whole number stands in bytes: ``u16``, ``i32 little``, ``varint``.

    ``width`` is in bytes, 0 for a varint: seven bits a byte, the lowest first, the eighth says that more follow.
    """

    width: int
    signed: bool = False
    little: bool = False

    def __str__(self) -> str:
        """Return it as a spec has it."""
        if not self.width:
            return "varint"
        return f"{'i' if self.signed else 'u'}{8 * self.width}{' little' if self.little else ''}"

    @property
    def bounds(self) -> tuple[int, int]:
        """The least and the greatest number that there is room for, within 64 bits with a sign."""
        bits = 8 * (self.width or 8) - (self.signed or self.width in (0, 8))
        return (-(1 << bits) if self.signed else 0), (1 << bits) - 1


class Rest(Enum):
    """What counts to the end of the contents that a size has."""

    REST = "rest"

    def __str__(self) -> str:
        """Return it as a spec has it."""
        return self.value


# How many bytes or times: a number, the name of a count, a number that stands right before them, or all that is left.
Count = int | str | NumberKind | Rest


@dataclass(frozen=True, slots=True)
class FrameBytes:
    """So many bytes, as a text."""

    size: Count
    place: Place = field(compare=False)


@dataclass(frozen=True, slots=True)
class FrameUntil:
    """Lines up to one that is ``mark``; one that begins with it has it once more."""

    mark: str
    place: Place = field(compare=False)


@dataclass(frozen=True, slots=True)
class FrameByte:
    """One byte, always the same."""

    value: int
    place: Place = field(compare=False)


@dataclass(frozen=True, slots=True)
class FrameNumber:
    """A whole number; ``name`` is by what parts behind it count, empty if it is a value of the body."""

    kind: NumberKind
    name: str
    place: Place = field(compare=False)


class Bit(NamedTuple):
    """So many bits beside each other: a number with a name, or the same ones always, then without a name."""

    width: int
    name: str
    fixed: int = 0

    def __str__(self) -> str:
        """Return them as a spec has them."""
        if not self.name:
            return f"{self.fixed:0{self.width}b}"
        return self.name if self.width == 1 else f"{self.name} {self.width}"


@dataclass(frozen=True, slots=True)
class FrameBits:
    """Whole bytes cut into bits, the highest first. ``values`` are the names that no part behind it counts by."""

    bits: tuple[Bit, ...]
    values: tuple[str, ...]
    place: Place = field(compare=False)


@dataclass(frozen=True, slots=True)
class FrameJson:
    """So many bytes that are a JSON value."""

    size: Count
    place: Place = field(compare=False)


@dataclass(frozen=True, slots=True)
class FrameHeaders:
    """Lines of a name and a text, up to an empty one: a mapping by name.

    ``counts`` are headers that count, each with its count; then the others are passed over, and nothing is said.
    ``content`` says that a content stands behind them, whose length is none of them.
    """

    counts: tuple[tuple[str, str], ...] | None
    place: Place = field(compare=False)
    content: bool = False


@dataclass(frozen=True, slots=True)
class FrameContent:
    """What the headers before it announce: a text, or with ``json`` a JSON value, null if it is empty."""

    json: bool
    place: Place = field(compare=False)


BytePart = FrameByte | FrameNumber | FrameBits
PlainPart = FrameBytes | FrameUntil | FrameJson | FrameHeaders | FrameContent | BytePart


def bytes_of(bits: tuple[Bit, ...]) -> int:
    """Return how many bytes bits fill."""
    return sum(bit.width for bit in bits) // 8


def values_of_plain(part: PlainPart) -> int:
    """Return how many values a part says."""
    match part:
        case FrameByte():
            return 0
        case FrameNumber(_, name):
            return 0 if name else 1
        case FrameBits(_, values):
            return len(values)
        case FrameHeaders(counts):
            return 1 if counts is None else 0
        case _:
            return 1
