"""What came of one case."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from machines.conforming.cases import Case
from machines.conforming.deviations import Deviation


@dataclass(frozen=True, slots=True)
class Crossing:
    """A line of what was said: when, by whom (``it`` or ``we``), which message it may be, its bytes."""

    when: float
    who: str
    name: str
    data: bytes


@dataclass(slots=True)
class CaseResult:
    """What came of a case. ``outcome``: right, fault, open (nothing can be said: ``why``), again (we were too slow), or
    unstable (a fault that did not come back).

    ``deviation`` is the fault, with ``after_deed`` whether our deed was before it; ``rule`` a refusal by the rules:
    the message, the reason, the line. ``labels`` are what it has come through for certain. ``printed`` are the last
    lines that it printed. ``absent`` says that the program could not be started, or never came, ``out_of_time`` that
    there was no time to play the case.
    """

    case: Case
    outcome: str = "open"
    why: str = ""
    deviation: Deviation | None = None
    after_deed: bool = False
    deed_done: bool = False
    rule: tuple[str, str, str] | None = None
    told: str = ""  # the message that it was sent last
    trace: list[Crossing] = field(default_factory=list)
    labels: set[Any] = field(default_factory=set)
    said: set[str] = field(default_factory=set)  # messages it sent
    printed: tuple[str, ...] = ()
    odd: str = ""  # how it spelled what nobody spells so
    seconds: float = 0.0
    absent: bool = False
    out_of_time: bool = False
