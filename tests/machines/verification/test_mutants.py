"""Faults that a script puts into specs: the same seed puts the same ones in, and checks and exploration find them."""

from __future__ import annotations

from collections import Counter
from fnmatch import fnmatchcase

import pytest

from benchmarks.mutation_operators import OPERATORS, Mutant, mutants, sites
from benchmarks.mutation_score import BY, EQUIVALENT, Bench, Fate, table
from machines.parser.loader import load, shipped

# What no data decides: on these, every mutant of Tsuro is to be caught before anything runs.
SURE = (
    "drop a transition",
    "drop a timeout",
    "drop a fault",
    "drop a send",
    "drop a broadcast",
    "another state",
    "send another",
    "read another",
    "rename a message",
    "swap a type",
)


@pytest.fixture(scope="module")
def bench() -> Bench:
    return Bench(load("tsuro"))


@pytest.mark.parametrize("name", shipped())
def test_each_spec_that_ships_has_forty_mutants_and_each_is_another_spec(name: str) -> None:
    spec = load(name)
    made = mutants(spec, 1)

    assert len(made) >= 40
    assert all(mutant.spec != spec for mutant in made)
    assert len({str(mutant) for mutant in made}) > len(made) // 2
    for mutant in made:
        same = {role for role in spec.roles if mutant.spec.roles[role] == spec.roles[role]}
        assert same >= set(spec.roles) - {mutant.role}, str(mutant)


def test_the_same_seed_makes_the_same_mutants_and_another_seed_others() -> None:
    spec = load("tsuro")

    assert mutants(spec, 3, 40) == mutants(spec, 3, 40)
    assert mutants(spec, 3, 40) != mutants(spec, 4, 40)


def test_of_few_mutants_each_operator_that_has_any_has_one() -> None:
    spec = load("tsuro")
    there = {mutant.operator for mutant in mutants(spec)}

    assert {mutant.operator for mutant in mutants(spec, most=len(there))} == there
    assert there <= set(OPERATORS)


def test_a_part_put_back_where_it_was_makes_the_same_machine() -> None:
    machine = load("tsuro").roles["server"].machines["main"]

    assert all(site.rebuild(site.value) == machine for site in sites(machine))


@pytest.mark.parametrize(("name", "role", "where", "what"), [entry[:4] for entry in EQUIVALENT])
def test_what_is_listed_as_the_same_protocol_is_made(name: str, role: str, where: str, what: str) -> None:
    made = [mutant for mutant in mutants(load(name)) if fnmatchcase(mutant.role, role)]

    assert any(fnmatchcase(mutant.where, where) and fnmatchcase(mutant.what, what) for mutant in made)


def test_a_spec_without_a_fault_is_caught_by_nothing(bench: Bench) -> None:
    fate = bench.judge(Mutant("none", "server", "nowhere", "nothing", bench.spec))

    assert (fate.by, fate.told) == ("nothing", ())


@pytest.mark.parametrize("operator", SURE)
def test_what_no_data_decides_is_caught_before_anything_runs(bench: Bench, operator: str) -> None:
    of_it = [mutant for mutant in mutants(bench.spec) if mutant.operator == operator][:2]
    fates = [bench.judge(mutant, games=False) for mutant in of_it]

    assert fates
    assert {fate.by for fate in fates} <= {"checks", "exploration"}, [str(fate.mutant) for fate in fates]
    assert all(code.startswith("A") for fate in fates for code in fate.told)


def test_what_only_data_shows_a_game_shows(bench: Bench) -> None:
    (mutant,) = [
        mutant
        for mutant in mutants(bench.spec)
        if mutant.operator == "drop a guard" and "server.initial_placement" in mutant.where
    ]

    fate = bench.judge(mutant)
    assert (fate.by, fate.told) == ("games", ("A600", "A602"))


def test_the_table_counts_each_mutant_once(bench: Bench) -> None:
    some = mutants(bench.spec, most=8)
    fates = [Fate("tsuro", mutant, by, (), 0.0) for mutant, by in zip(some, [*BY, *BY], strict=False)]
    count = Counter(fate.by for fate in fates)

    *_, row, last = table(fates, [("half", fates[:4]), ("none", [])], "what")

    assert row.startswith("| half | 4 |")
    assert last.startswith(f"| all | {len(fates)} | {count['checks']} (")
    assert "none" not in row + last
