"""The present folder as a place of Python modules, for those that the user names on the command line."""

from __future__ import annotations

import os
import sys


def add_working_folder() -> None:
    """Let modules be imported from the present folder, where an installed command does not look by itself.

    It comes last, so that nothing there hides a module of ours, or of a package that is installed. Only for what the
    user names: a module of a player, or of rules. A spec can not ask for it.
    """
    here = os.getcwd()
    if here not in sys.path:
        sys.path.append(here)
