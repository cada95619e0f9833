"""Mistakes planted in a server of Tsuro, which knows nothing of Accord: each is found with its line."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from runtime.cli import main

PROGRAM = Path(__file__).parent / "strangers" / "tsuro_server.py"
SPEC = Path("specs/tsuro.yaml").read_text().splitlines()
FIRST, LATER = ("initial_placement.asked/sends-only", "asked:"), ("intermediate_placement.asked/sends-only", "asked:")
START_UP = ("main.start_up/sends-only", "start_up:")

# style -> (the requirement, what its line begins with); several messages may be due after a move, so none is named
PLANTED = {
    **dict.fromkeys(("token-twice", "starts-with-one"), START_UP),
    **dict.fromkeys(("purple", "token-is-a-number", "token-in-a-list", "speaks-first"), ("type/TOKEN", "TOKEN:")),
    "start": ("type/STARTED", "STARTED:"),
    "turns-all-away": ("join.named/within", "server.join(peer):"),
    "ended-twice": ("sends-only", "server.main:"),
    **dict.fromkeys(("started-twice", "no-started", "init-twice", "hand-of-two-first", "other-message-first"), FIRST),
    **dict.fromkeys(("half-a-request", "impatient", "drops-who-it-asked"), FIRST),
    **dict.fromkeys(("hand-of-four-first", "no-hand-first", "nine-columns"), ("type/INIT_REQ", "INIT_REQ:")),
    **dict.fromkeys(("nine-rows", "no-starts", "an-object", "small-ports"), ("type/INIT_REQ", "INIT_REQ:")),
    **dict.fromkeys(("inter-twice", "texts-for-numbers", "hand-of-one-later", "hand-of-three-later"), LATER),
    **dict.fromkeys(("off-the-board", "losers-as-text", "flat-ranks", "end-of-two"), LATER),
}
SOME = ("token-twice", "small-ports")


def test_there_are_thirty_of_them() -> None:
    assert len(PLANTED) >= 30
    assert set(SOME) < set(PLANTED)


@pytest.mark.parametrize(
    "style", [pytest.param(one, marks=() if one in SOME else pytest.mark.release) for one in sorted(PLANTED)]
)
def test_a_mistake_planted_in_a_server_is_found_with_its_line(style: str, capsys: pytest.CaptureFixture[str]) -> None:
    id_, begins = PLANTED[style]
    program = f"{sys.executable} {PROGRAM} {{port}} {style}"
    only = ("--only", "server/*@of5,seat0,seed7", "--grace", "0.5")
    code = main(["conform", "tsuro", "server", "--run", program, "--json", *only])
    told = json.loads(capsys.readouterr().out)

    fails = [one for one in told["requirements"] if one["verdict"] == "fail"]
    assert code == 1
    assert [one["id"] for one in fails] == [f"server/{id_}"]
    assert SPEC[int(fails[0]["place"].split(":")[1]) - 1].strip().startswith(begins)
    assert fails[0]["confirmed"] == [3, 3]


@pytest.mark.release
@pytest.mark.parametrize("style", ["plain", "trickling", "spaced"])
def test_a_right_server_is_not_accused_in_any_style(style: str, capsys: pytest.CaptureFixture[str]) -> None:
    program = f"{sys.executable} {PROGRAM} {{port}} {style}"
    main(["conform", "tsuro", "server", "--run", program, "--json", "--only", "server/*@of5,seat0,seed7"])
    told = json.loads(capsys.readouterr().out)

    assert [one["id"] for one in told["requirements"] if one["verdict"] == "fail"] == []
    assert [one["outcome"] for one in told["cases"]] == ["right"]
