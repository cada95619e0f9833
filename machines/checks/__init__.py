"""The single-role checks: what a spec that reads well may still get wrong. `checker` has the table of their codes."""

from machines.checks.checker import check, check_for_run

__all__ = ["check", "check_for_run"]
