"""Where the pages of ``accord studio`` are served, and to whom: its options, the links that are printed."""

from __future__ import annotations

import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Final
from urllib.parse import urlsplit

from cyclopts import Parameter

from diagrams.render import PictureError
from runtime.commands.exit_codes import NETWORK, CommandError
from runtime.commands.options import PORT_MAX
from runtime.process.output import note, put, put_json

DELAY_MAX: Final = 3_600  # seconds
_LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")


@Parameter(name="*")
@dataclass(frozen=True, slots=True)
class PageOptions:
    """Where a page is served, and whether others may look, too."""

    host: Annotated[str, Parameter(name="--host", help="The address that the page is served at.")] = "127.0.0.1"
    port: Annotated[int, Parameter(name="--port", help="The port; any free one if left out.")] = 0
    share: Annotated[
        bool,
        Parameter(name="--share", negative=(), help="Print a second link, for others: it shows the same later."),
    ] = False
    delay: Annotated[
        float,
        Parameter(name="--delay", help="Of --share: seconds later. Hands that are hidden are seen there, too."),
    ] = 30.0
    no_browser: Annotated[bool, Parameter(name="--no-browser", help="Print the link, and open no browser.")] = False

    def check(self) -> None:
        """Raise a CommandError if an option is out of its bounds."""
        if not 0 <= self.port <= PORT_MAX:
            raise CommandError(f"--port {self.port} is not within 0..{PORT_MAX}")
        if not 0 <= self.delay <= DELAY_MAX:
            raise CommandError(f"--delay {self.delay:g} is not within 0..{DELAY_MAX} seconds")

    @property
    def behind(self) -> float | None:
        """How many seconds later others see what is shown; None if they do not."""
        return self.delay if self.share else None

    def opened(self, link: str, shared: str | None = None, *, json: bool) -> None:
        """Print the links of a page, and open a browser on it."""
        if json:
            put_json({"link": link} | ({} if shared is None else {"shared": shared}))
        else:
            put(link)
            if shared is not None:
                put(f"for others: {shared}")
        if shared is not None and urlsplit(shared).hostname in _LOOPBACK:
            note("others reach it from this machine alone: --host 0.0.0.0 lets them in from elsewhere")
        note("Ctrl-C ends it")
        if not self.no_browser:
            webbrowser.open(link)

    @contextmanager
    def served(self) -> Iterator[None]:
        """Serve a page in the block. Raises CommandError: it cannot be served there, or its pictures not be drawn."""
        try:
            yield
        except PictureError as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            why = f"cannot listen on {self.host}:{self.port}: {error.strerror or error}"
            raise CommandError(why, NETWORK) from error
