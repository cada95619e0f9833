"""What stands beside a spec's rules modules: its game's players and views."""

from __future__ import annotations

import importlib
import importlib.util
from types import ModuleType

from machines.model import Spec
from machines.parser.loader import allowed_rules, rules_module, shipped


def companions(spec: Spec, folder: str) -> list[ModuleType]:
    """Return what stands beside a spec's rules modules in ``folder`` (``players`` or ``views``), in the spec's order.

    For the module ``rules.tsuro`` that is ``rules.players.tsuro``; a rules module without one is passed over, and so
    is one that is allowed for this run only (``--rules``): its players are named as ``python:MODULE:CLASS``. A game
    that ships and needs no rules has its own under its name: ``rules.views.sticks``.
    """
    found = []
    known = allowed_rules()
    for name, _ in spec.rules:
        if name not in known:
            continue
        package, _, module = rules_module(spec, name).__name__.rpartition(".")
        path = f"{package}.{folder}.{module}" if package else f"{folder}.{module}"
        try:
            there = importlib.util.find_spec(path) is not None
        except ModuleNotFoundError:  # there is no such folder
            there = False
        if there:
            found.append(importlib.import_module(path))
    own = f"rules.{folder}.{spec.protocol}"  # of a game that needs no rules
    if not spec.rules and spec.protocol in shipped() and importlib.util.find_spec(own) is not None:
        found.append(importlib.import_module(own))
    return found
