"""How fast the studio's pages are: ``python -m benchmarks.studio``; the extras ``web`` and ``test-web``, and Chromium.

Ready, jump and scroll: a page of 10,000 steps, one game repeated. Class: 60 pages that are told 40 steps a second, and
what that costs the process that serves them; once as a run writes its journal, twice a second, and once line by line.
Keys: from the last key in the editor to the problem that it makes.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from machines.parser.loader import find

STEPS = 10_000
VIEWERS = 60
STEPS_A_SECOND = 40
PIECES = (20, 1)  # lines that are written at once: as many as a journal's flush has, and one by one
BEGUN = 20  # lines of the journal that are there before the class looks
KEYS = 12
SERVE_LONG = """
import sys
from pathlib import Path
from runtime.studio.site import serve
from runtime.studio.steps import run_of
run = run_of(Path(sys.argv[1]))
run.steps *= -(-int(sys.argv[2]) // len(run.steps))
serve(run, "127.0.0.1", 0, lambda link: print(link, flush=True))
"""
FRAME = """async () => {
  const times = [];
  for (let at = 0; at < 40; at++) {
    const slider = document.getElementById("slider");
    const before = performance.now();
    slider.value = (at * 7919) % Number(slider.max);
    slider.dispatchEvent(new Event("input"));
    document.body.getBoundingClientRect();
    times.push(performance.now() - before);
    await new Promise(requestAnimationFrame);
  }
  return times;
}"""
SCROLL = """async () => {
  const list = document.getElementById("list");
  const times = [];
  let before = performance.now();
  for (let at = 0; at < 60; at++) {
    list.scrollTop += 180;
    await new Promise(requestAnimationFrame);
    const now = performance.now();
    times.push(now - before);
    before = now;
  }
  return times;
}"""
PROBLEM = """() => new Promise((done) => {
  const area = document.getElementById("text");
  const list = document.getElementById("problems");
  const had = Boolean(list.children.length);
  const before = performance.now();
  new MutationObserver((_, self) => {
    if (Boolean(list.children.length) === had) return;
    self.disconnect();
    done(performance.now() - before);
  }).observe(list, { childList: true });
  area.value = had ? area.value.slice(0, -1) : area.value + "x";
  area.dispatchEvent(new Event("input"));
})"""


@contextmanager
def serving(*words: str) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """Start a process that prints its link, and yield both."""
    child = subprocess.Popen([sys.executable, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        assert child.stdout is not None
        found = None
        while found is None:
            found = re.search(r"http://\S+", child.stdout.readline().decode())
        yield child, found[0]
    finally:
        child.kill()
        child.communicate()


def long_page(browser: Any, journal: Path) -> None:
    with serving("-c", SERVE_LONG, str(journal), str(STEPS)) as (_child, link):
        for _ in range(3):
            page = browser.new_page(viewport={"width": 1300, "height": 800})
            page.goto(link)
            page.wait_for_selector("body[data-ready]")
            ready = page.evaluate("performance.now()")
            frames = page.evaluate(FRAME)
            scrolled = page.evaluate(SCROLL)
            told = page.inner_text("#where").partition(" of ")[2].partition(",")[0]
            page.close()
            print(f"{told} steps: ready in {ready / 1000:.2f} s, a jump in {statistics.median(frames):.1f} ms, "
                  f"95 % within {statistics.quantiles(frames, n=20)[18]:.1f} ms, "
                  f"a frame of scrolling 95 % within {statistics.quantiles(scrolled, n=20)[18]:.1f} ms")  # fmt: skip


async def listen(link: str, seen: list[tuple[float, int, int]], done: asyncio.Event, cookie: str) -> None:
    """Note when which rows came, as (seconds, first, end)."""
    from websockets.asyncio.client import connect
    from websockets.typing import Origin

    host = link.split("/")[2]
    async with connect(
        f"ws://{host}/live?row=0&entry=0", additional_headers={"cookie": cookie}, origin=Origin(f"http://{host}")
    ) as socket:
        while not done.is_set():
            try:
                text = await asyncio.wait_for(socket.recv(), 0.5)
            except TimeoutError:
                continue
            at, told = time.monotonic(), json.loads(text)
            seen.append((at, told["from"], told["from"] + len(told["rows"])))


def cpu_seconds(pid: int) -> float:
    """Return what all threads of a process have had; the kernel counts it in nanoseconds."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9


async def a_class(link: str, pid: int, journal: Path, lines: list[bytes], piece: int) -> None:
    import urllib.request

    class Kept(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_: Any) -> None:
            return None

    try:
        urllib.request.build_opener(Kept).open(link)
        raise AssertionError("it redirects")
    except urllib.request.HTTPError as answer:
        cookie = answer.headers["set-cookie"].partition(";")[0]
    done, seen = asyncio.Event(), [[] for _ in range(VIEWERS)]  # type: ignore[var-annotated]
    tasks = [asyncio.create_task(listen(link, one, done, cookie)) for one in seen]
    await asyncio.sleep(2)
    before, began = cpu_seconds(pid), time.monotonic()
    written: dict[int, float] = {}  # when each row was
    with journal.open("ab", buffering=0) as file:
        for at in range(0, len(lines), piece):
            file.write(b"".join(lines[at : at + piece]))
            written |= dict.fromkeys(range(BEGUN - 1 + at, BEGUN - 1 + at + piece), time.monotonic())
            await asyncio.sleep(max(0.0, began + (at + piece) / STEPS_A_SECOND - time.monotonic()))
    spent, took = cpu_seconds(pid) - before, time.monotonic() - began
    await asyncio.sleep(0.5)
    done.set()
    await asyncio.gather(*tasks)
    told = [one for those in seen for one in those]
    late = [at - written[row] for at, first, end in told for row in range(first, end) if row in written]
    print(
        f"{VIEWERS} pages, {STEPS_A_SECOND} steps/s, {piece} at once: {100 * spent / took:.1f} % of a core, "
        f"{len(told)} messages told; {1000 * statistics.median(late):.0f} ms from the journal to a page, "
        f"99 % within {1000 * statistics.quantiles(late, n=100)[98]:.0f} ms"
    )


def keys(browser: Any, folder: Path) -> None:
    for name in ("sticks", "redis"):
        path = folder / f"{name}.yaml"
        path.write_text(find(name).read_text())
        with serving("-m", "runtime", "studio", str(path), "--no-browser") as (_, link):
            page = browser.new_page()
            page.goto(link)
            page.wait_for_selector("#pictures:not(.stale) svg")
            times = []
            for _ in range(KEYS):
                times.append(page.evaluate(PROBLEM))
                page.wait_for_timeout(400)  # what is drawn after it is not measured
            page.close(run_before_unload=False)
        print(f"{name}: last key to problem {statistics.median(times):.0f} ms, at most {max(times):.0f} ms")


def main() -> None:
    from playwright.sync_api import sync_playwright

    chromium = os.environ.get("ACCORD_CHROMIUM") or shutil.which("chromium")
    with tempfile.TemporaryDirectory() as name, sync_playwright() as made:
        folder = Path(name)
        journal = folder / "run.jsonl"
        words = ["play", "tsuro", "--players", "5", "--seed", "2", "-q", "--journal", str(journal)]
        subprocess.run([sys.executable, "-m", "runtime", *words], check=True, capture_output=True)
        browser = made.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        long_page(browser, journal)
        keys(browser, folder)
        browser.close()
    with tempfile.TemporaryDirectory() as name:
        a_live_class(Path(name))


def a_live_class(folder: Path) -> None:
    """Let a series of games be written step by step, as it is read."""
    journal, growing = folder / "run.jsonl", folder / "growing.jsonl"
    words = ["play", "santorini-prompts", "--players", "4", "--seed", "2", "-q", "--journal", str(journal)]
    subprocess.run([sys.executable, "-m", "runtime", *words], check=True, capture_output=True)
    lines = journal.read_bytes().splitlines(keepends=True)[:-1]
    for piece in PIECES:
        growing.write_bytes(b"".join(lines[:BEGUN]))
        with serving("-m", "runtime", "studio", str(growing), "--no-browser") as (child, link):
            asyncio.run(a_class(link, child.pid, growing, lines[BEGUN:], piece))


if __name__ == "__main__":
    main()
