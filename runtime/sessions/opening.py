"""A new session of a role with its driver, and what it may be given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from ssl import SSLContext
from typing import Any, TypedDict, Unpack

from anyio.abc import TaskGroup

from machines.effects import Effect
from machines.engine.session import Program, Session
from runtime.network.clock import Clock
from runtime.players.base import Player
from runtime.sessions.driver import SessionDriver
from runtime.sessions.properties import monitor_of
from runtime.sessions.session_journal import JournalWriter


class SessionOptions(TypedDict, total=False):
    """What a session may be given besides its role; all who open sessions hand it on.

    ``seed`` is what its chance depends on, ``my`` what the spec calls so. ``journal`` has its inputs and what they led
    to; ``observe`` sees every effect. ``number`` tells sessions of one process apart, in the journal and the log.
    ``names`` gives what a peer is called in the log, by seat. ``make_session`` is the session's class. ``starttls`` is
    what peers speak TLS by behind a `secure` step: a certificate, or on the side that connects what it trusts.
    """

    seed: int
    my: Mapping[str, Any] | None
    journal: JournalWriter | None
    observe: Callable[[Effect], None] | None
    number: int
    names: Callable[[int], str] | None
    make_session: Callable[..., Session]
    starttls: SSLContext | None


def open_host(
    program: Program, tasks: TaskGroup, clock: Clock, player: Player | None = None, **options: Unpack[SessionOptions]
) -> SessionDriver:
    """Return a new session of a role with its driver; ``player`` answers its questions, see `SessionDriver`."""
    monitor, observe = monitor_of(program), options.get("observe")
    watch = player is not None or observe is not None or monitor is not None
    seed, my, number = options.get("seed", 0), options.get("my"), options.get("number", 0)
    session = options.get("make_session", Session)(program, seed=seed, my=my or {}, watch=watch)
    return SessionDriver(
        session,
        clock,
        tasks,
        name=f"{program.role.name} {number}" if number else program.role.name,
        number=number,
        player=player,
        journal=options.get("journal"),
        observe=observe,
        seed=seed,
        my=my,
        monitor=monitor,
        names=options.get("names"),
        starttls=options.get("starttls"),
    )
