"""``accord docs``: the documents of specs, and the parts of other documents that are written from specs."""

from __future__ import annotations

import json as json_text
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Final

from cyclopts import Parameter

from diagrams.catalogue import album
from diagrams.documents.builder import document
from diagrams.documents.embed import FillError, filled, has_parts
from diagrams.documents.html import page, without_pictures
from diagrams.documents.index import index
from diagrams.documents.markdown import markdown
from diagrams.documents.model import Dialogue
from diagrams.documents.schemas import asyncapi, json_schema
from diagrams.render import PictureError, render
from diagrams.rendering.labels import stem
from machines.model import Spec
from machines.parser.loader import RulesError, SpecNotFound, rules_modules, shipped
from machines.problems import SpecError
from runtime.commands.draw import words
from runtime.commands.exit_codes import FAILED, OK, CommandError
from runtime.commands.options import Json, Rules, SpecName, are_apart, are_modules, looked_at
from runtime.process.output import put_result
from runtime.simulation.dialogues import ScriptError, dialogues

FURTHER = ("schema", "asyncapi", "wire")  # and the second part of their files' names
FORMATS = ("md", "html", *FURTHER)
READ_BYTES_MAX: Final = 64 << 20  # of a document; the longest of a shipped spec has about one


@Parameter(name="*")
@dataclass(frozen=True, slots=True)
class DocumentOptions:
    """What documents are written as, and where they are."""

    out: Annotated[
        Path, Parameter(name=["--out", "-o"], help="The folder for the documents; made if there is none.")
    ] = Path("documents")
    format_: Annotated[
        str | None,
        Parameter(
            name="--format",
            help="One or several of md (Markdown, with its pictures beside it), html (one page that needs nothing "
            "else), schema (JSON Schema of every message), asyncapi and wire (a dialogue as bytes, a line of JSON each "
            "message), with commas between; md, html and what lies there already if left out.",
        ),
    ] = None

    @property
    def asked(self) -> tuple[str, ...]:
        """The formats that are asked for; none if that is left to us."""
        return words(self.format_, FORMATS, "--format")


def docs(
    *specs: SpecName,
    all_: Annotated[bool, Parameter(name="--all", help="All shipped specs, and an index of them: README.md.")] = False,
    documents: DocumentOptions = DocumentOptions(),
    fill: Annotated[
        list[Path],
        Parameter(
            consume_multiple=True,
            negative=(),
            help="Write anew, in these Markdown files, what stands between <!-- accord: chart SPEC ROLE MACHINE --> "
            "and <!-- accord: end -->; also messages, fields, types, waits or settings SPEC.",
        ),
    ] = [],  # noqa: B006 (cyclopts makes a new list)
    check: Annotated[
        bool, Parameter(help="Write nothing; exit 1 if a document is missing or not of its spec.")
    ] = False,
    rules: Rules = [],  # noqa: B006
    json: Json = False,
) -> int:
    """Write the document of each spec: its phases with their drawings, messages, types, waits, limits and settings."""
    formats = documents.asked
    if all_ and specs:
        raise CommandError("docs takes either specs or --all, not both")
    if fill and (all_ or specs):
        raise CommandError("--fill names the specs in the files: leave them out here")
    if fill and documents.format_ is not None:
        raise CommandError("--fill writes Markdown into the files that it names: leave --format out")
    names = shipped() if all_ else specs
    if not names and not fill:
        raise CommandError("docs needs specs, or --all for the shipped ones: accord docs SPEC... -o FOLDER")
    are_modules(rules)
    try:
        if fill:
            made = list(_filled(fill, rules))
        else:
            made = _made(names, documents.out, formats, rules, pictures=not check, with_index=all_)
        return _checked(made, json=json) if check else _written(made, json=json)
    except PictureError as error:
        raise CommandError(f"a picture cannot be drawn: {error}", FAILED) from error
    except BrokenPipeError:
        raise  # that is standard output, which nobody reads any more
    except FileExistsError as error:
        raise CommandError(f"{error.filename or documents.out}: it is not a folder") from error
    except OSError as error:
        raise CommandError(f"{error.filename or documents.out}: {error.strerror or error}") from error


def _made(
    names: Sequence[str], out: Path, formats: Sequence[str], rules: Sequence[str], *, pictures: bool, with_index: bool
) -> list[tuple[Path, bytes]]:
    """Return the files of the documents of specs; without ``formats`` in the usual ones and those that lie there."""
    loaded = [looked_at(name, rules) for name in names]
    are_apart(names, loaded)
    lying = _lying(loaded, out)
    formats = formats or ("md", "html", *lying)
    made = [written for spec in loaded for written in _documents(spec, out, formats, rules, pictures=pictures)]
    if with_index:
        made.append((out / "README.md", index(loaded, (*formats, *lying)).encode()))
    return made


def _lying(specs: Iterable[Spec], folder: Path) -> tuple[str, ...]:
    """Return the further formats of which a document of these specs lies in a folder: they are kept up to date."""
    names = [
        name for spec in specs for name in (stem(spec.protocol), *(stem(spec.protocol, one) for one in spec.roles))
    ]
    return tuple(
        form for form in FURTHER if any(path.is_file() for name in names for path in _further(folder, name, form))
    )


def _further(folder: Path, name: str, form: str) -> Iterator[Path]:
    yield folder / f"{name}.{form}.{'jsonl' if form == 'wire' else 'json'}"


def _documents(
    spec: Spec, folder: Path, formats: Sequence[str], rules: Sequence[str], *, pictures: bool
) -> Iterator[tuple[Path, bytes]]:
    """Yield the files of a spec's document; without ``pictures`` those that depend on Graphviz's version have none."""
    name = stem(spec.protocol)
    facts = document(spec)
    if {"md", "html", "wire"} & set(formats):
        facts = replace(facts, dialogues=_dialogues(spec, rules))
    drawn = {drawing.stem: drawing for drawing in album(spec)}
    svgs = {
        called: render(drawing.dot, "svg") if pictures else b'<svg xmlns="http://www.w3.org/2000/svg"></svg>'
        for called, drawing in (drawn.items() if {"md", "html"} & set(formats) else ())
    }
    if "md" in formats:
        yield folder / f"{name}.md", markdown(facts).encode()
        if pictures:
            yield from ((folder / f"{called}.svg", svg) for called, svg in svgs.items())
    if "html" in formats:
        yield folder / f"{name}.html", page(facts, svgs).encode()
    if "schema" in formats:
        yield folder / f"{name}.schema.json", _json(json_schema(spec))
    if "asyncapi" in formats:
        for role in spec.listeners():
            yield folder / f"{stem(spec.protocol, role)}.asyncapi.json", _json(asyncapi(spec, role))
    if "wire" in formats:
        lines = [
            json_text.dumps({"link": number, "from": said.role, "message": said.message, "hex": said.data.hex()})
            for number, one in enumerate(facts.dialogues)
            for said in one.said
        ]
        yield folder / f"{name}.wire.jsonl", "".join(f"{line}\n" for line in lines).encode()


def _dialogues(spec: Spec, rules: Sequence[str]) -> tuple[Dialogue, ...]:
    """Return the dialogues of a spec; none where its rules are not there to be asked."""
    try:
        return dialogues(spec, rules_modules(spec, rules))
    except RulesError:
        return ()
    except ScriptError as error:
        raise CommandError(str(error)) from error


def _json(value: Any) -> bytes:
    return (json_text.dumps(value, ensure_ascii=False, indent=1) + "\n").encode(errors="backslashreplace")


def _filled(files: Iterable[Path], rules: Sequence[str]) -> Iterator[tuple[Path, bytes]]:
    any_part = False
    for path in files:
        try:
            text = _content(path).decode()
            any_part = any_part or has_parts(text)
            yield path, filled(text, lambda name: looked_at(name, rules)).encode()
        except UnicodeDecodeError:
            raise CommandError(f"{path} is not UTF-8") from None
        except (FillError, SpecNotFound) as error:
            raise CommandError(f"{path}: {error}") from error
        except SpecError as error:
            raise CommandError(f"{path} names a spec with problems:\n{error}") from error
    if not any_part:
        raise CommandError("--fill: there is no part to be written, as <!-- accord: messages SPEC --> begins one")


def _content(path: Path) -> bytes:
    """Return what is in a document; nothing is read from a pipe or a device, which may have no end.

    Raises:
        CommandError: it is no file, or too long.
        OSError: it cannot be opened.
    """
    # Opened without waiting: to open a pipe that nobody writes to would take for ever.
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | getattr(os, "O_NONBLOCK", 0))) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise CommandError(f"{path}: this is no file that a document could stand in")
        content = file.read(READ_BYTES_MAX + 1)
    if len(content) > READ_BYTES_MAX:
        raise CommandError(f"{path}: the document is longer than {READ_BYTES_MAX} bytes")
    return content


def _written(made: Iterable[tuple[Path, bytes]], *, json: bool) -> int:
    paths = []
    for path, content in made:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        paths.append(str(path))
    put_result({"written": paths}, paths, json=json)
    return OK


def _checked(made: Iterable[tuple[Path, bytes]], *, json: bool) -> int:
    """Compare documents with those that lie there, pages without their pictures."""
    faults = []
    for path, content in made:
        if not path.is_file():
            faults.append(f"{path.name} is missing")
        elif _comparable(path, _content(path)) != _comparable(path, content):
            faults.append(f"{path.name} is stale")
    put_result({"ok": not faults, "stale": faults}, faults, json=json)
    return FAILED if faults else OK


def _comparable(path: Path, content: bytes) -> bytes:
    if path.suffix != ".html":
        return content
    return without_pictures(content.decode(errors="replace")).encode()
