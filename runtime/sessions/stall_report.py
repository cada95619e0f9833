"""A run in which nothing happens says what it waits for: a silent player looks like a hung program otherwise."""

from __future__ import annotations

import logging
import re
from math import inf
from typing import Final

import anyio

from machines.engine import routing
from machines.engine.session import Session

log = logging.getLogger("accord.waiting")

QUIET_SECONDS: Final = 5.0  # How long nothing happens until that is told.
_CALLS = re.compile(r"\[\d+\]|(, hears )?(<peer \d+[^>]*>(, )?)+")  # Which call it is, and of whom, is no other wait.


async def tell_of_waits(session: Session, name: str) -> None:
    """Say in the log what a session waits for whenever nothing has come for a while, until it has ended.

    Each state is told of once, so that a game of slow players does not fill the log.
    """
    told: set[str] = set()
    await anyio.sleep(QUIET_SECONDS)
    while session.ended is None:
        quiet = anyio.current_time() - session.now
        if quiet < QUIET_SECONDS:
            await anyio.sleep(QUIET_SECONDS - quiet + 0.01)
            continue
        where = session_state(session)
        if where not in told:
            told.add(where)
            log.info("%s waits for %s", name, waits(session, quiet))
        await anyio.sleep(QUIET_SECONDS)


def session_state(session: Session) -> str:
    """Return what a session waits for, for people, without which call it is in and of whom."""
    return _CALLS.sub("", session.where())


def waits(session: Session, passed: float) -> str:
    """Return what a session waits for and for how long, for people; ``passed`` seconds are gone since its last input.

    An example: ``an answer of its player to 'command' in main in deciding, at most 295 s more``.
    """
    asked = [frame.node.asked[0] for frame in session.questions.values() if frame.node.asked is not None]
    what = (
        f"an answer of its player to {' and '.join(map(repr, asked))} in {session.where()}"
        if asked
        else session.where()
    )
    left = min((frame.deadline for frame in routing.frames(session)), default=inf) - session.now - passed
    return f"{what}, {'without a limit' if left == inf else f'at most {max(left, 0):.0f} s more'}"
