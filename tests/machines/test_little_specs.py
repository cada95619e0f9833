"""Three small protocols that no document asks for, to show what the shipped ones do not use: chat, auction, lobby."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from machines.checks import check
from machines.effects import Ask
from machines.model import Spec
from machines.parser.loader import load
from tests.support.session_harness import Client, Network, Run
from tests.support.sketch import value

FOLDER = Path(__file__).resolve().parents[1] / "specs"


def spec(name: str) -> Spec:
    return load(str(FOLDER / f"{name}.yaml"))


@pytest.mark.parametrize("name", ["chat", "auction", "lobby"])
def test_nothing_is_wrong_with_it(name: str) -> None:
    assert check(spec(name)) == []


# -- chat ------------------------------------------------------------------------------------------------------------


def room(*names: str) -> tuple[Any, ...]:
    """Return a chat's server and members that have said who they are and have read what came of it."""
    run = Run(spec("chat"), "server")
    peers = [run.join() for _ in names]
    for peer, name in zip(peers, names, strict=True):
        run.say(peer, {"hello": name})
    for peer in peers:
        run.heard(peer)
    return (run, *peers)


def test_who_comes_in_is_welcomed_and_those_inside_are_told() -> None:
    run, ann = room("ann")
    bob = run.join()

    run.say(bob, {"hello": "bob"})

    assert run.heard(bob) == ["welcome"]
    assert run.heard(ann) == [{"joined": "bob"}]


def test_everybody_hears_what_anybody_says() -> None:
    run, ann, bob = room("ann", "bob")

    run.say(bob, {"say": "hello, ann"})

    assert run.heard(ann) == run.heard(bob) == [{"from": "bob", "said": "hello, ann"}]


@pytest.mark.parametrize("how", ["quits", "leaves", "talks nonsense", "greets twice"])
def test_who_goes_is_missed_by_the_others_only_and_its_name_is_free(how: str) -> None:
    run, ann, bob = room("ann", "bob")

    if how == "quits":
        run.say(bob, "quit")
    elif how == "leaves":
        run.lose(bob)
    elif how == "talks nonsense":
        run.write(bob, b"}\n")
    else:
        run.say(bob, {"hello": "bob"})
    run.say(ann, {"say": "alone"})

    assert run.heard(bob) == []
    assert run.heard(ann) == [{"left": "bob"}, {"from": "ann", "said": "alone"}]
    assert (bob in run.dropped) == (how != "leaves")


@pytest.mark.parametrize("first", [{"say": "hello"}, {"hello": "ANN"}, "quit", None])
def test_who_does_not_say_its_name_in_time_does_not_get_in(first: Any) -> None:
    run, ann = room("ann")
    bob = run.join()

    if first is None:
        run.wait(10.0)
    else:
        run.say(bob, first)

    assert bob in run.dropped
    assert run.heard(bob) == []
    assert run.heard(ann) == []


def test_the_room_is_open_for_eight_hours_and_for_more_than_any_number_of_seats() -> None:
    run, *peers = room(*(["guest"] * 60))

    run.say(peers[0], {"say": "hello"})
    assert all(run.heard(peer) == [{"from": "guest", "said": "hello"}] for peer in peers)
    run.wait(8 * 3600.0 - 1)
    assert run.ended is None
    run.wait(1.0)

    assert value(run) is None
    assert set(run.dropped) == set(peers)


def test_clients_chat_and_hear_others_while_their_players_think() -> None:
    network = Network(spec("chat"), "server")
    lines: dict[str, list[Any]] = {"ann": [None], "bob": [("SAY", {"line": "hello"}), {"say": "bye"}, "quit"]}

    def player(name: str) -> Client:
        return network.join("client", lambda question, given: lines[name].pop(0), {"name": name})

    ann, bob = player("ann"), player("bob")
    network.wait(5.0)

    assert bob.ended is not None
    assert bob.ended.failed is None
    assert ann.taken == ["WELCOME", "JOINED", "SAID", "SAID", "LEFT"]
    assert ann.cancelled == []
    network.wait(8 * 3600.0)
    assert value(ann) is None


# -- auction ---------------------------------------------------------------------------------------------------------


def auction(*names: str) -> tuple[Any, ...]:
    """Return the house and its bidders, who have heard what is for sale."""
    run = Run(spec("auction"), "house")
    peers = [run.join() for _ in names]
    for peer, name in zip(peers, names, strict=True):
        run.say(peer, name)
    run.wait(20.0)
    for peer in peers:
        assert run.heard(peer) == [{"open": "a painting"}]
    return (run, *peers)


def test_each_better_bid_starts_the_hammer_afresh_and_the_lot_is_not_called_again() -> None:
    run, ann, bob = auction("ann", "bob")

    run.wait(1.9)
    run.say(ann, {"bid": 10})
    run.wait(1.9)
    run.say(bob, {"bid": 20})
    run.wait(1.9)
    assert run.heard(ann) == [{"best": 10, "by": "ann"}, {"best": 20, "by": "bob"}]
    run.wait(1.1)

    assert run.heard(ann) == ["going", {"sold": 20, "to": "bob"}]
    assert value(run)["price"] == 20
    assert value(run)["buyer"] == "bob"


def test_a_warning_comes_two_seconds_after_each_bid_and_once() -> None:
    run, ann, bob = auction("ann", "bob")

    run.wait(2.5)
    run.say(bob, {"bid": 1})
    run.wait(2.5)
    run.wait(0.5)

    assert run.heard(ann) == ["going", {"best": 1, "by": "bob"}, "going", {"sold": 1, "to": "bob"}]


def test_a_bid_that_is_too_low_is_told_to_its_bidder_and_does_not_stop_the_hammer() -> None:
    run, ann, bob = auction("ann", "bob")
    run.say(ann, {"bid": 10})
    run.wait(2.9)
    run.heard(ann)
    run.heard(bob)

    run.say(bob, {"bid": 10})
    assert run.heard(bob) == [{"too_low": 10}]
    run.wait(0.1)

    assert run.heard(ann) == run.heard(bob) == [{"sold": 10, "to": "ann"}]


def test_with_no_bid_nothing_is_sold() -> None:
    run, ann, _ = auction("ann", "bob")

    run.wait(3.0)

    assert run.heard(ann) == ["going", "unsold"]
    assert value(run) is None


@pytest.mark.parametrize("wrong", [{"bid": 0}, {"bid": "all"}, "bob", "GOING!"])
def test_a_bidder_that_talks_nonsense_is_shown_out_and_the_others_bid_on(wrong: Any) -> None:
    run, ann, bob = auction("ann", "bob")

    run.say(bob, wrong)
    run.say(ann, {"bid": 5})
    run.wait(3.0)

    assert bob in run.dropped
    assert run.heard(bob) == []
    assert value(run)["price"] == 5


def test_the_auction_goes_on_to_its_hammer_when_all_bidders_have_left() -> None:
    run, ann, bob = auction("ann", "bob")
    run.say(ann, {"bid": 5})

    run.lose(ann)
    run.lose(bob)
    assert run.ended is None
    run.wait(3.0)

    assert value(run)["buyer"] == "ann"


def test_with_one_bidder_there_is_no_auction() -> None:
    run = Run(spec("auction"), "house")
    run.say(run.join(), "ann")

    run.wait(20.0)

    assert value(run) is None


def test_bidders_decide_afresh_at_each_better_bid() -> None:
    network = Network(spec("auction"), "house")
    limits = {"ann": 40, "bob": 70, "cal": 0}
    asked: dict[str, list[int]] = {name: [] for name in limits}

    def bidder(name: str) -> Client:
        def decide(question: str, given: dict[str, Any]) -> Any:
            asked[name].append(given["best"])
            if network.server.now >= 20.0 and given["best"] + 10 <= limits[name]:
                return "BID", {"amount": given["best"] + 10}
            return None

        return network.join("bidder", decide, {"name": name})

    clients = {name: bidder(name) for name in limits}
    network.wait(60.0)

    assert [value(client) for client in clients.values()] == [{"price": 70, "buyer": "bob"}] * 3
    assert asked["bob"][-1] == asked["cal"][-1] == 70
    put = [dict(effect.arguments)["best"] for effect in clients["cal"].effects if isinstance(effect, Ask)]
    assert put == list(range(0, 80, 10))  # each better bid put the question afresh, and took the one before back
    assert len(clients["cal"].cancelled) == len(put)


# -- lobby -----------------------------------------------------------------------------------------------------------


def lobby(*names: str) -> tuple[Any, ...]:
    run = Run(spec("lobby"), "lobby")
    peers = [run.join() for _ in names]
    for peer, name in zip(peers, names, strict=True):
        run.say(peer, {"sit": name})
    return (run, *peers)


def test_guests_are_told_their_seats_and_asked_in_turn_for_a_higher_number() -> None:
    run, ann, bob, cal = lobby("ann", "bob", "cal")

    assert [run.heard(peer) for peer in (ann, bob, cal)] == [
        [{"seat": 0}, {"highest": 0}], [{"seat": 1}], [{"seat": 2}],
    ]  # fmt: skip
    run.say(ann, 30)
    assert run.heard(bob) == [{"highest": 30}]
    run.say(bob, 20)
    assert run.heard(cal) == [{"highest": 30}]
    run.say(cal, 31)

    assert run.heard(ann) == [{"number": 31}]
    assert value(run) == 31


def test_a_hundred_ends_the_round_early() -> None:
    run, ann, bob, cal = lobby("ann", "bob", "cal")
    run.say(ann, 100)

    assert run.heard(bob) == [{"seat": 1}, {"number": 100}]
    assert run.heard(cal) == [{"seat": 2}, {"number": 100}]
    assert value(run) == 100


@pytest.mark.parametrize("fault", ["late", "over", "nonsense", "gone"])
def test_who_does_not_name_a_higher_number_is_passed_over(fault: str) -> None:
    run, ann, bob, _ = lobby("ann", "bob", "cal")

    if fault == "late":
        run.wait(5.0)
    elif fault == "over":
        run.say(ann, 101)
    elif fault == "nonsense":
        run.say(ann, "a lot")
    else:
        run.lose(ann)

    assert run.heard(bob) == [{"seat": 1}, {"highest": 0}]


def test_late_comers_are_told_that_the_table_is_taken_and_closed() -> None:
    run, *_ = lobby("ann", "bob", "cal")

    late = run.join()

    assert run.heard(late) == ["full"]
    assert late in run.dropped
    assert run.ended is None


def test_the_seat_of_one_who_leaves_while_the_table_fills_is_free_again() -> None:
    run, ann, bob = lobby("ann", "bob")

    run.lose(ann)
    cal, dan = run.join(), run.join()
    run.say(cal, {"sit": "cal"})
    assert run.heard(cal) == [{"seat": 1}]
    assert run.heard(bob) == [{"seat": 1}]
    run.say(dan, {"sit": "dan"})

    assert run.heard(bob) == [{"highest": 0}]


def test_a_number_that_nobody_has_asked_for_is_ignored_with_a_note() -> None:
    run, ann, bob, _ = lobby("ann", "bob", "cal")

    run.say(bob, 99)
    assert any("ignored" in note for note in run.notes)
    run.say(ann, 1)

    assert run.heard(bob) == [{"seat": 1}, {"highest": 1}]


def test_a_ping_overtakes_the_number_written_before_it() -> None:
    run, ann, bob, _ = lobby("ann", "bob", "cal")
    run.heard(ann)

    run.write(ann, b'50\n"ping"\n')

    assert run.heard(ann) == ["pong"]  # after the number nobody would have listened to it
    assert run.taken[-2:] == ["PING", "NUMBER"]
    assert run.heard(bob) == [{"seat": 1}, {"highest": 50}]


def test_a_table_that_does_not_fill_in_a_minute_is_given_up() -> None:
    run, ann, bob = lobby("ann", "bob")

    run.wait(60.0)

    assert value(run) is None
    assert set(run.dropped) == {ann, bob}


def test_guests_play_the_round_and_show_that_they_are_there() -> None:
    network = Network(spec("lobby"), "lobby")

    def guest(number: int) -> Client:
        return network.join("guest", lambda question, given: given["highest"] + number + 1, {"name": "guest"})

    clients = [guest(number) for number in range(3)]
    network.wait(1.0)

    assert value(network.server) == 6
    assert [value(client) for client in clients] == [6, 6, 6]
    assert network.server.taken.count("PING") == 3


def test_a_guest_that_comes_late_goes_home() -> None:
    server, *_ = lobby("ann", "bob", "cal")
    late = server.join()
    guest = Run(spec("lobby"), "guest", my={"name": "dan"})

    for message in server.heard(late):
        guest.say(0, message)

    assert value(guest) is None
