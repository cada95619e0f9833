"""The language, shown key by key: sign-ups, seats, peers that come and go, and roles with other connections."""

from __future__ import annotations

from textwrap import dedent
from typing import Any

import pytest

from machines.checks import check
from machines.parser.loader import load_text
from machines.problems import SpecError
from tests.support.session_harness import Network, Run
from tests.support.tiny import returned, shows, start, tiny

SPEC = """
        messages:
          client: {HELLO: [hello, $name string 0..60], MOVE: [move, $x int], SAY: [say, $line string 0..60]}
          server: {SEAT: [seat, $name string, $n int], NEWS: [news, $line string]}
        roles:
          server:
            main:
STATES
            hello(peer):
              named: {await: peer, within: 3 s, receive: {HELLO: {return: {name: name}}}}
"""


def served(states: str) -> Run:
    """Start a server with these states of ``main``; the machine ``hello(peer)`` signs a peer up by its name."""
    return start(SPEC.replace("STATES\n", states.strip("\n") + "\n"))


def join(server: Run, *names: str) -> list[int]:
    """Connect peers and let each say its name."""
    peers = []
    for name in names:
        peers.append(server.join())
        server.say(peers[-1], ["hello", name])
    return peers


# -- accept, as, seats, within ---------------------------------------------------------------------------------------


@shows("state.accept", "state.as", "state.seats")
def test_accept_signs_each_connection_up_and_as_names_those_seated_in_the_order_they_were_done() -> None:
    server = served(
        """
              door: {accept: hello(peer), as: players, seats: 2, within: never, then: end}
              end:
                return:
                  - players[0].name
                  - players[1].name
        """
    )
    ann, bob = server.join(), server.join()

    server.say(bob, ["hello", "bob"])
    server.say(ann, ["hello", "ann"])

    assert returned(server) == ("bob", "ann")


SEATS = [("1..3", 0, "late"), ("1..3", 1, 1), ("1..3", 3, 3), ("2", 1, "late"), ("2", 2, 2), ("0..3", 0, 0)]


@shows("state.seats", "state.within", "state.timeout")
@pytest.mark.parametrize(("seats", "came", "outcome"), SEATS)
def test_a_window_ends_when_its_seats_are_taken_or_its_time_is_up(seats: str, came: int, outcome: Any) -> None:
    server = served(
        f"""
              door:
                accept: hello(peer)
                as: players
                seats: {seats}
                within: 10 s
                timeout: {{return: reason}}
                return: len(players)
        """
    )
    join(server, *"abc"[:came])

    server.wait(10)

    assert returned(server) == outcome


@shows("state.linger")
def test_once_there_are_enough_a_window_lingers_unless_they_become_too_few() -> None:
    server = served(
        """
              door:
                accept: hello(peer)
                as: players
                seats: 2..5
                linger: 5 s
                within: never
                return: len(players)
        """
    )
    (ann,) = join(server, "ann")
    server.wait(60)
    join(server, "bob")
    server.wait(4)
    server.lose(ann)  # too few again
    server.wait(60)
    assert server.ended is None

    join(server, "cid", "dee")
    server.wait(5)

    assert returned(server) == 3


@shows("state.seated")
def test_seated_is_done_for_each_and_may_give_a_peer_further_fields() -> None:
    server = served(
        """
              door:
                accept: hello(peer)
                as: players
                seats: 2
                within: never
                seated:
                  let: {peer.seat: len(players) + 1}
                  send: SEAT(peer.name, peer.seat)
                then: end
              end:
                return: players[0].seat + 10 * players[1].seat
        """
    )

    ann, bob = join(server, "ann", "bob")

    assert (server.heard(ann), server.heard(bob)) == ([["seat", "ann", 1]], [["seat", "bob", 2]])
    assert returned(server) == 21


def test_every_peer_has_a_number_that_counts_connections() -> None:
    server = served(
        """
              door:
                accept: hello(peer)
                as: players
                seats: 2
                within: never
                then: end
              end:
                return: "[column(players, 'number'), players[0].number, get(players[1], 'number', 9)]"
        """
    )

    bob, ann = server.join(), server.join()
    server.say(ann, ["hello", "ann"])
    server.say(bob, ["hello", "bob"])

    assert returned(server) == ((1, 0), 1, 0)


@shows("state.seated")
def test_a_peer_that_no_branch_of_seated_takes_gets_no_seat() -> None:
    server = served(
        """
              door:
                accept: hello(peer)
                as: players
                seats: 1
                within: never
                seated: {if: len(peer.name) > 2}
                return: players[0].name
        """
    )

    al, bob = join(server, "al", "bob")

    assert server.dropped.keys() >= {al, bob}, "bob once all was over"
    assert returned(server) == "bob"


SIGN_UPS = [("silent", 3.0), ("nonsense", 0.0), ("gone", 0.0), ("wrong message", 0.0)]


@shows("state.accept")
@pytest.mark.parametrize(("what", "wait"), SIGN_UPS)
def test_a_sign_up_that_fails_costs_that_peer_its_connection_and_nobody_else_anything(what: str, wait: float) -> None:
    server = served(
        """
              door:
                accept: hello(peer)
                as: players
                seats: 1
                within: never
                failed: {return: "'failed'"}
                return: players[0].name
        """
    )
    bad = server.join()
    match what:
        case "nonsense":
            server.write(bad, b"}\n")
        case "gone":
            server.lose(bad)
        case "wrong message":
            server.say(bad, ["move", 1])
        case _:
            server.wait(wait)
    assert server.ended is None
    assert what == "gone" or bad in server.dropped

    join(server, "ann")

    assert returned(server) == "ann"


@shows("state.accept", "state.closed")
def test_while_the_door_is_open_a_seated_peer_that_leaves_frees_its_seat() -> None:
    server = served(
        """
              door:
                accept: hello(peer)
                as: players
                seats: 3
                within: never
                closed:
                  send: {players: NEWS(peer.name)}
                return: len(players)
        """
    )
    ann, bob = join(server, "ann", "bob")

    server.lose(ann)

    assert server.heard(bob) == [["news", "ann"]]
    join(server, "cid")
    assert server.ended is None
    join(server, "dee")
    assert returned(server) == 3


@shows("state.accept")
def test_an_accept_without_seats_stays_open_and_hears_those_it_awaits() -> None:
    server = served(
        """
              room:
                accept: hello(peer)
                as: members
                await: members
                within: 1 h
                receive:
                  SAY: {send: {members: NEWS(line)}, then: stay}
                invalid: {drop: peer, then: stay}
                timeout: {return: len(members)}
        """
    )
    ann, bob = join(server, "ann", "bob")
    server.say(ann, ["say", "hi"])
    server.say(bob, ["move", 1])
    (cid,) = join(server, "cid")
    server.say(ann, ["say", "ho"])

    server.wait(3600)

    assert server.heard(ann) == [["news", "hi"], ["news", "ho"]]
    assert server.heard(bob) == [["news", "hi"]]
    assert server.heard(cid) == [["news", "ho"]]
    assert returned(server) == 2


OPEN = [
    ("within: 1 h", "A326"),  # nobody counts its seats, so its time can only run out
    ("within: never\n                receive: {SAY: stay}", "A337"),  # whose?
]


@pytest.mark.parametrize(("keys", "code"), OPEN, ids=[code for _, code in OPEN])
def test_an_open_door_says_what_happens_at_the_end_of_its_time_and_whom_it_hears(keys: str, code: str) -> None:
    with pytest.raises(AssertionError, match=code):
        served(
            f"""
              room:
                accept: hello(peer)
                as: members
                {keys}
            """
        )


@shows("state.accept")
def test_an_accept_into_a_name_that_has_peers_goes_on_with_them_and_with_sign_ups_under_way() -> None:
    server = served(
        """
              first: {accept: hello(peer), as: players, seats: 3, within: 2 s, timeout: second, then: end}
              second: {accept: hello(peer), as: players, seats: 1..3, within: 5 s, timeout: {return: null}, then: end}
              end: {return: len(players)}
        """
    )
    join(server, "ann")
    server.wait(1)
    slow = server.join()
    server.wait(1.5)

    server.say(slow, ["hello", "slow"])
    server.wait(5)

    assert returned(server) == 2


@shows("state.accept")
def test_any_other_state_shuts_the_door() -> None:
    server = served(
        """
              door: {accept: hello(peer), as: players, seats: 1, within: never, then: play}
              play: {await: "players[0]", within: 5 s, receive: {MOVE: {return: x}}, fault: {return: reason}}
        """
    )
    slow = server.join()
    join(server, "ann")
    late = server.join()

    assert slow in server.dropped
    assert late in server.dropped
    assert server.ended is None


@shows("state.timeout", "always.timeout")
def test_the_time_of_an_open_door_may_be_answered_by_an_always() -> None:
    server = served(
        """
              always: {timeout: {return: reason}}
              room: {accept: hello(peer), as: members, within: 1 min}
        """
    )

    server.wait(60)

    assert returned(server) == "late"


# -- gone ------------------------------------------------------------------------------------------------------------


@shows("built-in.gone")
def test_gone_says_what_the_network_has_said_of_a_peer_so_far() -> None:
    server = served(
        """
              door: {accept: hello(peer), as: players, seats: 3, within: never, then: play}
              play:
                await: players[2]
                within: 5 s
                receive: {MOVE: judge}
                fault: {return: reason}
              judge:
                drop: players[1]
                then: told
              told: {return: "[gone(players[0]), gone(players[1]), gone(players[2])]"}
        """
    )
    ann, _, cid = join(server, "ann", "bob", "cid")
    server.lose(ann)

    server.say(cid, ["move", 1])

    assert returned(server) == (True, True, False)


# -- other connections -----------------------------------------------------------------------------------------------

RELAY = """
        connects: {client: [server, ai]}
        messages:
          server: {ASK: [ask, $n int]}
          client, ai: {MOVE: [move, $x int]}
          client: {HELLO: [hello, $name string], BOARD: [board, $n int]}
        roles:
          server:
            main:
              door: {accept: hello(peer), as: players, seats: 2, within: never, then: begin}
              begin: {let: {sum: 0}, then: turns}
              turns: {each: player in players, run: turn(player), as: {sum: sum + result}, return: sum}
            hello(peer):
              named: {await: peer, within: 3 s, receive: {HELLO: {return: {name: name}}}}
            turn(player):
              asked:
                send: ASK(10)
                await: player
                within: 5 s
                receive: {MOVE: {return: x}}
                fault: {return: -1}
          client:
            main:
              always: {within: never}
              join: {send: {server: HELLO(my.name)}, then: waiting}
              waiting:
                await: server
                receive: {ASK: thinking}
                closed: {return: null}
              thinking:
                send: {ai: BOARD(n)}
                await: ai
                receive: {MOVE: {send: {server: MOVE}, then: waiting}}
                fault: waiting
          ai:
            main(client):
              ready: {within: never, receive: {BOARD: thinking}, closed: {return: null}}
              thinking:
                ask: move(n)
                within: 4 s
                receive: {MOVE: {send: MOVE, then: ready}}
"""


@shows("connects", "roles.main(peer)", "built-in.my")
def test_a_client_may_talk_to_a_second_role_that_runs_one_session_for_each_connection() -> None:
    # main(client): once for each connection; my.name
    network = Network(tiny(RELAY), "server")
    for index, name in enumerate(("ann", "bob"), start=1):

        def think(question: str, values: dict[str, Any], index: int = index) -> Any:
            return ["move", values["n"] + index]

        network.join("client", think, {"name": name})

    assert returned(network.server) == 10 + 1 + 10 + 2
    ais = [run for run in network.runs if run.program.role.name == "ai"]
    assert [run.taken for run in ais] == [["BOARD"], ["BOARD"]]


@shows("built-in.my")
def test_my_name_is_the_name_a_client_was_started_with() -> None:
    # my.name
    client = start(RELAY, "client", my={"name": "zoe"})

    assert client.heard(0) == [["hello", "zoe"]]


# -- peers as keys ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("clocks[players[1]]", 8),
        ("get(clocks, players[0], 0) + get(clocks, other, 100)", 107),
        ("[players[0] in clocks, other in clocks]", (True, False)),
        ("len(put(clocks, players[0], 9))", 2),
        ("values(put(clocks, players[0], 9))", (9, 8)),
        ("values(clocks except players[0])", (8,)),
        ("keys(clocks except players)", ()),
        ("keys(without(clocks, players[1]))", ("0",)),
        ("keys(clocks) == [str(players[0].number), str(players[1].number)]", True),
        ("players[0] in {} or '0' in clocks", True),
    ],
)
def test_a_peer_is_a_key_by_its_number(text: str, value: Any) -> None:
    server = served(
        f"""
              door: {{accept: hello(peer), as: players, seats: 3, within: never, then: begin}}
              begin:
                let: {{clocks: {{}}, other: players[2]}}
                then: first
              first: {{let: {{clocks: put(clocks, players[0], 7)}}, then: second}}
              second: {{let: {{clocks: put(clocks, players[1], 8), none: {{}}}}, then: end}}
              end: {{return: "{text.replace("{}", "none")}"}}
        """
    )
    join(server, "ann", "bob", "cid")

    assert returned(server) == value


# -- foreign ---------------------------------------------------------------------------------------------------------

ONE_SIDE = """
        messages: {client: {A: a, B: b}, server: {C: c}}
        foreign: client
        roles:
          server:
            main(client):
              w: {within: 5 s, receive: {A: {send: C, then: w}, B: {return: 1}}, fault: {return: 0}}
"""


@shows("foreign")
def test_a_foreign_role_needs_no_machines_and_what_it_sends_is_read_like_any_others() -> None:
    spec = load_text(f"protocol: p\nconnects: {{client: server}}\n{dedent(ONE_SIDE)}")
    server = Run(spec, "server", None)
    server.say(0, "a")
    server.say(0, "b")

    assert check(spec) == []
    assert (list(spec.roles), list(spec.foreign), spec.all_roles()) == (["server"], ["client"], ("server", "client"))
    assert (server.heard(0), returned(server)) == (["c"], 1)


FOREIGN_FAULTS = [
    ("foreign: [client, client]", "A115"),
    ("foreign: [client, server]", "A121"),
    ("foreign: [client, admin]", "A133"),
    ("foreign: {client: yes}", "A112"),
    ("foreign: [client, 2nd]", "A114"),
    ("foreign: [client, out]\n        connects: {client: [server, out]}", "A133"),
]


@pytest.mark.parametrize(("written", "code"), FOREIGN_FAULTS)
def test_a_foreign_role_has_no_machines_and_a_connection_with_one_of_ours(written: str, code: str) -> None:
    text = dedent(ONE_SIDE.replace("foreign: client", written))
    head = "protocol: p\n" if "connects:" in text else "protocol: p\nconnects: {client: server}\n"

    with pytest.raises(SpecError) as raised:
        load_text(head + text)

    assert code in {problem.code for problem in raised.value.problems}


def test_a_message_of_a_foreign_role_that_ours_never_reads_is_told_but_a_client_may_use_a_part() -> None:
    spec = load_text(f"protocol: p\nconnects: {{client: server}}\n{dedent(ONE_SIDE)}".replace("B: b}", "B: b, D: d}"))
    assert [problem.code for problem in check(spec)] == ["A331"]

    ours = dedent(
        """
        protocol: p
        connects: {client: server}
        foreign: server
        messages: {client: {A: a, B: b}, server: {C: c, D: d}}
        roles: {client: {main: {w: {send: A, within: 5 s, receive: {C: {return: 1}}, fault: {return: 0}}}}}
        """
    )
    assert check(load_text(ours)) == []
