"""An event that is killed after its Nth transaction: ``python -m tests.runtime.tournament.killed EVENT N``.

The name of each transaction is written to standard output as it is done; with 0, all of them are done.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from runtime.tournament.command import arena_of, read
from runtime.tournament.conductor import Conductor
from runtime.tournament.store import Store, url_of


def main() -> None:
    event = read(Path(sys.argv[1]))
    left = int(sys.argv[2])

    def count(name: str) -> None:
        nonlocal left
        print(name, flush=True)
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    arena = arena_of(event)
    store = Store(url_of(event.database, event.file.parent), count)
    with store.alone():
        store.begin(event.name, event.text, arena.spec_hash)
        Conductor(event, store, arena).run()


if __name__ == "__main__":
    main()
