"""One state diagram a machine, as DOT.

    ●                     starts here
    ╭ asked ───────────╮  a state: what it does on entry (! sends), whom it awaits, its time limit,
    │ ! INIT_REQ → …   │  then the branches that keep it
    ╰──────────────────╯
    ║ a call ║            a state that runs another machine: double sides, a link to that machine's picture
    ◇ judged              nothing but a choice
    ◉ return table        ends here, one mark for each value returned
    ▸ name                goes on at that state, far from here (large machines only)
    ┄ in every state ┄    the machine's ``always``: the frame round all its states, and one box its arrows leave from

An arrow shows the event (``? NAME`` received), the guards in brackets, numbered where several branches compete,
and what is done (``! NAME → peer`` sent). Its look tells messages from time, faults and losses (see ``looks``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePath

import graphviz

from diagrams.rendering.labels import attribute, distinct, markup, stem, wrap
from diagrams.rendering.style import BAND, BOX, BOX_CALL, FONTS, INK, PALE, PAPER, QUIET, SIZE, SIZE_SMALL
from diagrams.states.builder import flow
from diagrams.states.coverage import Paint
from diagrams.states.looks import LOOKS, SETTING, Look
from diagrams.states.model import KEEPS, Arrow, Kind, Label, Line, LineRole, Node, StateDiagram, backward
from diagrams.states.parting import ARROW_CHARACTERS, BOX_CHARACTERS
from machines.model import Spec
from machines.problems import Place

HEADING_CHARACTERS = 100
NAME_LINES_MAX = 3
TEXT_LINES_MAX = 5  # What is cut stands in full in the tooltip.
DIAMOND_CHARACTERS_MAX = 16  # A diamond round a longer name is wider than the boxes beside it.
ARROW_GAP = 5  # points between an arrow and its text
LINE_PORT = "line"
BLANK = "&#160;"

GRAPH = {
    "charset": "utf-8",
    "fontname": FONTS,
    "fontsize": str(SIZE),
    "fontcolor": INK,
    "bgcolor": PAPER,
    "labelloc": "t",
    "labeljust": "l",
    "nodesep": "0.35",
    "ranksep": "0.3",
    "pad": "0.2",
}
RANKS_OF_PARTS = "0.8"  # lower, Graphviz lets arrows to many texts side by side cross
MANY_ARROWS = 6  # at one box
RANKS_OF_MANY = "0.45"  # lower, Graphviz lets arrows that fan out run along each other and over texts
NODE = {"fontname": FONTS, "fontsize": str(SIZE), "fontcolor": INK, "color": INK, "shape": "plain"}
EDGE = {"fontname": FONTS, "fontsize": str(SIZE), "fontcolor": INK, "color": INK, "arrowsize": "0.8"}


def stems(spec: Spec) -> dict[tuple[str, str], str]:
    """Return the file name, without ending, of each machine's picture, by (role, machine): ``tsuro-server-main``."""
    keys = [(role.name, machine) for role in spec.roles.values() for machine in role.machines]
    names = distinct([stem(spec.protocol, role, machine) for role, machine in keys])
    return dict(zip(keys, names, strict=True))


def write_spec(spec: Spec) -> dict[str, str]:
    """Return the DOT of every machine of a spec by its picture's file name without ending, in file order."""
    return {name: write_machine(spec, role, machine) for (role, machine), name in stems(spec).items()}


def write_machine(spec: Spec, role: str, machine: str) -> str:
    """Return one machine's state diagram as DOT; the same spec gives the same bytes.

    Raises:
        KeyError: the spec has no such role, or the role no such machine.
    """
    return dot(flow(spec, role, machine), spec.protocol, {m: s for (r, m), s in stems(spec).items() if r == role})


def dot(drawn: StateDiagram, protocol: str, links: Mapping[str, str], paint: Paint | None = None) -> str:
    """Return a flow as DOT; ``links`` gives the file name without ending of each machine that has a picture.

    ``paint``, which was made of this flow, shows how often runs went along each arrow.
    """
    drawn = paint.flow if paint is not None else drawn
    machine = drawn.machine
    graph = graphviz.Digraph(graph_attr=GRAPH | {"ranksep": _ranks(drawn)}, node_attr=NODE, edge_attr=EDGE)
    graph.attr(label=_html(_heading(drawn, protocol, links, paint)), tooltip=attribute(where(machine.place)))
    # Ids in SVG begin with the picture's name, so that several can stand in one page.
    page = links.get(machine.name, stem(machine.name))
    identities = ids_of(drawn)
    if machine.always is None:
        _draw(graph, drawn, identities, links, page, paint)
    else:
        with graph.subgraph(name="cluster_always") as frame:
            frame.attr(
                label="", style="dashed,rounded", color=QUIET, margin="20", tooltip=attribute(where(machine.place))
            )
            _draw(frame, drawn, identities, links, page, paint)
    return str(graph.source)


def _ranks(drawn: StateDiagram) -> str:
    """How far below each other boxes and texts stand, in inches."""
    if drawn.under:
        return RANKS_OF_PARTS
    met = Counter(end for arrow in drawn.arrows for end in (arrow.source, arrow.target))
    return RANKS_OF_MANY if max(met.values(), default=0) >= MANY_ARROWS else GRAPH["ranksep"]


def _draw(
    graph: graphviz.Digraph,
    drawn: StateDiagram,
    identities: Mapping[str, str],
    links: Mapping[str, str],
    page: str,
    paint: Paint | None,
) -> None:
    for node in drawn.nodes:
        pale = paint is not None and node.name in paint.pale
        _draw_node(graph, node, identities, links, page, pale=pale)
    if drawn.machine.always is not None:
        # Where reading begins: what holds in every state stands beside the start.
        with graph.subgraph() as row:
            row.attr(rank="same")
            row.node(identities[".start"])
            row.node(identities[".always"])
    for upper, lower in drawn.under:
        graph.edge(identities[upper], identities[lower], style="invis", weight="0")
    back = backward(drawn)
    for index, arrow in enumerate(drawn.arrows):
        ends = identities[arrow.source], identities[arrow.target]
        look = paint.looks[index] if paint is not None else LOOKS[arrow.kind]
        _draw_arrow(graph, arrow, look, ends, arrow_id(index), page, back=index in back)


def ids_of(drawn: StateDiagram) -> dict[str, str]:
    """Return the name in DOT of each node, by its name: in SVG its id is that behind the picture's name and a dash."""
    return dict(zip([n.name for n in drawn.nodes], distinct([_identity(n) for n in drawn.nodes]), strict=True))


def arrow_id(index: int) -> str:
    """Return the id of an arrow by its place in the flow; in SVG it stands behind the picture's name and a dash."""
    return f"arrow{index + 1}"


def _identity(node: Node) -> str:
    """A node's name in DOT and its id in SVG: words of ours and the state's name, safe in both."""
    return f"{node.kind}_{stem(node.name)}" if not node.name.startswith(".") else stem(node.name[1:])


# -- nodes -----------------------------------------------------------------------------------------------------------


def _draw_node(
    graph: graphviz.Digraph,
    node: Node,
    identities: Mapping[str, str],
    links: Mapping[str, str],
    page: str,
    *,
    pale: bool,
) -> None:
    identity = identities[node.name]
    said = [where(node.place), *node.detail, *_cut(node.lines, BOX_CHARACTERS)]
    for label in node.inside:
        said += _told_more(label, BOX_CHARACTERS)
    common = {"id": f"{page}-{identity}", "tooltip": attribute("\n".join(dict.fromkeys(said)))}
    ink = PALE if pale else INK
    match node.kind:
        case "start":
            graph.node(
                identity, "", **common, shape="circle", style="filled", fillcolor=ink, fixedsize="true", width="0.17"
            )
        case "junction":
            graph.node(
                identity, "", **common, shape="diamond", style="filled", fillcolor=BAND, fixedsize="true",
                width="0.24", height="0.24",
            )  # fmt: skip
        case "choice":
            _draw_choice(graph, node, identity, common, pale=pale)
        case "end":
            graph.node(identity, _html(_end_table(node, ink)), **common)
        case "jump":
            goal = attribute(f"#{page}-{identities[node.lines[0].text]}")
            graph.node(identity, _html(_jump_table(node)), **common, URL=goal)
        case "state" | "always":
            link = links.get(node.calls or "")
            if link is not None:
                common |= {"URL": attribute(f"{link}.svg")}
            graph.node(identity, _html(_box_table(node, pale=pale)), **common)


def _draw_choice(graph: graphviz.Digraph, node: Node, identity: str, common: Mapping[str, str], *, pale: bool) -> None:
    name = node.lines[0].text
    text = _rows(_set(node.lines, BOX_CHARACTERS, pale=pale), align="CENTER")
    looks = {"color": PALE, "fillcolor": PAPER} if pale else {"fillcolor": BAND}
    shape = "diamond" if len(name) <= DIAMOND_CHARACTERS_MAX else "hexagon"
    graph.node(
        identity, _html(_table(text, padding=0)), **common, shape=shape, style="filled", margin="0.02,0", **looks
    )


def _end_table(node: Node, ink: str) -> str:
    lines = wrap(f"◉ return {node.lines[0].text}", BOX_CHARACTERS, TEXT_LINES_MAX)
    text = '<BR ALIGN="LEFT"/>'.join(map(markup, lines)) + ('<BR ALIGN="LEFT"/>' if len(lines) > 1 else "")
    return (
        f'<TABLE BORDER="1" COLOR="{ink}" STYLE="ROUNDED" CELLSPACING="2" CELLPADDING="4"><TR>'
        f'<TD BORDER="0" STYLE="ROUNDED" BGCOLOR="{ink}"><FONT COLOR="{PAPER}">{text}</FONT></TD></TR></TABLE>'
    )


def _jump_table(node: Node) -> str:
    text = _table(_rows(_set([Line(LineRole.CALL, f"▸ {node.lines[0].text}")], BOX_CHARACTERS)))
    style = f'BORDER="1" COLOR="{QUIET}" STYLE="ROUNDED,DASHED" CELLPADDING="2"'
    return f'<TABLE {style}><TR><TD BORDER="0">{text}</TD></TR></TABLE>'


def _box_table(node: Node, *, pale: bool) -> str:
    """A state's box: its loop above a rule, what it does, and below further rules the branches that keep it."""
    loop = [line for line in node.lines if line.voice is LineRole.LOOP]
    does = [line for line in node.lines if line.voice is not LineRole.LOOP]
    parts = [part for part in (loop, does, *(label.lines for label in node.inside)) if part]
    body = "<HR/>".join(_part(part, pale=pale) for part in parts)
    ink, box, box_call = (PALE, PAPER, PAPER) if pale else (INK, BOX, BOX_CALL)
    inside = f'CELLBORDER="0" CELLSPACING="0" CELLPADDING="1" COLOR="{ink}"'
    if node.calls is None:
        style = 'STYLE="DASHED"' if node.kind == "always" else f'STYLE="ROUNDED" BGCOLOR="{box}"'
        return f'<TABLE BORDER="1" {inside} {style}>{body}</TABLE>'
    side = '<TD BORDER="1" SIDES="{}" WIDTH="5"></TD>'
    return (
        f'<TABLE BORDER="1" COLOR="{ink}" BGCOLOR="{box_call}" CELLBORDER="0" CELLSPACING="0" CELLPADDING="0"><TR>'
        f'{side.format("R")}<TD><TABLE BORDER="0" {inside}>{body}</TABLE></TD>{side.format("L")}</TR></TABLE>'
    )


def _part(lines: Sequence[Line], *, pale: bool) -> str:
    """Rows of a box between two rules."""
    rows = ['<TR><TD HEIGHT="2"></TD></TR>']
    rows += _rows(_set(lines, BOX_CHARACTERS, margin=BLANK, pale=pale))
    return "".join([*rows, rows[0]])


# -- arrows ----------------------------------------------------------------------------------------------------------


def _draw_arrow(
    graph: graphviz.Digraph, arrow: Arrow, look: Look, ends: tuple[str, str], identity: str, page: str, *, back: bool
) -> None:
    """Draw an arrow through its label, which is a node of its own.

    Graphviz moves the label of a longer edge after it has made room for it, over what is beside; a node it never
    moves. An arrow that leads back is written downwards with its marks exchanged, so that there is no cycle left for
    Graphviz to break in its own way.
    """
    said = [line for label in arrow.labels for line in _told_more(label, ARROW_CHARACTERS)]
    tip = attribute("\n".join(dict.fromkeys(said)))
    line = {
        "color": look.colour,
        "style": look.style,
        "penwidth": f"{look.width:g}",
        "dir": "both",
        "tooltip": tip,
        "edgetooltip": tip,
    }
    upper, lower = reversed(ends) if back else ends
    begins, finishes = ("normal", look.tail) if back else (look.tail, "normal")
    label = _arrow_label(arrow, look)
    if label is None:
        graph.edge(upper, lower, id=f"{page}-{identity}", arrowtail=begins, arrowhead=finishes, **line)
    else:
        graph.node(identity, label, id=f"{page}-{identity}", tooltip=tip)
        graph.edge(
            upper, f"{identity}:{LINE_PORT}:n", id=f"{page}-{identity}_1", arrowtail=begins, arrowhead="none", **line
        )
        graph.edge(
            f"{identity}:{LINE_PORT}:s", lower, id=f"{page}-{identity}_2", arrowtail="none", arrowhead=finishes, **line
        )


def _arrow_label(arrow: Arrow, look: Look) -> str | None:
    """The text of an arrow with a piece of its line at the left; None if there is nothing to say."""
    pale = look.colour == PALE
    rows: list[str] = []
    for label in arrow.labels:
        if label.lines and rows:
            rows.append(f'<TR><TD HEIGHT="{SIZE_SMALL / 2:g}"></TD></TR>')
        colour = look.colour if arrow.kind is not Kind.PASS else None
        rows += _rows(_set(label.lines, ARROW_CHARACTERS, colour, pale=pale))
    if not rows:
        return None
    return beside_line(look, _table(rows))


def beside_line(look: Look, table: str) -> str:
    """Return the label of the node that an arrow runs through: a piece of the arrow's line, and its text beside it."""
    # HTML-like borders are of whole points and start at the cell's edge, so a solid line is a filled cell.
    solid = f'WIDTH="{look.width:.0f}" BGCOLOR="{look.colour}"'
    wide = f"{look.width:.0f}"
    broken = f'WIDTH="{wide}" BORDER="{wide}" SIDES="L" COLOR="{look.colour}" STYLE="{look.style.upper()}"'
    line = solid if look.style == "solid" else broken
    cells = f'<TD PORT="{LINE_PORT}" {line}></TD><TD WIDTH="{ARROW_GAP}"></TD><TD>{table}</TD>'
    return _html(_table([f"<TR>{cells}</TR>"], padding=0))


# -- text ------------------------------------------------------------------------------------------------------------


def _heading(drawn: StateDiagram, protocol: str, links: Mapping[str, str], paint: Paint | None) -> str:
    """The picture's title, who runs the machine, and a key to the marks that occur in it."""
    machine = drawn.machine
    title = f"{machine.name}({', '.join(machine.parameters)})" if machine.parameters else machine.name
    rows = _small(f"{protocol} · {machine.role}")
    for line in wrap(title, BOX_CHARACTERS, NAME_LINES_MAX):
        rows.append(f'<TR><TD ALIGN="LEFT"><B><FONT POINT-SIZE="{SIZE + 4:g}">{markup(line)}</FONT></B></TD></TR>')
    for caller in drawn.callers:
        rows += _small(f"run by {caller}", links.get(caller), links.get(machine.name, ""))
    if paint is not None:
        rows += _small(paint.note)
    marks = _marks(drawn)
    if marks:
        rows += _small(" · ".join(marks))
    return _table(rows)


def _marks(drawn: StateDiagram) -> list[str]:
    labels = [label for arrow in drawn.arrows for label in arrow.labels]
    labels += [label for node in drawn.nodes for label in node.inside]
    lines = [line for label in labels for line in label.lines]
    lines += [line for node in drawn.nodes for line in node.lines]
    said = " ".join(line.text for line in lines if line.voice in (LineRole.EVENT, LineRole.SEND))
    key = {"? ": "? received", "! ": "! sent", KEEPS: f"{KEEPS} in the same state"}
    marks = [text for mark, text in key.items() if mark in said]
    guards = [line.text.lstrip() for line in lines if line.voice is LineRole.GUARD]
    if any("[" in text for text in guards):
        marks.append("[only if]")
    if any(text[:1].isdigit() for text in guards):
        marks.append("1, 2: the first that holds")
    return marks


def _small(text: str, link: str | None = None, page: str = "") -> list[str]:
    # With an id of ours, since Graphviz's own counts up from picture to picture.
    href = f' HREF="{link}.svg" ID="{page}-to-{link}"' if link is not None else ""
    font = f'<FONT POINT-SIZE="{SIZE_SMALL:g}" COLOR="{QUIET}">'
    lines = wrap(text, HEADING_CHARACTERS, NAME_LINES_MAX)
    return [f'<TR><TD ALIGN="LEFT"{href}>{font}{markup(line)}</FONT></TD></TR>' for line in lines]


def _set(
    lines: Iterable[Line], width: int, event_colour: str | None = None, margin: str = "", *, pale: bool = False
) -> Iterator[str]:
    """Set lines in their colour, weight and size, wrapped: one piece of HTML-like text a row."""
    for line in lines:
        colour, bold, size = SETTING[line.voice]
        if line.voice is LineRole.EVENT:
            colour = event_colour or LOOKS[line.kind].colour
        colour = PALE if pale else colour
        most = NAME_LINES_MAX if line.voice is LineRole.NAME else TEXT_LINES_MAX
        for piece in wrap(line.text, width, most):
            text = f'<FONT COLOR="{colour}" POINT-SIZE="{size:g}">{margin}{markup(piece)}{margin}</FONT>'
            yield f"<B>{text}</B>" if bold else text


def _told_more(label: Label, width: int) -> list[str]:
    """What the tooltip says of a branch: its lines in the file, its sends in full, and what was too long to show."""
    return [*map(where, label.places), *label.detail, *_cut(label.lines, width)]


def _cut(lines: Iterable[Line], width: int) -> Iterator[str]:
    """The texts that are shown with an ellipsis."""
    for line in lines:
        most = NAME_LINES_MAX if line.voice is LineRole.NAME else TEXT_LINES_MAX
        if wrap(line.text, width, most)[-1].endswith("…"):
            yield line.text


def _rows(pieces: Iterable[str], align: str = "LEFT") -> list[str]:
    return [f'<TR><TD ALIGN="{align}">{piece}</TD></TR>' for piece in pieces]


def _table(rows: Iterable[str], padding: float = 1) -> str:
    """A table without borders; Graphviz refuses one without rows."""
    body = "".join(rows) or "<TR><TD></TD></TR>"
    return f'<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="{padding:g}">{body}</TABLE>'


def _html(table: str) -> str:
    """An HTML-like label for the graphviz package, which knows it by its angle brackets."""
    return f"<{table}>"


def where(place: Place) -> str:
    """Return a place without the folder, which differs from one checkout to the next."""
    return f"{PurePath(place.file).name}:{place.line}"
