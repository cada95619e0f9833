"""``accord proxy``: stands between two programs and says who deviates from the spec first."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Annotated, Any, Final

import anyio
from cyclopts import Parameter

from machines.conforming.overhearing import Accusation, Overhearing
from machines.conforming.spec_lines import explained, place_of
from machines.model import Spec
from machines.parser.loader import rules_modules
from runtime.commands.backends import run
from runtime.commands.exit_codes import FAILED, OK, CommandError
from runtime.commands.journals import JournalOptions, head_of, journal_path
from runtime.commands.options import (
    BackendOption,
    Json,
    Role,
    Rules,
    Settings,
    SpecName,
    address_of,
    chosen_role,
    loaded,
    of_ours,
    settings_of,
    shown_address,
)
from runtime.conforming.proxying import Proxy, listen_for
from runtime.journal.writing import Journal
from runtime.process.output import note, put, put_json
from runtime.process.terminal_text import escape_control_characters

SHOWN_BYTES: Final = 120
LOOK_SECONDS: Final = 0.02  # how often it is looked whether the only link has ended


def proxy(
    spec: SpecName,
    /,
    *,
    listen: Annotated[str, Parameter(help="PORT or HOST:PORT to listen on; port 0 takes any that is free.")] = "0",
    to: Annotated[str, Parameter(help="HOST:PORT of the program that listens.")],
    role: Role = None,
    block: Annotated[bool, Parameter(help="Judge bytes before they pass, and cut the link that deviates.")] = False,
    once: Annotated[bool, Parameter(help="End when the first link has ended, not by Ctrl-C.")] = False,
    grace: Annotated[float, Parameter(help="Seconds that a program may be late before it is told.")] = 1.0,
    settings: Settings = [],  # noqa: B006 (cyclopts makes a new list)
    rules: Rules = [],  # noqa: B006
    backend: BackendOption = "asyncio",
    journal: JournalOptions = JournalOptions(),
    json: Json = False,
) -> int:
    """Carry connections to a program, and say which side deviates from the spec first.

    The rules of a game are not judged: only what may be said, by whom, when. Time is told apart: of the limits that the
    programs have it knows those of the spec, and what --set says. Exit code 0 if nobody deviated, 1 if somebody did.
    """
    overridden = settings_of(settings)
    loaded_spec = of_ours(loaded(spec, overridden, rules), "accord proxy")
    listener = chosen_role(loaded_spec, role, loaded_spec.listeners(), "listens")
    target, (host, port) = address_of(to, what="--to"), _listening(listen)
    overhearing = Overhearing(loaded_spec, listener, rules_modules(loaded_spec, rules))
    told = _Teller(loaded_spec, overhearing, json=json)
    caller = next(name for name in overhearing.programs if name != listener)
    head = head_of(spec, loaded_spec, caller, seed=0, settings=overridden, rules=rules, backend=backend)
    with journal.opened(head) as book:
        made = Proxy(overhearing, target, grace=grace, block=block, told=told, write=book.write if book else None)
        with suppress(KeyboardInterrupt):  # the usual way to end it
            run(lambda: _carry(made, host, port, partial(told.listening, host, book), once=once), backend)
        told.sum_up(book)
    return journal.end(FAILED if overhearing.accusations else OK)


async def _carry(proxy: Proxy, host: str, port: int, listening: Callable[[int], None], *, once: bool) -> None:
    taking, taken = await listen_for(host, port)
    listening(taken)
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(proxy.run, taking)
            while once and not proxy.has_ended:
                await anyio.sleep(LOOK_SECONDS)
            if once:
                tasks.cancel_scope.cancel()
    finally:
        await taking.aclose()
        proxy.finish()


class _Teller:
    """Says what a proxy hears, as it hears it."""

    def __init__(self, spec: Spec, overhearing: Overhearing, *, json: bool) -> None:
        self._spec = spec
        self._overhearing = overhearing
        self._json = json

    def listening(self, host: str, book: Journal | None, port: int) -> None:
        """Say where it listens, and who is not judged."""
        where = shown_address(host, port)
        if self._json:
            put_json({"listening": where, "host": host, "port": port, "journal": journal_path(book)})
            return
        note(f"{self._spec.protocol}: listens on {where}; rules are not judged")
        for name, why in self._overhearing.unjudged.items():
            note(f"{name} is not judged: {why}")

    def __call__(self, one: Accusation) -> None:
        """Tell of a deviation."""
        first = one is next(iter(self._overhearing.accusations), None)
        if self._json:
            put_json(facts(self._spec, one, first=first))
        else:
            put("\n".join(accusation_lines(self._spec, one, first=first)))

    def sum_up(self, book: Journal | None) -> None:
        """Say how it went."""
        if self._json:
            return
        heard = self._overhearing
        links = len(heard.links)
        said = f"{len(heard.accusations)} deviated" if heard.accusations else "nobody deviated"
        put(f"{links} link{'' if links == 1 else 's'}: {said}; rules: not judged")
        lost = {
            follower.lost_track
            for link in heard.links.values()
            for follower in (*link.callers.values(), link.listener)
            if follower is not None and follower.lost_track and follower.deviation is None
        }
        for why in sorted(lost):
            put(f"not judged to the end: {why}")
        if book is not None and links:
            note(f"journal {book.path}")


def _listening(text: str) -> tuple[str, int]:
    if text.isdecimal():
        if int(text) > 65535:
            raise CommandError(f"--listen {text} is not within 0..65535")
        return "127.0.0.1", int(text)
    return address_of(text, what="--listen")


def accusation_lines(spec: Spec, one: Accusation, *, first: bool) -> list[str]:
    """Return what is told of a deviation: who and where, what, the bytes."""
    found = one.deviation
    head = "TIME" if found.kind in ("time", "silence") else "FIRST" if first else "LATER"
    lines = [
        f"{head}  {one.role}, link {one.link}   {place_of(spec, one.role, found)}",
        f"      {explained(spec, one.role, found)}",
    ]
    if found.came:
        lines.append(f"      it sent {shown_bytes(found.came)}")
    return lines


def shown_bytes(data: bytes) -> str:
    """Return bytes in a line, for people: the first SHOWN_BYTES of them."""
    text = escape_control_characters(data[:SHOWN_BYTES].decode(errors="backslashreplace").strip())
    return text + (f"… ({len(data)} bytes)" if len(data) > SHOWN_BYTES else "")


def facts(spec: Spec, one: Accusation, *, first: bool) -> dict[str, Any]:
    """Return what is told of a deviation, for programs."""
    found, place = one.deviation, place_of(spec, one.role, one.deviation)
    return {
        "role": one.role,
        "link": one.link,
        "first": first,
        "kind": found.kind,
        "text": explained(spec, one.role, found),
        "states": list(found.states),
        "may": list(found.may),
        "came": found.came.decode(errors="backslashreplace"),
        "file": place.file,
        "line": place.line,
        "time": found.when,
    }
