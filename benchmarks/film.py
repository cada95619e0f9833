"""The film of screenshots that the README shows, made anew: ``python -m benchmarks.film docs/studio.png``.

It needs the extras ``web``, ``test-web`` and ``tournament``, and Chromium. The frames of an APNG are those of its PNGs.
"""

from __future__ import annotations

import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from machines.parser.loader import find

WIDE, HIGH, SCALE = 1300, 797, 0.62  # pixels of a page, and how small it is shown
FRAME_MILLISECONDS = 2_200
CUP = """\
event: A small cup
spec: tsuro
seed: 5
format: {groups: 3..3, rounds: 4}
players: {ann: {kind: random}, bob: {kind: malformed}, cyd: {kind: strong}, dan: {kind: first}}
"""


@contextmanager
def accord(*words: str, folder: Path) -> Iterator[str]:
    """Start a command in a folder, and yield the link that it prints."""
    paths = os.pathsep.join([str(Path.cwd()), os.environ.get("PYTHONPATH", "")])
    child = subprocess.Popen(
        [sys.executable, "-m", "runtime", *words], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env={**os.environ, "PYTHONPATH": paths},
    )  # fmt: skip
    try:
        assert child.stdout is not None
        found = None
        while found is None:
            line = child.stdout.readline().decode()
            assert line, "it prints its link"
            found = re.search(r"http://\S+", line)
        yield found[0]
    finally:
        child.kill()
        child.communicate()


class Camera:
    """Takes the frames."""

    def __init__(self, browser: Any) -> None:
        self.frames: list[bytes] = []
        self._browser = browser

    @contextmanager
    def page(self, link: str, ready: str, scheme: str = "light") -> Iterator[Any]:
        """Open a page, and take a frame of it in the end."""
        viewport = {"width": WIDE, "height": HIGH}
        page = self._browser.new_page(viewport=viewport, device_scale_factor=SCALE, color_scheme=scheme)
        page.goto(link)
        page.wait_for_selector(ready)
        yield page
        page.wait_for_timeout(700)
        self.frames.append(page.screenshot())
        page.close(run_before_unload=False)


def film(camera: Camera, folder: Path) -> None:
    """Take all frames."""
    words = ["play", "tsuro", "--player", "random", "--player", "malformed", "--player", "strong", "--seed", "2", "-q"]
    quiet = {"check": True, "capture_output": True}
    subprocess.run([sys.executable, "-m", "runtime", *words, "--journal", str(folder / "run.jsonl")], **quiet)  # type: ignore[call-overload]
    (folder / "cup.yaml").write_text(CUP)
    subprocess.run([sys.executable, "-m", "runtime", "tournament", "run", str(folder / "cup.yaml"), "-q"], **quiet)  # type: ignore[call-overload]
    (folder / "pile.yaml").write_text(find("sticks").read_text())
    with accord("studio", "run.jsonl", "--no-browser", folder=folder) as link:
        with camera.page(f"{link}#step=12", ".row.now") as page:
            page.keyboard.press("v")
        with camera.page(f"{link}#step=40", ".row.now", "dark"):
            pass
    with accord("tournament", "show", "cup.yaml", "--studio", folder=folder) as link, camera.page(link, "#faults li"):
        pass
    with accord("studio", "./pile.yaml", "--no-browser", folder=folder) as link:
        with camera.page(link, "body[data-tried]") as page:
            for name in ("ann", "bob"):
                page.get_by_role("button", name=f"player {name} comes").click()
                page.get_by_text("2 choices" if name == "bob" else "1 choice").wait_for()
            page.click("#wait")
        with camera.page(link, "body[data-tried]") as page:
            page.fill("#text", page.input_value("#text").replace("then: judged", "then: juged"))
            page.wait_for_selector("#problems button")
    for game, more in (("tsuro", ["--players", "3"]), ("santorini-official", [])):
        words = ["play", game, *more, "--player", "web", "--seed", "1", "--no-journal"]
        with accord(*words, folder=folder) as link, camera.page(link, "#choices button") as page:
            page.locator("#spots button:not(:disabled)").first.click()


def chunks(png: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the kind and the content of each part of a PNG."""
    at = 8
    while at < len(png):
        size, kind = struct.unpack_from(">I4s", png, at)
        yield kind, png[at + 8 : at + 8 + size]
        at += 12 + size


def animated(frames: list[bytes]) -> bytes:
    """Return PNGs of one size as one APNG without an end."""

    def part(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    head = next(content for kind, content in chunks(frames[0]) if kind == b"IHDR")
    wide, high = struct.unpack_from(">II", head)
    made = [b"\x89PNG\r\n\x1a\n", part(b"IHDR", head), part(b"acTL", struct.pack(">II", len(frames), 0))]
    number = 0
    for at, frame in enumerate(frames):
        about = struct.pack(">IIIIIHHBB", number, wide, high, 0, 0, FRAME_MILLISECONDS, 1000, 0, 0)
        made.append(part(b"fcTL", about))
        number += 1
        data = zlib.decompress(b"".join(content for kind, content in chunks(frame) if kind == b"IDAT"))
        packed = zlib.compress(data, 9)
        if at == 0:
            made.append(part(b"IDAT", packed))
        else:
            made.append(part(b"fdAT", struct.pack(">I", number) + packed))
            number += 1
    return b"".join([*made, part(b"IEND", b"")])


def main(path: str) -> None:
    from playwright.sync_api import sync_playwright

    chromium = os.environ.get("ACCORD_CHROMIUM") or shutil.which("chromium")
    with tempfile.TemporaryDirectory() as name, sync_playwright() as made:
        browser = made.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        camera = Camera(browser)
        film(camera, Path(name))
        browser.close()
    Path(path).write_bytes(animated(camera.frames))


if __name__ == "__main__":
    main(sys.argv[1])
