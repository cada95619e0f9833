"""Mermaid's own parsers, versions 10 and 11, read every Mermaid drawing that is shipped.

They run where Node is and ``ACCORD_MERMAID`` names a folder with them:
``npm install mermaid10@npm:mermaid@10 mermaid11@npm:mermaid@11 jsdom``.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from diagrams.catalogue import Kind, album
from machines.parser.loader import load, shipped

ROOT = Path(__file__).resolve().parents[2]
FOLDER = os.environ.get("ACCORD_MERMAID", "")
NODE = shutil.which("node")
SECONDS = 300.0
READ_ALL = """
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { readFileSync } from "node:fs";
const found = createRequire(process.argv[2] + "/package.json");
const { JSDOM } = found("jsdom");
const { window } = new JSDOM("");
Object.assign(globalThis, { window, document: window.document });
const mermaid = (await import(pathToFileURL(process.argv[2] + "/node_modules/" + process.argv[3]
  + "/dist/mermaid.core.mjs"))).default;
const faults = {};
for (const [name, text] of Object.entries(JSON.parse(readFileSync(0, "utf8"))))
  try { await mermaid.parse(text); } catch (error) { faults[name] = String(error.message); }
console.log(JSON.stringify(faults));
process.exit(0);
"""


def drawings() -> dict[str, str]:
    """Return each Mermaid drawing by its name: of all shipped specs, and in documents."""
    found = {}
    for name in shipped():
        spec = load(name)
        for drawing in (*album(spec), *album(spec, [Kind.SEQUENCES], unfold=True)):
            text = drawing.text("mmd")
            if text is not None:
                found[drawing.stem] = text
    for path in [ROOT / "README.md", ROOT / "specs" / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        blocks = re.findall(r"^```mermaid\n(.*?)^```", path.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
        found |= {f"{path.name} {number}": text for number, text in enumerate(blocks, 1)}
    return found


def faults(version: str, texts: dict[str, str], folder: Path) -> dict[str, str]:
    """Return what a parser has against which of the texts."""
    if NODE is None or not FOLDER or not (Path(FOLDER) / "node_modules" / version).is_dir():
        pytest.skip(f"no Node, or no {version} in the folder that ACCORD_MERMAID names")
    script = folder / "read_all.mjs"
    script.write_text(READ_ALL)
    done = subprocess.run(
        [NODE, str(script), str(Path(FOLDER).resolve()), version],
        input=json.dumps(texts),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told: dict[str, str] = json.loads(done.stdout)
    return told


def test_there_is_something_to_read() -> None:
    found = drawings()
    assert len(found) > 150
    assert {text.split()[0] for text in found.values()} == {"stateDiagram-v2", "sequenceDiagram"}


@pytest.mark.parametrize("version", ["mermaid10", "mermaid11"])
def test_every_drawing_is_read_and_a_wrong_one_is_not(version: str, tmp_path: Path) -> None:
    wrong = "stateDiagram-v2\n  state {{ nothing"
    assert list(faults(version, {**drawings(), "wrong": wrong}, tmp_path)) == ["wrong"]
