"""Games of a spec played in memory, all roles together with their rules and players: what data shows, and no proof."""

from typing import Final

SEEDS_MAX: Final = 100  # of the games of one spec
