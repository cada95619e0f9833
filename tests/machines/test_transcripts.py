"""What sessions of small specs do, written down input by input; ``--rewrite`` writes it anew, to be read in the diff.

A transcript is a text: first ``spec NAME ROLE``, then inputs, each a line that begins with ``>``, and behind each what
the session did with it. A new one is begun by writing its inputs down and running this file with ``--rewrite``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from machines.effects import Ask, Cancel, Drop, Effect, Ended, Note, Pause, Received, Resume, Send, Violation
from machines.parser.loader import load
from tests.support.session_harness import Run

FOLDER = Path(__file__).with_name("transcripts")
SPECS = Path(__file__).resolve().parents[1] / "specs"
TRANSCRIPTS = sorted(FOLDER.glob("*.txt"))


@pytest.fixture(autouse=True)
def places_are_named_from_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(SPECS.parents[1])


def joined(run: Run, words: str) -> None:
    run.join()


def said(run: Run, words: str) -> None:
    peer, _, value = words.partition(" ")
    run.say(int(peer), json.loads(value))


def wrote(run: Run, words: str) -> None:
    peer, _, text = words.partition(" ")
    run.write(int(peer), json.loads(text).encode("latin-1"))


def answered(run: Run, words: str) -> None:
    message, fields = json.loads(words)
    run.answer((message, fields))


INPUTS: dict[str, Callable[[Run, str], None]] = {
    "join": joined,
    "say": said,
    "write": wrote,
    "lose": lambda run, words: run.lose(int(words)),
    "wait": lambda run, words: run.wait(float(words)),
    "answer": answered,
    "give-up": lambda run, words: run.give_up(words),
}


def told(effect: Effect) -> str:
    """Return what a session asked for, in words that no change of a class changes."""
    match effect:
        case Send(peer, data, message):
            return f"send {message} to {peer}: {data!r}"
        case Drop(peer, why):
            return f"drop {peer}: {why}"
        case Pause(peer):
            return f"read no more of {peer}"
        case Resume(peer):
            return f"read on from {peer}"
        case Ask(number, question, arguments, messages, seconds):
            return f"ask {number}: {question}{dict(arguments)} within {seconds} s for {' or '.join(messages)}"
        case Cancel(number):
            return f"ask {number} no more"
        case Received(peer, message, fields):
            return f"took {message} of {peer}: {fields}"
        case Violation():
            return f"violation of {effect.peer}: {effect.kind} {effect.rule} {effect.why}".rstrip()
        case Note(level, text, peer):
            return f"{level}{'' if peer is None else f' of {peer}'}: {text}"
        case Ended(value, failed):
            return f"end with {value!r}" if failed is None else f"fail: {failed}"
    raise AssertionError(effect)


def transcript(text: str) -> Iterator[str]:
    """Yield the lines of a transcript as its inputs make them now."""
    head, *inputs = [line for line in text.splitlines() if line.startswith(("spec ", "> "))]
    _, name, role = head.split()
    run = Run(load(str(SPECS / f"{name}.yaml")), role)
    yield head
    seen = 0
    for line in ("", *inputs):
        if line:
            word, _, words = line.removeprefix("> ").partition(" ")
            INPUTS[word](run, words)
            yield ""
            yield line
        yield from (f"  {told(effect)}" for effect in run.effects[seen:])
        yield f"  now at {run.now:g} s: {run.state()}"
        seen = len(run.effects)


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
def test_a_session_does_what_is_written_down(path: Path, pytestconfig: pytest.Config) -> None:
    written = path.read_text(encoding="utf-8")

    now = "\n".join(transcript(written)) + "\n"

    if pytestconfig.option.rewrite:
        path.write_text(now, encoding="utf-8")
    else:
        assert now == written, "if it is meant to be so: --rewrite, and read the diff"


def test_a_transcript_that_differs_by_one_effect_is_not_the_same() -> None:
    text = (FOLDER / "login-welcome.txt").read_text(encoding="utf-8")

    assert list(transcript(text.replace("sesame", "open"))) != list(transcript(text))


def test_what_is_written_anew_is_the_same_however_often() -> None:
    effects: dict[str, Any] = {}
    for path in TRANSCRIPTS:
        once = "\n".join(transcript(path.read_text(encoding="utf-8")))
        effects[path.stem] = once
        assert "\n".join(transcript(once)) == once

    words = {
        line.removeprefix("> ").split()[0] for text in effects.values() for line in text.splitlines() if line[:1] == ">"
    }
    assert words >= {"join", "say", "write", "lose", "wait", "answer"}
