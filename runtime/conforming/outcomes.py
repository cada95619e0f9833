"""What came of a case, once it is over: right, a fault, open."""

from __future__ import annotations

from typing import Final

import anyio

from machines.conforming.case_results import CaseResult
from machines.conforming.deviations import Deviation
from machines.conforming.following import RANG, Follower
from machines.conforming.spec_lines import state_of
from runtime.conforming.case_setting import CaseSetting

UNANSWERED: Final = "it has not answered within the limit (is each line flushed?)"


def sum_up(
    result: CaseResult, follower: Follower, setting: CaseSetting, *, is_done: bool, is_slow: bool = False
) -> None:
    """Write the outcome into ``result``, from what the follower knows.

    ``is_done`` if the case came to its end, ``is_slow`` if this machine was too busy to judge by the clock.
    """
    result.labels = set(follower.covered)
    result.deviation = _deviation(follower) or _unanswered(result, follower, setting)
    result.after_deed = result.deed_done
    if result.why:
        result.outcome = "open"
    elif result.rule is not None:
        result.outcome = "fault"
    elif result.deviation is not None:
        result.outcome = "again" if is_slow and result.deviation.kind in ("silence", "time") else "fault"
    elif follower.lost_track and not follower.deaf:
        result.outcome, result.why = "open", follower.lost_track
    elif result.case.deed and not result.deed_done:
        result.outcome, result.why = "open", f"never in {result.case.state} for certain"
    elif not is_done:
        result.outcome, result.why = "open", f"not over within {result.seconds:.0f} s"
    else:
        rung = _rung(follower)
        result.outcome = "right"
        result.why = f"it gave up by its own limit in {rung[0]}" if rung else ""


def gave_up(follower: Follower) -> bool:
    """Tell whether a program deviated, or a limit of its own has passed."""
    return _deviation(follower) is not None or bool(_rung(follower))


def _deviation(follower: Follower) -> Deviation | None:
    return follower.deviation or next(iter(follower.late), None)


def _rung(follower: Follower) -> list[str]:
    """Return the states whose clock has rung for certain, if clocks keep time."""
    calm = [trail.labels for trail in follower.beliefs.values() if trail.hurry is None]
    labels = follower.covered | (frozenset.intersection(*calm) if calm else frozenset())
    return sorted(one.removeprefix(RANG) for one in labels if isinstance(one, str) and one.startswith(RANG))


def _unanswered(result: CaseResult, follower: Follower, setting: CaseSetting) -> Deviation | None:
    """Return what is wrong with a bot whose client, one of ours, waited in vain for the answer to a question."""
    if not setting.is_bot or result.deed_done:
        return None
    for named in _rung(follower):
        found = state_of(setting.spec, setting.role, named)
        if found is not None and found[1].ask is not None:
            may = tuple(found[1].answers.receive)
            return Deviation("silence", 0, UNANSWERED, (named,), may, b"", (), anyio.current_time())
    return None
