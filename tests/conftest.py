"""What is run: by default a covering part of each matrix and a smoke of what is slow; with ``--all`` everything.

A test marked ``matrix`` is run for every pair of values of its parameters, and for a sample of all other cases. The
sample is drawn by a seed that the head of the report names; ``--seed N`` draws it again. A test marked ``whole``, or a
case of it so marked, is left to ``--all``, which ``.ci/run`` gives. What takes minutes, as to judge a program for each
role of all specs, is marked ``release`` and left to ``--release``, which runs all the rest, too. ``--rewrite`` writes
transcripts, and what pages show of commands, anew.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from random import Random, SystemRandom
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, settings

from tests.covering import covering, sample

SEEDS: Final = 1_000_000
SHARE: Final = 0.05
"""How much of what the covering part leaves out is drawn."""
SHARING: Final = ("tests/machines/verification/", "tests/diagrams/")
"""Folders whose files share what is made once: verdicts, pictures."""
ALONE: Final = ("tests/runtime/conforming/", "tests/runtime/tournament/test_events", "tests/runtime/test_ways_to_lose")
"""Files whose tests share nothing, and wait for programs: each may run on any worker, so that none has them all."""

# How long an example took says how busy the machine is: tests of time measure themselves.
settings.register_profile("accord", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("accord")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("accord")
    group.addoption("--all", action="store_true", dest="everything", help="run everything: whole matrices, slow tests")
    group.addoption("--release", action="store_true", help="run everything, and what takes minutes")
    group.addoption("--seed", type=int, default=None, help="draw the sample of the matrices by this seed")
    group.addoption("--rewrite", action="store_true", help="write transcripts and shown output anew, do not compare")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "matrix(*names, strength=2): a covering part by default; all cases with --all")
    config.addinivalue_line("markers", "whole: run with --all only")
    config.addinivalue_line("markers", "release: run with --release only")
    config.option.everything = config.option.everything or config.option.release
    given = getattr(config, "workerinput", None)
    if given is not None:
        config.option.seed = given["seed"]
    elif config.option.seed is None:
        config.option.seed = SystemRandom().randrange(SEEDS)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Give a worker of xdist the seed: all must draw the same sample."""
    node.workerinput["seed"] = node.config.option.seed


def pytest_report_header(config: pytest.Config) -> str:
    if config.option.everything:
        return "all cases (--all)"
    return f"a part of each matrix, drawn by --seed {config.option.seed}; --all runs everything"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.option.release:
        kept = {item for item in items if not any(item.iter_markers("release")) or _was_asked_for(item)}
        if not config.option.everything:
            kept &= _kept(items, config.option.seed)
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = [item for item in items if item in kept]
    for item in items:
        # The tests of a file share what it has made once; a matrix is spread over the workers.
        if not any(item.iter_markers("xdist_group")) and not any(item.iter_markers("matrix")):
            file = item.nodeid.partition("::")[0]
            if file.startswith(ALONE):
                continue
            group = next((folder for folder in SHARING if file.startswith(folder)), file)
            item.add_marker(pytest.mark.xdist_group(group))


def _kept(items: list[pytest.Item], seed: int) -> set[pytest.Item]:
    """Return what is run by default. A test that was asked for by its full name is, whatever its marks say."""
    kept = {item for item in items if not any(item.iter_markers("whole")) or _was_asked_for(item)}
    matrices: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item in kept and any(item.iter_markers("matrix")) and not _was_asked_for(item):
            matrices[item.nodeid.partition("[")[0]].append(item)
    for name, cases in matrices.items():
        kept -= set(cases)
        kept |= set(_part(cases, Random(f"{seed} {name}")))
    return kept


def _was_asked_for(item: pytest.Item) -> bool:
    return any(item.nodeid.endswith(str(word).rpartition("/")[2]) for word in item.config.args if "::" in str(word))


def _part(cases: list[pytest.Item], random: Random) -> Iterator[pytest.Item]:
    marker = next(cases[0].iter_markers("matrix"))
    rows = [_row(case, marker.args) for case in cases]
    chosen = covering(rows, marker.kwargs.get("strength", 2))
    for index in sorted({*chosen, *sample(range(len(rows)), chosen, SHARE, random)}):
        yield cases[index]


def _row(case: pytest.Item, names: tuple[str, ...]) -> tuple[Any, ...]:
    """Return what a case was given, of all parameters or of those that the mark names."""
    given: dict[str, Any] = getattr(case, "callspec").params  # noqa: B009  pytest does not tell that a case has it
    return tuple(_key(given[name]) for name in names or sorted(given))


def _key(value: Any) -> Any:
    try:
        hash(value)
    except TypeError:
        return id(value)
    return value
