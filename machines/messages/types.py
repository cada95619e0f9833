"""Types and message bodies: what the rest of Accord uses of them, in one place.

    YAML node --parse_type, parse_body--> Type, Body --compile_type, compile_message--> Shape, MessageShape

The first arrow is `notation`, which also says how types are written; the second `shapes`, `compounds` and `templates`
for types, `bodies` and `recognition` for messages. Between the two, `typecheck` sees to what only the whole spec can
tell. The problems:

    A200  no type where one must be                 A211  a type too large or too deep for any message
    A201  a type that is not declared               A212  a default that is missing or is no JSON
    A202  a type that holds itself                  A213  a number outside 64 bits, or too large for a float
    A203  a wrong enumeration                       A220  a field without name or type, or nothing at all
    A204  a wrong range of numbers                  A221  a lone dollar
    A205  a wrong pattern                           A222  a default where no key can be missing
    A206  a wrong repetition                        A223  two fields of a text with nothing between them
    A207  a wrong map                               A224  a field that may not stand in its text
    A208  a union with one member twice             A225  a key that would be a field
    A209  a word that cannot name a type            A226  two fields of one name in a body
    A210  a default that does not fit its type      A227  another body of a message with other fields
"""

from __future__ import annotations

from machines.messages.automata import Work
from machines.messages.bodies import MessageCodec, compile_message
from machines.messages.compiler import compile_type
from machines.messages.inline_types import parse_inline_type, type_text
from machines.messages.overlap import Overlap, narrower, overlap
from machines.messages.shapes import NO_MATCH, Mismatch, Shape
from machines.messages.syntax import parse_body, parse_type
from machines.messages.well_formed import check_message, check_names, check_types

__all__ = [
    "NO_MATCH",
    "MessageCodec",
    "Mismatch",
    "Overlap",
    "Shape",
    "Work",
    "check_message",
    "check_names",
    "check_types",
    "compile_message",
    "compile_type",
    "narrower",
    "overlap",
    "parse_body",
    "parse_inline_type",
    "parse_type",
    "type_text",
]
