"""What a person may choose by clicking on a picture: its spots, and which of them lead to which answer."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Answer = tuple[str, Any]  # (what it does in words, the answer)


@dataclass(frozen=True, slots=True)
class Spot:
    """A place of the picture that can be clicked, in its pixels.

    ``label`` says what it is, ``what`` what one chooses with it and others like it: where to begin, a tile to lay.
    """

    x: float
    y: float
    width: float
    height: float
    label: str
    what: str


@dataclass(frozen=True, slots=True)
class Step:
    """One of the things that an answer decides, as a person at a terminal is asked for them one after the other.

    ``what`` is decided is the same for all that may stand here. ``label`` is what one types for this one, ``told`` says
    more of it, and ``drawing`` shows it, in lines of the same length.
    """

    what: str
    label: str
    told: str
    drawing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Offered:
    """The answers to a question, and a picture to choose one by.

    ``picks`` has for each of ``choices`` the spots that one clicks for it, by index, in their order.
    """

    choices: tuple[Answer, ...]
    picks: tuple[tuple[int, ...], ...]
    spots: tuple[Spot, ...]
    draw: Callable[[], str]


def offered_by(
    choices: Sequence[tuple[str, Any]],
    keys: Sequence[Sequence[Hashable]],
    spots: Mapping[Hashable, Spot],
    draw: Callable[[], str],
) -> Offered:
    """Return what is offered, from the names of the spots that one clicks for each choice."""
    index = {key: at for at, key in enumerate(spots)}
    picks = tuple(tuple(index[key] for key in those) for those in keys)
    return Offered(tuple(choices), picks, tuple(spots.values()), draw)
