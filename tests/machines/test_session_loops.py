"""Loops: ``each`` in turn and side by side, what items see, how results are folded, and the seeds of calls."""

from __future__ import annotations

from itertools import permutations
from random import Random
from typing import Any

import pytest

from tests.support.session_harness import Run
from tests.support.sketch import failure, move, said, seated, serve, value

TURN = """
turn(who):
  asked:
    await: who
    within: reply
    receive: {MOVE: {return: move}, QUIT: {drop: who, return: 0}}
    fault: {return: 0}
"""

# -- in turn ---------------------------------------------------------------------------------------------------------


def test_items_are_done_in_turn_and_each_sees_what_was_bound_before_it() -> None:
    run, ann, bob = seated(
        """
        start: {let: {sum: 0}, then: play}
        play:
          each: guest in guests
          send: {guest: SAID(sum)}
          run: turn(guest)
          as:
            sum: sum + result
          return: sum
        """,
        guests=2,
        machines=TURN,
    )
    assert run.heard(bob) == []

    run.say(ann, move(3))
    assert run.heard(bob) == [said(3)]
    run.say(bob, move(4))

    assert run.heard(ann) == [said(0)]
    assert value(run) == 7


def test_if_is_judged_when_the_turn_of_the_item_comes() -> None:
    run, ann, _ = seated(
        """
        start: {let: {out: null}, then: play}
        play:
          each: guest in guests
          if: guest != out
          run: turn(guest)
          as: {out: bob}
          return: out == bob
        """,
        guests=2,
        machines=TURN,
    )

    run.say(ann, move(1))  # bob is out now, and never asked

    assert value(run) is True


def test_until_ends_the_loop_after_the_item_that_makes_it_true() -> None:
    run, ann, bob, cal = seated(
        """
        start: {let: {sum: 0}, then: play}
        play:
          each: guest in guests
          run: turn(guest)
          as:
            sum: sum + result
          until: sum > 5
          return: sum
        """,
        guests=3,
        machines=TURN,
    )

    run.say(ann, move(3))
    run.say(bob, move(4))

    assert value(run) == 7
    assert cal in run.dropped


def test_the_list_is_read_once() -> None:
    run, _ = seated("""
        start: {let: {list: [1, 2, 3]}, then: play}
        play:
          each: item in list
          let:
            list: list + [item]
          return: list
    """)

    assert value(run) == (1, 2, 3, 1, 2, 3)


@pytest.mark.parametrize("written", ["[]", "1..0", "acts.list(1)"])
def test_an_empty_list_goes_on_at_once_and_a_rule_may_give_the_list(written: str) -> None:
    run, _ = seated(f"""
        start: {{let: {{seen: []}}, then: play}}
        play:
          each: item in {written}
          let:
            seen: seen + [item]
          return: seen
    """)

    assert value(run) == ((1,) if "list" in written else ())


def test_a_loop_that_is_left_half_way_keeps_what_was_folded() -> None:
    run, ann, bob = seated(
        """
        start: {let: {sum: 0}, then: play}
        play:
          each: guest in guests
          run: asked(guest)
          as:
            sum: sum + result
          closed: {return: sum}
          then: over
        over: {return: null}
        """,
        guests=2,
        always="timeout: {return: null}\ninvalid: {return: null}",
        machines="asked(who):\n  now: {await: who, within: reply, receive: {MOVE: {return: move}}}",
    )

    run.say(ann, move(3))
    run.lose(bob)

    assert value(run) == 3


def test_what_an_item_returned_stays_bound_though_the_next_one_fails_live_values_too() -> None:
    run = serve("""
    main:
      live: {best: 0}
      begin: {let: {last: 0, ways: "[[5], []]"}, then: play}
      play:
        each: way in ways
        run: one(way[0])
        as:
          best: result
          last: result
        failed: {return: "[best, last]"}
        then: over
      over: {return: null}
    one(number): {over: {return: number}}
    """)

    assert value(run) == (5, 5)


# -- side by side ----------------------------------------------------------------------------------------------------

TOURNAMENT = """
start: {let: {cup: [], first: null}, then: play}
play:
  each: pair in acts.pairs(guests)
  if: acts.both_in(cup, pair)
  parallel: WIDTH
  run: game(pair, len(cup), seed)
  as:
    cup: cup + [result]
  return: cup
"""
GAME = """
game(pair, seen, luck):
  always: {fault: out}
  first: {each: player in pair, run: ask(player), as: got, then: over}
  over:
    return:
      - pair[0].name
      - pair[1].name
      - got
      - seen
      - seed
  out:
    return:
      - pair[0].name
      - pair[1].name
      - peer.name
      - seen
      - seed
ask(player):
  asked: {send: PONG, await: player, within: reply, receive: {MOVE: {return: move}}}
"""


def both_in(cup: Any, pair: Any) -> bool:
    """A player is out once a row has its name where a number should be."""
    return not {row[2] for row in cup} & {player.name for player in pair}


def tournament(width: int, chance: Random, cheats: tuple[int, ...] = ()) -> tuple[Run, Any]:
    """Run a round robin of four in which whoever is asked answers at a moment drawn at random."""
    run, *peers = seated(TOURNAMENT.replace("WIDTH", str(width)), guests=4, machines=GAME, seed=5, both_in=both_in)
    asked: list[int] = []
    told = 0
    while run.ended is None:
        asked += [peer for peer in peers for _ in run.heard(peer)]
        if not asked:
            run.wait(1.0)
            continue
        peer = asked.pop(chance.randrange(len(asked)))
        told += 1
        run.say(peer, "quit" if peer in cheats and told > 3 else move(10 * peer))
    return run, value(run)


def test_the_rows_are_the_same_for_every_width_and_whoever_is_fastest() -> None:
    _, alone = tournament(1, Random(0))

    for width in (2, 3, 6):
        for number in range(10):
            _, rows = tournament(width, Random(f"{width} {number}"))
            assert rows == alone
    assert [row[:2] for row in alone] == [
        ("ann", "bob"), ("ann", "cal"), ("ann", "dan"), ("bob", "cal"), ("bob", "dan"), ("cal", "dan"),
    ]  # fmt: skip


def test_an_item_sees_its_own_past_and_not_what_others_have_done() -> None:
    _, rows = tournament(6, Random(1))

    # Each game counts the games before it that it must come after, directly or through others.
    assert [row[3] for row in rows] == [0, 1, 2, 2, 4, 5]


def test_with_no_width_items_that_share_a_peer_run_at_the_same_time() -> None:
    run, ann, bob, cal, dan = seated(
        TOURNAMENT.replace("WIDTH", "6"), guests=4, machines=GAME, both_in=lambda cup, pair: True
    )

    assert [peer for peer in (ann, bob, cal, dan) if run.heard(peer)] == [ann]  # bob-cal waits for ann-bob and ann-cal
    run.say(ann, move(1))
    assert [peer for peer in (ann, bob, cal, dan) if run.heard(peer)] == [bob]
    run.say(bob, move(1))
    assert [peer for peer in (ann, bob, cal, dan) if run.heard(peer)] == [ann]


def test_disjoint_items_run_side_by_side_up_to_the_width() -> None:
    for width in (1, 2, 3):
        run, *peers = seated(
            f"""
            play:
              each: guest in guests
              parallel: {width}
              run: ask(guest)
              return: null
            """,
            guests=3,
            machines="""
            ask(player):
              asked:
                send: PONG
                await: player
                within: reply
                receive: {MOVE: {return: move}}
                fault: {return: 0}
            """,
        )

        assert [peer for peer in peers if run.heard(peer)] == peers[:width]
        run.say(peers[0], move(1))
        assert [peer for peer in peers if run.heard(peer)] == peers[width : width + 1]


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_results_are_folded_in_item_order_whatever_the_order_of_finishing(order: tuple[int, ...]) -> None:
    run, *peers = seated(
        """
        start: {let: {sum: []}, then: play}
        play:
          each: guest in guests
          parallel: 3
          run: turn(guest)
          as:
            sum: sum + [result]
          return: sum
        """,
        guests=3,
        machines=TURN,
    )

    for index in order:
        run.say(peers[index], move(10 + index))

    assert value(run) == (10, 11, 12)


def test_an_item_that_is_skipped_makes_nobody_wait() -> None:
    run, ann, bob = seated(
        """
        start: {let: {sum: []}, then: play}
        play:
          each: guest in [ann, bob, ann, bob]
          if: guest == bob
          parallel: 4
          run: turn(guest)
          as:
            sum: sum + [result]
          return: sum
        """,
        guests=2,
        machines=TURN,
    )

    run.say(bob, move(1), move(2))

    assert value(run) == (1, 2)
    assert ann in run.dropped


def test_a_branch_of_the_parallel_state_that_stays_leaves_its_items_and_their_results_alone() -> None:
    run, ann, bob = seated(
        """
        start: {let: {sum: [], rings: 0}, then: play}
        play:
          each: guest in guests
          parallel: 2
          run: turn(guest)
          as:
            sum: sum + [result]
          within: never
          every:
            2 s: {let: {rings: rings + 1}, then: stay}
          return: [sum, rings]
        """,
        guests=2,
        machines=TURN,
    )

    run.say(bob, move(2))
    run.wait(4.0)
    run.say(ann, move(1))

    assert value(run) == ((1, 2), 2)


def test_a_clock_of_the_parallel_state_ends_all_items_and_keeps_the_results_so_far() -> None:
    run, _, bob = seated(
        """
        start: {let: {sum: []}, then: play}
        play:
          each: guest in guests
          parallel: 2
          run: turn(guest)
          as:
            sum: sum + [result]
          within: brief
          timeout: {return: sum}
          then: over
        over: {return: null}
        """,
        guests=2,
        machines=TURN,
    )

    run.say(bob, move(2))
    run.wait(2.0)

    assert value(run) == (2,)


@pytest.mark.parametrize("width", ["0", "true", "guests", "len(guests) - 1"])
def test_a_width_that_is_no_number_from_one_on_fails_the_machine(width: str) -> None:
    run, _ = seated(
        f"""
        play:
          each: guest in guests
          parallel: {width}
          run: turn(guest)
          return: null
        """,
        machines=TURN,
    )

    assert "is not a whole number from 1 on" in failure(run)


# -- seeds -----------------------------------------------------------------------------------------------------------

DRAWS = """
start: {let: {drawn: []}, then: one}
one:
  each: number in 1..2
  run: draw
  as:
    drawn: drawn + [result]
  then: two
two:
  run: draw
  as:
    drawn: drawn + [result]
  then: three
three:
  run: draw
  as:
    drawn: drawn + [result]
  then: four
four:
  each: number in 1..2
  parallel: 2
  run: draw
  as:
    drawn: drawn + [result]
  return: drawn + [seed]
"""


def drawn(seed: int) -> tuple[int, ...]:
    run, _ = seated(DRAWS, seed=seed, machines="draw:\n  one: {return: seed}")
    result: tuple[int, ...] = value(run)
    return result


def test_each_call_has_a_seed_of_its_own_and_the_same_in_every_run() -> None:
    seeds = drawn(3)

    assert len(set(seeds)) == len(seeds) == 7
    assert all(0 <= seed < 1 << 63 for seed in seeds)
    assert seeds == drawn(3)
    assert not set(seeds) & set(drawn(4))


def test_seeds_stay_what_they_are() -> None:
    # Journals are replayed from them: another rule here would make every older journal worthless.
    assert drawn(1)[:3] == (6074307178528867023, 8872495944713178930, 4311675770572674580)


def test_a_loop_that_is_entered_again_makes_calls_of_its_own() -> None:
    run, _ = seated(
        """
        start: {let: {drawn: [], round: 0}, then: play}
        play:
          each: number in 1..2
          run: draw
          as:
            drawn: drawn + [result]
          then: judged
        judged:
          let: {round: round + 1}
          then:
            - {if: round < 3, then: play}
            - {return: drawn}
        """,
        machines="draw:\n  one: {return: seed}",
    )

    assert len(set(value(run))) == 6
