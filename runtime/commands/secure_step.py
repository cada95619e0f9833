"""Whether ``--secure`` has a meaning for a role: only one with a `secure` step ever speaks TLS by it."""

from __future__ import annotations

from machines.analysis.traversal import all_steps
from machines.engine.compiler import Program
from machines.model import Secure
from runtime.commands.exit_codes import CommandError


def check_secures(program: Program) -> None:
    """Make sure that a role has a `secure` step.

    Raises:
        CommandError: it has none.
    """
    machines = program.role.machines.values()
    if not any(isinstance(step, Secure) for machine in machines for step in all_steps(machine)):
        text = f"{program.role.name} of {program.spec.protocol} has no 'secure' step"
        raise CommandError(f"{text}: --tls speaks TLS from the start, where the spec knows nothing of it")
