"""The kinds that the functions of the language take, value by value; of others an operation has no value.

Kinds are number, text, bool, null, list, range, mapping and peer. Where a function takes anything, nothing is said.
"""

from __future__ import annotations

from typing import Final

Kinds = frozenset[str]

_LISTED: Final = frozenset({"list", "range"})
_HOLDING: Final = frozenset({"list", "range", "mapping"})
_TEXT: Final = frozenset({"text"})
_MAPPING: Final = frozenset({"mapping"})
_NUMBER: Final = frozenset({"number"})
ANYTHING: Final[Kinds] = frozenset()

ARGUMENTS: Final[dict[str, tuple[Kinds, ...]]] = {
    "len": (frozenset({"list", "range", "mapping", "text"}),),
    **dict.fromkeys(("any", "all", "min", "max", "sum", "sorted"), (_LISTED,)),
    **dict.fromkeys(("keys", "values"), (_MAPPING,)),
    "put": (frozenset({"list", "mapping"}), frozenset({"text", "number", "peer"}), ANYTHING),
    "without": (_HOLDING, ANYTHING),
    "get": (_HOLDING | {"peer"}, frozenset({"text", "number", "peer"}), ANYTHING),
    "column": (_LISTED, _TEXT),
    "where": (_LISTED, _TEXT, ANYTHING),
    **dict.fromkeys(("head", "tail"), (_LISTED | _TEXT, _NUMBER)),
    "round": (_NUMBER,),
    "str": (frozenset({"text", "number", "bool", "null"}),),
    "int": (_TEXT,),
    "split": (_TEXT, _TEXT),
    "join": (_LISTED, _TEXT),
    **dict.fromkeys(("lower", "upper", "base64", "unbase64"), (_TEXT,)),
}
# What each element of a list must be; of several kinds, all the same one.
ELEMENTS: Final[dict[str, Kinds]] = {
    **dict.fromkeys(("any", "all"), frozenset({"bool"})),
    **dict.fromkeys(("min", "max", "sorted"), frozenset({"number", "text"})),
    "sum": _NUMBER,
    "join": _TEXT,
}
_SAID: Final = {
    "number": "a number",
    "text": "a text",
    "bool": "true or false",
    "null": "null",
    "list": "a list",
    "range": "a range",
    "mapping": "a mapping",
    "peer": "a peer",
}


def said(kinds: Kinds) -> str:
    """Return kinds as a sentence says them."""
    words = [text for kind, text in _SAID.items() if kind in kinds]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
