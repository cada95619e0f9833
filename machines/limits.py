"""What a spec says under ``wire``: how messages cross it, and what a peer may cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from machines.work import WORK_MAX

Early = Literal["keep", "fault", "ignore"]


@dataclass(frozen=True, slots=True)
class Wire:
    """How messages cross the wire, and what a peer may cost. Every limit can be set under ``wire``."""

    framing: Literal["json", "lines", "text", "length"] = "json"
    early: Early = "keep"
    message_bytes_max: int = 1 << 20  # 1 MiB; the largest message of the shipped protocols is under 64 KiB.
    depth_max: int = 64
    digits_max: int = 19  # of a number's integer part: what 64 bits can hold
    inbox_messages_max: int = 64  # messages waiting for one peer to be awaited; a full inbox stops its reading
    inbox_bytes_max: int = 1 << 20
    connections_max: int = 256  # open at once, seated or not
    started_max: int = 256  # machines started and not ended, in one session
    parts_max: int = 4096  # of one message made of parts
    work_max: int = WORK_MAX  # elements that one event may go through
    kept_bytes_max: int = 1 << 24  # 16 MiB of values that one session keeps; a game keeps some thousand bytes
    line_end: Literal["lf", "crlf"] = "lf"  # what is written; both are read, but within frames
    charset: Literal["utf-8", "latin-1"] = "utf-8"  # of ``framing: text``; latin-1 is a character for each byte
