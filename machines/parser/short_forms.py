"""What is written short in the states of one file, made plain before anything is read, laid over, or run."""

from __future__ import annotations

from machines.parser.answer_keys import with_plain_answers
from machines.parser.node_edits import each_changed, value_of
from machines.parser.pauses import with_plain_pause
from machines.parser.role_keys import with_plain_roles
from machines.problems import Problems
from machines.yaml.nodes import Node, ScalarNode


def in_full(spec: Node, problems: Problems) -> Node:
    """Return the tree of one file without ``say``, ``pause``, paths under ``roles``, and keys for several messages."""
    whole = value_of(spec, "extends") is None and value_of(spec, "part") is None

    def of_state(_: ScalarNode, state: Node) -> Node:
        return with_plain_answers(with_plain_pause(state, problems, whole=whole), problems)

    def of_machine(_: ScalarNode, machine: Node) -> Node:
        return each_changed(machine, of_state)

    def of_role(_: ScalarNode, role: Node) -> Node:
        return each_changed(role, of_machine)

    plain = with_plain_roles(spec, problems)
    return each_changed(plain, lambda key, value: each_changed(value, of_role) if key.text == "roles" else value)
