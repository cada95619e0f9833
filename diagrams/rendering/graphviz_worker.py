"""What the child process of ``pictures`` does: DOT to a layout, arrows set apart, and a picture of it.

    DOT ──dot──▶ places and curves ──apart──▶ curves ──nop2──▶ SVG, PNG

Nothing else in the project holds Graphviz in its own process. Other programs that draw our DOT get the same layout,
with the arrows where Graphviz ends them.
"""

from __future__ import annotations

import os
import struct
import sys
import tempfile
from typing import Any, Final

import pygraphviz

from diagrams.rendering.endpoints import Curve, Endpoint, Outline, Point, rounded, separate_endpoints
from diagrams.rendering.text_lengths import with_lengths

HEADER: Final = struct.Struct(">II")
HEADS: Final = ("normal", "empty")  # marks of an arrow that arrives; all others are those of its tail
# Points up that take a line on into the piece of it beside a text: Graphviz stops up to a point short of the cell.
INTO: Final = {"n": -1.5, "s": 1.5}
POINTS: Final = 72.0


def drawn(dot: str, form: str) -> bytes:
    """Return the picture of ``dot`` as SVG or PNG.

    Raises:
        Exception: whatever pygraphviz has against the DOT.
    """
    with pygraphviz.AGraph(string=dot) as graph:
        # Where DOT names its own layout, all places are given.
        if graph.graph_attr.get("layout") or not graph.number_of_edges():
            return _picture(graph, form, "dot")
        sizes = {node: (node.attr["width"], node.attr["height"]) for node in graph.nodes()}
        lay_out(graph)
        # The layout writes the sizes with all double lines in them, and would add these once more.
        for name, (width, height) in sizes.items():
            graph.get_node(name).attr.update(width=width, height=height)
        return _picture(graph, form, "nop2")


def _picture(graph: Any, form: str, prog: str) -> bytes:
    picture = bytes(graph.draw(format=form, prog=prog))
    if form != "svg":
        return picture
    return with_lengths(picture.decode(), graph.draw(format="json", prog=prog).decode()).encode()


def lay_out(graph: Any) -> None:
    """Give everything in a pygraphviz graph its place, as attributes, in Graphviz's own units."""
    graph.node_attr["vertices"] = ""  # asks for the corners of what is neither box nor circle
    graph.layout(prog="dot")
    _set_apart(graph)


def _set_apart(graph: Any) -> None:
    edges = [edge for edge in graph.edges() if edge.attr["style"] != "invis"]
    ends: dict[str, list[Endpoint]] = {}
    curves: list[Curve] = []
    for index, edge in enumerate(edges):
        curve = Curve.read(edge.attr["pos"])
        begins = edge.attr["arrowtail"] if edge.attr["dir"] == "both" else "none"
        for name, port, frame, mark, last in (
            (edge[0], edge.attr["tailport"], edge.attr["ltail"], begins, False),
            (edge[1], edge.attr["headport"], edge.attr["lhead"], edge.attr["arrowhead"] or "normal", True),
        ):
            cell, _, side = (port or "").rpartition(":")
            if cell:
                x, y = curve.end(last=last)
                curve = curve.led((x, y + INTO.get(side, 0.0)), last=last)
            elif not frame:
                ends.setdefault(name, []).append(Endpoint(index, last, mark in HEADS))
        curves.append(curve)
    boxes = ((_border(graph.get_node(name)), met) for name, met in ends.items())
    moved = separate_endpoints(curves, [(border, met) for border, met in boxes if border is not None])
    for edge, curve in zip(edges, moved, strict=True):
        edge.attr["pos"] = curve.written()


def _border(node: Any) -> Outline | None:
    """The outline of a node; of shapes that Graphviz tells no corners of, such as points, there is none."""
    x, y = (float(number) for number in node.attr["pos"].split(","))
    if "ROUNDED" in (node.attr["label"] or "").partition(">")[0] or "rounded" in (node.attr["style"] or ""):
        return rounded((x, y), float(node.attr["width"]) * POINTS, float(node.attr["height"]) * POINTS)
    numbers = [float(number) * POINTS for number in node.attr["vertices"].split()]
    corners: list[Point] = [(x + a, y + b) for a, b in zip(numbers[::2], numbers[1::2], strict=True)]
    return Outline(tuple(corners)) if corners else None


def serve() -> None:
    """Answer requests on standard input until it ends.

    Requests and answers are two lengths and two blocks of bytes each: format and DOT; fault and picture.
    """
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    with tempfile.TemporaryFile() as said:
        os.dup2(said.fileno(), 2)
        while len(head := requests.read(HEADER.size)) == HEADER.size:
            form, dot = (requests.read(length) for length in HEADER.unpack(head))
            said.seek(0)
            said.truncate()
            fault, picture = "", b""
            try:
                picture = drawn(dot.decode(), form.decode())
            except Exception as error:
                fault = f"{type(error).__name__}: {error}"
            said.seek(0)
            lines = said.read().decode(errors="replace").splitlines()
            fault = " ".join([fault, *(line for line in lines if line.startswith("Error"))]).strip()
            text = fault.encode(errors="replace")
            answers.write(HEADER.pack(len(text), len(picture)) + text + picture)
            answers.flush()
