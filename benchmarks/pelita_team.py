"""A team of Pelita that stands still: what is measured is what carries its moves."""

from typing import Any

TEAM_NAME = "still"


def move(bot: Any, state: Any) -> Any:
    """Return where the bot is."""
    return bot.position
