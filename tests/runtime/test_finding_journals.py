"""``accord check --journals``: the sessions that confirmed a finding are played again, and drawn."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.mutation_operators import mutants
from machines.checks.checker import check
from machines.parser.loader import load
from machines.verification.counterexamples.replay import confirmed
from machines.verification.verify import verify
from runtime.cli import main
from runtime.commands.finding_scripts import script_of
from tests.machines.verification.bench import SPECS

HEARD = "          BACK: {send: GONE, return: null}\n"
ASKED = "          ORDER: {send: DISH, then: served}\n"


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(list(words))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.fixture
def raced(tmp_path: Path) -> Path:
    """A spec whose guest may take its order back when the dish is on its way, which the kitchen does not expect."""
    text = (SPECS / "clocks" / "impatient.yaml").read_text(encoding="utf-8")
    assert HEARD in text
    assert ASKED in text
    path = tmp_path / "raced.yaml"
    path.write_text(text.replace(HEARD, "").replace(ASKED, ASKED + HEARD), encoding="utf-8")
    return path


def test_the_sessions_of_a_finding_go_wrong_in_their_journals_too(
    capsys: pytest.CaptureFixture[str], raced: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "kept" / "here"

    code, out, err = run(capsys, "check", str(raced), "--journals", str(folder))

    assert code == 2
    assert "A502 kitchen: BACK is not expected in main.served (1 client; confirmed by a replay)" in out
    files = sorted(path.name for path in folder.iterdir())
    assert files == [
        "impatient-1-A502-guest.jsonl",
        "impatient-1-A502-kitchen-of-guest.jsonl",
        "impatient-1-A502.txt",
    ]
    shown = folder / files[1]
    assert f"A502: its sessions are in {folder}; accord replay {shown} shows where it goes wrong" in err
    code, out, _ = run(capsys, "replay", str(shown))
    assert code in (0, 1)
    assert "all agree" in out
    assert "unexpected" in shown.read_text(encoding="utf-8")
    code, out, _ = run(capsys, "replay", str(folder / files[0]))
    assert "2 inputs, all agree" in out


def test_the_run_to_a_finding_is_a_script_that_goes_wrong_in_the_same_way(
    capsys: pytest.CaptureFixture[str], raced: Path, tmp_path: Path
) -> None:
    _, _, err = run(capsys, "check", str(raced), "--journals", str(tmp_path))
    script = tmp_path / "impatient-1-A502.txt"
    assert f"A502: accord try {raced} --script {script} plays it" in err

    code, out, _ = run(capsys, "try", str(raced), "--script", str(script))

    assert code == 0  # the kitchen answers it, and ends
    assert "kitchen1: unexpected: BACK (ann)" in out
    lines = script.read_text(encoding="utf-8").splitlines()
    assert lines[1:] == [
        "hold",
        "connect guest ann",
        "deliver ann to kitchen1",
        "ring ann",
        "deliver ann to kitchen1",
    ]


FOUND = ["clocks/impatient", "clocks/in-turns"]


@pytest.mark.parametrize("name", FOUND)
def test_nearly_every_confirmed_finding_has_a_script(name: str) -> None:
    spec = load(str(SPECS / f"{name}.yaml"))
    written = confirmed_ones = 0
    for mutant in mutants(spec, 0, 12):
        if check(mutant.spec, {}):
            continue
        explored = verify(mutant.spec, {}, clients=(1, 2), most=3_000)
        verdict = confirmed(explored, mutant.spec, {}, lambda *_: None)
        for finding in verdict.findings:
            confirmed_ones += bool(finding.confirmed)
            written += script_of(finding, mutant.spec, []) is not None

    assert written >= 0.8 * confirmed_ones > 0


@pytest.mark.parametrize(("who", "said"), [("guest", ("ORDER", "BACK")), ("kitchen-of-guest", ("ORDER", "DISH"))])
def test_each_journal_of_a_finding_can_be_drawn(
    capsys: pytest.CaptureFixture[str], raced: Path, tmp_path: Path, who: str, said: tuple[str, ...]
) -> None:
    run(capsys, "check", str(raced), "--journals", str(tmp_path / "kept"))
    journal = str(tmp_path / "kept" / f"impatient-1-A502-{who}.jsonl")
    drawn = tmp_path / "drawn"

    code, _, err = run(capsys, "draw", str(raced), "--journal", journal, "--format", "txt", "-o", str(drawn))

    assert code == 0, err
    told = "".join(path.read_text(encoding="utf-8") for path in drawn.rglob("*.txt"))
    assert all(message in told for message in said)


def test_what_is_kept_already_is_not_written_over(
    capsys: pytest.CaptureFixture[str], raced: Path, tmp_path: Path
) -> None:
    folder = str(tmp_path / "kept")
    run(capsys, "check", str(raced), "--journals", folder)

    code, _, err = run(capsys, "check", str(raced), "--journals", folder)

    assert code == 2
    assert "impatient-1-A502-kitchen-of-guest.jsonl: there is a file already" in err


def test_a_spec_without_findings_keeps_nothing(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, _, err = run(capsys, "check", str(SPECS / "clocks" / "greeted.yaml"), "--journals", str(tmp_path / "kept"))

    assert (code, (tmp_path / "kept").exists()) == (0, False)
    assert "its sessions are in" not in err
