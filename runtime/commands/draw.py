"""``accord draw``: the machines of specs as pictures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from diagrams.pictures import PictureError, render, stale, write
from diagrams.states import machine_dot, stems
from machines.library import shipped
from machines.model import Spec
from machines.problems import near
from runtime.commands.faults import FAILED, OK, CommandError
from runtime.commands.options import Json, Rules, SpecName, are_modules, looked_at
from runtime.commands.output import put, put_json

FORMATS = ("svg", "png", "dot")


def draw(
    *specs: SpecName,
    all_: Annotated[bool, Parameter(name="--all", help="Draw all shipped specs.")] = False,
    out: Annotated[
        Path, Parameter(name=["--out", "-o"], help="The folder for the pictures; made if there is none.")
    ] = Path("pictures"),
    format_: Annotated[
        str | None,
        Parameter(
            name="--format",
            help="One or several of svg, png and dot, with commas between; svg if left out. DOT is always written too: "
            "it is what --check compares.",
        ),
    ] = None,
    role: Annotated[str | None, Parameter(help="Only the machines of this role.")] = None,
    machine: Annotated[str | None, Parameter(help="Only machines of this name.")] = None,
    check: Annotated[
        bool,
        Parameter(help="Write nothing; exit 1 if pictures in the folder are missing or not of the specs as they are."),
    ] = False,
    rules: Rules = [],  # noqa: B006 (cyclopts makes a new list)
    json: Json = False,
) -> int:
    """Draw a state diagram of each machine of each spec; what is written is listed on standard output."""
    asked = tuple(dict.fromkeys(part.strip() for part in (format_ or "").split(",") if part.strip()))
    formats = tuple(dict.fromkeys((*(asked or ("svg",)), "dot")))
    wrong = [part for part in formats if part not in FORMATS]
    if wrong:
        raise CommandError(f"--format {wrong[0]!r} is none of {', '.join(FORMATS)}")
    if check and (role or machine):
        raise CommandError("--check looks at all pictures of a spec: leave --role and --machine out")
    if all_ and specs:
        raise CommandError("draw takes either specs or --all, not both")
    names = shipped() if all_ else specs
    if not names:
        raise CommandError("draw needs specs, or --all for the shipped ones: accord draw SPEC... -o FOLDER")
    are_modules(rules)
    loaded = [looked_at(name, rules) for name in names]
    if check:
        faults = [fault for spec in loaded for fault in _stale(spec, out, asked)]
        if json:
            put_json({"ok": not faults, "stale": faults})
        else:
            for fault in faults:
                put(fault)
        return FAILED if faults else OK
    try:
        paths = [path for spec in loaded for path in _drawn(spec, out, formats, role, machine)]
    except PictureError as error:
        raise CommandError(f"a picture cannot be drawn: {error}", FAILED) from error
    except OSError as error:
        raise CommandError(f"{error.filename or out}: {error.strerror or error}") from error
    if json:
        put_json({"written": [str(path) for path in paths]})
    else:
        for path in paths:
            put(str(path))
    return OK


def _stale(spec: Spec, folder: Path, forms: Sequence[str]) -> list[str]:
    """Return what is wrong with a spec's pictures: their DOT, and for each of ``forms`` whether they are there."""
    faults = stale(spec, folder)
    if any(fault.endswith(".dot is missing") for fault in faults):
        drawn = [path for stem in stems(spec).values() for path in folder.glob(f"{stem}.*g")]
        if drawn:
            faults.append(
                f"{len(drawn)} pictures of {spec.protocol} cannot be compared without their DOT, because their bytes "
                "depend on Graphviz's version: accord draw writes it beside them"
            )
    paths = [folder / f"{stem}.{form}" for stem in stems(spec).values() for form in forms if form != "dot"]
    return faults + [f"{path.name} is missing" for path in paths if not path.is_file()]


def _drawn(spec: Spec, folder: Path, formats: Sequence[str], role: str | None, machine: str | None) -> list[Path]:
    if role is None and machine is None:
        return write(spec, folder, formats)
    if role is not None and role not in spec.roles:
        raise CommandError(f"{spec.protocol} has no role {role!r}: {near(role, spec.roles) or ', '.join(spec.roles)}")
    keys = [key for key in stems(spec) if role in (None, key[0]) and machine in (None, key[1])]
    if not keys:
        named = sorted({key[1] for key in stems(spec) if role in (None, key[0])})
        raise CommandError(
            f"{spec.protocol} has no machine {machine!r}: {near(machine or '', named) or ', '.join(named)}"
        )
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for key in keys:
        dot = machine_dot(spec, *key)
        for form in formats:
            path = folder / f"{stems(spec)[key]}.{form}"
            path.write_bytes(dot.encode() if form == "dot" else render(dot, "png" if form == "png" else "svg"))
            paths.append(path)
    return paths
