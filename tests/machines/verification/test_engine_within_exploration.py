"""What a session does, the exploration knows of: each step of real runs is held to it, and a changed rule is noticed.

`tests/specs/rules` has small servers, each for some rules of the engine that the exploration has to know: who hears,
what is early, whom a fault reaches, what `stay` looks at again. Their clients may say anything at any time.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from machines.model import Spec
from machines.parser.loader import load
from machines.semantics.hearing import layers
from machines.verification.abstract.inputs import AbstractInterpreter
from machines.verification.abstract.process import Process
from machines.verification.abstract.state import AbstractCall
from tests.support import session_harness, unruly
from tests.support.abstract_twin import MissedError, Twin, TwinnedSession, processes
from tests.support.random_inputs import RandomInputs

SPECS = Path(__file__).resolve().parents[2] / "specs"
RULES = sorted((SPECS / "rules").glob("*.yaml"))
# Messages of `keys` are lists in frames.
FILES = sorted(
    path
    for path in [*SPECS.glob("*.yaml"), *SPECS.glob("*/*.yaml")]
    if path.parent.name in ("specs", "clocks", "correct") and path.stem != "keys"
)
CLIENTS = 3
RUNS, STEPS = 40, 60


@cache
def _explored(path: Path) -> tuple[Spec, dict[str, Process]]:
    spec = load(str(path))
    return spec, processes(spec, CLIENTS)


def _followed(spec: Spec, parts: dict[str, Process], role: str, runs: int) -> int:
    return sum(RandomInputs(spec, role, parts, number).run(STEPS) for number in range(runs))


@pytest.mark.parametrize("path", RULES, ids=lambda path: path.stem)
def test_a_server_for_some_rules_does_nothing_that_is_not_explored(path: Path) -> None:
    spec, parts = _explored(path)

    assert _followed(spec, parts, "server", RUNS) > 2 * RUNS


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_each_role_of_a_spec_does_nothing_that_is_not_explored(path: Path) -> None:
    spec, parts = _explored(path)

    for role in spec.roles:
        assert _followed(spec, parts, role, RUNS) > RUNS, role


@pytest.mark.matrix
@pytest.mark.parametrize("name", unruly.SEEDS)
@pytest.mark.parametrize("number", range(0, 30, 3))  # of which all play one game at a time: see `unruly.play`
def test_a_game_with_bad_players_does_nothing_that_is_not_explored(
    name: str, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts: dict[str, Process] = {}
    twins: list[Twin] = []

    class Watched(TwinnedSession):
        def __init__(self, program: Any, **how: Any) -> None:
            if not parts:
                parts.update(processes(program.spec, 5))
            role = program.role.name
            twins.append(Twin(program.spec, role, parts[role]))
            super().__init__(program, twins[-1], **how)

    monkeypatch.setattr(session_harness, "Session", Watched)
    unruly.play(name, number)

    assert sum(len(watched.inputs) for watched in twins) > 10


# -- each rule, or answer to what a rule asks, is changed in the exploration only, and some run has to show it --------


def _tell_all_who_hear(walk: Any, call: AbstractCall, event: str, seat: int | None, reason: str, why: str = "") -> None:
    """Ask layers behind a state for a fault though they do not hear the peer."""
    for holder, layer in layers(call):
        if event in layer.events and walk.react(holder, layer, event, seat, reason):
            return
    walk._end("nobody answers")


def _tell_no_loss(original: Callable[..., None]) -> Callable[..., None]:
    def fault(walk: Any, call: AbstractCall, event: str, *how: Any) -> None:
        if event != ".closed":
            original(walk, call, event, *how)

    return fault


def _stay_as_it_is(walk: Any, call: AbstractCall, *, again: bool) -> None:
    """Do not look again at whom a state awaits."""
    if again:
        call.fired = ()


def _keep_early(walk: Any, seat: int) -> str:
    return "keep"


def _hear_with_states_only(walk: Any, call: AbstractCall, layer: Any, seat: int, *, held: bool) -> bool:
    return bool(held and layer.awaits is None)


def _tell_each_time(walk: Any, call: AbstractCall, seat: int) -> None:
    walk.pending.append((call, "closed", seat, "closed"))


def _close_nobody(walk: Any, pending: dict[int, AbstractCall]) -> None:
    """Leave connected who is signing up when the sign-up ends."""


def _mark_nobody(walk: Any, seat: int, reason: str) -> None:
    """Throw away what nobody asked for, and think nothing of it."""


def _wake_once_only(original: Callable[..., bool]) -> Callable[..., bool]:
    """Take a branch that stays only once, though the condition has not held in between."""

    def wakes(walk: Any) -> bool:
        fired = {call: call.fired for call in walk.calls()}
        woken = original(walk)
        for call, before in fired.items():
            if call.alive:
                call.fired = tuple(dict.fromkeys((*before, *call.fired)))
        return woken

    return wakes


def _give_back_as_it_is(walk: Any, started: AbstractCall) -> None:
    """Tell nobody that a peer comes back, or that it was lost."""
    assert started.parent is not None
    started.parent.started.remove(started)
    started.lent = ()


CHANGES: dict[str, tuple[str, Any]] = {
    "a fault asks layers that do not hear the peer": ("fault", _tell_all_who_hear),
    "stay does not look again": ("_stay", _stay_as_it_is),
    "early messages are always kept": ("early_of", _keep_early),
    "a fault of a sign-up goes on outward": ("is_sign_up", False),
    "an always hears nobody by itself": ("hears", _hear_with_states_only),
    "who is dropped is told of twice": ("_tell_closed", _tell_each_time),
    "a loss is answered by nobody": ("fault", _tell_no_loss(AbstractInterpreter.fault)),
    "who signs up stays when the sign-up ends": ("_close_pending", _close_nobody),
    "a loop has no item": ("advance", lambda walk, call: False),
    "who speaks early is not marked": ("mark", _mark_nobody),
    "who is lent is heard by all": ("lent_to", lambda walk, seat: None),
    "a loss while one was lent is told to nobody": ("give_back", _give_back_as_it_is),
    "who started a machine is not told of its end": ("tell_ended", lambda walk, call, layer, result, reason: False),
    "nobody is seated": ("is_gone", lambda walk, seat: True),
    "nobody is woken": ("_wakes", lambda walk: False),
    "who was woken is woken no more": ("_wakes", _wake_once_only(AbstractInterpreter._wakes)),
}


# What shows in the runs of one spec, and how many of them it takes.
SHOWN_IN: dict[str, tuple[str, int]] = {"_wakes": ("woken", RUNS), "give_back": ("started", 5 * RUNS)}


def _follow_all(only: str = "", runs: int = RUNS) -> None:
    """Follow servers for all rules, one run of each in turn: what is seen in some of them is soon seen."""
    specs = [load(str(path)) for path in RULES if only in path.stem]
    parts = [processes(spec, CLIENTS) for spec in specs]
    for number in range(runs):
        for spec, part in zip(specs, parts, strict=True):
            RandomInputs(spec, "server", part, number).run(STEPS)


@pytest.mark.parametrize("change", CHANGES)
def test_a_rule_that_differs_is_noticed(change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, changed = CHANGES[change]
    changed_in = AbstractCall if name == "is_sign_up" else AbstractInterpreter
    assert hasattr(changed_in, name)
    monkeypatch.setattr(changed_in, name, changed)

    with pytest.raises((MissedError, AssertionError)):
        _follow_all(*SHOWN_IN.get(name, ()))


def test_a_guess_that_is_not_made_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(AbstractInterpreter, "_some", lambda walk, **_: None)  # what a message carries is nothing

    with pytest.raises(MissedError):
        _follow_all()
