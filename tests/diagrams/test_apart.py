"""Arrows at a box: which arrive and which leave can be told apart, in every picture of the shipped specs."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, pairwise, permutations
from xml.etree import ElementTree

import pygraphviz
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagrams.catalogue import Kind, album
from diagrams.render import render
from diagrams.rendering.endpoints import (
    ALIKE,
    CLOSE,
    CROWDED,
    GAP,
    Curve,
    Endpoint,
    Outline,
    Point,
    crossed,
    rounded,
    separate_endpoints,
    spread,
)
from diagrams.rendering.graphviz_worker import lay_out
from machines.parser.loader import load, shipped
from tests.diagrams.drawn import picture

SVG = "{http://www.w3.org/2000/svg}"
NEAR = 4.5  # points: 6 pixels
TOGETHER = 25.0  # points that two arrows may run NEAR each other: a head and as much again
MARGIN = 1.5  # points that must be free round a box
STRETCH = 10.0  # points at an arrow's end that must be free: its head and a little more


@dataclass(frozen=True)
class Drawn:
    """An arrow, or half of one that runs through its text, as a picture has it."""

    ends: tuple[str, str]
    way: tuple[Point, ...]
    heads: tuple[bool, bool]

    def at(self, box: str) -> Iterator[tuple[bool, tuple[Point, ...]]]:
        """Whether it arrives there, and its last stretch before the box, from the box on."""
        for end, arrives, way in zip(self.ends, self.heads, (self.way, self.way[::-1]), strict=True):
            if end == box:
                yield arrives, stretch(way)


def stretch(way: Sequence[Point]) -> tuple[Point, ...]:
    """The first STRETCH of a way, a point at least every half."""
    found: list[Point] = []
    gone = 0.0
    for a, b in pairwise(dense(way)):
        found.append(a)
        gone += math.dist(a, b)
        if gone > STRETCH:
            break
    return tuple(found)


def dense(way: Sequence[Point]) -> list[Point]:
    """A way with a point at least every half."""
    found = [way[0]]
    for a, b in pairwise(way):
        steps = max(1, math.ceil(math.dist(a, b) * 2))
        found += [(a[0] + (b[0] - a[0]) * k / steps, a[1] + (b[1] - a[1]) * k / steps) for k in range(1, steps + 1)]
    return found


def numbers(text: str) -> tuple[Point, ...]:
    found = [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", text)]
    return tuple(zip(found[::2], found[1::2], strict=True))


def arrows(svg: bytes) -> Iterator[Drawn]:
    """Every arrow of a picture, with its heads: closed triangles that touch the way with a side, not with a corner."""
    for group in ElementTree.fromstring(svg).iter(f"{SVG}g"):
        if group.get("class") != "edge":
            continue
        title = group.findtext(f"{SVG}title") or ""
        source, _, target = title.partition("->")
        way = list(Curve(numbers(next(group.iter(f"{SVG}path")).get("d", ""))).straight())
        heads = [False, False]
        for polygon in group.iter(f"{SVG}polygon"):
            corners = numbers(polygon.get("points", ""))[:-1]
            last = min(math.dist(way[-1], corner) for corner in corners) < min(math.dist(way[0], c) for c in corners)
            tip = max(corners, key=lambda corner: math.dist(way[-1 if last else 0], corner))
            foot = min(math.dist(way[-1 if last else 0], corner) for corner in corners)
            if len(corners) == 3 and foot > 1:
                heads[last] = True
                way = [*way, tip] if last else [tip, *way]
        yield Drawn((source, target), tuple(way), (heads[0], heads[1]))


@cache
def pictures(name: str) -> tuple[tuple[str, tuple[Drawn, ...]], ...]:
    drawings = album(load(name), (Kind.STATES, Kind.OVERVIEW))
    return tuple((drawing.stem, tuple(arrows(picture(drawing.dot, "svg")))) for drawing in drawings)


def boxes(drawn: Sequence[Drawn]) -> set[str]:
    """The boxes and marks that arrows join; ``arrow3:n`` is a text that an arrow runs through."""
    return {end for arrow in drawn for end in arrow.ends if ":" not in end}


def touching(drawn: Sequence[Drawn]) -> Iterator[str]:
    """Where an arrow that arrives and another that leaves read as one line, a sentence each."""
    for box in sorted(boxes(drawn)):
        here = [(arrow, *found) for arrow in drawn for found in arrow.at(box)]
        for (one, arrives, way), (other, leaves_not, beside) in permutations(here, 2):
            if arrives and not leaves_not and one is not other:
                near = min(math.dist(a, b) for a in way for b in beside)
                if near < NEAR:
                    yield f"{box}: {one.ends} arrives {near:.1f} points beside {other.ends}"


def crossing(drawn: Sequence[Drawn]) -> Iterator[str]:
    """Which arrows of one box cross each other, a sentence each."""
    for one, other in combinations(drawn, 2):
        if boxes([one]) & boxes([other]) and meet(one.way, other.way):
            yield f"{one.ends} crosses {other.ends}"


def meet(one: Sequence[Point], other: Sequence[Point]) -> bool:
    def turn(a: Point, b: Point, c: Point) -> float:
        return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])

    return any(
        turn(a, b, c) * turn(a, b, d) < 0 and turn(c, d, a) * turn(c, d, b) < 0
        for a, b in pairwise(one)
        for c, d in pairwise(other)
    )


def running(drawn: Sequence[Drawn]) -> Iterator[str]:
    """Where an arrow that arrives at a box runs along one that leaves it, a sentence each."""
    for one, other in combinations(drawn, 2):
        shared = boxes([one]) & boxes([other])
        if any({arrives for arrow in (one, other) for arrives, _ in arrow.at(box)} == {True, False} for box in shared):
            length = along(one.way, other.way)
            if length > TOGETHER:
                yield f"{one.ends} runs {length:.0f} points along {other.ends}"


def along(one: Sequence[Point], other: Sequence[Point]) -> float:
    """For how many points one way is NEAR another."""
    beside = dense(other)
    way = dense(one)
    near = [min(math.dist(point, at) for at in beside) < NEAR for point in way]
    return sum(math.dist(a, b) for (a, b), close in zip(pairwise(way), near, strict=False) if close)


@pytest.mark.parametrize("name", shipped())
def test_no_arrow_ends_where_another_begins(name: str) -> None:
    assert [f"{stem}, {fault}" for stem, drawn in pictures(name) for fault in touching(drawn)] == []


@pytest.mark.parametrize("name", shipped())
def test_heads_stand_beside_each_other(name: str) -> None:
    for stem, drawn in pictures(name):
        for box in boxes(drawn):
            tips = [way[0] for arrow in drawn for arrives, way in arrow.at(box) if arrives]
            assert all(math.dist(a, b) > NEAR for a, b in combinations(tips, 2)), (stem, box)


@pytest.mark.parametrize("name", shipped())
def test_arrows_of_one_box_do_not_cross(name: str) -> None:
    assert [f"{stem}, {fault}" for stem, drawn in pictures(name) for fault in crossing(drawn)] == []


@pytest.mark.parametrize("name", shipped())
def test_an_arrow_that_comes_back_keeps_away_from_those_that_leave(name: str) -> None:
    assert [f"{stem}, {fault}" for stem, drawn in pictures(name) for fault in running(drawn)] == []


def overdrawn(dot: str) -> Iterator[str]:
    """Which arrows run over a box, a mark or a text that they do not join, a sentence each."""
    with pygraphviz.AGraph(string=dot) as graph:
        lay_out(graph)
        sizes = {node: [float(node.attr[name]) * 36 for name in ("width", "height")] for node in graph.nodes()}
        places = {node: [float(number) for number in node.attr["pos"].split(",")] for node in graph.nodes()}
        for edge in (one for one in graph.edges() if one.attr["style"] != "invis"):
            way = dense(Curve.read(edge.attr["pos"]).straight())
            for node in graph.nodes():
                (x, y), (width, height) = places[node], sizes[node]
                over = any(abs(a - x) < width + MARGIN and abs(b - y) < height + MARGIN for a, b in way)
                if over and node not in edge:
                    yield f"{edge[0]} -> {edge[1]} runs over {node}"


@pytest.mark.parametrize("name", shipped())
def test_no_arrow_runs_over_a_box_or_a_text_that_is_not_its_own(name: str) -> None:
    drawings = album(load(name), (Kind.STATES, Kind.OVERVIEW))
    assert [f"{drawing.stem}, {fault}" for drawing in drawings for fault in overdrawn(drawing.dot)] == []


def placed(*edges: str) -> tuple[Drawn, ...]:
    """The arrows of a picture whose DOT names its own layout, which is therefore drawn as it stands."""
    return tuple(arrows(render(f"digraph {{layout=nop2; {PLACES} {'; '.join(edges)}}}", "svg")))


PLACES = 'a [pos="0,0"]; b [pos="0,-90"]; c [pos="90,-90"];'
UP = 'b -> a [pos="e,0,-18 0,-72 0,-60 0,-40 0,-28"]'


def test_what_the_pictures_are_asked_is_seen_where_it_is_so() -> None:
    at_its_tip = placed(UP, 'a -> c [pos="e,70,-80 1,-18 20,-40 30,-60 62,-75"]')
    across = placed(UP, 'a -> c [pos="e,70,-80 -14,-18 -14,-60 30,-60 62,-75"]')
    beside = placed(UP, 'a -> c [pos="e,70,-80 3,-18 3,-58 3,-62 62,-75"]')
    away = placed(UP, 'a -> c [pos="e,70,-80 18,-14 30,-40 40,-60 62,-75"]')

    assert len(list(touching(at_its_tip))) == 1
    assert len(list(crossing(across))) == 1
    assert len(list(running(beside))) == 1
    assert [*touching(away), *crossing(away), *running(away)] == []


# -- places on a border ----------------------------------------------------------------------------------------------


@st.composite
def borders(draw: st.DrawFn) -> tuple[list[float], list[bool], float]:
    """Places round a border, the sort of each, and the border's length."""
    length = draw(st.floats(60, 900))
    places = sorted(draw(st.lists(st.floats(0, length, exclude_max=True), min_size=2, max_size=12)))
    sorts = draw(st.lists(st.booleans(), min_size=len(places), max_size=len(places)))
    return places, sorts, length


def rooms(places: Sequence[float], length: float) -> list[float]:
    """From each place to the next, round the border."""
    return [b - a for a, b in pairwise([*places, places[0] + length])]


@given(borders())
def test_unlike_neighbours_get_their_room_and_none_overtakes_another(
    given_: tuple[list[float], list[bool], float],
) -> None:
    places, sorts, length = given_

    moved = spread(places, sorts, length)

    least = min(GAP, length / len(places) * CROWDED) - 2 * CLOSE
    for room, a, b in zip(rooms(moved, length), sorts, [*sorts[1:], sorts[0]], strict=True):
        assert room >= (least if a != b else least * ALIKE)


@given(borders())
def test_what_has_room_stays_where_it_is(given_: tuple[list[float], list[bool], float]) -> None:
    places, sorts, length = given_
    settled = spread(places, sorts, length)

    assert spread(settled, sorts, length) == pytest.approx(settled, abs=2 * CLOSE)


@given(st.floats(30, 300), st.floats(20, 200), st.floats(0, 1, exclude_max=True))
def test_a_place_of_a_border_is_found_again(width: float, height: float, share: float) -> None:
    border = rounded((7, -3), width, height)

    way = border.length * share

    assert math.dist(border.at(border.nearest(border.at(way))), border.at(way)) < 1e-6
    assert border.length < 2 * (width + height)


def test_arrows_that_end_where_others_begin_are_led_apart_and_the_rest_of_their_ways_stays() -> None:
    box = Outline(((20, -10), (-20, -10), (-20, 10), (20, 10)))
    down = Curve(((0, -10), (0, -40), (0, -70), (60, -100)))
    up = Curve(((0, -18), (0, -40), (0, -70), (-60, -100)), first=(0, -10))

    moved = separate_endpoints(
        [down, up], [(box, [Endpoint(0, last=False, arrives=False), Endpoint(1, last=False, arrives=True)])]
    )

    assert moved[0].end(last=False)[0] - moved[1].end(last=False)[0] == pytest.approx(GAP, abs=2 * CLOSE)
    assert {curve.end(last=False)[1] for curve in moved} == {-10}
    assert [curve.points[-1] for curve in moved] == [down.points[-1], up.points[-1]]
    assert not crossed(*moved)


@pytest.mark.parametrize("text", ["", "1,2", "1,2 3,4 5,6", "a,b c,d e,f g,h", "1,2 3,4 5,6 7,8;1,2 3,4 5,6 7,8"])
def test_what_is_no_curve_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"no curve|could not convert|unpack"):
        Curve.read(text)


def test_a_curve_is_written_as_it_is_read() -> None:
    text = "s,1.00,2.00 e,9.00,8.50 1.50,2.00 3.00,4.00 5.00,6.00 8.00,8.25"

    assert Curve.read(text).written() == text


def test_marks_without_corners_loops_and_records_are_drawn_as_graphviz_has_them() -> None:
    svg = render(
        'digraph { a -> b -> a; a -> a; a -> c; c [shape=point]; d [shape=record, label="x|y"]; d -> c }', "svg"
    )

    assert len(list(arrows(svg))) == 5
