"""How many faults in a spec are found before it runs, and by what: mutants of each spec that ships, each judged.

    python -m benchmarks.mutation_score [--spec tsuro,trains] [--seed 0] [--most 45] [--quick] [--json] [--missed]

For each mutant (`benchmarks.mutation_operators`), until something is found:

1. the checks of one role, `machines.checks.checker`: caught by a code below A500
2. the exploration with one, two and, where that is quick, three clients: a code A5xx. The role with the fault runs
   against the others as they were
3. games in memory (`runtime.simulation`), with one seed: a code A6xx, as ``accord check --games 1`` tells it
4. the same games beside those of the spec without the fault: one goes another way, which is what ``--baseline`` tells

A mutant that nothing catches is the same protocol, or one that is missed. `EQUIVALENT` says of which kinds it is known
that they are the same, and why; of the rest ``--missed`` prints each.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final, Literal, get_args

from benchmarks.mutation_operators import OPERATORS, Mutant, mutants
from machines.checks.checker import check
from machines.model import Spec
from machines.parser.loader import load, rules_modules, shipped
from machines.verification.abstract.contracts import contracts_for
from machines.verification.verify import verify
from runtime.simulation.campaign import Campaign, RunLog
from runtime.simulation.snapshots import Games, changes, kept

MOST = 45
QUICK = 12
CONFIGURATIONS_MAX = 20_000
CLIENTS = ((1, 2), (3,))  # the second only where the first finds nothing, and comes to no more than
FEW = 300  # states

By = Literal["checks", "exploration", "games", "baseline", "equivalent", "nothing"]
BY: Final[tuple[By, ...]] = get_args(By)

# Of those that nothing catches: (spec, role, where, what) as patterns, and why they are the same protocol. What can be
# seen to be the same without knowing the protocol is not made in the first place: `benchmarks.mutation_operators`.
EQUIVALENT: Final = (
    ("santorini-official", "*", "*.pausing (.invalid)", "*", "nobody is awaited there, so no message is invalid"),
    ("smtp", "server", "server.main (*)", "no 'drop'", "the session returns at once, and that closes its connection"),
    ("trains-official", "*", "server.tell_end.*", "no 'drop'", "nothing follows but the end, which closes all"),
    ("tsuro", "client", "wire", "no 'early'", "that of the wire is for peers that come to a role: nobody does here"),
    ("sticks", "*", "host.turn.asked (TAKE)", "< is <=", "the branch before has taken =="),
    ("sticks", "*", "host.turn.asked (TAKE)", "the second branch first", "== and < exclude one another"),
    ("sticks", "*", "host.sign_up.named", "no 'within'", "the door shuts as soon, and ends all sign-ups"),
    (
        "redis",
        "*",
        "client.main.leaving (OK)",
        "to deciding again*",
        "the connection is closed: its player is not heard",
    ),
)


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of a mutant: by what it was caught, the codes or the scene that did it, and the seconds it took."""

    spec: str
    mutant: Mutant
    by: By
    told: tuple[str, ...]
    seconds: float


class Bench:
    """One spec, with what judging its mutants needs."""

    def __init__(self, spec: Spec, most: int = CONFIGURATIONS_MAX) -> None:
        self.spec = spec
        self.most = most
        self.rules = rules_modules(spec)
        self.contracts = contracts_for(spec, self.rules)
        self._baseline: Games | None = None

    @property
    def baseline(self) -> Games:
        """The games of the spec, played once one is needed."""
        if self._baseline is None:
            courses = [course for course, _ in Campaign(self.spec, self.rules).games(1)]
            self._baseline = kept(self.spec.protocol, 1, courses)
        return self._baseline

    def judge(self, mutant: Mutant, *, games: bool = True) -> Fate:
        """Say by what a mutant is caught; ``games`` says whether they may be played to find out."""
        began = time.perf_counter()
        by, told = self._judged(mutant, games)
        return Fate(self.spec.protocol, mutant, by, tuple(sorted(set(told))), time.perf_counter() - began)

    def _judged(self, mutant: Mutant, games: bool) -> tuple[By, Iterable[str]]:
        if problems := check(mutant.spec, self.rules):
            return "checks", (problem.code for problem in problems)
        unknown: list[str] = []
        for clients in CLIENTS:
            verdict = verify(
                self.spec, self.contracts, clients=clients, most=self.most, specs={mutant.role: mutant.spec}
            )
            if verdict.findings:
                return "exploration", (finding.code for finding in verdict.findings)
            unknown = list(verdict.beyond)  # of the most clients that were tried
            if max(verdict.states) > FEW:
                break
        if games and (found := self._played(mutant)) is not None:
            return found
        for name, role, where, what, why in EQUIVALENT:
            here = ((self.spec.protocol, name), (mutant.role, role), (mutant.where, where), (mutant.what, what))
            if all(fnmatchcase(text, pattern) for text, pattern in here):
                return "equivalent", (why,)
        return "nothing", unknown

    def _played(self, mutant: Mutant) -> tuple[By, Iterable[str]] | None:
        """Return what its games show of a mutant: something wrong in one of them, or that one goes another way."""
        try:
            house = Campaign(self.spec, self.rules, {mutant.role: mutant.spec})
        except Exception as error:  # what the engine can not compile it refuses, in whatever way
            return "games", (f"compiled: {error}",)
        courses: list[RunLog] = []
        for course, troubles in house.games(1):
            if troubles:
                return "games", (trouble.code for trouble in troubles)
            courses.append(course)
        other = changes(self.baseline, kept(self.spec.protocol, 1, courses))
        return ("baseline", (other[0].scene,)) if other else None


def judged(names: Sequence[str], seed: int, most: int | None) -> Iterator[Fate]:
    """Yield the fate of each mutant of the specs of these names."""
    for name in names:
        bench = Bench(load(name))
        for mutant in mutants(bench.spec, seed, most):
            yield bench.judge(mutant)


def table(fates: Sequence[Fate], rows: Iterable[tuple[str, Sequence[Fate]]], first: str) -> Iterator[str]:
    """Yield a table in Markdown: a row for each group of mutants, its last for all."""
    yield f"| {first} | mutants | {' | '.join(BY)} |"
    yield "|---" + "|---:" * (1 + len(BY)) + "|"
    for name, those in (*rows, ("all", fates)):
        if those:
            count = Counter(fate.by for fate in those)
            yield f"| {name} | {len(those)} | " + " | ".join(_share(count[by], len(those)) for by in BY) + " |"


def _share(count: int, all_of_them: int) -> str:
    return f"{count} ({100 * count / all_of_them:.0f} %)" if count else ""


def main() -> None:
    """Judge the mutants, and print who caught how many."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spec", default=",".join(shipped()), help="names, with commas")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--most", type=int, default=MOST, help="mutants of each spec; 0 for all of them")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} of each spec")
    parser.add_argument("--json", action="store_true", help="a line for each mutant, at once")
    parser.add_argument("--missed", action="store_true", help="print each that no check caught")
    given = parser.parse_args()
    fates = []
    for fate in judged(given.spec.split(","), given.seed, QUICK if given.quick else given.most or None):
        fates.append(fate)
        if given.json:
            print(json.dumps(_as_json(fate)), flush=True)
    if given.json:
        return
    by_operator = [(one, [fate for fate in fates if fate.mutant.operator == one]) for one in OPERATORS]
    by_spec = [(one, [fate for fate in fates if fate.spec == one]) for one in dict.fromkeys(f.spec for f in fates)]
    print(*table(fates, by_operator, "operator"), "", *table(fates, by_spec, "spec"), sep="\n")
    codes = Counter(code for fate in fates if fate.by in ("checks", "exploration", "games") for code in fate.told)
    print("", "codes: " + ", ".join(f"{code} {count}" for code, count in codes.most_common()), sep="\n")
    real = [fate for fate in fates if fate.by != "equivalent"]
    caught = [fate for fate in real if fate.by != "nothing"]
    print(f"caught: {len(caught)} of {len(real)} that are no equivalents, {100 * len(caught) / len(real):.1f} %")
    print(f"{sum(fate.seconds for fate in fates):.0f} s")
    if given.missed:
        for fate in fates:
            if fate.by == "nothing":
                print(f"{fate.spec}: {fate.mutant} [{fate.by}: {', '.join(fate.told)}] {fate.seconds:.1f} s")


def _as_json(fate: Fate) -> dict[str, object]:
    return {
        "spec": fate.spec,
        "operator": fate.mutant.operator,
        "role": fate.mutant.role,
        "where": fate.mutant.where,
        "what": fate.mutant.what,
        "by": fate.by,
        "told": fate.told,
        "seconds": round(fate.seconds, 3),
    }


if __name__ == "__main__":
    main()
