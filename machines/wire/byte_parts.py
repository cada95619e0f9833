"""Fixed bytes, numbers and bits of a frame: read from bytes, written to bytes, and what they open a frame with."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, Final, NamedTuple

from machines.frame_parts import BytePart, FrameBits, FrameByte, FrameNumber, NumberKind, bytes_of
from machines.messages.automata import EVERY, Stretches
from machines.messages.scalars import INT_MAX
from machines.messages.shapes import Mismatch, shown
from machines.model import CompositeFrame, FrameSize
from machines.wire.framing import FrameError

VARINT_BYTES_MAX: Final = 10  # 64 bits, seven a byte
BEYOND_ASCII: Final[Stretches] = ((0x80, EVERY[0][1]), *EVERY[1:])

Reading = Generator[None, None, Any]
Taking = Callable[[int], Reading]  # so many bytes of what comes


def read_number(kind: NumberKind, take: Taking) -> Reading:
    """Return a number.

    Raises:
        FrameError: it does not fit 64 bits with a sign, or a varint has more bytes than any number.
    """
    if kind.width:
        value = int.from_bytes((yield from take(kind.width)), "little" if kind.little else "big", signed=kind.signed)
    else:
        value = 0
        for at in range(VARINT_BYTES_MAX):
            byte = (yield from take(1))[0]
            value |= (byte & 0x7F) << 7 * at
            if byte < 0x80:
                break
        else:
            raise FrameError(f"a varint has more than {VARINT_BYTES_MAX} bytes")
    if value > INT_MAX:
        raise FrameError(f"the number {value} does not fit 64 bits")
    return value


def write_number(kind: NumberKind, value: Any) -> bytes:
    r"""Return the bytes of a number.

    Raises:
        Mismatch: it is no whole number, or the kind has no room for it.

    >>> write_number(NumberKind(0), 300)
    b'\xac\x02'
    """
    if type(value) is not int:
        raise Mismatch((), f"a whole number for {kind}", shown(value))
    if not kind.width and value >= 0:
        found = bytearray()
        while value >= 0x80:
            found.append(value & 0x7F | 0x80)
            value >>= 7
        found.append(value)
        return bytes(found)
    try:
        return value.to_bytes(kind.width, "little" if kind.little else "big", signed=kind.signed)
    except OverflowError:
        raise Mismatch((), f"a number that fits {kind}", shown(value)) from None


def read_bits(part: FrameBits, raw: bytes) -> dict[str, int]:
    """Return the bits by their names.

    Raises:
        FrameError: fixed bits are others.
    """
    number = int.from_bytes(raw, "big")
    left = 8 * len(raw)
    found: dict[str, int] = {}
    for bit in part.bits:
        left -= bit.width
        value = number >> left & (1 << bit.width) - 1
        if bit.name:
            found[bit.name] = value
        elif value != bit.fixed:
            raise FrameError(f"bits like {' '.join(map(str, part.bits))} are wanted, not {number:0{8 * len(raw)}b}")
    return found


def write_bits(part: FrameBits, names: Mapping[str, Any]) -> bytes:
    """Return the bytes of bits; ``names`` has the numbers.

    Raises:
        Mismatch: one is no whole number, or has more bits than there is room for.
    """
    number = 0
    for bit in part.bits:
        value = names[bit.name] if bit.name else bit.fixed
        if type(value) is not int or not 0 <= value < 1 << bit.width:
            raise Mismatch((), f"a number of {bit.width} bits for {bit.name!r}", shown(value))
        number = number << bit.width | value
    return number.to_bytes(bytes_of(part.bits), "big")


def read_part(part: BytePart, take: Taking, counts: dict[str, Any], found: list[Any]) -> Reading:
    """Read a part; what it counts goes to ``counts``, what it says to ``found``.

    Raises:
        FrameError: it is not what is fixed there, or a number too large.
    """
    match part:
        case FrameByte(value):
            byte = (yield from take(1))[0]
            if byte != value:
                raise FrameError(f"the byte 0x{value:02x} is wanted, not 0x{byte:02x}")
        case FrameNumber(kind, name):
            number = yield from read_number(kind, take)
            if name:
                counts[name] = number
            else:
                found.append(number)
        case FrameBits(bits, values):
            names = read_bits(part, (yield from take(bytes_of(bits))))
            counts.update(names)
            found += [names[name] for name in values]


def encode_part(part: BytePart, given: Sequence[Any], counts: dict[str, Any]) -> bytes:
    """Note in ``counts`` what bits say; return the bytes of a number that is a value, else nothing yet."""
    if isinstance(part, FrameBits):
        counts.update(zip(part.values, given, strict=True))
    return write_number(part.kind, given[0]) if isinstance(part, FrameNumber) and not part.name else b""


def write_part(part: BytePart, raw: bytes, counts: Mapping[str, Any]) -> bytes:
    """Return the bytes of a part; ``raw`` is what `encode_part` made of it, and all counts are known by now."""
    match part:
        case FrameByte(value):
            return bytes([value])
        case FrameNumber(kind, name):
            return write_number(kind, counts[name]) if name else raw
        case FrameBits():
            return write_bits(part, counts)


def plainest(part: BytePart) -> bytes:
    """Return the bytes of a part whose numbers are all 0."""
    noughts = dict.fromkeys((bit.name for bit in part.bits), 0) if isinstance(part, FrameBits) else {}
    raw = write_number(part.kind, 0) if isinstance(part, FrameNumber) else b""
    return raw or write_part(part, raw, noughts)


class Opening(NamedTuple):
    """The bytes that a frame begins with, where ``mask`` has ones; both of one length."""

    mask: bytes
    value: bytes

    def begins(self, raw: bytes | bytearray) -> bool:
        """Say whether bytes begin so, as far as they have come."""
        pairs = zip(self.mask, self.value, raw, strict=False)
        return all(byte & mask == value for mask, value, byte in pairs)

    def meets(self, other: Opening) -> bool:
        """Say whether some bytes begin like both."""
        rows = zip(self.mask, self.value, other.mask, other.value, strict=False)
        return all(not (value ^ theirs) & mask & their_mask for mask, value, their_mask, theirs in rows)

    def is_within(self, other: Opening) -> bool:
        """Say whether all bytes that begin so begin like the other too."""
        wanted = zip_longest(self.mask[: len(other.mask)], other.mask, fillvalue=0)
        return self.meets(other) and all(not theirs & ~mask for mask, theirs in wanted)

    def either(self, other: Opening) -> bytes:
        """Return bytes that begin like both, which meet."""
        rows = zip_longest(self.value, other.value, fillvalue=0)
        return bytes(ours | theirs for ours, theirs in rows)


NOTHING: Final = Opening(b"", b"")


def opening_of(parts: CompositeFrame) -> Opening:
    """Return the fixed bytes and bits that a frame begins with, empty if it begins otherwise.

    Behind numbers and sizes of so many bytes they are looked for too, as far as each byte has its place.
    """
    mask, value = bytearray(), bytearray()
    for part in _placed(parts):
        match part:
            case FrameByte(byte):
                mask.append(0xFF)
                value.append(byte)
            case FrameBits(bits):
                ones = fixed = 0
                for bit in bits:
                    ones = ones << bit.width | (0 if bit.name else (1 << bit.width) - 1)
                    fixed = fixed << bit.width | bit.fixed
                mask += ones.to_bytes(bytes_of(bits), "big")
                value += fixed.to_bytes(bytes_of(bits), "big")
            case FrameNumber(kind):
                mask += bytes(kind.width)
                value += bytes(kind.width)
    kept = len(mask.rstrip(b"\0"))
    return Opening(bytes(mask[:kept]), bytes(value[:kept]))


def unlike(raw: bytearray, openings: Sequence[Opening]) -> str:
    """Return the bytes up to the first with which none of the frames begins."""
    size = 1
    while any(opening.begins(raw[:size]) for opening in openings):
        size += 1
    return f"0x{raw[:size].hex()}"


def _placed(parts: CompositeFrame) -> Iterator[BytePart]:
    """Yield the parts, and those within a size, up to the first that may be of any length."""
    for part in parts:
        match part:
            case FrameNumber(kind) if not kind.width:
                return
            case FrameByte() | FrameNumber() | FrameBits():
                yield part
            case FrameSize(NumberKind() as kind, inner) if kind.width:
                yield FrameNumber(kind, "", part.place)
                yield from _placed(inner)
                return
            case _:
                return


def characters_of(opening: Opening, charset: str) -> Iterator[Stretches]:
    """Yield the characters that a line may have at each place if it begins so.

    Of bytes beyond ASCII in UTF-8 no more is said than that the line has such a character there.
    """
    for mask, value in zip(opening.mask, opening.value, strict=True):
        fits = [byte for byte in range(256) if byte & mask == value]
        ascii_only = [byte for byte in fits if byte < 0x80 or charset == "latin-1"]
        beyond = BEYOND_ASCII if len(ascii_only) < len(fits) else ()
        yield (*((byte, byte) for byte in ascii_only), *beyond)
        if beyond:
            return
