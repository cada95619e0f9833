"""Who plays the games in which a player or a module of rules is looked at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import ModuleType

from machines.parser.loader import rules_modules
from runtime.commands.match_setup import MatchSetup, cast
from runtime.commands.options import loaded


def game_of(spec: str, kinds: Sequence[str], rules: Sequence[str]) -> tuple[MatchSetup, Mapping[str, ModuleType]]:
    """Return who plays a spec, named or by its path, and its modules of rules.

    As few play as the game allows, the first of them of ``kinds``, the rest of the game's own choice. ``rules`` are
    modules that are allowed though they are not shipped.

    Raises:
        CommandError, SpecError, SpecNotFound, RulesError, UnknownPlayerError: it cannot be played.
    """
    read = loaded(spec, {}, rules)
    setup = cast(read, {}, None, kinds, None)
    return setup, rules_modules(setup.spec, rules)
