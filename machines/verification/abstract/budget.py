"""How long a search may take, and how much memory it may need: asked at every turn, so that there always is an answer.

The core has no clock: whoever calls gives one. A budget without one is never spent.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf

TELL_AFTER = 3.0  # seconds; then every TELL_EVERY
TELL_EVERY = 10.0
MIB = 1 << 20
_LOOKS = 64  # turns between two looks at the clock: one costs as much as half a turn


class BoundExceeded(Exception):  # noqa: N818 (nothing is wrong with the spec: the search ends undetermined)
    """A bound of the search was met; the text names it."""


class BudgetSpent(BoundExceeded):
    """The time or the memory of a search is spent; the text says which."""


@dataclass
class Budget:
    """What one check may cost. ``seconds`` are counted from when it was made, by ``clock``, which returns seconds.

    ``memory`` returns the bytes that the process needs; ``bytes_max`` may be added to what it needed at first.
    ``tell`` is given a line about ``at``, what the search is at, when it takes long.
    """

    seconds: float = inf
    bytes_max: float = inf
    clock: Callable[[], float] | None = None
    memory: Callable[[], int] | None = None
    tell: Callable[[str], None] | None = None
    at: Callable[[], str] = field(default_factory=lambda: str, init=False)
    _began: float = field(default=0.0, init=False)
    _bytes: int = field(default=0, init=False)
    _tell_next: float = field(default=TELL_AFTER, init=False)
    _turns: int = field(default=0, init=False)
    _spent: str = field(default="", init=False)

    def __post_init__(self) -> None:
        self._began = self.clock() if self.clock is not None else 0.0
        self._bytes = self.memory() if self.memory is not None else 0

    def look(self) -> None:
        """Take note of one more turn.

        Raises:
            BudgetSpent: the time or the memory is spent.
        """
        self._turns += 1
        if self.clock is not None and (self._spent or self._turns % _LOOKS == 0):
            self._look(self.clock() - self._began)

    def _look(self, passed: float) -> None:
        if not self._spent and passed > self.seconds:
            self._spent = f"the budget of {self.seconds:g} s of computing is spent"
        if not self._spent and self.memory is not None and self.memory() - self._bytes > self.bytes_max:
            self._spent = f"the budget of {self.bytes_max / MIB:g} MiB of memory is spent"
        if self._spent:
            raise BudgetSpent(self._spent)
        if self.tell is not None and passed > self._tell_next:
            self._tell_next = passed + TELL_EVERY
            self.tell(f"{passed:.0f} s of computing so far: {self.at()}")

    def lasts(self) -> bool:
        """Look at once whether something is left of it."""
        try:
            if self.clock is not None:
                self._look(self.clock() - self._began)
        except BudgetSpent:
            return False
        return True

    @property
    def is_spent(self) -> bool:
        """Whether nothing is left of it."""
        return bool(self._spent)
