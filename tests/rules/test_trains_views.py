"""Trains for people: maps in text and as pictures, messages and results in lines."""

from __future__ import annotations

from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

import pytest

from rules.players.trains_maps import made_map
from rules.trains_map import COLOURS, MapError
from rules.views.trains import map_svg, map_text, result_lines, seen, shown, written

CHART: dict[str, Any] = {
    "width": 100,
    "height": 100,
    "cities": [["Ash", [10, 10]], ["Bay", [90, 10]], ["Cod", [50, 90]]],
    "connections": {"Ash": {"Bay": {"red": 3, "blue": 5}}, "Bay": {"Cod": {"white": 4}}},
}
SVG = "{http://www.w3.org/2000/svg}"


def test_the_text_shows_cities_where_they_lie_and_who_owns_what() -> None:
    text = map_text(CHART, {"ann": [("Ash", "Bay", "blue", 5)]})

    lines = text.splitlines()
    assert lines[0].split() == ["1", "Ash", "2", "Bay"]
    assert any(line.split() == ["3", "Cod"] for line in lines)
    assert "   1 Ash - 2 Bay: red 3, blue 5 (ann)" in lines
    assert lines[-1] == "   2 Bay - 3 Cod: white 4"


def segments(picture: str) -> list[tuple[str, str, int]]:
    """Return for each connection its title, the fill of its segments and their number."""
    found = []
    for group in ElementTree.fromstring(picture).iter(f"{SVG}g"):
        title = group.find(f"{SVG}title")
        polygons = list(group.iter(f"{SVG}polygon"))
        assert title is not None
        assert title.text is not None
        assert len({polygon.get("fill") for polygon in polygons}) == 1
        found.append((title.text, polygons[0].get("fill", ""), len(polygons)))
    return found


def test_a_picture_has_each_connection_once_by_segment_and_the_taken_ones_in_their_owners_colour() -> None:
    picture = map_svg(CHART, owned={"ann": [("Ash", "Bay", "blue", 5)], "bob": [("Bay", "Cod", "white", 4)]})
    drawn = {title: (fill, count) for title, fill, count in segments(picture)}

    assert {title: count for title, (_, count) in drawn.items()} == {
        "Ash - Bay, red 3": 3,
        "Ash - Bay, blue 5": 5,
        "Bay - Cod, white 4": 4,
    }
    assert len({fill for fill, _ in drawn.values()}) == 3


def test_parallel_connections_lie_apart() -> None:
    chart = CHART | {"connections": {"Ash": {"Bay": dict.fromkeys(COLOURS, 3)}}}
    polygons = ElementTree.fromstring(map_svg(chart)).iter(f"{SVG}polygon")
    rows = [[float(point.split(",")[1]) for point in polygon.get("points", "").split()] for polygon in polygons]
    heights = sorted({(min(row), max(row)) for row in rows})

    assert len(heights) == 4
    assert all(low[1] < high[0] for low, high in pairwise(heights))


def test_names_of_cities_of_a_made_map_cover_neither_each_other_nor_the_border() -> None:
    for seed in range(5):
        root = ElementTree.fromstring(map_svg(made_map(seed)))
        boxes = []
        for text in root.iter(f"{SVG}text"):
            assert text.text is not None
            x, y, half = float(text.get("x", "")), float(text.get("y", "")), 4.0 * len(text.text)
            boxes.append((x - half, y - 10, x + half, y))
        assert all(left >= 0 and right <= float(root.get("width", "")) for left, _, right, _ in boxes)
        for i, (a, b, c, d) in enumerate(boxes):
            assert not any(a < g and e < c and b < h and f < d for e, f, g, h in boxes[:i])


def test_names_of_players_cannot_break_the_picture() -> None:
    ElementTree.fromstring(map_svg(CHART, owned={"<&\x00>": []}, title="a < b", notes={"<&\x00>": "1 > 0"}))


@pytest.mark.parametrize("draw", [map_svg, map_text])
def test_what_is_no_map_is_refused(draw: Any) -> None:
    with pytest.raises(MapError):
        draw(CHART | {"width": 0})


@pytest.mark.parametrize(
    ("message", "fields", "text"),
    [
        ("connection", {"connection": ("Ash", "Bay", "red", 3)}, "takes Ash - Bay, red 3"),
        ("more_cards", {}, "asks for cards"),
        ("win", {"won": False}, "did not win the game"),
        ("end", {"won": True}, "won the tournament"),
        ("returned", {"unwanted": (("Ash", "Bay"), ("Bay", "Cod"))}, "returns Ash to Bay, Bay to Cod"),
        ("name", {"name": "\x1b[2J"}, r"signs up as '\x1b[2J'"),
        ("map", {"map": CHART}, "brings a map along, 3 cities, 3 connections"),
        (
            "setup",
            {"map": {}},
            "(this map cannot be drawn: a map has width, height, cities and connections, and nothing else)",
        ),
        ("more", {"cards": {}}, None),
    ],
)
def test_messages_are_shown_in_a_line(message: str, fields: Any, text: str | None) -> None:
    assert shown(message, fields) == text


def test_a_setup_shows_the_map() -> None:
    assert shown("setup", {"map": CHART, "rails": 45, "cards": ()}) == map_text(CHART)


TAKEN = ("Ash", "Bay", "red", 3)


def told(view: Any, *said: tuple[Any, ...]) -> list[str]:
    """Return the last map in text that a view has of these messages."""
    state, written = None, ""
    for one in said:
        state, write = view(state, *one)
        if write is not None:
            written = write()
    return written.splitlines()


def test_whoever_watches_sees_whose_connections_are() -> None:
    setup = {"map": CHART, "rails": 45, "cards": ()}
    said = [("ann", "setup", setup), ("bob", "setup", setup), ("bob", "connection", {"connection": TAKEN})]
    over = [("ann", "win", {"won": False}), ("bob", "win", {"won": True})]

    assert "   1 Ash - 2 Bay: red 3 (bob), blue 5" in told(written, *said)
    assert "   1 Ash - 2 Bay: red 3 (bob), blue 5" in told(written, *said, *over)
    assert "   1 Ash - 2 Bay: red 3, blue 5" in told(written, *said, *over, ("bob", "setup", setup)), "the next game"


def test_a_player_sees_whose_connections_are_as_it_is_told() -> None:
    own: dict[str, Any] = {"destination1": ("Ash", "Bay"), "destination2": ("Bay", "Cod"), "rails": 45, "cards": {}}
    state = {"this": {**own, "acquired": (("Bay", "Cod", "white", 4),)}, "acquired": ((TAKEN,),)}
    lines = told(seen, ("setup", {"map": CHART, "rails": 45, "cards": ()}), ("play", {"state": state}))

    assert lines[-2:] == ["   1 Ash - 2 Bay: red 3 (player 2), blue 5", "   2 Bay - 3 Cod: white 4 (you)"]
    assert seen(None, "play", {"state": state}) == (None, None), "of a map that was never told"


@pytest.mark.parametrize(
    ("result", "lines"),
    [
        ([["ann", "bob"], ["cyd"]], ["won: ann, bob", "kicked: cyd"]),
        ((("ann",), ()), ["won: ann"]),
        ([[], ["cyd"]], ["nobody won", "kicked: cyd"]),
        ([[], []], ["no tournament: too few players, or nobody left"]),
        ("error: not enough destinations", ["no tournament: not enough destinations"]),
        ({"won": True}, ["won the tournament"]),
        ({"won": False}, ["did not win the tournament"]),
    ],
)
def test_results_are_told_in_lines(result: Any, lines: list[str]) -> None:
    assert result_lines(result) == lines
