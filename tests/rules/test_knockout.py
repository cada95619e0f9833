"""The knock-out: how players are split, who goes on, when it ends."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules import knockout


@dataclass(frozen=True)
class Someone:
    number: int

    @property
    def name(self) -> str:
        return f"name{self.number % 3}"


def people(count: int) -> tuple[Someone, ...]:
    return tuple(Someone(number) for number in range(count))


@pytest.mark.parametrize(
    ("count", "least", "most", "sizes"),
    [
        (2, 2, 8, (2,)),
        (8, 2, 8, (8,)),
        (9, 2, 8, (7, 2)),
        (10, 2, 8, (8, 2)),
        (17, 2, 8, (8, 7, 2)),
        (28, 2, 8, (8, 8, 8, 4)),
        (26, 6, 8, (8, 6, 6, 6)),
        (9, 6, 8, (5, 4)),
    ],
)
def test_players_are_split_as_the_rule_says(count: int, least: int, most: int, sizes: tuple[int, ...]) -> None:
    assert knockout.sizes(count, least, most) == sizes


@given(st.integers(2, 200))
def test_games_of_two_to_eight_hold_any_number_of_players(count: int) -> None:
    sizes = knockout.sizes(count, 2, 8)

    assert sum(sizes) == count
    assert set(sizes) <= set(range(2, 9))
    assert list(sizes) == sorted(sizes, reverse=True)


def test_winners_of_all_games_of_a_round_go_on_in_order_of_sign_up_whichever_game_ends_first() -> None:
    cup = knockout.start(people(10))
    first, second = knockout.groups(cup)
    assert (first, second) == (people(10)[:8], people(10)[8:])

    cup = knockout.add(cup, {"ranking": [[second[1]], [second[0]]], "kicked": []})
    assert knockout.groups(cup) == (first,)
    cup = knockout.add(cup, {"ranking": [[first[5], first[2]], [first[0]]], "kicked": [first[1]]})

    assert not knockout.over(cup)
    assert knockout.left(cup) == (first[2], first[5], second[1])
    assert knockout.groups(cup) == (knockout.left(cup),)
    assert knockout.kicked(cup) == (first[1],)
    assert knockout.losers(cup) == tuple(player for player in people(10) if player.number not in (1, 2, 5, 9))


def test_the_final_is_the_last_game_even_if_all_of_it_win() -> None:
    cup = knockout.add(knockout.start(people(4)), {"ranking": [people(4)], "kicked": []})

    assert knockout.over(cup)
    assert knockout.groups(cup) == ()
    assert knockout.winners(cup) == people(4)


def test_a_round_with_the_winners_of_the_round_before_is_the_last() -> None:
    cup = knockout.start(people(10))
    for rounds in (1, 2):
        assert not knockout.over(cup), f"before round {rounds}"
        for group in knockout.groups(cup):
            cup = knockout.add(cup, {"ranking": [group], "kicked": []})

    assert knockout.over(cup)
    assert knockout.winners(cup) == people(10)


def test_who_is_alone_wins_without_a_game_and_nobody_wins_where_nobody_is_left() -> None:
    cup = knockout.kick(knockout.start(people(2)), Someone(0))
    assert knockout.over(cup)
    assert knockout.result(cup) == (("name1",), ("name0",))

    cup = knockout.kick(knockout.kick(cup, Someone(1)), Someone(1))
    assert knockout.result(cup) == ((), ("name0", "name1"))


def test_a_game_in_which_all_are_kicked_has_no_winner() -> None:
    cup = knockout.add(knockout.start(people(3)), {"ranking": [], "kicked": people(3)})

    assert knockout.over(cup)
    assert knockout.result(cup) == ((), ("name0", "name1", "name2"))


def test_a_winner_kicked_after_the_end_is_no_winner() -> None:
    cup = knockout.add(knockout.start(people(3)), {"ranking": [people(1), people(3)[1:]], "kicked": []})
    cup = knockout.kick(cup, Someone(0))

    assert knockout.over(cup)
    assert knockout.winners(cup) == ()
    assert knockout.losers(cup) == people(3)[1:]


def test_entries_are_those_of_players_still_in_in_order_of_sign_up() -> None:
    cup = knockout.start(people(3))
    for player, entry in ((Someone(2), "c"), (Someone(0), "a"), (Someone(1), "b"), (Someone(2), "d")):
        cup = knockout.enter(cup, player, entry)

    assert knockout.entries(cup) == ("a", "b", "d")
    assert knockout.entries(knockout.kick(cup, Someone(0))) == ("b", "d")


def test_the_result_of_another_game_is_refused() -> None:
    cup = knockout.start(people(10))
    first, second = knockout.groups(cup)

    for ranking in ([[first[0], second[0]]], [[Someone(99)]], []):
        with pytest.raises(ValueError, match="no game of this round"):
            knockout.add(cup, {"ranking": ranking, "kicked": []})


def test_sizes_that_make_no_game_are_refused() -> None:
    for least, most in ((0, 8), (3, 2)):
        with pytest.raises(ValueError, match="not"):
            knockout.start(people(3), least, most)


def test_points_are_those_of_the_last_game_that_each_has_played_to_its_end() -> None:
    ann, bob, cyd, dan = people(4)

    def told(**points: float | None) -> list[dict[str, object]]:
        named = {"ann": ann, "bob": bob, "cyd": cyd, "dan": dan}
        return [{"player": named[name], "points": own} for name, own in points.items()]

    cup = knockout.start((ann, bob, cyd, dan), 2, 2)
    cup = knockout.add(cup, {"ranking": [[ann], [bob]], "kicked": [], "players": told(ann=30, bob=10)})
    cup = knockout.add(cup, {"ranking": [[cyd]], "kicked": [dan], "players": told(cyd=12, dan=None)})
    assert dict(knockout.points(cup)) == {ann: 30, bob: 10, cyd: 12}

    cup = knockout.add(cup, {"ranking": [[ann], [cyd]], "kicked": [], "players": told(ann=41, cyd=7)})
    assert dict(knockout.points(cup)) == {ann: 41, bob: 10, cyd: 7}
    assert dict(knockout.points(knockout.kick(cup, bob))) == {ann: 41, cyd: 7}
