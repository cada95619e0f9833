"""The recorded tournaments of Trains: what each connection heard and said, in the course's calls or as bare values.

The programs were other people's. Where they depart from the course's format, `Recording` makes the same of it, and
says so; where they depart from the rules, the tests that replay them say what is to come instead.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

from tests.support.shared import SHARED

TRANSCRIPTS: Final = SHARED / "cases" / "trains" / "transcripts"
VOID: Final = "void"
# Where city coordinates are fractions of the map's width and height, which the format does not allow: the Java
# server's setups, the Java clients' maps.
FRACTIONAL_SETUPS: Final = (
    "java-server_java-clients_5",
    "java-server_java-clients_40",
    "java-server_ref-clients_bad-setup",
)
FRACTIONAL_MAPS: Final = (
    "java-server_java-clients_5",
    "java-server_java-clients_40",
    "ref-server_java-clients_bad-maps",
)
# Who has more points may lose there: after the first games nothing is as the rules have it.
SCORES_OTHERWISE: Final = "java-server_java-clients_40"


def names() -> list[str]:
    """Return the names of all recordings, sorted; none where they do not lie beside the checkout."""
    return sorted(path.stem for path in TRANSCRIPTS.glob("*.jsonl"))


@dataclass(frozen=True)
class Said:
    """One thing that was said: the value, the blanks before it, and in how many pieces it came at least."""

    value: Any
    blanks: int = 0
    pieces: int = 1

    def written(self) -> Iterator[bytes]:
        """Yield the bytes as they came, piece by piece, blanks and a line end included."""
        data = b" " * self.blanks + json.dumps(self.value, separators=(",", ":")).encode() + b"\n"
        size = -(-len(data) // self.pieces)
        for at in range(0, len(data), size):
            yield data[at : at + size]


@dataclass(eq=False)
class Call:
    """A call of the server's to one client, and what the client said to it: nothing, if it was silent or dead."""

    method: str
    arguments: list[Any]
    heard: Said
    answers: list[Said] = field(default_factory=list)

    @property
    def nothing_to_hand(self) -> bool:
        """Whether it is ``more`` without cards, which some servers send and the rules' own do not."""
        return self.method == "more" and self.arguments == [[]]


@dataclass
class Recording:
    """One tournament: of each connection its name and the calls to it. ``order`` is that of age, oldest first.

    ``cut`` are the connections whose client was gone before the server closed.
    """

    name: str
    order: list[int]
    signed: dict[int, Said]
    calls: dict[int, list[Call]]
    deck: str
    cut: set[int]

    @property
    def people(self) -> dict[int, str]:
        """Return the players' names by connection."""
        return {conn: said.value for conn, said in self.signed.items()}

    def told(self, conn: int, method: str) -> list[Call]:
        """Return the calls of one name to a connection."""
        return [call for call in self.calls[conn] if call.method == method]

    def result(self) -> list[list[str]]:
        """Return the winners and the others who did not end well, as the server's last calls and their answers say."""
        won = [
            conn
            for conn in self.order
            if any(end.arguments == [True] and end.answers for end in self.told(conn, "end"))
        ]
        well = [conn for conn in self.order if any(end.answers for end in self.told(conn, "end"))]
        return [
            sorted(self.people[conn] for conn in won),
            sorted(self.people[conn] for conn in self.order if conn not in well),
        ]


@cache
def recording(name: str) -> Recording:
    """Return a recording; nobody may change it."""
    lines = [json.loads(line) for line in (TRANSCRIPTS / f"{name}.jsonl").read_text().splitlines()]
    signed: dict[int, Said] = {}
    calls: dict[int, list[Call]] = {}
    started: list[int] = []
    cut: set[int] = set()
    ended: set[int] = set()
    for line in lines:
        conn = line["conn"]
        if line["ev"] == "msg":
            said = Said(line["msg"], line["ws"], line["chunks"])
            if line["dir"] == "s2c":
                method, arguments = line["msg"]
                if method == "start":
                    started.append(conn)
                calls.setdefault(conn, []).append(Call(method, arguments, said))
            elif conn not in signed:
                signed[conn] = said
            else:
                calls[conn][-1].answers.append(said)
        elif line["ev"] == "eof" and line["dir"] == "s2c":
            ended.add(conn)
        elif line["ev"] == "eof" and line["dir"] == "c2s" and conn not in ended:
            cut.add(conn)
    seated = list(dict.fromkeys(line["conn"] for line in lines if _is_call(line, "setup")))
    # Some servers ask for maps in an order of their own; the first games' order is that of age.
    order = seated if set(seated) == set(started) else started
    order += [conn for conn in signed if conn not in order]
    for conn in order:
        calls.setdefault(conn, [])
    return Recording(name, order, signed, calls, max(_decks(lines), key=len, default=""), cut)


def _is_call(line: dict[str, Any], *methods: str) -> bool:
    return line["ev"] == "msg" and line["dir"] == "s2c" and line["msg"][0] in methods


def _decks(lines: list[dict[str, Any]]) -> list[str]:
    """Return the first letters of the cards in the order in which they were handed out, for each game.

    The recorded servers play one game at a time: a ``setup`` after a ``play`` begins the next. All games of a
    tournament have the same deck. Who fails before it has picked uses up no cards.
    """
    decks: list[str] = []
    playing = True
    dealt: dict[int, str] = {}
    for line in lines:
        conn = line["conn"]
        if _is_call(line, "setup"):
            if playing:
                decks.append("")
                playing = False
            dealt[conn] = "".join(card[0] for card in line["msg"][1][2])
        elif _is_call(line, "play"):
            playing = True
        elif _is_call(line, "more"):
            decks[-1] += "".join(card[0] for card in line["msg"][1][0])
        elif line["ev"] == "msg" and line["dir"] == "c2s" and conn in dealt and line["msg"] != VOID:
            decks[-1] += dealt.pop(conn)  # it has picked
    return decks if any(decks) else [*dealt.values()]


def bare(call: Call) -> Any:
    """Return what the call is in the document's own dialect."""
    if call.method == "setup":
        return dict(zip(("Map", "rails", "Cards"), call.arguments, strict=True))
    [argument] = call.arguments
    return argument


def mended(value: Any) -> Any:
    """Return a value in which each city of a map stands at whole coordinates, where they were fractions."""
    if isinstance(value, list):
        return [mended(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "cities" not in value:
        return {key: mended(item) for key, item in value.items()}
    if all(isinstance(side, int) for _, spot in value["cities"] for side in spot):
        return value
    width, height = value["width"], value["height"]
    return {**value, "cities": [[name, [round(x * width), round(y * height)]] for name, (x, y) in value["cities"]]}
