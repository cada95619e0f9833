"""What an editor shows of the name under the pointer, in Markdown."""

from __future__ import annotations

import inspect

from machines.parser.loader import rules_functions
from machines.problems import Problem
from machines.yaml.nodes import ListNode, MapNode, Node, ScalarNode
from runtime.editor.occurrences import Occurrence
from runtime.editor.open_spec import OpenSpec
from runtime.editor.words import built_in, descriptions
from runtime.manual import pages

LINES_MAX = 14  # of a machine or a state that are shown


def shown_at(spec: OpenSpec, line: int, column: int, problems: tuple[Problem, ...] = ()) -> str | None:
    """Return what is to be known of a place, ``line`` and ``column`` from 1; None if there is nothing.

    ``problems`` are those of the text: what stands in the manual about one that begins in the line comes last.
    """
    name = spec.at(line, column)
    parts = [] if name is None else [part for part in (_said(spec, name),) if part]
    if name is not None:
        here = {problem.code for problem in problems if problem.place.line == line and problem.place.file == spec.file}
        known = pages()
        parts += [f"**{code}** {known[code].says}\n\n{known[code].why}" for code in sorted(here) if code in known]
    return "\n\n---\n\n".join(parts) or None


def _said(spec: OpenSpec, name: Occurrence) -> str:
    if name.kind == "key":
        said = descriptions().get(name.name, "")
        return f"`{name.name}` of {name.owner[0]}: {said}" if said else ""
    if name.kind == "rule":
        return _of_rule(spec, name)
    found = spec.declaration(name)
    if found is None:
        return built_in().get(name.name, "") if name.kind == "name" else ""
    where, declared = found
    head = f"{declared.kind if declared.kind != 'name' else 'value'} **{declared.name}**"
    if declared.owner and declared.kind != "field":
        head += f" of {'.'.join(declared.owner)}"
    if declared.kind == "field":
        head = f"field **{declared.name}** of {declared.owner[0]}"
    if where is not spec:
        head += f", in {where.file}"
    text = "\n".join(_text_of(where, declared))
    doc = _doc_of(where, declared)
    return "\n\n".join(part for part in (head, doc, f"```yaml\n{text}\n```") if part)


def _text_of(spec: OpenSpec, name: Occurrence) -> list[str]:
    """Return the lines of a declaration: its own, and those that are indented below it, without blanks before them."""
    first = spec.lines[name.place.line - 1]
    indent = len(first) - len(first.lstrip())
    found = [first[indent:]]
    if name.kind in ("field", "name"):
        return found
    for line in spec.lines[name.place.line :]:
        if line.strip() and len(line) - len(line.lstrip()) <= indent:
            break
        found.append(line[indent:])
    while not found[-1].strip():
        found.pop()
    return [*found[:LINES_MAX], "…"] if len(found) > LINES_MAX else found


def _doc_of(spec: OpenSpec, name: Occurrence) -> str:
    """Return what `docs` says of a message, a type or a setting, and its `examples`."""
    if name.kind not in ("message", "type", "setting") or not isinstance(spec.tree, MapNode):
        return ""
    said = _under(spec.tree, "docs", name.name)
    examples = _under(spec.tree, "examples", name.name)
    parts = [said.text] if isinstance(said, ScalarNode) else []
    if isinstance(examples, ListNode):
        shown = [spec.lines[one.place.line - 1][one.place.column - 1 :].strip() for one in examples.items[:1]]
        parts += [f"For example `{shown[0].rstrip(']').rstrip()}`"] if shown and shown[0] else []
    return "\n\n".join(parts)


def _under(tree: MapNode, *keys: str) -> Node | None:
    node: Node | None = tree
    for key in keys:
        node = node.get(key) if isinstance(node, MapNode) else None
    return node


def _of_rule(spec: OpenSpec, name: Occurrence) -> str:
    if not name.owner:
        module = spec.modules.get(name.name)
        return f"rules **{name.name}**\n\n{inspect.getdoc(module) or ''}" if module is not None else ""
    module = spec.modules.get(name.owner[0])
    function = rules_functions(module).get(name.name) if module is not None else None
    if function is None:
        return ""
    return (
        f"```python\n{name.owner[0]}.{name.name}{inspect.signature(function)}\n```\n\n{inspect.getdoc(function) or ''}"
    )
