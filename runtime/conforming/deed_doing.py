"""Our deed in a broken-peer case, as it is done on the wire. After it we say nothing more."""

from __future__ import annotations

from machines.conforming.cases import Case
from machines.conforming.deeds import garbage, tokens_of, unexpected
from machines.conforming.incoming_stream import MessageReader
from runtime.conforming.case_setting import any_message
from runtime.conforming.links import StrangerLink
from runtime.conforming.stranger_wire import StrangerWire


def do_deed(
    case: Case, role: str, wire: StrangerWire, reader: MessageReader, link: StrangerLink, message: str, data: bytes
) -> str:
    """Do what is amiss in a case to the stranger, who plays ``role``; return why it cannot be done, empty if it was.

    ``reader`` reads what our side of the link says. ``message`` and its ``data`` are what would be sent now, if any.
    """
    match case.deed:
        case "unexpected":
            found = unexpected(reader.program, reader.role, role, case.state)
            if found is None:
                return "every message of its peer is expected there"
            wire.tell(link, *found, tokens_of(reader, *found))
        case "garbage":
            raw = garbage(reader.program)
            if raw is None:
                return "any line may be a part of a message there"
            wire.tell(link, "garbage", raw, reader.tokens(raw.strip()))
        case "half":
            wire.tell_half(link, *((message, data) if data else any_message(reader.program, reader.role)))
        case "closed":
            wire.close(link.number)
        case _:
            wire.note("we", "(say nothing more)")
    wire.quiet = True
    return ""
