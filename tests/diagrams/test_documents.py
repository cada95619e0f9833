"""Documents: all that a spec says stands in them, they are true, and no name in a spec becomes markup."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from html.parser import HTMLParser
from itertools import islice
from typing import Any

import pytest
from jsonschema import Draft7Validator, Draft202012Validator
from markdown_it import MarkdownIt
from pydantic_asyncapi.v3 import AsyncAPI

from diagrams.catalogue import album
from diagrams.documents.builder import document, example_of
from diagrams.documents.embed import FillError, filled
from diagrams.documents.html import page, without_pictures
from diagrams.documents.index import index
from diagrams.documents.markdown import code, markdown, text
from diagrams.documents.schemas import asyncapi, json_schema
from diagrams.documents.wire_words import LIMITS
from diagrams.rendering.labels import visible
from machines.messages.bodies import compile_message
from machines.model import Spec, Wire
from machines.parser.loader import load, load_text, shipped
from machines.values import plain
from tests.diagrams.drawn import picture
from tests.diagrams.examples import GAMES, games, hostile
from tests.diagrams.test_pictures import HOSTILE

SVG_TAGS = {"svg", "g", "title", "text", "a", "path", "polygon", "polyline", "ellipse"}
HTML_TAGS = {
    "html", "head", "meta", "title", "style", "body", "h1", "h2", "h3", "h4", "p", "ul", "li", "nav", "a", "figure",
    "figcaption", "pre", "table", "thead", "tbody", "tr", "th", "td", "code", "bdi", "br",
}  # fmt: skip
NOT_LIMITS = {"framing", "early", "line_end", "charset"}


@cache
def spec_of(name: str) -> Spec:
    return load(name)


@cache
def pictures_of(name: str) -> dict[str, bytes]:
    return pictures(spec_of(name))


def pictures(spec: Spec) -> dict[str, bytes]:
    return {drawing.stem: picture(drawing.dot, "svg") for drawing in album(spec)}


class Page(HTMLParser):
    """What a page is made of: tags, ids, where links lead, all that could load or run something, and the texts."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.active: list[str] = []
        self.said: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        links = ("href", "xlink:href")
        for name, value in attrs:
            local = (value or "").startswith("#")
            if name == "id":
                self.ids.append(value or "")
            if name in links:
                self.links.append(value or "")
            if name.startswith("on") or name in ("src", "action", "data") or (name in links and not local):
                self.active.append(f"{tag} {name}={value}")

    def handle_data(self, data: str) -> None:
        self.said.append(data)


def rendered(source: str) -> str:
    return str(MarkdownIt("gfm-like", {"linkify": False, "html": True}).render(source))


# -- what stands in it -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", shipped())
def test_a_document_has_every_machine_message_field_type_and_setting_of_its_spec(name: str) -> None:
    spec = spec_of(name)
    html, lines = page(document(spec), pictures_of(name)), markdown(document(spec))
    shown = " ".join(Page(html).said)

    for made in (shown, " ".join(Page(rendered(lines)).said)):
        names = [*spec.messages, *spec.types, *spec.settings, *spec.roles]
        names += [field.name for message in spec.messages.values() for field in message.fields]
        names += [machine for role in spec.roles.values() for machine in role.machines]
        assert [found for found in names if found not in made] == []
    for drawing in album(spec):
        assert f"{drawing.stem}.svg" in lines
        assert f'id="{drawing.stem}"' in html or drawing.stem in html


def test_a_message_is_told_with_its_json_its_fields_an_example_and_when_it_is_sent() -> None:
    row = next(row for row in document(spec_of("tsuro")).messages if row.name == "INTER_REQ")

    assert (row.senders, row.receivers) == (("server",), ("client",))
    assert row.body == "[$board Board, $tiles [Tile, ... 2]]"
    assert [(field.name, field.takes) for field in row.fields] == [("board", "Board"), ("tiles", "[Tile, ... 2]")]
    assert row.sent == ("server, intermediate_placement, asked: on entry",)
    assert row.heard == ("client, main, playing",)


def test_other_bodies_of_a_message_and_optional_fields_are_told() -> None:
    rows = {row.name: row for row in document(spec_of("santorini-relay")).messages}
    assert rows["game_start"].also == ("{type: game_start, content: null}",)

    checks = {row.name: row for row in document(spec_of("santorini-rulecheck")).messages}
    defaults = [field.default for row in checks.values() for field in row.fields if field.name == "check"]
    assert "false" in defaults


def test_a_wait_is_told_with_its_limit_and_what_each_fault_leads_to() -> None:
    rows = {row.where: row for row in document(games()).waits}

    turn = rows["server, turn, asked"]
    assert (turn.awaits, turn.within) == ("player", "reply (400 ms)")
    assert (turn.late, turn.wrong, turn.gone) == ("go to gone", "go to gone", "go to gone")
    door = rows["server, main, gather"]
    assert (door.awaits, door.within, door.late) == ("connections, up to seats (2..4)", "slow (never)", "return null")
    assert rows["server, join, named"].gone == "no seat"
    assert rows["client, main, choose"].awaits == "its player: move(to)"
    assert rows["client, main, told"].within == "slow (never), of the whole machine"


def test_fields_of_bytes_are_told_in_words() -> None:
    text = """
protocol: gauge
wire: {framing: text, charset: latin-1}
connects: {meter: post}
messages:
  meter:
    READING: [$kind int, $value int, $name string, $rest string]
frames:
  READING:
    - byte: 0x82
    - bits: [10, kind 6]
    - size: varint
      of: [number: i32 little, bytes: u8, bytes: rest]
roles:
  post: {main(meter): {heard: {within: 1 s, receive: {READING: {return: null}}, fault: {return: null}}}}
  meter: {main: {say: {send: "READING(1, 2, 'a', 'b')", return: null}}}
"""
    found = document(load_text(text, "gauge.yaml"))

    assert found.messages[0].parts == (
        "the byte 0x82, then the bits 10 kind 6, then as many bytes as a number (varint) before them says (a number "
        "(i32 little), then as many bytes as a number (u8) before them says, then the bytes that are left)"
    )
    assert found.framing == "lines of plain text, a character for each byte (Latin-1)"


def test_every_limit_of_the_wire_is_explained_and_every_setting_names_its_places() -> None:
    assert {field.name for field in fields(Wire)} - NOT_LIMITS == set(LIMITS)

    rows = {row.name: row for row in document(games()).settings}
    assert rows["reply"].value == "400 ms"
    assert rows["reply"].used == (
        "server, join, named: within", "server, turn, asked: within", "client, main, choose: within",
    )  # fmt: skip
    assert rows["checks"].used == ("server, turn, asked: at most",)
    assert rows["seats"].used == ("server, main, gather: seats",)


@pytest.mark.parametrize("name", shipped())
def test_every_setting_of_a_shipped_spec_is_used_somewhere(name: str) -> None:
    assert [row.name for row in document(spec_of(name)).settings if not row.used] == []


def test_a_long_example_is_cut_where_its_lists_are_long() -> None:
    assert example_of([[None] * 300, 1]) == "[[null, … 300 in all], 1]"
    assert example_of({"a": [1, 2, 3]}) == '{"a": [1, 2, 3]}'


# -- pages and Markdown ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", shipped())
def test_a_page_needs_nothing_else_and_its_links_lead_somewhere_in_it(name: str) -> None:
    spec = spec_of(name)
    found = Page(page(document(spec), pictures_of(name)))

    assert found.active == []
    assert not {"script", "link", "img", "iframe", "object", "embed", "form"} & set(found.tags)
    assert len(set(found.ids)) == len(found.ids)
    assert {link.removeprefix("#") for link in found.links} <= set(found.ids)
    assert found.tags.count("svg") == len(album(spec))


def test_two_pages_that_differ_in_their_pictures_alone_compare_equal() -> None:
    spec = games()
    drawn = pictures(spec)
    blank = dict.fromkeys(drawn, b'<svg xmlns="http://www.w3.org/2000/svg"><g><text>other</text></g></svg>')

    assert without_pictures(page(document(spec), drawn)) == without_pictures(page(document(spec), blank))
    changed = document(load_text(GAMES.replace("reply: 400 ms", "reply: 5 s"), "games.yaml"))
    assert without_pictures(page(changed, drawn)) != without_pictures(page(document(spec), drawn))


@pytest.mark.parametrize("name", HOSTILE, ids=lambda name: ascii(name[:20]))
def test_a_hostile_name_is_text_in_a_page_and_in_markdown(name: str) -> None:
    spec = hostile(name)
    plain_spec = hostile("plain")

    found = Page(page(document(spec), pictures(spec)))
    assert found.active == []
    assert set(found.tags) <= HTML_TAGS | SVG_TAGS
    blank = {drawing.stem: b"<svg/>" for drawing in album(spec)}
    plain_blank = {drawing.stem: b"<svg/>" for drawing in album(plain_spec)}
    if name and not name.startswith("."):  # such a message would be no message
        assert Page(page(document(spec), blank)).tags == Page(page(document(plain_spec), plain_blank)).tags
    source = markdown(document(spec))
    tokens = MarkdownIt("gfm-like", {"linkify": False, "html": True}).parse(source)
    inner = [child for token in tokens for child in (token, *(token.children or ()))]
    raw = {token.content for token in inner if token.type in ("html_inline", "html_block")}
    assert raw <= {"<code>", "</code>", "<br>"}
    kinds = [token.type for token in inner]
    assert kinds.count("link_open") == 7
    assert kinds.count("image") == len(album(spec))
    expected = MarkdownIt("gfm-like", {"linkify": False}).parse(markdown(document(plain_spec)))
    blocks = [token.type for token in tokens]
    if name and not name.startswith("."):
        assert blocks == [token.type for token in expected]
    assert re.search(r"[\u202a-\u202e\u2066-\u2069]", source) is None


@pytest.mark.parametrize("name", HOSTILE, ids=lambda name: ascii(name[:20]))
def test_a_text_in_a_cell_reads_as_it_is(name: str) -> None:
    for made in (code(name), text(name)):
        html = rendered(f"| a | b |\n|---|---|\n| {made} | z |\n")
        cells = re.findall(r"<td>(.*?)</td>", html, re.DOTALL)
        assert len(cells) == 2
        shown = "".join(Page(cells[0]).said).rstrip("…")
        assert shown == "" or shown in visible(name)
        assert len(shown) >= min(len(visible(name).strip()), 390)


def test_an_index_leads_to_the_documents_and_drawings_of_each_spec() -> None:
    source = index([spec_of("tsuro"), games()], ["md", "html"])

    links = re.findall(r"\]\(([^)]+)\)", source)
    stems = {drawing.stem for spec in (spec_of("tsuro"), games()) for drawing in album(spec)}
    assert {link.removesuffix(".svg") for link in links if link.endswith(".svg")} == stems
    assert {"tsuro.md", "tsuro.html", "games.md"} <= set(links)


# -- schemas -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", shipped())
def test_the_json_schema_takes_what_the_spec_takes(name: str) -> None:
    spec = spec_of(name)
    schema = json_schema(spec)

    Draft202012Validator.check_schema(schema)
    assert set(spec.messages) <= set(schema["$defs"])
    whole = Draft202012Validator(schema)
    for message in spec.messages.values():
        one = Draft202012Validator({**schema, "anyOf": [{"$ref": f"#/$defs/{message.name}"}]})
        for sample in islice(compile_message(message, spec.types).samples(), 12):
            value = json.loads(json.dumps(plain(sample)))
            assert whole.is_valid(value)
            assert one.is_valid(value), (message.name, value)
        assert not one.is_valid({"none": "of these"})


def test_a_type_called_like_a_message_has_a_name_of_its_own() -> None:
    spec = load_text(GAMES.replace("{Word: ", "{MOVE: {int: 0..9}, Word: ").replace("$n int", "$n MOVE"), "games.yaml")
    schema = json_schema(spec)

    assert schema["$defs"]["MOVE"]["type"] == "object"
    assert schema["$defs"]["MOVE-type"] == {"type": "integer", "minimum": 0, "maximum": 9}
    assert Draft202012Validator(schema).is_valid({"move": 9})


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "$ref":
                yield inner
            else:
                yield from references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from references(inner)


def without_schemas(made: dict[str, Any]) -> dict[str, Any]:
    """A document whose schemas are open: the package's own model of them refuses numbers in an ``enum``."""
    components = made["components"]
    messages = {name: {**message, "payload": {}} for name, message in components["messages"].items()}
    return {**made, "components": {"messages": messages}}


@pytest.mark.parametrize("name", shipped())
def test_the_asyncapi_document_is_one_and_all_its_references_lead_somewhere(name: str) -> None:
    spec = spec_of(name)
    for role in spec.listeners():
        made = json.loads(json.dumps(asyncapi(spec, role)))
        AsyncAPI.model_validate(without_schemas(made))
        for reference in references(made):
            found: Any = made
            for part in reference.removeprefix("#/").split("/"):
                found = found[part]
        for message in made["components"]["messages"].values():
            Draft7Validator.check_schema(message["payload"])
            whole = {**made["components"], "components": made["components"], "allOf": [message["payload"]]}
            for example in message["payload"]["examples"]:
                assert Draft7Validator(whole).is_valid(example), message["name"]
        said = {(operation["action"], entry["$ref"].rpartition("/")[2])
                for operation in made["operations"].values() for entry in operation["messages"]}  # fmt: skip
        peers = spec.peers_of(role)
        assert {message for action, message in said if action == "send"} == {
            message.name for message in spec.messages.values() if role in message.senders
        }
        callers = [peer for peer in peers if role in spec.connects.get(peer, ())]
        assert {message for action, message in said if action == "receive"} == {
            message.name for message in spec.messages.values() if set(callers) & set(message.senders)
        }


def test_a_faulty_asyncapi_document_is_refused_by_what_judges_ours() -> None:
    made = asyncapi(games(), "server")
    made["operations"]["wrong"] = {"action": "shout", "channel": {"$ref": "#/channels/client"}}

    with pytest.raises(ValueError, match="action"):
        AsyncAPI.model_validate(without_schemas(made))


@pytest.mark.parametrize("name", HOSTILE, ids=lambda name: ascii(name[:20]))
def test_schemas_of_hostile_names_are_schemas(name: str) -> None:
    spec = hostile(name)
    Draft202012Validator.check_schema(json_schema(spec))
    for role in spec.roles:
        made = asyncapi(spec, role)
        assert all(re.fullmatch(r"[\w.-]+", key) for key in made["components"]["messages"])


# -- parts of other documents ------------------------------------------------------------------------------------------


def one(asked: str, inside: str = "old\n") -> str:
    return f"before\r\n<!-- accord: {asked} -->\n{inside}<!-- accord: end -->\nafter"


def test_a_part_is_written_anew_and_the_rest_stays_byte_for_byte() -> None:
    made = filled(one("course games server turn"), lambda _: games())

    assert made.startswith("before\r\n<!-- accord: course games server turn -->\n\n```text\nserver: turn(player, left)")
    assert made.endswith("```\n\n<!-- accord: end -->\nafter")
    assert "old" not in made
    assert "case:" not in made
    assert "case:" in filled(one("chart games server turn"), lambda _: games())
    assert filled(made, lambda _: games()) == made


@pytest.mark.parametrize("what", ["messages", "fields", "types", "waits", "settings"])
def test_tables_of_a_document_can_be_parts_of_another(what: str) -> None:
    made = filled(one(f"{what} games"), lambda _: games())

    assert re.search(r"^\|---", made, re.MULTILINE)
    rows = [line for line in made.splitlines() if line.startswith("|")]
    assert all(line in markdown(document(games())) for line in rows)


@pytest.mark.parametrize(
    ("source", "why"),
    [
        (one("picture games"), r"line 2: 'picture games' is not one of"),
        (one("chart games"), r"line 2: 'chart games' is not one of"),
        (one("chart games servr turn"), r"line 2: games has no role 'servr': did you mean 'server'"),
        (one("chart games server tun"), r"line 2: the role server of games has no machine 'tun': did you mean 'turn'"),
        (one("chart games xyz turn"), r"line 2: games has no role 'xyz': there is server, client$"),
        (one("chart games server xyz"), r"line 2: the role server of games has no machine 'xyz': there is main, "),
        ("<!-- accord: types games -->\nx", r"line 1: this part has no <!-- accord: end -->"),
        ("<!-- accord: types games -->\n" * 2, r"line 2: the part that begins in line 1 has no"),
        ("x\n<!-- accord: end -->", r"line 2: <!-- accord: end --> ends nothing"),
        ("x\n<!--accord: types games-->", r"line 2: a part begins with <!-- accord: ... --> and ends with"),
        ("x\n<!-- Accord: types games -->", r"line 2: a part begins with <!-- accord: ... --> and ends with"),
    ],
)
def test_a_part_that_cannot_be_written_is_named_by_its_line(source: str, why: str) -> None:
    with pytest.raises(FillError, match=why):
        filled(source, lambda _: games())
