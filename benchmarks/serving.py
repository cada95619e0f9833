"""A server under test, in a process of its own: ours, or one of the rivals of `benchmarks.handwritten`.

    python -m benchmarks.serving KIND [--backend asyncio|uvloop|trio] [--pairs N] [--turns N]

It prints its port as ``{"port": 1234}``, then a line for each batch of games (`benchmarks.batches`), until it is
killed. ``ours`` has a session for each pair, ``hall`` all pairs in one session, side by side; both keep a journal.
"""

from __future__ import annotations

import argparse
import gc
import json
import logging
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import anyio

from benchmarks.batches import Batches
from benchmarks.handwritten import SERVERS
from machines.engine.session import Program
from machines.parser.loader import load, rules_modules
from runtime.journal.writing import FORMAT, Head, Journal, open_journal
from runtime.network.clock import make_clock
from runtime.network.transport import Connection, listen
from runtime.sessions.driver import SessionDriver
from runtime.sessions.opening import open_host

FOLDER = Path(__file__).parent
RULES = ("benchmarks.trivial",)


def compiled(name: str, turns: int, pairs: int) -> Program:
    """Return the server of pairs.yaml or hall.yaml, for games of so many turns."""
    settings = {"turns": str(turns)} | ({"seats": str(2 * pairs)} if name == "hall" else {})
    spec = load(str(FOLDER / f"{name}.yaml"), settings=settings, rules=RULES)
    return Program(spec, "server", rules_modules(spec, RULES))


class Tables:
    """Hands connections to sessions of so many seats each, in the order in which they come."""

    def __init__(
        self,
        batches: Batches,
        pairs: int,
        make_host: Callable[..., SessionDriver],
        finish: Callable[[SessionDriver], object],
    ):
        self._batches = batches
        self._pairs = pairs
        self._make_host = make_host
        self._finish = finish
        self._filling: SessionDriver | None = None
        self._free = 0
        self._made = 0

    def admit(self, connection: Connection) -> None:
        """Seat a connection; the first of a table opens it."""
        if self._filling is None or self._free == 0:
            self._filling = self._make_host(number=self._made)
            self._made += 1
            self._free = 2 * self._pairs
            self._filling.start()
            self._finish(self._filling)
        self._free -= 1
        if self._free == 0:
            self._batches.begin(self._pairs)
        self._filling.connect(connection)


async def serve_ours(
    batches: Batches,
    turns: int,
    on_port: Callable[[int], None],
    *,
    spec: str,
    stock: bool,
    journal: Journal,
) -> None:
    """Serve games with sessions of ours until cancelled."""
    pairs = batches.games if spec == "hall" else 1
    program = compiled(spec, turns, pairs)
    async with anyio.create_task_group() as tasks:

        async def finished(host: SessionDriver) -> None:
            ended = await host.over()
            assert ended.failed is None, f"a session failed: {ended.failed}"
            batches.end(pairs * turns, pairs)
            await host.release()

        make_host = partial(open_host, program, tasks, make_clock(tasks), journal=journal)
        tables = Tables(batches, pairs, make_host, lambda host: tasks.start_soon(finished, host))
        listener = await listen("127.0.0.1", 0, tasks, stock=stock)
        gc.collect()
        gc.freeze()
        on_port(listener.port)
        await listener.serve(tables.admit)
        await anyio.sleep_forever()


def serve(kind: str, backend: str, pairs: int, turns: int) -> None:
    """Serve until killed."""

    def on_port(port: int) -> None:
        print(json.dumps({"port": port}), flush=True)

    options = {"use_uvloop": True} if backend == "uvloop" else {}
    loop = "trio" if backend == "trio" else "asyncio"
    batches = Batches(pairs)
    if kind in SERVERS:
        gc.collect()
        gc.freeze()
        anyio.run(SERVERS[kind], batches, turns, on_port, backend=loop, backend_options=options)
        return
    with tempfile.TemporaryDirectory() as folder:
        head = Head(FORMAT, "", "pairs", "pairs", "", "server", 0)
        journal = open_journal(Path(folder) / "run.jsonl", head)
        run = partial(
            serve_ours, spec="hall" if kind == "hall" else "pairs", stock=kind == "ours-stock", journal=journal
        )
        anyio.run(run, batches, turns, on_port, backend=loop, backend_options=options)


def main() -> None:
    """Read the words of the command line and serve."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("kind", choices=("ours", "hall", "ours-stock", *SERVERS))
    parser.add_argument("--backend", choices=("asyncio", "uvloop", "trio"), default="asyncio")
    parser.add_argument("--pairs", type=int, default=1)
    parser.add_argument("--turns", type=int, default=1000)
    given = parser.parse_args()
    logging.basicConfig(level=logging.WARNING)
    serve(given.kind, given.backend, given.pairs, given.turns)


if __name__ == "__main__":
    main()
