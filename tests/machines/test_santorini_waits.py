"""Every wait of the four Santorini servers, broken in every way: who breaks it is expelled, the others play on.

One test for each wait and misdeed of each protocol, in memory, under time that passes when it is told to. The culprit
is a client that plays well but for one message; what it does to the wire instead is the misdeed.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import pytest

from machines.effects import Drop, Send
from tests.machines.santorini_games import PROTOCOLS, Greedy, Protocol, Spoiled

REPLY_SECONDS: Final = 5.0
NAMES: Final = ("ann", "bob", "cyd")
NONSENSE: Final = {"what": ["is", "this"]}


@dataclass(frozen=True)
class Wait:
    """A wait of the server: for the n-th message of a kind, or of a name, of the client in a seat.

    ``after``: once that has come.
    """

    kind: str
    seat: int
    number: int = 1
    after: bool = False


# With three players and one game a series, ann plays bob and cyd, then bob plays cyd; each has two games.
WAITS: Final = {
    "sign-up": Wait("sign_up", 1),
    "first placement of the first": Wait("placement", 0),
    "first placement of the second": Wait("placement", 1),
    "second placement of the first": Wait("placement", 0, 2),
    "second placement of the second": Wait("placement", 1, 2),
    "first turn of the first": Wait("turn", 0),
    "first turn of the second": Wait("turn", 1),
    "a later turn of the first": Wait("turn", 0, 6),
    "a later turn of the second": Wait("turn", 1, 7),
    "a turn after a series that it lost": Wait("turn", 1, 14),
    "a placement of who comes last": Wait("placement", 2, 3),
    "a turn in the last series of all": Wait("turn", 2, 15),
}
BUILDS: Final = {
    "first build of the first": Wait("build", 0),
    "a later build of the second": Wait("build", 1, 8),
}
IDLE: Final = {
    "signed up, while others come": Wait("sign_up", 0, 1, after=True),
    "after its placement": Wait("placement", 1, 1, after=True),
    "after its turn": Wait("turn", 1, 3, after=True),
    "while others play": Wait("turn", 1, 11, after=True),
}

Misdeed = Callable[["Culprit", Send], list[Send | Drop]]


class Culprit(Spoiled):
    """A table whose culprit does one of the misdeeds."""

    does: Misdeed

    def misdeed(self, right: Send) -> list[Send | Drop]:
        """See `Spoiled.misdeed`."""
        return self.does(self, right)


def raw(data: bytes) -> list[Send | Drop]:
    return [Send(0, data, "")]


def said(value: Any) -> list[Send | Drop]:
    return raw(json.dumps(value).encode() + b"\n")


def silent(table: Culprit, right: Send) -> list[Send | Drop]:
    return []


def gone(table: Culprit, right: Send) -> list[Send | Drop]:
    table.gone = True
    return [Drop(0, "gone")]


def no_json(table: Culprit, right: Send) -> list[Send | Drop]:
    return raw(b"oops }\n")


def no_utf8(table: Culprit, right: Send) -> list[Send | Drop]:
    return raw(b'["\xff"]\n')


def half(table: Culprit, right: Send) -> list[Send | Drop]:
    return raw(right.data[: len(right.data) // 2])


def endless(table: Culprit, right: Send) -> list[Send | Drop]:
    return raw(b"[" + b"0," * (1 << 19))


def deep(table: Culprit, right: Send) -> list[Send | Drop]:
    return raw(b"[" * 200 + b"]" * 200 + b"\n")


def wrong_shape(table: Culprit, right: Send) -> list[Send | Drop]:
    return said(NONSENSE)


def of_another_phase(table: Culprit, right: Send) -> list[Send | Drop]:
    """Say what is right elsewhere: a turn where a placement is due, and a placement everywhere else."""
    placement = OF_PHASE[table.protocol.name]["placement"]
    return said(OF_PHASE[table.protocol.name]["turn"] if table.message == table.protocol.placement else placement)


def illegal(table: Culprit, right: Send) -> list[Send | Drop]:
    """Say what has the right shape and is against the rules: a taken name is none, so a sign-up says no name."""
    return said(ILLEGAL[table.protocol.name][table.message])


MISDEEDS: Final[dict[str, Misdeed]] = {
    function.__name__: function
    for function in (
        silent,
        gone,
        no_json,
        no_utf8,
        half,
        endless,
        deep,
        wrong_shape,
        of_another_phase,
        illegal,
    )
}
OF_PHASE: Final[dict[str, dict[str, Any]]] = {
    "relay": {
        "placement": {"type": "placement", "content": [1, [5, 5]]},
        "turn": {"type": "move_build", "content": [1, "East", "East"]},
    },
    "prompts": {"placement": [5, 5], "turn": ["ann1", ["EAST", "PUT"], ["EAST", "PUT"]]},
    "rulecheck": {
        "placement": {"type": "place", "wid": "ann1", "xy": [5, 5]},
        "turn": {"type": "move", "xy1": [0, 0], "xy2": [1, 1]},
    },
    "official": {"placement": [5, 5], "turn": ["ann1", "EAST", "PUT", "EAST", "PUT"]},
}
ILLEGAL: Final[dict[str, dict[str, Any]]] = {
    "relay": {
        "player_name": {"type": "Name", "content": "Ann"},
        "wid_posn": {"type": "placement", "content": [2, [6, 0]]},
        "wid_move_build_dir": {"type": "move_build", "content": [1, "North", None]},
    },
    "prompts": {
        "sign_up_name": "ann1",
        "place_worker_request": [-1, 0],
        "turn_request": ["ann1", ["PUT", "PUT"], ["EAST", "PUT"]],
    },
    "rulecheck": {
        "player_name": "",
        "place_request": {"type": "place", "wid": "bob1", "xy": [6, 0]},
        "move_request": {"type": "move", "xy1": [0, 0], "xy2": [0, 0], "check": False},
        "build_request": {"type": "build", "xy1": [0, 0], "xy2": [5, 5], "check": False},
    },
    "official": {
        "sign_up": "an n",
        "place": [0, 6],
        "turn": ["ann1", "PUT", "PUT", "EAST", "PUT"],
    },
}


def table_for(protocol: Protocol, wait: Wait, misdeed: Misdeed, **settings: str) -> Culprit:
    """Hold a tournament in which the client in the wait's seat misbehaves there."""
    chosen = {"seats": "2..3", "games": "1", "reply": f"{REPLY_SECONDS:g} s", "think": "4 s", **settings}
    message = getattr(protocol, wait.kind, wait.kind)
    table = Culprit(protocol, message, wait.number, after=wait.after, **chosen)
    table.does = misdeed
    for seat, name in enumerate(NAMES):
        (table.enter_culprit if seat == wait.seat else table.enter)(name, Greedy(name, 1))
    table.hold()
    assert table.spoiled_at is not None, "the culprit never came so far"
    return table


def check(table: Culprit, wait: Wait, expelled: tuple[str, ...], seated: tuple[str, ...]) -> None:
    """Check who is out, that the rest have all their rows, that they heard the end, and that nobody else was hurt."""
    ended = table.server.ended
    assert ended is not None
    result = dict(ended.value)
    good = [name for name in seated if name not in expelled]
    assert tuple(result["expelled"]) == expelled
    rows = {frozenset(row) for row in result["rows"]}
    assert {frozenset((a, b)) for a in good for b in good if a < b} <= rows, "the others play on"
    assert not any(winner in expelled for winner, _ in result["rows"]), "who is expelled has won nothing"
    assert [player["name"] for player in result["players"]] == list(seated)
    for client, name in zip(table.clients, NAMES, strict=True):
        if client is not table.culprit:
            assert client.ended is not None, f"{name} waits: {client.state()}"
            assert client.ended.failed is None, client.ended.failed
    assert all(seat.lost or seat.number in table.server.dropped for seat in table.server.session.seats)


CASES = [
    (protocol, wait, misdeed)
    for protocol in PROTOCOLS.values()
    for wait in (WAITS if protocol.build is None else WAITS | BUILDS)
    for misdeed in MISDEEDS
]


@pytest.mark.matrix("protocol", "wait", "misdeed")
@pytest.mark.parametrize(("protocol", "wait", "misdeed"), CASES, ids=lambda value: getattr(value, "name", value))
def test_who_breaks_a_wait_is_out_and_the_others_play_on(protocol: Protocol, wait: str, misdeed: str) -> None:
    chosen = (WAITS | BUILDS)[wait]

    table = table_for(protocol, chosen, MISDEEDS[misdeed])

    if chosen.kind == "sign_up":
        check(table, chosen, (), tuple(name for seat, name in enumerate(NAMES) if seat != chosen.seat))
    else:
        check(table, chosen, (NAMES[chosen.seat],), NAMES)


@pytest.mark.matrix("protocol", "wait", "misdeed")
@pytest.mark.parametrize("wait", list(IDLE))
@pytest.mark.parametrize("misdeed", ["gone", "no_json", "wrong_shape", "of_another_phase", "endless"])
@pytest.mark.parametrize("protocol", PROTOCOLS.values(), ids=lambda protocol: protocol.name)
def test_who_speaks_out_of_turn_or_leaves_is_out_when_it_is_needed_next(
    protocol: Protocol, misdeed: str, wait: str
) -> None:
    """Its next answer is due before its last series is over; what it said meanwhile is read then."""
    chosen = IDLE[wait]

    table = table_for(protocol, chosen, MISDEEDS[misdeed])

    out: tuple[str, ...] = (NAMES[chosen.seat],)
    seated: tuple[str, ...] = NAMES
    if chosen.kind == "sign_up" and misdeed == "gone":  # its seat is free again, and the window stays open
        out, seated = (), tuple(name for name in NAMES if name not in out)
    check(table, chosen, out, seated)


@pytest.mark.parametrize("misdeed", ["gone", "no_json", "wrong_shape", "endless"])
@pytest.mark.parametrize(
    ("protocol", "wait"),
    [
        (PROTOCOLS["relay"], Wait("turn", 0, 24, after=True)),
        (PROTOCOLS["prompts"], Wait("winning_request", 0, 2, after=True)),
        (PROTOCOLS["rulecheck"], Wait("turn", 0, 24, after=True)),
        (PROTOCOLS["official"], Wait("winning_move", 0, 2, after=True)),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_who_is_needed_no_more_loses_nothing(protocol: Protocol, wait: Wait, misdeed: str) -> None:
    """Ann has won all her games; bob and cyd are still to play."""
    table = table_for(protocol, wait, MISDEEDS[misdeed])

    check(table, wait, (), NAMES)
    assert table.server.ended is not None
    assert dict(table.server.ended.value)["winners"] == ("ann",)


@pytest.mark.parametrize("protocol", PROTOCOLS.values(), ids=lambda protocol: protocol.name)
def test_a_late_answer_costs_the_reply_limit_and_no_more(protocol: Protocol) -> None:
    """All the others answer at once; the pauses of the official protocol, and a second to see the end, come on top."""
    table = table_for(protocol, Wait("turn", 1, 2), silent)

    assert table.spoiled_at is not None
    assert REPLY_SECONDS <= table.server.now - table.spoiled_at <= REPLY_SECONDS + 3


@pytest.mark.parametrize(
    ("name", "misdeed", "offender", "other"),
    [
        ("relay", "silent", [], ["game_over", "best_n_over", "tournament_over"]),
        ("relay", "illegal", ["game_over", "error_msg"], ["game_over", "best_n_over", "tournament_over"]),
        ("prompts", "silent", ["CHEATER"], ["WINNER", [["ann"], [["bob", "ann"]]]]),
        ("prompts", "illegal", ["CHEATER"], ["WINNER", [["ann"], [["bob", "ann"]]]]),
        ("rulecheck", "silent", ["bob"], ["bob", [["ann"], [["bob", "ann"]]]]),
        ("rulecheck", "illegal", ["bob"], ["bob", [["ann"], [["bob", "ann"]]]]),
        ("official", "silent", [], [[["bob", "ann", "irregular"]]]),
        ("official", "illegal", [], [[["bob", "ann", "irregular"]]]),
    ],
)
def test_each_document_says_its_own_to_an_offender_and_to_the_other(
    name: str, misdeed: str, offender: list[Any], other: list[Any]
) -> None:
    """And then it closes the offender; the other's series is over, whatever is left of it."""
    protocol = PROTOCOLS[name]
    table = Culprit(protocol, protocol.turn, 2, seats="2..2")
    table.does = MISDEEDS[misdeed]
    table.enter_culprit("ann", Greedy("ann", 1))
    table.enter("bob", Greedy("bob", 1))
    table.hold()

    heard: list[list[Any]] = [[], []]
    for number, who, value in reversed(table.said):
        if who == "C":
            if number == 1:  # bob's turn, which ann did not answer
                break
            continue
        heard[number].insert(0, value.get("type") if isinstance(value, dict) and name == "relay" else value)
    assert heard == [[*heard[0][:1], *offender], other], "the first is the request that was not answered"
    if name == "relay":
        said_to = [[value["content"] for number, _, value in table.said if number == seat] for seat in (0, 1)]
        assert said_to[1][-3:] == [True, True, [True, [["bob", "ann"]]]]
        assert misdeed == "silent" or said_to[0][-2:] == [False, "invalid command, illegal"]
    assert 0 in table.server.dropped


@pytest.mark.parametrize("protocol", PROTOCOLS.values(), ids=lambda protocol: protocol.name)
@pytest.mark.parametrize("misdeed", ["silent", "gone", "no_json", "illegal"])
def test_an_offender_loses_what_it_has_won_and_rows_between_two_of_them_go(protocol: Protocol, misdeed: str) -> None:
    """Ann beats bob, then offends against cyd."""
    table = table_for(protocol, Wait("turn", 0, 16), MISDEEDS[misdeed])
    assert table.server.ended is not None
    result = dict(table.server.ended.value)

    assert result["expelled"] == ("ann",)
    assert sorted(result["rows"]) == sorted([("bob", "ann"), ("cyd", "ann"), result["rows"][-1]])
    assert set(result["rows"][-1]) == {"bob", "cyd"}
