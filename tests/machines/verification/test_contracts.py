"""What rules promise about peers: how it is written, and that the rules that ship keep it in games that are played."""

from __future__ import annotations

import re
from importlib import import_module
from inspect import signature
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

import pytest

import rules.contracts
from machines.parser.loader import find, load, rules_functions, rules_modules, shipped
from machines.values import Peer
from machines.verification.abstract.contracts import ContractError, Watch, contracts_for, contracts_of, watched
from runtime.players.companions import companions
from tests.support.session_harness import Network

MODULES = [module.name for module in iter_modules(rules.contracts.__path__)]
ANN, BOB, EVE = Peer(0), Peer(1), Peer(2)


@pytest.mark.parametrize("name", MODULES)
def test_each_contract_is_one_of_a_rule_with_these_arguments(name: str) -> None:
    table = import_module(f"rules.contracts.{name}").CONTRACTS
    functions = rules_functions(import_module(f"rules.{name}"))

    assert contracts_of(name, table).keys() == {f"{name}.{head.partition('(')[0]}" for head in table}
    for head in table:
        rule, _, arguments = head.removesuffix(")").partition("(")
        assert tuple(signature(functions[rule]).parameters) == tuple(arguments.split(", "))


@pytest.mark.parametrize(
    ("head", "text", "why"),
    [
        ("eject", "marks player", "not written like a call"),
        ("eject(table, player)", "marks nobody", "names no argument 'nobody'"),
        ("eject(table, player)", "throws player out", "which is no contract"),
    ],
)
def test_a_contract_that_is_written_wrongly_is_refused(head: str, text: str, why: str) -> None:
    with pytest.raises(ContractError, match=why):
        contracts_of("game", {head: text})


def made(result: Any, text: str) -> Any:
    """Return a rule ``f(x, who)`` that returns a result, held to a contract."""
    module = ModuleType("game")

    def f(x: Any, who: Any = None) -> Any:
        return result(x, who) if callable(result) else result

    module.__dict__.update(f=f, __all__=["f"])
    return watched(module, contracts_of("game", {"f(x, who)": text}), Watch()).f


@pytest.mark.parametrize(
    ("text", "x", "good", "bad"),
    [
        ("one of x", (ANN, BOB), BOB, EVE),
        ("one of x", (ANN, BOB), ANN, (ANN, BOB)),
        ("all of x", (ANN, BOB), (BOB, ANN), (BOB,)),
        ("some of x", (ANN, BOB), (BOB,), (BOB, BOB)),
        ("pairs of x", (ANN, BOB, EVE), ((ANN, BOB), (ANN, EVE), (BOB, EVE)), ((BOB, ANN), (ANN, EVE), (BOB, EVE))),
        ("groups of x", (ANN, BOB, EVE), ((ANN, EVE),), ((ANN, BOB), (BOB, EVE))),
        ("groups of x", (ANN, BOB, EVE), (), ((ANN,), (BOB, EVE))),
        ("no peers", (ANN, BOB), ("ann", 1), (ANN, 1)),
        ("whether x is unmarked", (ANN, BOB), True, False),
        ("'OUT' if and only if x is marked", ANN, "IN", "OUT"),
        ("marked of x", (ANN, BOB), (), (ANN,)),
    ],
)
def test_a_rule_that_breaks_its_contract_is_found_out(text: str, x: Any, good: Any, bad: Any) -> None:
    assert made(good, text)(x) == good
    with pytest.raises(ContractError):
        made(bad, text)(x)


def test_a_rule_that_makes_a_peer_up_is_found_out() -> None:
    module = ModuleType("game")

    def f(x: Any) -> Any:
        return (*x, EVE)

    module.__dict__.update(f=f, __all__=["f"])
    with pytest.raises(ContractError, match="a peer that it was not given"):
        watched(module, {}, Watch()).f((ANN,))


def test_a_mark_stays_in_all_that_is_made_of_what_was_marked() -> None:
    module = ModuleType("game")

    def out(table: Any, player: Any) -> Any:
        return ("out", *table)

    def on(table: Any) -> Any:
        return ("on", *table)

    def playing(table: Any, player: Any) -> Any:
        return True

    module.__dict__.update(out=out, on=on, playing=playing, __all__=["out", "on", "playing"])
    table = {"out(table, player)": "marks player", "playing(table, player)": "true only if player is unmarked"}
    game = watched(module, contracts_of("game", table), Watch())

    after = game.on(game.out((ANN, BOB), ANN))
    assert game.playing(after, BOB)
    with pytest.raises(ContractError, match="playing"):
        game.playing(after, ANN)


WITH_RULES = [name for name in shipped() if re.search(r"^(rules|extends):", find(name).read_text(), re.MULTILINE)]


QUICK = {"second", "random", "illegal-later", "diagonal", "illegal", "hold-10", "bad-play", "bad-pick"}


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", WITH_RULES)
def test_the_rules_keep_their_contracts_in_games_that_are_played(name: str, seed: int) -> None:
    spec = load(name)
    modules = rules_modules(spec)
    contracts = contracts_for(spec, modules)
    watch = Watch()
    held = {module: watched(found, contracts, watch) for module, found in modules.items()}
    server, *_ = spec.listeners()
    client = next(role for role in spec.roles if spec.connects.get(role))
    network = Network(spec, server, held, seed=seed)
    kinds = [one for found in companions(spec, "players") for kind, one in found.PLAYERS.items() if kind in QUICK]

    def player(index: int) -> Any:
        strategies: dict[int, Any] = {}

        def decide(question: str, arguments: dict[str, Any]) -> Any:
            # Who does not know what to say says nothing: it is late, and so an offender.
            for at in range(len(kinds)):
                strategy = strategies.setdefault(at, kinds[(index + seed + at) % len(kinds)]("ann", seed))
                if hasattr(strategy, question):
                    try:
                        answer = getattr(strategy, question)(*arguments.values())
                    except Exception:
                        return None
                    return None if answer is ... else answer
            return None

        return decide

    names = ["ann", "bob", "eve"]
    clients = [network.join(client, player(index), {"name": text}, seed) for index, text in enumerate(names)]
    for step in range(400):
        if network.server.session.ended is not None:
            break
        if step == 30 + 20 * seed:
            network.cut(clients[seed])
        network.wait(5)

    assert network.server.session.ended is not None
    assert network.server.session.ended.failed is None
    assert watch.kept > 0
