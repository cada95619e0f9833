"""DOT to SVG and PNG with the Graphviz that pygraphviz's wheel brings: no system package, no ``dot`` on the path.

    render ──stdin: format, DOT──▶ a Python child that holds Graphviz ──stdout: picture or fault──▶ bytes

Graphviz is C, is not made for threads, and its layout has no bound on time. It therefore lives in one child process
that starts with the first picture, is asked for one at a time, and is killed when a picture takes too long. What
Graphviz says on standard error never reaches the user's terminal: faults come back as PictureError, the rest is
noise about fonts. What the child does with a layout before it draws: ``laying``.
"""

from __future__ import annotations

import atexit
import json
import struct
import subprocess
import sys
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Literal

from diagrams.catalogue import FORMATS, TEXT_FORMATS, Drawing, Kind, album
from diagrams.rendering.labels import stem as file_stem
from machines.model import Spec

Format = Literal["svg", "png"]

SECONDS_MAX = 30.0  # The largest picture of the shipped specs takes under half a second.
DOT_BYTES_MAX = 4 << 20  # The largest of the shipped specs is under 64 KiB.
HEADER = struct.Struct(">II")  # as in `diagrams.rendering.graphviz_worker.serve`

CHILD = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from diagrams.rendering.graphviz_worker import serve; serve()"
)


class PictureError(Exception):
    """A picture cannot be drawn: the DOT is faulty or too large, it takes too long, or Graphviz is missing."""


class _Graphviz:
    """The child process; one request at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None

    def draw(self, dot: bytes, kind: Format, seconds: float) -> bytes:
        with self._lock:
            late = threading.Event()
            clock = threading.Timer(seconds, self._give_up, [late])
            clock.daemon = True
            answered = False
            try:
                child = self._started()
                clock.start()
                fault, picture = self._ask(child, dot, kind)
                answered = True
            except (OSError, EOFError):
                if late.is_set():
                    raise PictureError(f"Graphviz did not finish within {seconds:g} s") from None
                raise PictureError("Graphviz did not start or broke down: is pygraphviz installed?") from None
            finally:
                clock.cancel()
                if clock.ident is not None:
                    clock.join()
                # Also after Ctrl-C: an answer left unread would be taken for that to the next question.
                if late.is_set() or not answered:
                    self.close()
        if fault:
            raise PictureError(fault)
        return picture

    def _give_up(self, late: threading.Event) -> None:
        late.set()
        if self._child is not None:
            self._child.kill()

    def _started(self) -> subprocess.Popen[bytes]:
        if self._child is not None and self._child.poll() is not None:
            self.close()
        if self._child is None:
            # -I keeps modules out of the current folder; the paths of this process are handed on instead.
            paths = [*filter(None, sys.path), str(Path(__file__).resolve().parents[2])]
            command = [sys.executable, "-I", "-c", CHILD, json.dumps(paths)]
            self._child = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        return self._child

    def _ask(self, child: subprocess.Popen[bytes], dot: bytes, kind: Format) -> tuple[str, bytes]:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(HEADER.pack(len(kind), len(dot)) + kind.encode() + dot)
        child.stdin.flush()
        fault_length, picture_length = HEADER.unpack(_read(child.stdout, HEADER.size))
        return _read(child.stdout, fault_length).decode(), _read(child.stdout, picture_length)

    def close(self) -> None:
        """End the child, if there is one; the next picture starts another."""
        child, self._child = self._child, None
        if child is not None:
            child.kill()
            child.communicate()


def _read(stream: IO[bytes], length: int) -> bytes:
    block = stream.read(length)
    if len(block) < length:
        raise EOFError
    return block


_GRAPHVIZ = _Graphviz()
atexit.register(_GRAPHVIZ.close)


def render(dot: str, form: Format, seconds: float = SECONDS_MAX) -> bytes:
    """Return the picture of ``dot`` as SVG or PNG.

    Safe to call from any thread; pictures are drawn one after another. The bytes depend on Graphviz's version and the
    fonts at hand; DOT is what to compare.

    Raises:
        PictureError: the DOT is faulty or over DOT_BYTES_MAX, the layout takes longer than ``seconds``, or Graphviz
            cannot be started.
    """
    encoded = dot.encode(errors="replace")
    if len(encoded) > DOT_BYTES_MAX:
        raise PictureError(f"the picture has {len(encoded)} bytes of DOT, over the limit of {DOT_BYTES_MAX}")
    return _GRAPHVIZ.draw(encoded, form, seconds)


def write(drawings: Iterable[Drawing], folder: Path, formats: Iterable[str]) -> list[Path]:
    """Write drawings into ``folder``, each in the formats that it has; return the paths written.

    ``formats`` are of `diagrams.catalogue.FORMATS`. The folder is made if there is none; other files stay.

    Raises:
        PictureError: as ``render``.
        ValueError: a format is none of those.
        OSError: the folder cannot be written.
    """
    wanted = tuple(formats)
    for form in wanted:
        if form not in FORMATS:
            raise ValueError(f"{form!r} is not a format: {', '.join(FORMATS)}")
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    for drawing in drawings:
        for form in wanted:
            content = _content(drawing, form)
            if content is not None:
                path = folder / f"{drawing.stem}.{form}"
                path.write_bytes(content)
                written.append(path)
    return written


def _content(drawing: Drawing, form: str) -> bytes | None:
    match form:
        case "dot":
            return drawing.dot.encode()
        case "svg" | "png":
            return render(drawing.dot, form)
        case _:
            text = drawing.text(form)
            return text.encode() if text is not None else None


def stale(spec: Spec, folder: Path, kinds: Iterable[Kind] = tuple(Kind)) -> list[str]:
    """Say which of a spec's committed drawings in ``folder`` are not those of the spec as it is now, a sentence each.

    Compared are DOT, which must be there, and the text forms that are: the bytes of SVG and PNG depend on Graphviz's
    version. A drawing that is missing, that differs, or whose machine is gone, is stale.
    """
    faults: list[str] = []
    for drawing in album(spec, kinds):
        path = folder / f"{drawing.stem}.dot"
        if not path.is_file():
            faults.append(f"{path.name} is missing")
        elif path.read_bytes() != drawing.dot.encode():
            faults.append(f"{path.name} is stale")
        for form in TEXT_FORMATS:
            path = folder / f"{drawing.stem}.{form}"
            if path.is_file() and path.read_bytes() != _content(drawing, form):
                faults.append(f"{path.name} is stale")
    known = {drawing.stem for drawing in album(spec)}
    for role in spec.roles:
        left = sorted(path.stem for path in folder.glob(f"{file_stem(spec.protocol, role)}-*.dot"))
        faults += [f"{stem}.dot shows a machine that the spec no longer has" for stem in left if stem not in known]
    return faults
