"""Peers who say anything at any time: nothing raises, nobody else is blamed, and every session ends.

The sessions run in memory. Each has good peers, who do what the protocol asks, and bad ones, whose bytes are drawn:
junk, or what would be right with something about it changed, whole, cut, doubled or out of turn.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from machines.effects import Drop, Note
from machines.parser.loader import load
from rules.players.tsuro import PLAYERS
from tests.runtime.tsuro_table import RULES, TOKENS, is_request, placement, rehearsed, tsuro
from tests.support.session_harness import Run

FUZZ: Final = settings(deadline=None, suppress_health_check=list(HealthCheck))

# Every warning of a session is about a violation of one peer, and begins with its reason.
REASONS: Final = (
    "malformed: ",
    "unknown: ",
    "unexpected: ",
    "illegal: ",
    "limit: ",
    "early: ",
    "its bytes make no sense",
)

# -- what bad peers say ------------------------------------------------------------------------------------------------

WORDS: Final = ("white", "black", "red", "A", "B", "D", "G", "H", "quit", "ping", "mal")
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 12),
    st.sampled_from([2**31, 2**63 - 1, 2**63, -(2**63) - 1, 10**30, 1.0, 0.5, -0.0, 1e300]),
    st.sampled_from(["", "white", "black", "A", "H", "I", "started", "\0", "é", "\U0001f600", "x" * 101]),
    st.text(max_size=5),
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
JUNK: Final = (
    b"\n",
    b"\r\n\r\n",
    b"\0\n",
    b"\xff\xfe\n",
    b'\xef\xbb\xbf"bom"\n',
    b'"\\ud800"\n',
    b"NaN\n",
    b"[Infinity, -Infinity]\n",
    b"1e999\n",
    b"-0\n",
    b"01\n",
    b"[1,,2]\n",
    b'{"a":1,"a":2}\n',
    b"[" * 100 + b"]" * 100 + b"\n",
    b'{"a":' * 70 + b"1" + b"}" * 70 + b"\n",
    b"1" * 5000 + b"\n",
    b'"' + b"x" * 3000 + b'"\n',
    b"x" * (1 << 20) + b"xx",
    b"true false null\n",
    b'"\\u0000"\n',
)


@st.composite
def changed(draw: Any, value: Any) -> Any:
    """Draw a value like this one, but for something somewhere in it."""
    if isinstance(value, list | tuple) and value:
        items = list(value)
        index = draw(st.integers(0, len(items) - 1))
        match draw(st.integers(0, 7)):
            case 0:
                del items[index]
            case 1:
                items.insert(index, items[index])
            case 2:
                items[index] = draw(values)
            case 3:
                items.reverse()
            case _:
                items[index] = draw(changed(items[index]))
        return items
    if isinstance(value, dict) and value:
        key = draw(st.sampled_from(sorted(value)))
        match draw(st.integers(0, 3)):
            case 0:
                return {other: value[other] for other in value if other != key}
            case 1:
                return value | {draw(st.text(max_size=3)): draw(values)}
            case _:
                return value | {key: draw(changed(value[key]))}
    if type(value) is int:
        return value + draw(st.integers(-2, 2))
    return draw(st.sampled_from(WORDS) | values)


@st.composite
def bytes_about(draw: Any, right: Any) -> bytes:
    """Draw bytes to send when ``right`` would be right."""
    data = line(right)
    match draw(st.integers(0, 9)):
        case 0:
            return bytes(draw(st.binary(max_size=40)))
        case 1:
            return bytes(draw(st.sampled_from(JUNK)))
        case 2:
            return line(draw(values))
        case 3:
            return data * int(draw(st.integers(1, 3)))
        case 4:
            return data[: draw(st.integers(0, len(data)))]
        case 5:
            at = draw(st.integers(0, len(data) - 1))
            return data[:at] + bytes([draw(st.integers(0, 255))]) + data[at + 1 :]
    return line(draw(changed(right)))


def line(value: Any) -> bytes:
    return json.dumps(value).encode() + b"\n"


@st.composite
def misdeeds(draw: Any, right: Any) -> tuple[list[bytes], bool]:
    """Draw what a bad peer does instead of what is right: the writes it makes, and whether it then leaves."""
    data = draw(st.one_of(st.just(b""), bytes_about(right), bytes_about(right)))
    cut = draw(st.integers(0, len(data)))
    return [piece for piece in (data[:cut], data[cut:]) if piece], draw(st.integers(0, 3)) == 0


# -- a session and its peers -------------------------------------------------------------------------------------------


@dataclass
class Crowd:
    """A session with good peers and bad ones; the bad ones are blamed for all that goes wrong, or the test fails."""

    run: Run
    good: set[int] = field(default_factory=set)
    bad: set[int] = field(default_factory=set)
    gone: set[int] = field(default_factory=set)

    def join(self, *, good: bool) -> int:
        """Let a peer come."""
        number = self.run.join()
        (self.good if good else self.bad).add(number)
        return number

    def misbehave(self, peer: int, writes: list[bytes], leaves: bool) -> None:
        """Let a bad peer do what was drawn, as long as its connection lasts."""
        for data in writes:
            if peer not in self.gone:
                self.run.write(peer, data)
        if leaves and peer not in self.gone:
            self.gone.add(peer)
            self.run.lose(peer)

    def check(self) -> None:
        """Check that only bad peers are blamed, each for a violation, and that the session has ended well."""
        assert self.run.ended is not None, self.run.state()
        assert self.run.ended.failed is None
        for effect in self.run.effects:
            match effect:
                case Note("error", text):
                    raise AssertionError(text)
                case Note("warning", text, peer):
                    assert peer in self.bad, text
                    assert text.startswith(REASONS), text
                case Note(_, text, peer) if text.startswith("late: "):
                    assert peer in self.bad, text
                case Drop(peer, why):
                    assert peer in self.bad or why == "the session is over", f"peer {peer} is dropped: {why}"
                case _:
                    pass


ports = st.sampled_from("ABCDEFGH")
squares = st.integers(-1, 10) | st.sampled_from([2**63 - 1, -(2**63), 100])


@st.composite
def placements(draw: Any, right: list[Any]) -> tuple[list[bytes], bool]:
    """Draw a placement of the right shape that the rules may or may not allow; most of it is as it should be."""
    tile = draw(st.lists(st.tuples(ports, ports), min_size=4, max_size=4) | st.permutations("ABCDEFGH").map(paired))
    parts = {
        "token": draw(st.sampled_from(TOKENS)),
        "tile": tile,
        "port": draw(ports),
        "x": draw(squares),
        "y": draw(squares),
    }
    names = list(parts) if len(right) == 5 else ["tile", "x", "y"]
    wrong = draw(st.sets(st.sampled_from(names), min_size=1, max_size=2))
    return [line([parts[name] if name in wrong else value for name, value in zip(names, right, strict=True)])], False


def paired(letters: list[str]) -> list[list[str]]:
    return [letters[at : at + 2] for at in range(0, 8, 2)]


GUESS: Final = ["white", [["A", "E"], ["B", "F"], ["C", "H"], ["D", "G"]], "A", 0, 0]


@FUZZ
@given(st.data())
def test_whatever_peers_say_a_game_of_tsuro_ends_with_the_good_ones_ranked(data: st.DataObject) -> None:
    crowd = Crowd(run := Run(tsuro("server").spec, "server", RULES, program=tsuro("server")))
    come = data.draw(st.permutations(["good"] * 3 + ["bad"] * data.draw(st.integers(1, 2))))
    misbehaves_at = {number: data.draw(st.integers(-1, 15)) for number, kind in enumerate(come) if kind == "bad"}
    interruptions = data.draw(
        st.lists(st.tuples(st.integers(0, 60), st.sampled_from(sorted(misbehaves_at)), misdeeds(GUESS)), max_size=3)
    )
    for number, kind in enumerate(come):
        assert crowd.join(good=kind == "good") == number
        if misbehaves_at.get(number) == -1:
            crowd.misbehave(number, *data.draw(misdeeds(f"p{number}")))
        else:
            run.say(number, f"p{number}")

    players = {number: PLAYERS["second"](f"p{number}", 0) for number in range(len(come))}
    tokens: dict[int, str] = {}
    asked = dict.fromkeys(players, 0)
    step = 0
    while run.ended is None and run.now < 400:
        unread = [(peer, value) for peer in players for value in run.heard(peer)]
        for peer, value in unread:
            if isinstance(value, str):
                tokens.setdefault(peer, value)
            elif is_request(value) and peer not in crowd.gone:
                right = placement(players[peer], value, tokens[peer])
                if misbehaves_at.get(peer) == asked[peer]:
                    crowd.misbehave(peer, *data.draw(misdeeds(right) | placements(right)))
                else:
                    run.say(peer, right)
                asked[peer] += 1
        for moment, peer, (writes, leaves) in interruptions:
            if moment == step:
                crowd.misbehave(peer, writes, leaves)
        step += 1
        if not unread:
            run.wait(1.0)

    crowd.check()
    assert run.ended is not None
    fates = {player["token"]: player["fate"] for player in run.ended.value["players"]}
    assert {tokens[peer] for peer in crowd.good} <= {token for token, fate in fates.items() if fate != "ejected"}
    ranked = [name for group in run.ended.value["ranking"] for name in group]
    assert sorted(f"p{peer}" for peer in crowd.good) == sorted(set(ranked) & {f"p{peer}" for peer in crowd.good})
    assert len(ranked) + len(run.ended.value["cheaters"]) == len(fates)


# -- the little specs --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Little:
    """A little spec: its listening role, how to sign up, and what a good peer says when it is told something.

    ``rights`` are messages that a bad peer's bytes are about; ``seconds`` is how long a session may take at most.
    """

    role: str
    sign_up: Callable[[str], Any]
    answer: Callable[[Any, int], Any]
    rights: tuple[Any, ...]
    seconds: float


def chat_answer(told: Any, step: int) -> Any:
    return {"say": f"line {step}"} if told == "welcome" else None


def bid(told: Any, step: int) -> Any:
    best = 0 if "open" in told else told.get("best", 50) if isinstance(told, dict) else 50
    return {"bid": best + 10} if best < 50 else None


def pick(told: Any, step: int) -> Any:
    return told["highest"] + 1 if isinstance(told, dict) and "highest" in told else None


LITTLE: Final = {
    "chat": Little(
        "server", lambda name: {"hello": name}, chat_answer, ({"hello": "mal"}, {"say": "hi"}, "quit"), 8.1 * 3600
    ),
    "auction": Little("house", lambda name: name, bid, ("mal", {"bid": 20}), 600),
    "lobby": Little("lobby", lambda name: {"sit": name}, pick, ({"sit": "mal"}, 7, "ping"), 120),
}
FOLDER: Final = Path(__file__).parent / "specs"
PROGRAMS: Final = {
    name: Run(load(str(FOLDER / f"{name}.yaml")), little.role).program for name, little in LITTLE.items()
}


def listen(crowd: Crowd, little: Little, step: int) -> None:
    """Let the good peers answer what they are told, and what comes of that, until they have nothing to say."""
    while unread := [(peer, told) for peer in sorted(crowd.good) for told in crowd.run.heard(peer)]:
        for peer, told in unread:
            answer = little.answer(told, step)
            if answer is not None:
                crowd.run.say(peer, answer)


@pytest.mark.parametrize("name", LITTLE)
@FUZZ
@given(data=st.data())
def test_whatever_peers_say_a_little_protocol_ends_and_only_they_are_blamed(name: str, data: st.DataObject) -> None:
    little = LITTLE[name]
    crowd = Crowd(run := Run(PROGRAMS[name].spec, little.role, program=PROGRAMS[name]))
    bad_number = data.draw(st.integers(1, 2))
    for index in range(2):
        run.say(crowd.join(good=True), little.sign_up("ab"[index]))
    for index in range(bad_number):
        peer = crowd.join(good=False)
        if data.draw(st.booleans()):
            run.say(peer, little.sign_up("yz"[index]))
    said = data.draw(
        st.lists(
            st.tuples(
                st.integers(0, 20),
                st.sampled_from(sorted(crowd.bad)),
                st.sampled_from(little.rights).flatmap(misdeeds),
                st.sampled_from([0.0, 0.0, 1.0, 10.0]),
            ),
            max_size=8,
        )
    )
    for step in range(22):
        listen(crowd, little, step)
        for moment, peer, (writes, leaves), seconds in said:
            if moment == step:
                crowd.misbehave(peer, writes, leaves)
                listen(crowd, little, step)
                run.wait(seconds)
    while run.ended is None and run.now < little.seconds:
        listen(crowd, little, 0)
        run.wait(1.0 if run.now < 200 else 600.0)

    crowd.check()


# -- a server that says anything ---------------------------------------------------------------------------------------

TOLD: Final = [value for peer, value in rehearsed(("second",) * 3)[0] if peer == 0]


@FUZZ
@given(st.integers(0, len(TOLD) - 1), st.data())
def test_whatever_its_server_says_a_client_of_tsuro_ends_or_goes_on(bad_at: int, data: st.DataObject) -> None:
    client = Run(tsuro("client").spec, "client", RULES, my={"name": "p0"}, program=tsuro("client"))
    player = PLAYERS["second"]("p0", 0)
    for index, value in enumerate(TOLD):
        if index == bad_at:
            writes, leaves = data.draw(misdeeds(value))
            for piece in writes:
                client.write(0, piece)
            if leaves:
                client.lose(0)
                break
        else:
            client.say(0, value)
        while client.questions:
            board, hand, token = (argument for _, argument in client.questions[0].arguments)
            try:
                answer = placement(player, [board, hand], token)
            except Exception as error:  # on such a board nobody can play; the runtime takes it so too
                client.give_up(str(error))
            else:
                client.answer(answer)
    client.wait(3600)

    assert client.ended is not None, client.state()
    if client.ended.failed is not None:
        assert "has no answer to" in client.ended.failed
