"""JSON as strict as a protocol needs it.

    refused as malformed    not UTF-8, a byte order mark, NaN and Infinity, a number too large for a float, a lone
                            surrogate, a control character in a text, equal keys in one object, a whole number outside
                            64 bits, an integer part longer than the wire's ``digits_max``, nesting over ``depth_max``
    as decoded              null true false, int, float, str, list, dict (as usual; shapes freeze them)

msgspec parses. What it lets pass is looked for by counting bytes, which clears nearly every message at once; only
what cannot be cleared so is parsed again, slowly and exactly. All of it takes time linear in the bytes.
"""

from __future__ import annotations

import gc
import json
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

import msgspec

from machines.messages.scalars import INT_MAX, INT_MIN
from machines.messages.shapes import Mismatch, shown
from machines.model import Wire
from machines.wire.depth import is_deeper, outside_texts

_ALL_ZEROS: Final = bytes.maketrans(b"123456789", b"0" * 9)
_SURROGATE: Final = re.compile(rb"\\u[dD][89abAB]")
# 64 bits hold 19 digits, but not all numbers of 19 digits.
_SAFE_DIGITS_MAX: Final = 18
# msgspec takes up to 10 us for a number with an exponent, Python 0.4 us, but for others it is the faster one.
_EXPONENTS_MAX: Final = 4
_EXPONENTS_BYTES_MIN: Final = 64  # what is shorter has too few of them to look for
# While more than this is parsed the collector waits: it would walk over all that is made so far, again and again, which
# took two thirds of the time for a message of many small lists.
_UNCOLLECTED_BYTES_MIN: Final = 1 << 14


class Malformed(ValueError):  # noqa: N818 - the word that specs use for it
    """The bytes are no message at all; the text says why."""


def parse_json(raw: bytes, wire: Wire) -> Any:
    """Return the value of one JSON text; blanks around it are allowed.

    Raises:
        Malformed: it is not JSON, or is refused for one of the reasons above.
    """
    return decoder(wire.depth_max, wire.digits_max)(raw)


@lru_cache(maxsize=64)
def decoder(depth_max: int, digits_max: int) -> Callable[[bytes], Any]:
    """Return what parses JSON within these limits; it raises Malformed."""
    parse = msgspec.json.Decoder().decode
    parse_exponents = msgspec.json.Decoder(float_hook=float).decode
    encode = msgspec.json.Encoder().encode
    # Digits made alike are found at a fifth of what a pattern takes.
    long_run = b"0" * (min(digits_max, _SAFE_DIGITS_MAX) + 1)

    # What is no longer can neither be too deep nor hold a number of too many digits.
    short = min(depth_max, digits_max, _SAFE_DIGITS_MAX)

    def decode(raw: bytes) -> Any:
        if len(raw) <= short and b":" not in raw:
            try:
                return parse(raw)
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                raise Malformed(_reason(error, raw)) from None
        # A text may hold brackets, so their number is only an upper bound of the depth. It is looked at first: what is
        # nested deeper than we take is not even built.
        keys = raw.count(b"{")
        if keys + raw.count(b"[") > depth_max and is_deeper(raw, depth_max):
            raise Malformed(f"nested deeper than {depth_max}")
        collecting = len(raw) > _UNCOLLECTED_BYTES_MIN and gc.isenabled()
        if collecting:
            gc.disable()
        try:
            if len(raw) > _EXPONENTS_BYTES_MIN and raw.count(b"e") + raw.count(b"E") > _EXPONENTS_MAX:
                value = parse_exponents(raw)
            else:
                value = parse(raw)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise Malformed(_reason(error, raw)) from None
        finally:
            if collecting:
                gc.enable()
        # Written again without its equal keys, a value has fewer colons.
        # A mapping with as many keys as the text has colons hides none.
        flat = not keys or (type(value) is dict and len(value) == raw.count(b":"))
        if long_run in raw.translate(_ALL_ZEROS) or (not flat and _has_fewer_colons(encode(value), raw)):
            _check_exactly(raw, digits_max)
        return value

    return decode


def _has_fewer_colons(again: bytes, raw: bytes) -> bool:
    """Compare two JSON texts; colons within their texts count too, unless an escape could hide one of them."""
    if b"\\" in raw:
        return outside_texts(raw).count(b":") != outside_texts(again).count(b":")
    return raw.count(b":") != again.count(b":")


def _check_exactly(raw: bytes, digits_max: int) -> None:
    """Raise Malformed for equal keys or a number over a limit in a text that is JSON."""

    def object_of(pairs: list[tuple[str, Any]]) -> None:
        if len(pairs) != len(dict(pairs)):
            seen: set[str] = set()
            twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
            raise Malformed(f"the key {shown(twice)} stands twice in one object")

    def whole(text: str) -> None:
        digits = len(text) - text.startswith("-")
        if digits > digits_max:
            raise Malformed(f"a number of {digits} digits, at most {digits_max} are allowed")
        if digits > _SAFE_DIGITS_MAX and (digits > _SAFE_DIGITS_MAX + 1 or not INT_MIN <= int(text) <= INT_MAX):
            raise Malformed(f"the number {shown(text)[1:-1]} does not fit 64 bits")

    def fraction(text: str) -> None:
        digits = len(re.split("[.eE]", text, maxsplit=1)[0].lstrip("-"))
        if digits > digits_max:
            raise Malformed(f"a number of {digits} digits, at most {digits_max} are allowed")

    try:
        json.loads(raw.decode(), object_pairs_hook=object_of, parse_int=whole, parse_float=fraction)
    except RecursionError:
        raise Malformed("nested too deep") from None


def _reason(error: Exception, raw: bytes) -> str:
    """Return why msgspec refused, for people."""
    if isinstance(error, RecursionError):
        return "nested too deep"
    # Up to 0.22 msgspec raises what Python's decoder does, later an error of its own that says less.
    if isinstance(error, UnicodeDecodeError) or "UTF-8" in str(error):
        return f"not UTF-8: {_utf8_fault(raw)}"
    if raw.startswith(b"\xef\xbb\xbf"):
        return "a byte order mark stands before it"
    text = str(error)
    if not raw.strip(b" \t\r\n"):
        return "nothing stands in it"
    if "surrogate" in text or ("truncated" in text and _SURROGATE.search(raw)):
        return "cut short, or a lone surrogate in it"
    return text[0].lower() + text[1:] if text.startswith(("Input", "Number", "Integer")) else text


def _utf8_fault(raw: bytes) -> str:
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        return error.reason
    return "a text in it is none"


_encode = msgspec.json.Encoder().encode


def encode_json(value: Any) -> bytes:
    """Return the JSON text of a value; raise Mismatch for one with a lone surrogate."""
    try:
        return _encode(value)
    except UnicodeEncodeError:
        raise Mismatch((), "texts without lone surrogates", shown(value)) from None
