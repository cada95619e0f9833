"""The single-role checks: what a spec that reads well may still get wrong. `checker` has the table of their codes."""

from machines.checks.checker import check

__all__ = ["check"]
