"""The players of Tsuro in other languages, in docs/skeletons: each plays as a bot, and as a raw client conforms."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import anyio
import pytest

from machines.parser.loader import load, rules_modules
from runtime.cli import main
from runtime.sessions.game_result import GameResult, Participant
from runtime.sessions.match import play

FOLDER = Path(__file__).resolve().parents[3] / "docs" / "skeletons"
# language -> (the source, what builds it and what runs it, with {folder} to build in, the tools for it)
LANGUAGES = {
    "JavaScript": ("tsuro.js", "", "node {source}", ("node",)),
    "Java": ("Tsuro.java", "javac -d {folder} {source}", "java -cp {folder} Tsuro", ("java", "javac")),
    "C++": (
        "tsuro.cpp",
        "g++ -std=c++17 -O2 -Wall -Wextra -Werror {source} -o {folder}/tsuro",
        "{folder}/tsuro",
        ("g++",),
    ),
    "Go": ("tsuro.go", "go build -o {folder}/tsuro {source}", "{folder}/tsuro", ("go",)),
    "Rust": (
        "tsuro.rs",
        "rustc --edition 2021 -O -D warnings {source} -o {folder}/tsuro",
        "{folder}/tsuro",
        ("rustc",),
    ),
}


@pytest.fixture(params=sorted(LANGUAGES))
def program(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The command that runs a skeleton, once it is built."""
    source, build, run, tools = LANGUAGES[request.param]
    missing = [tool for tool in tools if shutil.which(tool) is None]
    if missing:
        pytest.skip(f"no {missing[0]} here")
    places = {"source": FOLDER / source, "folder": tmp_path}
    if build:
        subprocess.run(build.format(**places).split(), check=True, timeout=300)
    return run.format(**places)


def test_a_skeleton_is_a_bot_that_plays_whole_games_by_the_rules(program: str) -> None:
    spec = load("tsuro", {"seats": "3..3", "think": "60 s", "reply": "90 s"})
    bot = [Participant(f"bot{number}", f"exec:{program}", number) for number in range(3)]

    async def game() -> GameResult:
        with anyio.fail_after(180):
            return await play(spec, rules_modules(spec), bot, server="server", client="client", seed=1)

    played = anyio.run(game)
    assert played.ended is not None
    assert played.ended.value["cheaters"] == ()
    assert played.ended.value["rounds"] > 0


CASES = ("of3,seat0,seed7", "of3,seat2,seed8", "of3,seat2,seed7,glued", "of3,seat1,seed7,bytes", "of3,seat0,seed7,odd")
DEEDS = ("closed.main.playing", "garbage.main.joined", "unexpected.main.ready", "half.main.started")


def test_a_skeleton_is_a_raw_client_that_conforms(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Whole games, their bytes cut and glued and oddly spelled, and a peer that is gone or mad."""
    cases = [*CASES, *(f"of3,seat1,seed7,{deed}" for deed in DEEDS)]
    only = [word for case in cases for word in ("--only", f"client/*@{case}")]
    words = ["--json", "-j", "4", "--budget", "400", *only]
    main(["conform", "tsuro", "client", "--run", f"{program} {{host}} {{port}}", *words])
    told = json.loads(capsys.readouterr().out)

    assert [(one["id"], one["why"]) for one in told["requirements"] if one["verdict"] == "fail"] == []
    assert [one["outcome"] for one in told["cases"]] == ["right"] * len(cases)
    assert told["not_covered"] == []


@pytest.mark.release
def test_a_skeleton_passes_all_that_is_asked_of_a_client(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--json", "-j", "4", "--budget", "600"]
    code = main(["conform", "tsuro", "client", "--run", f"{program} {{host}} {{port}}", *words])
    told = json.loads(capsys.readouterr().out)

    assert [(one["id"], one["why"]) for one in told["requirements"] if one["verdict"] == "fail"] == []
    assert code == 0


def test_the_page_names_each_skeleton_and_how_it_is_run() -> None:
    page = (FOLDER.parent / "players.md").read_text()

    for source, _, _, _ in LANGUAGES.values():
        assert re.search(rf"docs/skeletons/{re.escape(source)}", page), source
    assert {path.name for path in FOLDER.iterdir()} == {source for source, _, _, _ in LANGUAGES.values()}
