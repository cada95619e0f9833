"""The language, shown key by key: items side by side, what fails in one, and what each draws its chance from."""

from __future__ import annotations

from typing import Any

import pytest

from machines.problems import SpecError
from tests.machines.test_language_calls import served, spec
from tests.support.session_harness import Run
from tests.support.tiny import returned, shows, start


def side_by_side(parallel: str, order: list[int], seats: int = 3) -> Run:
    server = served(
        f"""
              begin: {{let: {{moves: []}}, then: turns}}
              turns:
                each: player in players
                {parallel}
                run: turn(player, len(players))
                as:
                  moves: moves + [result]
                return: moves
        """,
        seats,
    )
    waiting = list(order)
    while waiting:
        player = next(player for player in waiting if server.heard(player))
        waiting.remove(player)
        server.say(player, ["move", player])
    return server


@shows("state.parallel")
@pytest.mark.parametrize("parallel", ["parallel: 1", "parallel: 2", "parallel: 3", ""])
@pytest.mark.parametrize("order", [[0, 1, 2], [2, 1, 0], [1, 2, 0]])
def test_results_are_folded_in_item_order_however_many_run_side_by_side_and_whoever_is_fastest(
    parallel: str, order: list[int]
) -> None:
    assert returned(side_by_side(parallel, order)) == (0, 1, 2)


@shows("state.parallel")
def test_so_many_items_run_at_once_and_no_more() -> None:
    server = served(
        """
              begin:
                each: player in players
                parallel: 2
                run: turn(player, 0)
                then: end
              end: {return: null}
        """
    )
    assert [bool(server.heard(player)) for player in range(3)] == [True, True, False]

    server.say(1, ["move", 1])

    assert server.heard(2) == [["ask", 0]]


@shows("state.parallel")
def test_items_that_share_a_peer_run_in_turn_and_see_what_came_before() -> None:
    server = served(
        """
              begin: {let: {lost: []}, then: games}
              games:
                each: pair in [[players[0], players[1]], [players[2], players[3]], [players[0], players[2]]]
                parallel: 3
                if: not (pair[0] in lost)
                run: turn(pair[0], 0)
                as:
                  lost: lost + [pair[result]]
                return: len(lost)
        """,
        seats=4,
    )
    assert [bool(server.heard(player)) for player in range(4)] == [True, False, True, False]

    server.say(0, ["move", 0])  # ann loses the first game
    server.say(2, ["move", 1])  # and so is skipped in the third

    assert server.heard(0) == []
    assert returned(server) == 2


@shows("state.parallel", "state.within")
def test_side_by_side_there_is_one_limit_for_all_and_leaving_keeps_the_results_so_far() -> None:
    server = served(
        """
              begin: {let: {sum: 0}, then: turns}
              turns:
                each: player in players
                parallel: 3
                run: turn(player, 0)
                within: 3 s
                as: {sum: sum + result}
                timeout: {return: sum}
                return: null
        """
    )
    server.wait(2)
    server.say(2, ["move", 5])

    server.wait(1)

    assert returned(server) == 5


def test_until_beside_parallel_is_a_problem_for_it_would_depend_on_who_is_fastest() -> None:
    with pytest.raises(SpecError, match="A121 'until' and 'parallel' exclude one another"):
        served(
            """
              begin:
                each: player in players
                parallel: 2
                until: true
                run: turn(player, 0)
                return: null
            """
        )


# -- failed ----------------------------------------------------------------------------------------------------------


@shows("state.failed", "always.failed")
def test_what_fails_in_one_match_stays_in_it_if_the_match_answers_failed() -> None:
    server = served(
        """
              begin: {let: {outcomes: []}, then: matches}
              matches:
                each: player in players
                parallel: 3
                run: match(player)
                as:
                  outcomes: outcomes + [result]
                return: outcomes
            match(player):
              always: {failed: {return: "'void'"}}
              ask: {run: "turn(player, 0)", as: x, then: judge}
              judge: {return: "['low', 'high'][x]"}
        """
    )

    for player, x in enumerate((1, 2, 0)):
        server.say(player, ["move", x])

    assert returned(server) == ("high", "void", "low")


def test_with_no_failed_anywhere_the_session_ends_and_no_player_is_to_blame() -> None:
    server = served("""              begin: {return: "players[9]"}""")

    assert server.ended is not None
    assert server.ended.failed is not None
    assert "there is no element 9" in server.ended.failed
    assert set(server.dropped) == {0, 1, 2}


# -- seed ------------------------------------------------------------------------------------------------------------


def seeds(parallel: str, order: list[int], seed: int) -> Any:
    text = spec(
        f"""
              begin: {{let: {{drawn: []}}, then: games}}
              games:
                each: player in players
                {parallel}
                run: game(player)
                as:
                  drawn: drawn + [result]
                return: drawn
            game(player):
              ask: {{run: "turn(player, 0)", as: x, then: draw}}
              draw: {{return: "[seed, x]"}}
        """
    )
    server = start(text, seed=seed)
    for name in ("ann", "bob", "cid"):
        server.say(server.join(), name)
    for player in order:
        server.say(player, ["move", player])
    return returned(server)


@shows("built-in.seed")
def test_each_call_draws_from_a_seed_of_its_own_that_only_its_path_and_the_run_decide() -> None:
    # seed
    first = seeds("parallel: 3", [0, 1, 2], seed=1)

    assert len({drawn for drawn, _ in first}) == 3
    assert seeds("parallel: 3", [2, 0, 1], seed=1) == first
    assert seeds("", [0, 1, 2], seed=1) == first
    assert seeds("", [0, 1, 2], seed=2) != first
