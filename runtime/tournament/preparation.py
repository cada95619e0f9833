"""What all matches of an event share: its spec, rules and compiled roles, made once in the process they are forked of.

The fork server imports `runtime.tournament.prepared_fork`, which makes what is named in its environment. Where matches
are not forked, or of another spec, each makes its own.
"""

from __future__ import annotations

import gc
import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import ModuleType
from typing import Final, NewType

from machines.engine.compiler import Program
from machines.model import Spec
from machines.parser.loader import load, rules_modules
from runtime.players.companions import companions
from runtime.players.message_views import MessageViews
from runtime.sessions.match import compiled

VARIABLE: Final = "ACCORD_PREPARED"  # of the fork server's environment: recipes, as a list in JSON
Recipe = NewType("Recipe", str)

_made: dict[Recipe, Prepared] = {}


@dataclass(frozen=True, slots=True)
class Prepared:
    """A spec with its settings, the modules of its rules, and the roles of a game, compiled."""

    spec: Spec
    rules: Mapping[str, ModuleType]
    programs: Mapping[str, Program]


def recipe(spec: str, settings: Mapping[str, str], rules: Sequence[str], server: str, client: str) -> Recipe:
    """Return by what a match knows what is prepared for it."""
    return Recipe(json.dumps([spec, dict(settings), [*rules], server, client], sort_keys=True))


def prepared(of: Recipe) -> Prepared:
    """Return what was made of a recipe, or make it.

    Raises:
        SpecNotFound, SpecError, SettingError, RulesError: as for `load` and `rules_modules`.
    """
    if of in _made:
        return _made[of]
    name, settings, own, server, client = json.loads(of)
    spec = load(name, settings, own)
    rules = rules_modules(spec, own)
    return Prepared(spec, rules, compiled(spec, rules, server, client))


def prepare() -> None:
    """Make what is named in the environment, for all that are forked of this process; what fails is told by a match."""
    for of in json.loads(os.environ.pop(VARIABLE, "[]")):
        if not json.loads(of)[2]:  # modules that somebody wrote are imported in the match's own process
            with suppress(Exception):
                _made[of] = prepared(of)
                companions(_made[of].spec, "players")
                MessageViews(_made[of].spec)
    gc.collect()
    gc.freeze()  # else each match copies what is here as it counts it
