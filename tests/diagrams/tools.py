"""The real Mermaid, and what of PlantUML a grammar of our own can tell: there is no PlantUML without Java."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest


class Mermaid:
    """Mermaid's own parser, from the script that mermaidx brings, run in QuickJS."""

    def __init__(self) -> None:
        quickjs_engine = pytest.importorskip("mermaidx.engines.quickjs_engine")
        self._engine: Any = quickjs_engine.Engine()
        self._engine._ctx = self._engine._build_context()

    def fault(self, text: str) -> str:
        """Return what Mermaid has against a diagram; nothing if it takes it."""
        context = self._engine._ctx
        context.eval(
            "globalThis.__said = 'nothing';"
            f"mermaid.parse({json.dumps(text)})"
            ".then(found => { globalThis.__said = ''; }, fault => { globalThis.__said = String(fault.message); });"
        )
        while self._engine._run_job():
            pass
        return str(context.eval("__flat(__said)"))


# One line of what is written as PlantUML: https://plantuml.com/sequence-diagram and /state-diagram.
_TEXT = r"(?:[A-Za-z0-9 ,.()\[\]=:+?!-]|<U\+[0-9A-F]{4,6}>|\\n)*"
_NAME = r"[a-z][a-z0-9]*"
_SEQUENCE = [
    rf"title {_TEXT}", rf'participant "{_TEXT}" as {_NAME}', rf"{_NAME} (?:->|-->|->x) {_NAME} : {_TEXT}",
    rf"[hr]?note over {_NAME} : {_TEXT}", rf"ref over {_NAME}(?:, {_NAME})* : {_TEXT}", rf"newpage {_TEXT}",
    rf"(?:loop|alt|par|else)(?: {_TEXT})?", "end",
]  # fmt: skip
_STATES = [
    "hide empty description", rf"title {_TEXT}", rf' *state "{_TEXT}" as {_NAME}(?: {{)?', r" *}",
    rf" *state {_NAME} <<choice>>", rf" *{_NAME} : {_TEXT}",
    rf" *(?:\[\*\]|{_NAME}) --> (?:\[\*\]|{_NAME})(?: : {_TEXT})?",
]  # fmt: skip


def plantuml_fault(text: str) -> str:
    """Return the first line that is none of PlantUML's, or a box that is not closed; nothing if all is well."""
    lines = text.splitlines()
    if (lines[0], lines[-1]) != ("@startuml", "@enduml"):
        return "it does not begin and end as a diagram"
    known = _STATES if "hide empty description" in lines else _SEQUENCE
    depth = 0
    for line in lines[1:-1]:
        if not any(re.fullmatch(pattern, line) for pattern in known):
            return line
        depth += line.startswith(("loop", "alt", "par ")) or line.endswith("{") or line == "par"
        depth -= line == "end" or line.strip() == "}"
        if depth < 0:
            return f"{line} closes nothing"
    return "" if depth == 0 else "a box is not closed"
