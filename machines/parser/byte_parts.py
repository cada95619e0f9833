"""The reader's part for the bytes of a frame.

byte: 0x82                         a byte
number: u16                        u8 u16 u24 u32 u64, i8 …, with `little`, or varint; `as: size` names it
bits: [0011, again, level 2, kept] whole bytes, the highest bit first
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from machines.frame_parts import Bit, FrameBits, FrameByte, FrameNumber, NumberKind
from machines.parser.context import NAME, ParseContext, inside, shown
from machines.yaml.nodes import ListNode, Node

KINDS = "u8, u16, u24, u32, u64, i8, i16, i24, i32, i64, one of those with 'little', or varint"
BITS_MAX = 64  # of one part
_KIND = re.compile(r"([ui])(8|16|24|32|64)( little)?")
_BYTE = re.compile(r"0[xX]([0-9a-fA-F]{1,2})|([0-9]{1,3})")
_FIXED = re.compile(r"[01]+")
_NAMED = re.compile(r"([A-Za-z][A-Za-z0-9_]*)(?:\s+([1-9][0-9]?))?")


def number_kind(text: str) -> NumberKind | None:
    """Return the kind of number that a text names, None if it names none.

    >>> str(number_kind("u16 little")), number_kind("size")
    ('u16 little', None)
    """
    if text == "varint":
        return NumberKind(0)
    found = _KIND.fullmatch(text)
    return NumberKind(int(found[2]) // 8, found[1] == "i", found[3] is not None) if found else None


def read_byte(reading: ParseContext, node: Node) -> FrameByte | None:
    """Return a fixed byte; None with the fault told."""
    text = reading.text(node, "the value of 'byte'")
    if text is None:
        return None
    found = _BYTE.fullmatch(text)
    value = (int(found[1], 16) if found[1] else int(found[2])) if found else 256
    if value > 255:
        reading.fault(inside(node), "A137", f"{shown(text)} is no byte", "a number from 0 to 255, like 0x82")
        return None
    return FrameByte(value, node.place)


def read_number(reading: ParseContext, node: Node, named: Node | None, counts: dict[str, bool]) -> FrameNumber | None:
    """Return a number, its name added to ``counts``; None with the fault told."""
    text = reading.text(node, "the value of 'number'")
    name = reading.text(named, "the value of 'as'") if named is not None else ""
    if text is None or name is None:
        return None
    kind = number_kind(text)
    if kind is None:
        reading.fault(inside(node), "A137", f"{shown(text)} is no kind of number", KINDS)
        return None
    if named is not None and not _new_name(reading, named, name, counts):
        return None
    if name:
        counts[name] = False
    return FrameNumber(kind, name, node.place)


def read_bits(reading: ParseContext, node: Node, counts: dict[str, bool]) -> FrameBits | None:
    """Return bits, their names added to ``counts``; None with the fault told."""
    bits: list[Bit] = []
    for item in reading.items(node, "'bits'", "like [0011, again, level 2, kept]"):
        text = reading.text(item, "bits")
        if text is None:
            return None
        if _FIXED.fullmatch(text):
            bits.append(Bit(len(text), "", int(text, 2)))
            continue
        found = _NAMED.fullmatch(text)
        if found is None:
            hint = "ones and noughts as they stand, or a name, with how many they are if not one: level 2"
            reading.fault(inside(item), "A137", f"{shown(text)} are no bits", hint)
            return None
        if not _new_name(reading, item, found[1], counts):
            return None
        counts[found[1]] = False
        bits.append(Bit(int(found[2] or 1), found[1]))
    width = sum(bit.width for bit in bits)
    if width % 8 or not 0 < width <= BITS_MAX:
        if isinstance(node, ListNode):
            text = f"{width} bits are no whole bytes, or more than {BITS_MAX // 8}"
            reading.fault(node.place, "A137", text, "add those that are always 0")
        return None
    return FrameBits(tuple(bits), (), node.place)


def _new_name(reading: ParseContext, node: Node, name: str, counts: Mapping[str, bool]) -> bool:
    new = NAME.fullmatch(name) is not None and name not in counts and number_kind(name) is None and name != "rest"
    if not new:
        reading.fault(inside(node), "A137", f"{shown(name)} is no new name", "each name stands once")
    return new
