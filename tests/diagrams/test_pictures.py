"""Pictures: drawn without a system package, from any names, within a time, and known to be stale."""

from __future__ import annotations

import re
import shutil
import struct
from collections import Counter
from pathlib import Path
from threading import Thread
from xml.etree import ElementTree

import pytest

from diagrams.catalogue import FORMATS, album
from diagrams.render import DOT_BYTES_MAX, PictureError, render, stale, write
from diagrams.rendering.labels import visible
from diagrams.states.dot import write_machine, write_spec
from machines.parser.loader import load, load_text, shipped
from tests.diagrams.examples import GAMES, games, hostile

SVG = "{http://www.w3.org/2000/svg}"
GALLERY = Path(__file__).resolve().parents[2] / "diagrams" / "gallery"

HOSTILE = [
    'say "hi"',
    "<script>alert(1)</script>",
    "</text><script>",
    "<<b>bold</b>>",
    "]]>",
    "a\nb\r\nc",
    "\\N \\G \\E \\l",
    'end\\',
    '"]; evil [label="',
    "a:b:c",
    "&lt;b&gt; &amp; &#x41;",
    "שלום עולם",
    "\u202egnirts\u202c",
    "👩\u200d🚀 🎲",
    "\x00\x07\x1b[31m",
    "\ud800",
    "\ufffe",
    "x" * 3000,
    "word " * 600,
    "{a|b} [c] (d)",
    "",
    "graph", "node", "-->", "javascript:alert(1)", "../../etc/passwd", "{", "%s %d", "日本語", "ש" * 200,
]  # fmt: skip


def texts(svg: bytes) -> str:
    """All text of a drawing, tooltips apart, as one line."""
    return " ".join("".join(node.itertext()) for node in ElementTree.fromstring(svg).iter(f"{SVG}text"))


def parts(tree: ElementTree.Element) -> Counter[str]:
    """How many nodes, edges and clusters a drawing has."""
    return Counter(group.get("class", "") for group in tree.iter(f"{SVG}g") if group.get("class"))


def size(png: bytes) -> tuple[int, int]:
    """The pixels of a PNG across and down."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", png[16:24])
    return width, height


def test_no_system_package_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert shutil.which("dot") is None

    assert size(render("digraph { a -> b }", "png")) > (50, 50)
    assert "alpha" in texts(render("digraph { alpha }", "svg"))


@pytest.mark.parametrize("name", HOSTILE, ids=lambda name: ascii(name[:20]))
def test_a_hostile_name_is_drawn_as_text_and_injects_nothing(name: str) -> None:
    plain = {key: render(dot, "svg") for key, dot in write_spec(hostile("plain")).items()}

    drawn = [render(dot, "svg") for dot in write_spec(hostile(name)).values()]

    for svg, expected in zip(drawn, plain.values(), strict=True):
        tree = ElementTree.fromstring(svg)
        tags = {node.tag.removeprefix(SVG) for node in tree.iter()}
        assert tags <= {"svg", "g", "title", "text", "a", "path", "polygon", "polyline", "ellipse"}
        assert parts(tree) == parts(ElementTree.fromstring(expected))
        for link in tree.iter(f"{SVG}a"):
            target = link.get("{http://www.w3.org/1999/xlink}href")
            assert target is None or re.fullmatch(r"[A-Za-z0-9_-]+\.svg|#[A-Za-z0-9_-]+", target)
        words = visible(name).split()
        if words and len(words[0]) < 40:
            assert words[0] in texts(svg).replace("\N{NO-BREAK SPACE}", " ")


def test_a_hostile_tooltip_stays_text() -> None:
    svg = render(write_machine(hostile('<b onload="x">&lt;i&gt;\\N'), '<b onload="x">&lt;i&gt;\\N', "main"), "svg")

    titles = {node.get("{http://www.w3.org/1999/xlink}title") for node in ElementTree.fromstring(svg).iter(f"{SVG}a")}
    assert any('! <b onload="x">&lt;i&gt;\\N(' in (title or "") for title in titles)


@pytest.mark.parametrize(
    ("dot", "why"),
    [
        ("digraph { a [", "DotError"),
        ("hello", "DotError"),
        ("", "DotError"),
        ("digraph { a [label=<<b> & </b>>] }", "not well-formed"),
        ("digraph { a [label=\"" + "x" * DOT_BYTES_MAX + "\"] }", "over the limit"),
    ],
    ids=["cut", "word", "empty", "label", "long"],
)  # fmt: skip
def test_faulty_dot_is_a_picture_error_and_the_next_picture_is_drawn(dot: str, why: str) -> None:
    with pytest.raises(PictureError, match=why):
        render(dot, "svg")

    assert "alpha" in texts(render("digraph { alpha }", "svg"))


def test_a_picture_that_takes_too_long_is_given_up_and_the_next_is_drawn() -> None:
    tangle = " ".join(f"{n} -> {n * 7919 % 401}; {n} -> {n * 104729 % 397};" for n in range(400))

    with pytest.raises(PictureError, match=r"within 0\.2 s"):
        render(f"digraph {{ {tangle} }}", "svg", seconds=0.2)

    assert "alpha" in texts(render("digraph { alpha }", "svg"))


def test_threads_get_each_its_own_picture() -> None:
    found: dict[int, str] = {}
    threads = [
        Thread(target=lambda n=n: found.update({n: texts(render(f"digraph {{ alpha{n} }}", "svg"))})) for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert found == {n: f"alpha{n}" for n in range(8)}


def test_written_pictures_are_fresh_until_the_spec_changes(tmp_path: Path) -> None:
    spec = games()
    assert all("is missing" in fault for fault in stale(spec, tmp_path))

    paths = write(album(spec), tmp_path, FORMATS)

    assert sorted(paths) == sorted(tmp_path.iterdir())
    assert {path.suffix.removeprefix(".") for path in paths} == set(FORMATS)
    assert stale(spec, tmp_path) == []
    changed = load_text(GAMES.replace("reply: 400 ms", "reply: 5 s"), "games.yaml")
    told = {fault.removesuffix(" is stale") for fault in stale(changed, tmp_path)}
    assert {name for name in told if not name.endswith(("mmd", "puml"))} == {
        "games-server-join.dot", "games-server-turn.dot", "games-client-main.dot", "games-server.dot",
        "games-client.dot",
    }  # fmt: skip
    assert {"games-server-turn.mmd", "games-server-turn.puml", "games-server.mmd"} < told


def test_the_picture_of_a_machine_that_is_gone_is_stale(tmp_path: Path) -> None:
    spec = games()
    write(album(spec), tmp_path, ["dot"])
    (tmp_path / "games-server-lost.dot").write_text("digraph {}")
    (tmp_path / "other-server-main.dot").write_text("digraph {}")

    assert stale(spec, tmp_path) == ["games-server-lost.dot shows a machine that the spec no longer has"]


def test_an_unknown_format_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="'gif' is not a format"):
        write(album(games()), tmp_path / "new", ["dot", "gif"])

    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("name", shipped())
def test_the_gallery_shows_the_shipped_specs_as_they_are(name: str) -> None:
    assert stale(load(name), GALLERY) == []
