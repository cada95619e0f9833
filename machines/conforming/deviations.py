"""What a program does that no program of its role would do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["order", "bytes", "half", "end", "silence", "time"]


@dataclass(frozen=True, slots=True)
class Deviation:
    """The first thing that a program of the role would not do.

    ``kind``: order (a message not now), bytes (no message of the role), half (the end within a message), end (it closes
    a connection that it owes), silence (it owes something), time (before the time). ``states`` are those it may have
    been in, ``may`` what it might have done. ``came`` are the bytes, ``names`` the messages that they may be, ``clock``
    the kind of clock that refuses it, ``near`` the message that what is none comes nearest to.
    """

    kind: Kind
    seat: int
    text: str
    states: tuple[str, ...]
    may: tuple[str, ...]
    came: bytes
    names: tuple[str, ...]
    when: float
    clock: str = ""
    near: str = ""
