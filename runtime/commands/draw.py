"""``accord draw``: specs, and runs of them, as pictures and as diagrams in text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from diagrams.catalogue import FORMATS, Drawing, Kind, album, scenario_forms
from diagrams.render import PictureError, stale, write
from diagrams.rendering.labels import distinct, stem
from diagrams.sequences.dot import scenario_dot
from diagrams.states.builder import flow
from diagrams.states.coverage import Coverage, painted
from diagrams.states.dot import dot, stems
from machines.model import Spec
from machines.parser.loader import shipped
from machines.problems import near
from runtime.commands.exit_codes import FAILED, OK, CommandError
from runtime.commands.options import Json, Rules, SpecName, are_apart, are_modules, looked_at
from runtime.journal.recording import Run, recorded
from runtime.process.output import note, put_result

UNKNOWN_TOLD_MAX = 5  # transitions of a journal that the spec does not have


@Parameter(name="*")
@dataclass(frozen=True, slots=True)
class PictureOptions:
    """Which pictures, what they are written as, and where they are."""

    out: Annotated[
        Path, Parameter(name=["--out", "-o"], help="The folder for the pictures; made if there is none.")
    ] = Path("pictures")
    format_: Annotated[
        str | None,
        Parameter(
            name="--format",
            help="One or several of svg, png, dot, txt (sequences as characters), mmd (Mermaid) and puml (PlantUML), "
            "with commas between; svg and what lies there already if left out. DOT is always written too: it is what "
            "--check compares.",
        ),
    ] = None
    kind: Annotated[
        str | None,
        Parameter(help="One or several of states, overview and sequences, with commas between; all if left out."),
    ] = None
    role: Annotated[str | None, Parameter(help="Only what is of this role.")] = None
    machine: Annotated[str | None, Parameter(help="Only machines of this name.")] = None
    unfold: Annotated[
        bool, Parameter(help="Tell in each sequence the machines that it calls too; its file ends with -unfolded.")
    ] = False

    @property
    def asked(self) -> tuple[str, ...]:
        """The formats that are asked for; none if that is left to us."""
        return words(self.format_, FORMATS, "--format")

    def formats(self, drawings: Sequence[Drawing]) -> tuple[str, ...]:
        """Return the formats in which drawings are written: those asked for, or SVG and what lies there already."""
        lying = (form for form in FORMATS if any((self.out / f"{one.stem}.{form}").is_file() for one in drawings))
        return tuple(dict.fromkeys((*(self.asked or ("svg", *lying)), "dot")))

    @property
    def kinds(self) -> list[Kind]:
        """The kinds of drawing."""
        return [Kind(word) for word in words(self.kind, list(Kind), "--kind") or list(Kind)]


@Parameter(name="*")
@dataclass(frozen=True, slots=True)
class RunOptions:
    """Which runs are drawn in the place of a spec."""

    journal: Annotated[
        list[Path],
        Parameter(
            consume_multiple=True,
            negative=(),
            help="Draw runs instead, from their journals: what was said and when, violations in red, and the state "
            "diagrams with how often each arrow was taken in all of them.",
        ),
    ] = field(default_factory=list)
    session: Annotated[int, Parameter(help="Which session of a journal to tell, where a role runs several.")] = 0


def draw(
    *specs: SpecName,
    all_: Annotated[bool, Parameter(name="--all", help="Draw all shipped specs.")] = False,
    pictures: PictureOptions = PictureOptions(),
    runs: RunOptions = RunOptions(),
    check: Annotated[
        bool,
        Parameter(help="Write nothing; exit 1 if pictures in the folder are missing or not of the specs as they are."),
    ] = False,
    rules: Rules = [],  # noqa: B006 (cyclopts makes a new list)
    json: Json = False,
) -> int:
    """Draw state diagrams, overviews and sequence diagrams of specs; what is written is listed on standard output."""
    kinds = pictures.kinds
    if check and (pictures.role or pictures.machine):
        raise CommandError("--check looks at all pictures of a spec: leave --role and --machine out")
    if check and pictures.unfold:
        raise CommandError("--check compares pictures as they are folded: leave --unfold out")
    if check and runs.journal:
        raise CommandError("--check compares pictures of specs, not of runs: leave --journal out")
    if all_ and specs:
        raise CommandError("draw takes either specs or --all, not both")
    names = shipped() if all_ else specs
    if not names:
        raise CommandError("draw needs specs, or --all for the shipped ones: accord draw SPEC... -o FOLDER")
    if runs.journal and len(names) != 1:
        raise CommandError("--journal needs the one spec that ran: accord draw SPEC --journal FILE...")
    are_modules(rules)
    loaded = [looked_at(name, rules) for name in names]
    are_apart(names, loaded)
    if check:
        faults = [fault for spec in loaded for fault in _stale(spec, pictures.out, pictures.asked, kinds)]
        put_result({"ok": not faults, "stale": faults}, faults, json=json)
        return FAILED if faults else OK
    if runs.journal:
        drawings = _of_runs(loaded[0], names[0], runs, kinds, rules)
        drawings = [
            drawing for drawing in drawings if pictures.machine is None or drawing.machine in ("", pictures.machine)
        ]
    else:
        drawings = [drawing for spec in loaded for drawing in _chosen(spec, kinds, pictures)]
    paths = [str(path) for path in written(drawings, pictures.out, pictures.formats(drawings))]
    put_result({"written": paths}, paths, json=json)
    return OK


def written(drawings: Iterable[Drawing], folder: Path, formats: Sequence[str]) -> list[Path]:
    """Write drawings into a folder; return the paths.

    Raises:
        CommandError: one cannot be drawn, or the folder cannot be written.
    """
    try:
        return write(drawings, folder, formats)
    except PictureError as error:
        raise CommandError(f"a picture cannot be drawn: {error}", FAILED) from error
    except FileExistsError as error:
        raise CommandError(f"{error.filename or folder}: it is not a folder") from error
    except OSError as error:
        raise CommandError(f"{error.filename or folder}: {error.strerror or error}") from error


def words(given: str | None, known: Sequence[str], option: str) -> tuple[str, ...]:
    """Return the words of an option that takes several with commas between, each once.

    Raises:
        CommandError: one is not known.
    """
    given_words = tuple(dict.fromkeys(part.strip() for part in (given or "").split(",") if part.strip()))
    wrong = [word for word in given_words if word not in known]
    if wrong:
        meant = f": {found}" if (found := near(wrong[0], map(str, known))) else ""
        raise CommandError(f"{option} {wrong[0]!r} is none of {', '.join(known)}{meant}")
    return given_words


def _stale(spec: Spec, folder: Path, forms: Sequence[str], kinds: Sequence[Kind]) -> list[str]:
    """Return what is wrong with a spec's pictures: their DOT, and for each of ``forms`` whether they are there."""
    faults = stale(spec, folder, kinds)
    drawings = album(spec, kinds)
    if any(fault.endswith(".dot is missing") for fault in faults):
        drawn = [path for drawing in drawings for path in folder.glob(f"{drawing.stem}.*g")]
        if drawn:
            faults.append(
                f"{len(drawn)} pictures of {spec.protocol} cannot be compared without their DOT, because their bytes "
                "depend on Graphviz's version: accord draw writes it beside them"
            )
    there = [(drawing, form) for drawing in drawings for form in forms if form not in ("dot", "txt")]
    there += [(drawing, "txt") for drawing in drawings if "txt" in forms and "txt" in drawing.forms]
    paths = [folder / f"{drawing.stem}.{form}" for drawing, form in there]
    return faults + [f"{path.name} is missing" for path in paths if not path.is_file()]


def _chosen(spec: Spec, kinds: Sequence[Kind], asked: PictureOptions) -> list[Drawing]:
    role, machine = asked.role, asked.machine
    if role is not None and role not in spec.roles:
        raise CommandError(f"{spec.protocol} has no role {role!r}: {near(role, spec.roles) or ', '.join(spec.roles)}")
    named = sorted({key[1] for key in stems(spec) if role in (None, key[0])})
    if machine is not None and machine not in named:
        raise CommandError(f"{spec.protocol} has no machine {machine!r}: {near(machine, named) or ', '.join(named)}")
    drawings = album(spec, kinds, unfold=asked.unfold)
    return [one for one in drawings if role in (None, one.role) and machine in (None, one.machine)]


# -- runs ------------------------------------------------------------------------------------------------------------


def _of_runs(spec: Spec, name: str, asked: RunOptions, kinds: Sequence[Kind], rules: Sequence[str]) -> list[Drawing]:
    """Return the drawings of runs: each run's own sequence, and for each role that ran its machines with the counts."""
    runs = [recorded(path, name, session=asked.session, rules=rules) for path in asked.journal]
    drawings: list[Drawing] = []
    if Kind.SEQUENCES in kinds:
        named = distinct([f"{stem(path.name.removesuffix('.jsonl'))}-run" for path in asked.journal])
        drawings += [_sequence(run, called) for run, called in zip(runs, named, strict=True)]
    if Kind.STATES in kinds:
        for role in spec.roles:
            of_role = [run for run in runs if run.role == role]
            if of_role:
                drawings += _covered(spec, role, of_role)
    return drawings


def _sequence(run: Run, called: str) -> Drawing:
    forms = scenario_forms(lambda: run.scenario)
    return Drawing(Kind.SEQUENCES, run.role, "", called, lambda: scenario_dot(run.scenario, {}), forms)


def _covered(spec: Spec, role: str, runs: Sequence[Run]) -> list[Drawing]:
    coverage = Coverage(spec, role)
    for run in runs:
        coverage.add(run.taken)
    for taken, count in list(coverage.unknown.items())[:UNKNOWN_TOLD_MAX]:
        path, state, event, to = taken
        note(f"not drawn: {count} times {event} in {path}: {state}, to {to}: {spec.protocol} has no such branch")
    sessions = sum(run.sessions for run in runs)
    heading = (
        f"{_some(len(runs), 'journal')}, {_some(sessions, 'session')}: {coverage.lines()} in all machines of {role}"
    )
    drawings = []
    for machine in spec.roles[role].machines:
        links = {other: f"{called}-coverage" for (of, other), called in stems(spec).items() if of == role}

        def made(machine: str = machine, links: dict[str, str] = links) -> str:
            drawn = flow(spec, role, machine)
            return dot(drawn, spec.protocol, links, painted(drawn, coverage, heading))

        called = links[machine]
        drawings.append(Drawing(Kind.STATES, role, machine, called, made, {}))
    return drawings


def _some(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
