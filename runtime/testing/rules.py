"""Whether a module of rules conforms: its functions are pure, never raise, keep to their contracts and to values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from inspect import isfunction
from types import ModuleType
from typing import Any

from machines.values import FreezeError, freeze
from machines.verification.abstract.contracts import Contract, ContractError, Watch, contracts_for, watched
from runtime.simulation.local_games import LocalGames
from runtime.testing import expect
from runtime.testing.games import game_of


def check_rules(
    spec: str, *, rules: Sequence[str] = (), kinds: Sequence[str] = (), seeds: Iterable[int] = range(3)
) -> dict[str, int]:
    """Hold the rules of a spec to what rules must keep; return how often each was called, by ``module.rule``.

    Whole games of the spec are played in memory, one with each seed. Each call is made twice: what it returns must be
    the same, a value of the spec language, and as the module's CONTRACTS say; what it was given must not change; and
    nothing may make it raise. ``rules`` are modules that are allowed though they are not shipped, ``kinds`` the kinds
    of the first players: ``random`` makes moves that are not legal.

    Raises:
        NonconformanceError: they do not conform.
        CommandError, SpecError, SpecNotFound, RulesError, UnknownPlayerError: the spec cannot be played in memory.
    """
    setup, modules = game_of(spec, kinds, rules)
    looked_at = _LookedAt(contracts_for(setup.spec, modules))
    games = LocalGames(
        setup.spec,
        {name: looked_at.module(name, module) for name, module in modules.items()},
        server=setup.server,
        client=setup.client,
        names=setup.names,
        kinds=setup.kinds,
    )
    for seed in seeds:
        looked_at.watch = Watch()
        games.play(seed)
        expect(not looked_at.faults, f"with seed {seed}: {next(iter(looked_at.faults), '')}")
    expect(bool(looked_at.calls), f"{spec} called none of its rules: the games show nothing")
    return looked_at.calls


class _LookedAt:
    """Modules of rules whose calls are looked at."""

    def __init__(self, contracts: Mapping[str, Contract]) -> None:
        self._contracts = contracts
        self.watch = Watch()
        self.calls: dict[str, int] = {}
        self.faults: dict[str, None] = {}

    def module(self, name: str, module: ModuleType) -> ModuleType:
        """Return a module with the functions of another, looked at."""
        found = watched(module, {}, Watch())  # which knows what is exported
        for function, value in list(vars(found).items()):
            if isfunction(value):
                setattr(found, function, self._rule(f"{name}.{function}", getattr(module, function)))
        return found

    def _rule(self, rule: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def called(*arguments: Any) -> Any:
            self.calls[rule] = self.calls.get(rule, 0) + 1
            given = repr(arguments)
            try:
                result = function(*arguments)
                again = function(*arguments)
            except Exception as error:
                self._fault(rule, f"raised {type(error).__name__}: {error}")
                raise
            if repr(arguments) != given:
                self._fault(rule, f"changed what it was given: {given[:200]}")
            if result != again:
                self._fault(rule, f"is not pure: of the same arguments it made {result!r}, then {again!r}")
            try:
                freeze(result)
                self.watch.judge(self._contracts.get(rule), rule, arguments, result)
            except FreezeError as error:
                self._fault(rule, f"returned what is no value: {error}")
            except ContractError as error:
                self._fault(rule, f"broke its contract: {error}")
            return result

        return called

    def _fault(self, rule: str, text: str) -> None:
        self.faults.setdefault(f"{rule} {text}")
