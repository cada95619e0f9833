"""How a match went, as ``outcome`` beside a ``return`` says it: read from values of the spec, which may be any."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from machines.effects import MatchOutcome
from machines.engine.actions import peers


def match_outcome(said: Mapping[str, Any]) -> MatchOutcome:
    """Return an outcome with the seat numbers of its peers.

    ``said`` has ``ranking``, a list of peers or groups of peers, best first; maybe ``faults``, a peer or a list of
    peers, and ``points``, pairs of a peer and a number. Empty groups do not count.

    Raises:
        TypeError: it is anything else.
        ValueError: a peer has two places, or points twice.
    """
    groups = [peers(group) for group in _list(said["ranking"], "ranking")]
    ranking = tuple([tuple([peer.number for peer in group]) for group in groups if group])
    _once([number for group in ranking for number in group], "ranking")
    faults = tuple(dict.fromkeys(peer.number for peer in peers(said.get("faults") or ())))
    points = tuple([_points(pair) for pair in _list(said.get("points") or (), "points")])
    _once([number for number, _ in points], "points")
    return MatchOutcome(ranking, faults, points)


def _list(value: Any, key: str) -> Any:
    if isinstance(value, tuple | list):
        return value
    raise TypeError(f"the {key} of an outcome is a list, not {value!r}")


def _points(pair: Any) -> tuple[int, float]:
    if isinstance(pair, tuple | list) and len(pair) == 2 and type(pair[1]) in (int, float):
        (peer,) = peers(pair[0])
        return peer.number, pair[1]
    raise TypeError(f"the points of an outcome are pairs of a peer and a number, not {pair!r}")


def _once(numbers: list[int], key: str) -> None:
    twice = next((number for number in numbers if numbers.count(number) > 1), None)
    if twice is not None:
        raise ValueError(f"peer {twice} stands twice in the {key} of an outcome")
