"""``accord draw`` and runs as drawings: what is said of a run is what happened in it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from diagrams.sequences.model import Message, Remark, Tone
from machines.parser.loader import load, shipped
from runtime.cli import main
from runtime.journal.reading import read_journal
from runtime.journal.recording import recorded
from runtime.journal.replay import ReplayError, spec_hash

Run = Callable[..., tuple[int, str, str]]

BOT = """\
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "ask" in asked:
        arguments = asked["arguments"]
        print(json.dumps([arguments["token"], arguments["hand"][0], "A", 5, 5]), flush=True)
"""


@pytest.fixture
def accord(capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*words: str) -> tuple[int, str, str]:
        code = main(words)
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err + captured.out
        return code, captured.out, captured.err

    return run


@pytest.fixture(scope="module")
def game(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The journal of a game of three in which the second player places its first tile in the middle of the board."""
    folder = tmp_path_factory.mktemp("game")
    bot = folder / "bot.py"
    bot.write_text(BOT)
    journal = folder / "game.jsonl"
    players = ("--player", "second", "--player", f"exec:python3 {bot}", "--player", "second")
    words = ("play", "tsuro", "--players", "3", *players, "--seed", "3", "--quiet", "--journal", str(journal))
    assert main(words) == 0
    return journal


def written(out: str) -> dict[str, Path]:
    return {Path(path).name: Path(path) for path in json.loads(out)["written"]}


# -- specs -------------------------------------------------------------------------------------------------------------


def test_all_kinds_of_drawings_are_written_in_all_their_forms(accord: Run, tmp_path: Path) -> None:
    code, out, _ = accord("draw", "tsuro", "-o", str(tmp_path), "--format", "svg,png,txt,mmd,puml", "--json")

    assert code == 0
    files = written(out)
    for form in ("svg", "png", "dot", "mmd", "puml"):
        assert {f"tsuro-server-main.{form}", f"tsuro-server.{form}", f"tsuro-server-main-sequence.{form}"} <= set(files)
    assert [name for name in files if name.endswith(".txt") and not name.endswith("-sequence.txt")] == []
    assert files["tsuro-client.mmd"].read_text().startswith("stateDiagram-v2\n")
    assert accord("draw", "tsuro", "-o", str(tmp_path), "--check", "--format", "svg,txt,mmd,puml")[:2] == (0, "")


def test_kinds_can_be_chosen(accord: Run, tmp_path: Path) -> None:
    code, out, _ = accord("draw", "tsuro", "-o", str(tmp_path), "--kind", "overview, sequences", "--role", "client",
                          "--format", "dot", "--json")  # fmt: skip

    assert code == 0
    assert set(written(out)) == {"tsuro-client.dot", "tsuro-client-main-sequence.dot"}
    assert accord("draw", "tsuro", "--kind", "state")[::2] == (
        2, "accord: --kind 'state' is none of states, overview, sequences: did you mean 'states'?\n",
    )  # fmt: skip


def test_a_text_form_that_lies_beside_the_pictures_is_compared_too(accord: Run, tmp_path: Path) -> None:
    assert accord("draw", "tsuro", "-o", str(tmp_path), "--format", "txt")[0] == 0
    (tmp_path / "tsuro-server-join-sequence.txt").write_text("older\n")

    assert accord("draw", "tsuro", "-o", str(tmp_path), "--check")[:2] == (
        1,
        "tsuro-server-join-sequence.txt is stale\n",
    )


# -- runs --------------------------------------------------------------------------------------------------------------


def test_a_run_is_told_with_its_times_and_the_violation_is_marked(game: Path) -> None:
    run = recorded(game)

    messages = [element for element in run.scenario.elements if isinstance(element, Message)]
    assert run.scenario.lifelines == ("server", "client 0", "client 1", "client 2")
    assert [message.text for message in messages if message.tone is Tone.WRONG] == ["✗ INIT_PLACE"]
    assert messages[0].text == "connects"
    times = [float(message.time.removesuffix(" s")) for message in messages]
    assert times == sorted(times)
    assert times[0] < 1
    wrong = [element for element in run.scenario.elements if isinstance(element, Remark) and element.tone is Tone.WRONG]
    assert [remark.lifeline for remark in wrong] == ["client 1"]
    assert "illegal" in wrong[0].text


def test_what_is_told_of_a_run_is_what_its_journal_has(game: Path) -> None:
    run = recorded(game, elements_max=100_000)
    sent = [effect[2] for line in read_journal(game).lines for effect in line.out if effect[0] == "send"]

    told = [e.text for e in run.scenario.elements if isinstance(e, Message) and e.source == "server"]
    assert [text for text in told if not text.startswith("closes")] == sent
    taken = [tuple(told) for line in read_journal(game).lines for told in line.took]
    assert list(run.taken) == taken


def test_a_long_run_is_cut_but_for_violations_and_its_end_and_says_so(game: Path) -> None:
    elements = recorded(game, elements_max=10).scenario.elements

    assert len(elements) == 14
    wrong, why, end, last = elements[-4:]
    assert isinstance(wrong, Message)
    assert isinstance(why, Remark)
    assert (wrong.tone, why.tone) == (Tone.WRONG, Tone.WRONG)
    assert isinstance(end, Remark)
    assert end.tone is Tone.END
    assert isinstance(last, Remark)
    assert re.match(r"… and \d+ more lines; ", last.text)


def test_a_session_that_the_journal_does_not_have_is_refused(game: Path) -> None:
    with pytest.raises(ReplayError, match="it has no session 7, only 0"):
        recorded(game, session=7)


def test_a_journal_in_which_nothing_has_happened_is_told_so(game: Path, tmp_path: Path) -> None:
    begun = tmp_path / "begun.jsonl"
    begun.write_bytes(game.read_bytes().split(b"\n")[0] + b"\n")

    with pytest.raises(ReplayError, match="nothing has happened in it yet"):
        recorded(begun)


def test_runs_are_drawn_as_sequences_and_as_coverage(accord: Run, game: Path, tmp_path: Path) -> None:
    code, out, err = accord("draw", "tsuro", "--journal", str(game), str(game), "-o", str(tmp_path), "--json",
                            "--format", "svg,txt")  # fmt: skip

    assert (code, err) == (0, "")
    files = written(out)
    assert {"game-run.svg", "game-run-2.svg", "game-run.txt", "tsuro-server-main-coverage.svg"} <= set(files)
    assert not any(name.startswith("tsuro-client") for name in files)
    once = accord("draw", "tsuro", "--journal", str(game), "-o", str(tmp_path / "one"), "--kind", "states", "--json")
    counts = [
        re.findall(r">(\d+)\N{MULTIPLICATION SIGN}<", written(text)["tsuro-server-join-coverage.svg"].read_text())
        for text in (out, once[1])
    ]
    assert counts == [["6"], ["3"]]
    assert "never" in files["tsuro-server-main-coverage.svg"].read_text()
    assert "game-run.svg" not in written(once[1])


def test_a_client_s_journal_is_drawn_too(accord: Run, tmp_path: Path) -> None:
    journal = tmp_path / "client.jsonl"
    head = {"journal": 1, "accord": "0", "protocol": "tsuro", "spec": "tsuro", "role": "client", "seed": 1,
            "my": {"name": "ann"}, "sha256": spec_hash("tsuro")}  # fmt: skip
    lines = [
        {"t": 5.0, "in": "start", "my": {"name": "ann"}},
        {"t": 5.5, "in": "bytes", "peer": 0, "raw": '"red"\n'},
        {"t": 6.0, "in": "bytes", "peer": 0, "raw": '"sturted"\n'},
    ]
    journal.write_text("\n".join(json.dumps({"took": [], "out": [], **line} if "in" in line else line)
                                 for line in [head, *lines]) + "\n")  # fmt: skip

    code, out, err = accord(
        "draw", "tsuro", "--journal", str(journal), "-o", str(tmp_path), "--format", "txt", "--json"
    )

    assert (code, err) == (0, "")
    chart = written(out)["client-run.txt"].read_text()
    assert re.search(r"client +server\n", chart)
    assert "0.500 s  TOKEN" in chart
    assert 'x "sturted"' in chart
    assert "tsuro-client-main-coverage.dot" in written(out)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("--journal", "x.jsonl", "--check"), "--check compares pictures of specs, not of runs"),
        (("santorini-relay", "--journal", "x.jsonl"), "--journal needs the one spec that ran"),
        (("--journal", "./none.jsonl"), "none.jsonl"),
    ],
)
def test_what_cannot_be_drawn_of_a_run_is_one_sentence(words: tuple[str, ...], text: str, accord: Run) -> None:
    code, out, err = accord("draw", "tsuro", *words)

    assert (code, out) == (2, "")
    assert text in err
    assert len(err.splitlines()) == 1


def test_what_forms_lie_in_a_folder_are_drawn_anew_unasked(accord: Run, tmp_path: Path) -> None:
    there = ("draw", "sticks", "-o", str(tmp_path), "--kind", "sequences")
    assert accord(*there, "--format", "txt")[0] == 0
    chart = tmp_path / "sticks-host-turn-sequence.txt"
    right = chart.read_text()
    chart.write_text("old")

    assert accord(*there)[0] == 0

    assert chart.read_text() == right
    assert chart.with_suffix(".svg").exists()
    assert not chart.with_suffix(".puml").exists()


def test_the_gallery_is_that_of_the_shipped_specs(accord: Run) -> None:
    gallery = Path(__file__).resolve().parents[2] / "diagrams" / "gallery"

    assert accord("draw", "--all", "--check", "-o", str(gallery), "--format", "svg,txt")[:2] == (0, "")
    known = {load(name).protocol for name in shipped()}
    left = [p.name for p in gallery.glob("*.dot") if not any(p.name.startswith(f"{protocol}-") for protocol in known)]
    assert left == []
