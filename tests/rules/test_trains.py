"""Trains: maps, offers, turns, the end of a game, points; and that no message makes a rule raise."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, pairwise, permutations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rules import trains
from rules.players.trains_maps import made_map
from rules.trains_map import COLOURS, CONNECTIONS_MAX, Connection, joined, read_map
from rules.trains_paths import longest_path

LINE: dict[str, Any] = {
    "width": 100,
    "height": 100,
    "cities": [[name, [10 * i, 10]] for i, name in enumerate("ABCDE")],
    "connections": {
        "A": {"B": {"red": 3, "blue": 4}},
        "B": {"C": {"red": 5}},
        "C": {"D": {"red": 5}, "E": {"white": 3}},
    },
}
RED = "r" * 250


def seated(names: str, deck: str = RED, chart: Any = LINE) -> trains.Table:
    table = trains.start(names, chart, 0, deck, "sorted")
    for name in names:
        offer = trains.offer(table)
        table = trains.seat(table, name, offer, offer.destinations[2:])
    return table


def drawn(table: trains.Table, times: int) -> trains.Table:
    for _ in range(times):
        table = trains.draw(table, trains.mover(table))
    return table


# Maps ----------------------------------------------------------------------------------------------------------------


def changed(**keys: Any) -> dict[str, Any]:
    return LINE | keys


@pytest.mark.parametrize(
    "chart",
    [
        pytest.param(None, id="null"),
        pytest.param(changed(width=9), id="too narrow"),
        pytest.param(changed(height=801), id="too high"),
        pytest.param(changed(width=True), id="a width that is no number"),
        pytest.param(changed(extra=1), id="another key"),
        pytest.param(changed(cities=[*LINE["cities"], ["A", [1, 1]]]), id="a name twice"),
        pytest.param(changed(cities=[*LINE["cities"], ["F", [0, 10]]]), id="a spot twice"),
        pytest.param(changed(cities=[*LINE["cities"], ["F", [101, 10]]]), id="a city off the map"),
        pytest.param(changed(cities=[*LINE["cities"], ["F", [0.5, 10]]]), id="a fraction"),
        pytest.param(changed(cities=[*LINE["cities"], ["F!", [1, 1]]]), id="a name with a strange letter"),
        pytest.param(changed(cities=[*LINE["cities"], ["F" * 26, [1, 1]]]), id="a long name"),
        pytest.param(changed(cities=[[f"c{i}", [i % 101, i // 101]] for i in range(101)]), id="too many cities"),
        pytest.param(changed(connections={"B": {"A": {"red": 3}}}), id="under the wrong city"),
        pytest.param(changed(connections={"A": {"A": {"red": 3}}}), id="to itself"),
        pytest.param(changed(connections={"A": {"Z": {"red": 3}}}), id="to an unknown city"),
        pytest.param(changed(connections={"Z": {}}), id="from an unknown city"),
        pytest.param(changed(connections={"A": {"B": {"black": 3}}}), id="in an unknown colour"),
        pytest.param(changed(connections={"A": {"B": {"red": 6}}}), id="too long"),
    ],
)
def test_what_is_no_map_is_refused(chart: Any) -> None:
    assert not trains.is_map(chart)
    assert trains.choose([chart], "ab") is None


def test_a_map_has_a_limit_of_connections() -> None:
    names = [f"c{i:02}" for i in range(16)]
    cities = [[name, [i, 0]] for i, name in enumerate(names)]
    pairs = list(combinations(names, 2))
    full: dict[str, Any] = {}
    for city, other in pairs[: CONNECTIONS_MAX // 4]:
        full.setdefault(city, {})[other] = dict.fromkeys(COLOURS, 3)

    assert trains.is_map(changed(cities=cities, connections=full))
    city, other = pairs[CONNECTIONS_MAX // 4]
    full.setdefault(city, {})[other] = {"red": 3}
    assert not trains.is_map(changed(cities=cities, connections=full))


def test_destinations_are_all_pairs_that_are_joined_and_connections_come_by_cities_length_and_colour() -> None:
    atlas = read_map(changed(cities=[*LINE["cities"], ["F", [1, 1]]]))

    assert atlas.destinations == tuple(combinations("ABCDE", 2))
    assert atlas.connections == (
        ("A", "B", "red", 3),
        ("A", "B", "blue", 4),
        ("B", "C", "red", 5),
        ("C", "D", "red", 5),
        ("C", "E", "white", 3),
    )


@pytest.mark.parametrize(("players", "good"), [(2, True), (3, True), (4, False), (40, False)])
def test_a_map_of_ten_destinations_is_good_for_three(players: int, good: bool) -> None:
    assert (trains.choose([None, LINE], range(players)) == LINE) is good


@pytest.mark.parametrize("seed", range(20))
def test_made_maps_are_good_for_eight(seed: int) -> None:
    chart = made_map(seed)

    assert trains.choose([chart], range(8)) == chart
    assert len(read_map(chart).destinations) == 16 * 15 // 2
    assert made_map(seed) == chart


# The longest path ----------------------------------------------------------------------------------------------------


@st.composite
def connections(draw: st.DrawFn) -> list[Connection]:
    pairs = draw(st.lists(st.sampled_from(list(combinations("ABCDEFG", 2))), max_size=14))
    return [(*pair, draw(st.sampled_from(COLOURS)), draw(st.sampled_from((3, 4, 5)))) for pair in pairs]


def every_path(owned: list[Connection]) -> int:
    length: dict[frozenset[str], int] = {}
    for city, other, _, segments in owned:
        pair = frozenset((city, other))
        length[pair] = max(segments, length.get(pair, 0))
    cities = sorted({city for pair in length for city in pair})
    found = 0
    for route in permutations(cities):
        total = 0
        for step in pairwise(route):
            segments = length.get(frozenset(step), 0)
            total = total + segments if segments else 0
            found = max(found, total)
    return found


@settings(max_examples=150, deadline=None)
@given(connections())
def test_the_longest_path_is_that_of_trying_them_all(owned: list[Connection]) -> None:
    assert longest_path(owned) == every_path(owned)


def test_a_ring_is_a_path_but_for_one_connection() -> None:
    assert longest_path([("A", "B", "red", 3), ("B", "C", "red", 4), ("A", "C", "red", 5)]) == 9


# Offers --------------------------------------------------------------------------------------------------------------


def test_what_is_returned_is_offered_again_in_place_and_who_is_kicked_uses_nothing_up() -> None:
    table = trains.start("abc", LINE, 0, "rrbbggww" + RED, "sorted")
    first = trains.offer(table)
    assert first == trains.Offer(45, ("red", "red", "blue", "blue"), tuple(combinations("ABCDE", 2))[:5])

    table = trains.kick(table, "a")
    assert trains.offer(table) == first
    table = trains.seat(table, "b", first, [first.destinations[i] for i in (4, 0, 2)])

    again = trains.offer(table)
    assert again.cards == ("green", "green", "white", "white")
    assert (
        again.destinations
        == tuple(combinations("ABCDE", 2))[0:1]
        + tuple(combinations("ABCDE", 2))[2:3]
        + tuple(combinations("ABCDE", 2))[4:7]
    )
    assert table.seats[0].wanted == (("A", "C"), ("A", "E"))
    assert trains.kicked(table) == ("a",)


@pytest.mark.parametrize(
    ("unwanted", "good"),
    [
        ([("A", "B"), ("A", "C"), ("A", "D")], True),
        ([["A", "D"], ["A", "B"], ["A", "C"]], True),
        ([("A", "B"), ("A", "C"), ("A", "C")], False),
        ([("A", "B"), ("A", "C"), ("D", "A")], False),
        ([("A", "B"), ("A", "C"), ("D", "E")], False),
        ([("A", "B"), ("A", "C")], False),
        ([("A", "B"), ("A", "C"), ("A", "D"), ("A", "E")], False),
    ],
)
def test_three_different_ones_of_the_offer_may_be_returned(unwanted: list[Any], good: bool) -> None:
    assert trains.may_return(trains.offer(trains.start("ab", LINE, 0, RED, "sorted")), unwanted) is good


# Turns ---------------------------------------------------------------------------------------------------------------


def test_a_connection_costs_cards_and_rails_and_nobody_else_can_take_it() -> None:
    table = drawn(seated("ab"), 2)
    table = trains.acquire(table, "a", ("A", "B", "red", 3))

    mine = trains.state(table, "a", "own")
    assert mine["rails"] == 42
    assert mine["cards"] == {"red": 3, "blue": 0, "green": 0, "white": 0}
    assert trains.state(table, "b")["acquired"] == ((("A", "B", "red", 3),),)
    assert not trains.may_acquire(table, "b", ("A", "B", "red", 3))
    assert trains.may_acquire(table, "b", ("B", "C", "red", 5))


@pytest.mark.parametrize(
    "wanted",
    [
        ("A", "B", "blue", 4),
        ("B", "A", "red", 3),
        ("A", "B", "red", 4),
        ("A", "B", "green", 3),
        ("A", "D", "red", 3),
        ("B", "C", "red", 5),
        ("A", "B", "red"),
        None,
    ],
    ids=str,
)
def test_what_is_not_on_the_map_or_cannot_be_paid_may_not_be_acquired(wanted: Any) -> None:
    assert not trains.may_acquire(seated("ab"), "a", wanted)


def test_only_whose_turn_it_is_may_acquire() -> None:
    assert trains.may_acquire(seated("ab"), "a", ("A", "B", "red", 3))
    assert not trains.may_acquire(seated("ab"), "b", ("A", "B", "red", 3))


def test_the_connections_of_the_kicked_are_free_again_and_their_turns_are_passed_over() -> None:
    table = trains.acquire(seated("abc"), "a", ("A", "B", "red", 3))
    table = trains.kick(drawn(table, 2), "a")

    assert trains.mover(table) == "b"
    assert trains.may_acquire(table, "b", ("A", "B", "red", 3))
    assert trains.state(table, "b")["acquired"] == ((),)
    assert trains.mover(drawn(table, 2)) == "b"


# The end -------------------------------------------------------------------------------------------------------------


def test_a_whole_round_that_changes_nothing_ends_the_game_at_once() -> None:
    table = seated("abc", RED[:12])
    for name in "ab":
        assert not trains.has_cards(table)
        table = trains.skip(table, name)
        assert not trains.over(table)

    assert trains.over(trains.skip(table, "c"))
    table = trains.skip(trains.kick(table, "c"), "a")
    assert not trains.over(table), "who is kicked changes the game"
    assert trains.over(trains.skip(table, "b"))


def nearly_done(names: str, mover: int) -> trains.Table:
    """Return a table on which the mover has five rails, and everybody cards enough."""
    table = drawn(seated(names, RED, made_line(len(names))), 3 * len(names))
    seats = list(table.seats)
    seats[mover] = replace(seats[mover], rails=5)
    return replace(table, seats=tuple(seats), turn=mover)


def made_line(players: int) -> Any:
    names = "ABCDEFGHIJ"
    return {
        "width": 100,
        "height": 100,
        "cities": [[name, [10 * i, 10]] for i, name in enumerate(names)],
        "connections": {one: {two: {"red": 3}} for one, two in pairwise(names)},
    }


@pytest.mark.parametrize(("mover", "others"), [(0, "bcd"), (1, "cda"), (2, "dab"), (3, "abc")])
def test_in_the_last_round_each_other_player_has_one_more_turn_in_order(mover: int, others: str) -> None:
    table = trains.acquire(nearly_done("abcd", mover), "abcd"[mover], ("A", "B", "red", 3))
    moved = ""
    while not trains.over(table):
        moved += trains.mover(table)
        table = trains.draw(table, trains.mover(table))

    assert moved == others


def test_nobody_begins_the_last_round_again_and_the_kicked_have_no_turn_in_it() -> None:
    table = trains.acquire(nearly_done("abc", 0), "a", ("A", "B", "red", 3))
    table = trains.kick(table, "c")

    assert trains.over(trains.acquire(table, "b", ("B", "C", "red", 3)))


def test_three_rails_are_enough_to_go_on() -> None:
    table = nearly_done("ab", 0)
    table = replace(table, seats=(replace(table.seats[0], rails=6), table.seats[1]))

    assert trains.acquire(table, "a", ("A", "B", "red", 3)).last is None


def test_when_all_are_kicked_it_is_over_and_nobody_is_ranked() -> None:
    table = seated("ab")
    for name in "ab":
        table = trains.kick(table, name)

    assert trains.over(table)
    assert trains.mover(table) is None
    assert trains.ranking(table) == ()
    assert trains.kicked(table) == ("a", "b")


# Points --------------------------------------------------------------------------------------------------------------


def finished(names: str, **owned: list[Connection]) -> trains.Table:
    table = seated(names, RED)
    seats = tuple(replace(seat, owned=tuple(owned.get(seat.player, ()))) for seat in table.seats)
    return replace(table, seats=seats, idle=len(names))


def test_points_are_segments_destinations_and_the_longest_path_of_all_who_have_it() -> None:
    # a wants A-B and A-C, b A-D and A-E, c B-C and B-D.
    table = finished("abc", a=[("A", "B", "red", 3)], b=[("C", "E", "white", 3)])

    points = {player["player"]: player["points"] for player in trains.result(table)["players"]}
    assert points == {"a": 3 + 20 + 10 - 10, "b": 3 + 20 - 20, "c": -20}
    assert trains.ranking(table) == (("a",), ("b",), ("c",))


def test_without_connections_nobody_has_the_longest_path() -> None:
    assert trains.ranking(finished("ab")) == (("a", "b"),)


def test_who_fails_after_the_end_leaves_its_group_and_nobody_moves_up() -> None:
    table = finished("abc", a=[("A", "B", "red", 3)], b=[("C", "E", "white", 3)])
    table = trains.kick(table, "a")

    assert trains.ranking(table) == ((), ("b",), ("c",))
    assert trains.by_rank(table) == ("b", "c")
    assert not trains.first(table, "b")
    assert trains.kicked(table) == ("a",)


# Chance and fuzz -----------------------------------------------------------------------------------------------------


def test_the_seed_says_which_cards_come_and_which_destinations_are_offered() -> None:
    one, same, other = (trains.start("ab", made_map(1), seed) for seed in (1, 1, 2))

    assert one == same
    assert one.deck != other.deck
    assert one.pool != other.pool
    assert len(one.deck) == 250
    assert set(one.deck) == set(COLOURS)


def test_decks_and_orders_that_do_not_exist_are_refused() -> None:
    for arguments in (("rgx", "sorted"), ("shuffled", "any")):
        with pytest.raises(ValueError, match=r"'shuffled' or|'shuffled', or"):
            trains.start("ab", LINE, 0, *arguments)
    with pytest.raises(ValueError, match="too few"):
        trains.start("abcd", LINE, 0)


CITIES = st.sampled_from("ABCDEZ") | st.text(max_size=3)
ACQUIRED = st.tuples(CITIES, CITIES, st.sampled_from(COLOURS), st.sampled_from((3, 4, 5)))
DESTINATION = st.tuples(CITIES, CITIES)
SEGMENTS = st.dictionaries(st.sampled_from(COLOURS), st.sampled_from((3, 4, 5)))
MAPS = st.fixed_dictionaries(
    {
        "width": st.integers(10, 800),
        "height": st.integers(10, 800),
        "cities": st.lists(st.tuples(CITIES, st.tuples(st.integers(-9, 900), st.integers())), max_size=6),
        "connections": st.dictionaries(CITIES, st.dictionaries(CITIES, SEGMENTS, max_size=4), max_size=4),
    }
)


@given(MAPS, st.integers(2, 50))
def test_no_map_makes_a_rule_raise(chart: Any, players: int) -> None:
    chosen = trains.choose([chart, chart], range(players))

    assert chosen is None or trains.is_map(chart)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_no_answer_makes_a_rule_raise_and_every_game_ends(data: st.DataObject) -> None:
    names = "abc"[: data.draw(st.integers(2, 3))]
    table = trains.start(names, LINE, data.draw(st.integers(0, 9)), data.draw(st.text("rbgw", max_size=60)))
    for name in names:
        offer = trains.offer(table)
        unwanted = data.draw(st.just(offer.destinations[:3]) | st.tuples(DESTINATION, DESTINATION, DESTINATION))
        if trains.may_return(offer, unwanted):
            table = trains.seat(table, name, offer, unwanted)
        else:
            table = trains.kick(table, name)
    turns = 0
    while not trains.over(table):
        turns += 1
        name = trains.mover(table)
        wanted = data.draw(st.none() | st.sampled_from(table.atlas.connections) | ACQUIRED)
        if wanted is None:
            table = trains.draw(table, name) if trains.has_cards(table) else trains.skip(table, name)
        elif trains.may_acquire(table, name, wanted):
            table = trains.acquire(table, name, wanted)
        else:
            table = trains.kick(table, name)
        assert all(seat.rails >= 0 and min(seat.cards) >= 0 for seat in table.seats)

    assert turns <= 3 * (30 + len(table.atlas.connections) + 1)
    ranked = trains.by_rank(table)
    assert sorted([*ranked, *trains.kicked(table)]) == sorted(names)
    assert all(trains.first(table, player) for player in trains.ranking(table)[0]) if ranked else True


@given(st.lists(ACQUIRED, max_size=12), CITIES, CITIES)
def test_joined_is_the_same_both_ways(owned: list[Connection], city: str, other: str) -> None:
    assert joined(owned, city, other) == joined(owned, other, city)
