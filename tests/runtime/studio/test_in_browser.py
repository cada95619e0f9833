"""What the pages must bear in a browser: a class's tabs, a studio that was away, a hundred thousand steps."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from runtime.cli import main
from runtime.studio.steps import RecordedRun, run_of

pytest.importorskip("starlette", reason="the extra 'web' is not installed")

import uvicorn

from runtime.studio.guard import listening
from runtime.studio.site import RunSite

pytestmark = [pytest.mark.release, pytest.mark.xdist_group("browser")]
TABS = 10
STEPS = 100_000
HEAP_BYTES_MAX = 60e6
NODES_MAX = 1_500


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    journal = tmp_path_factory.mktemp("run") / "run.jsonl"
    assert main(["play", "tsuro", "--players", "3", "--seed", "2", "-q", "--journal", str(journal)]) == 0
    return journal.read_bytes().splitlines(keepends=True)


@contextmanager
def served(run: RecordedRun, port: int = 0, behind: float = 0.0) -> Iterator[int]:
    """Serve a run at a port, until the block ends; who has the token ``shared`` is told what comes later."""
    socket = listening("127.0.0.1", port)
    number: int = socket.getsockname()[1]
    site = RunSite(run, "secret", number, frozenset({"127.0.0.1"}), share="shared", behind=behind)
    server = uvicorn.Server(
        uvicorn.Config(site.app, log_level="warning", access_log=False, timeout_graceful_shutdown=1)
    )
    thread = threading.Thread(target=server.run, args=([socket],), daemon=True)
    thread.start()
    try:
        yield number
    finally:
        server.should_exit = True
        thread.join()
        socket.close()


def opened(browser: Any, port: int, token: str = "secret") -> Any:
    page = browser.new_page()
    page.goto(f"http://127.0.0.1:{port}/enter?token={token}")
    page.wait_for_selector("body[data-ready]")
    return page


def test_ten_tabs_of_one_run_are_all_told_what_comes(lines: list[bytes], browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(b"".join(lines[:20]))
    context = browser.new_context()
    with served(RecordedRun(path)) as port:
        tabs = [opened(context, port) for _ in range(TABS)]
        with path.open("ab") as file:
            file.write(b"".join(lines[20:40]))
        for tab in tabs:
            tab.get_by_text("step 39 of 39").wait_for()
        context.close()


def test_a_class_sees_a_run_from_nothing_on_some_time_behind(lines: list[bytes], browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(b"".join(lines[:20]))
    run = RecordedRun(path)
    run.read()
    with served(run, behind=3.0) as port:
        page = opened(browser, port, "shared")
        said: list[str] = []
        page.on("pageerror", lambda error: said.append(str(error)))
        assert "0 steps; live; 3 s behind" in page.inner_text("#about")
        page.keyboard.press("End")
        page.keyboard.press("v")
        page.get_by_text("step 19 of 19").wait_for()
        assert page.locator("#pictures rect.here").count() > 0
        with path.open("ab") as file:
            file.write(b"".join(lines[20:]))
        page.get_by_text(f"step {len(lines) - 2} of").wait_for()
        assert said == []
        page.close()


def test_a_page_goes_on_where_it_was_when_its_studio_comes_back(
    lines: list[bytes], browser: Any, tmp_path: Path
) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(b"".join(lines[:20]))
    with served(RecordedRun(path)) as port:
        page = opened(browser, port)
        page.get_by_text("step 19 of 19").wait_for()
    page.get_by_text("it is tried again").wait_for()
    with path.open("ab") as file:
        file.write(b"".join(lines[20:40]))
    with served(RecordedRun(path), port):
        page.get_by_text("step 39 of 39").wait_for()
        shown = page.get_attribute(".row.now", "aria-setsize")
        again = opened(browser, port)
        again.get_by_text("step 39 of 39").wait_for()
        assert again.get_attribute(".row.now", "aria-setsize") == shown, "no line was told twice, none was left out"
        page.close()
        again.close()


def test_a_hundred_thousand_steps_are_shown_with_few_elements(lines: list[bytes], browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(b"".join(lines))
    run = run_of(path)
    run.steps *= -(-STEPS // len(run.steps))
    with served(run) as port:
        page = opened(browser, port)
        assert f"of {len(run.steps)}" in page.inner_text("#where")
        page.keyboard.press("End")
        page.wait_for_selector(f".row.now[data-step='{len(run.steps) - 1}']")
        metrics = page.context.new_cdp_session(page)
        metrics.send("Performance.enable")
        metrics.send("HeapProfiler.collectGarbage")
        found = {one["name"]: one["value"] for one in metrics.send("Performance.getMetrics")["metrics"]}
        assert found["JSHeapUsedSize"] < HEAP_BYTES_MAX
        assert page.evaluate("document.getElementById('talk').querySelectorAll('*').length") < NODES_MAX
        page.close()


@pytest.mark.parametrize("width", [320, 400, 800])
def test_no_page_is_wider_than_a_phone(width: int, lines: list[bytes], browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(b"".join(lines))
    with served(run_of(path)) as port:
        page = opened(browser, port)
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.close()
