"""What a spec says in words, and its examples: where they stand, what they must be, and who shows them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from diagrams.catalogue import Drawing
from diagrams.documents.builder import document
from diagrams.documents.html import page
from diagrams.documents.markdown import markdown
from diagrams.documents.schemas import asyncapi, json_schema
from machines.model import Spec
from machines.parser.loader import load, load_text
from runtime.cli import main
from tests.support.talk import GOOD, changed, faults
from tests.support.tiny import shows

DOCS = """\
doc: |
  Two talk, <b>politely</b>.

  Then they part.
docs: {HELLO: "how it begins | with a name", Name: in small letters, reply: a person needs longer}
examples: {HELLO: [ann, bob], NUMBERS: [[3, 4]], Name: [ann], WELCOME: [{you: ann}]}
"""


def told() -> str:
    text = changed("title: Two that talk\n", f"title: Two that talk\n{DOCS}")
    server = "roles:\n  server:\n"
    text = text.replace(f"{server}    main:\n", f"{server}    doc: it listens\n    main:\n      doc: seats\n")
    return text.replace("      talk:\n", "      talk:\n        doc: each in turn\n")


@pytest.fixture
def spec() -> Spec:
    return load_text(told(), "talk.yaml")


@shows("doc", "docs", "examples", "state.doc", "machine.doc", "role.doc")
def test_every_part_has_its_words_and_is_the_same_spec_without_them(spec: Spec) -> None:
    # doc of the spec and its parts; docs and examples by name
    server = spec.roles["server"]
    assert spec.doc == "Two talk, <b>politely</b>.\n\nThen they part."
    assert (server.doc, server.machines["main"].doc, server.machines["main"].states["talk"].doc) == (
        "it listens",
        "seats",
        "each in turn",
    )
    assert spec.messages["HELLO"].doc == "how it begins | with a name"
    assert (spec.types["Name"].doc, spec.settings["reply"].doc) == ("in small letters", "a person needs longer")
    assert spec.messages["HELLO"].examples == ("ann", "bob")
    assert spec.messages["NUMBERS"].examples == ((3, 4),)
    plain = load_text(GOOD, "talk.yaml")
    assert list(plain.roles["server"].machines) == list(server.machines)
    assert list(plain.roles["server"].machines["main"].states) == list(server.machines["main"].states)


def test_a_state_and_a_machine_may_be_called_doc() -> None:
    text = GOOD.replace("      talk:\n", "      doc:\n").replace("then: talk", "then: doc")
    assert not faults(text)
    assert "doc" in load_text(text, "talk.yaml").roles["server"].machines["main"].states
    text = GOOD.replace("    serve(guest):", "    doc(guest):").replace("run: serve(guest)", "run: doc(guest)")
    assert not faults(text)


MISTAKES = [
    ("docs: {HELLO", "docs: {^HALLO", "A105"),
    ("examples: {HELLO: [ann", "examples: {HELLO: [^Ann", "A214"),
    ("NUMBERS: [[3, 4]]", "NUMBERS: [^[3]]", "A214"),
    ("Name: [ann]", "Name: [^7]", "A214"),
    ("WELCOME: [{you: ann}]", "WELCOME: [{you: ann}, ^{you: A}]", "A214"),
    ("NUMBERS: [[3, 4]]", "NUMBERS: ^3", "A112"),
    ("examples: {HELLO", "examples: {^reply: [3], HELLO", "A105"),
    ("docs: {HELLO", "docs: {TWO: ^[a], HELLO", "A112"),
    ("        doc: each in turn", "        doc: ^[each]", "A112"),
    ("Name: [ann]", f"Name: [{'ann, ' * 20}^bob]", "A214"),
]


@pytest.mark.parametrize(("old", "new", "code"), MISTAKES, ids=[new for _, new, _ in MISTAKES])
def test_a_mistake_in_words_or_examples_is_told_at_its_place(old: str, new: str, code: str) -> None:
    text = told()
    assert text.count(old) == 1
    text = text.replace(old, new)
    before = text[: text.index("^")]
    found = faults(text.replace("^", ""))
    assert (code, before.count("\n") + 1, len(before) - before.rfind("\n")) in [
        (one.code, one.place.line, one.place.column) for one in found
    ]


def test_examples_of_what_is_wrong_itself_are_no_second_problem() -> None:
    text = told().replace('Name: {string: "[a-z]+"}', 'Name: {string: "[a-z"}').replace("[[3, 4]]", "[[a, 4]]")
    assert [problem.code for problem in faults(text)] == ["A214", "A205"]


def test_a_variant_has_the_words_of_the_spec_below_and_may_change_them(tmp_path: Path) -> None:
    (tmp_path / "talk.yaml").write_text(told())
    (tmp_path / "other.yaml").write_text(
        "extends: talk\nprotocol: other\nrename: {HELLO: HI}\ndocs: {Name: other letters}\n"
        "roles: {server: {main: {talk: {doc: all at once}}}}\n"
    )
    other = load(str(tmp_path / "other.yaml"))
    assert other.messages["HI"].doc == "how it begins | with a name"
    assert other.messages["HI"].examples == ("ann", "bob")
    assert other.types["Name"].doc == "other letters"
    main = other.roles["server"].machines["main"]
    assert (main.doc, main.states["talk"].doc) == ("seats", "all at once")


def test_the_document_has_the_words_and_the_examples_and_they_are_no_markup(spec: Spec) -> None:
    text = markdown(document(spec))
    assert "Two talk, &#60;b&#62;politely&#60;/b&#62;.\n\nThen they part.\n" in text
    for words in ("it listens", "seats", "- `talk`: each in turn", "`reply`<br>a person needs longer"):
        assert words in text
    (row,) = [line for line in text.splitlines() if line.startswith("| `HELLO`<br>")]
    assert "how it begins &#124; with a name |" in row
    assert '`"ann"`<br>`"bob"`' in row
    pictures = {one.stem: b"<svg xmlns='http://www.w3.org/2000/svg'/>" for one in _drawings(spec)}
    html = page(document(spec), pictures)
    for words in ("&lt;b&gt;politely", "it listens", "each in turn", "a person needs longer", "how it begins | with"):
        assert words in html


def _drawings(spec: Spec) -> Iterator[Drawing]:
    for party in document(spec).parties:
        yield party.overview
        for phase in party.phases:
            yield from (phase.states, phase.sequence)


def test_the_schemas_have_them_too(spec: Spec) -> None:
    schema = json_schema(spec)
    assert schema["$defs"]["HELLO"]["description"] == "sent by client. how it begins | with a name"
    assert schema["$defs"]["HELLO"]["examples"] == ["ann", "bob"]
    assert schema["$defs"]["Name"]["description"] == "in small letters"
    assert schema["$defs"]["Name"]["examples"] == ["ann"]
    api = asyncapi(spec, "server")
    assert "Two talk, <b>politely</b>." in api["info"]["description"]
    assert api["components"]["messages"]["HELLO"]["description"] == "how it begins | with a name"
    assert api["components"]["messages"]["HELLO"]["payload"]["examples"] == ["ann", "bob"]
    assert api["components"]["schemas"]["Name"]["description"] == "in small letters"


def test_show_prints_them_below_what_they_are_of(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "talk.yaml").write_text(told())
    assert main(("show", str(tmp_path / "talk.yaml"))) == 0
    lines = capsys.readouterr().out.splitlines()
    (reply,) = [line for line in lines if line.split() == ["reply", "5", "s", "duration"]]
    for line, below in [
        ("role server, listens", ["  it listens"]),
        ("  main: door talk over", ["    seats", "    talk: each in turn"]),
        ("  client > server  HELLO    $name Name", ["    how it begins | with a name", '    like "ann", "bob"']),
        (reply, ["    a person needs longer"]),
    ]:
        at = lines.index(line)
        assert lines[at + 1 : at + 1 + len(below)] == below
