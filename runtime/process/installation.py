"""What of Accord is installed here: its version, and whether its packages are its own."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Final

OURS: Final = ("machines", "rules", "runtime", "diagrams", "specs")


def program_version() -> str:
    """Return the version of Accord that is installed."""
    try:
        return version("accord")
    except PackageNotFoundError:  # run from a checkout that is not installed
        return "0 (not installed)"


def foreign_packages() -> list[str]:
    """Return a sentence for each of our import packages that is another distribution's, or missing."""
    here = Path(__file__).resolve().parents[2]
    faults = []
    for name in OURS:
        found = find_spec(name)
        if found is None or found.origin is None:
            faults.append(f"the package {name!r} of Accord is missing from {here}: install Accord again")
        elif Path(found.origin).resolve().parent.parent != here:
            faults.append(
                f"the package {name!r} found in {Path(found.origin).parent} is not Accord's: "
                "install Accord in a virtual environment of its own"
            )
    return faults
