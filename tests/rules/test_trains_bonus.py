"""The course's harness xbonus: every player has a double that misbehaves in a call, and is kicked in it."""

from __future__ import annotations

from typing import Any

import pytest

from rules.harnesses.trains import HARNESSES, HarnessError
from rules.players.trains_maps import made_map

PLAYERS = [["ann", "Buy-Now"], ["bob", "Hold-10"]]
CARDS = ["red", "blue", "green", "white"] * 62


def bonus(call: str) -> Any:
    [answer] = HARNESSES["xbonus"]([made_map(1), PLAYERS, CARDS, call])
    return answer


@pytest.mark.parametrize(
    ("called", "same"),
    [
        ("rm-invalid-game-map", "rm-ill-formed-start"),
        ("rm-invalid-pick", "rm-ill-formed-pick"),
        ("rm-non-json-action", "rm-ill-formed-play"),
        ("rm-ill-formed-action", "rm-non-json-play"),
    ],
)
def test_whatever_the_misdeed_the_doubles_are_kicked_and_the_others_play(called: str, same: str) -> None:
    winners, kicked = bonus(called)
    assert kicked == ["rann", "rbob"]
    assert set(winners) <= {"ann", "bob"}
    assert winners
    assert bonus(same) == [winners, kicked]


@pytest.mark.parametrize("call", ["rm-lazy-pick", "rm-invalid-", "rm-invalid-nothing", "pick", 7])
def test_what_is_no_misdeed_in_a_call_is_refused_in_a_sentence(call: Any) -> None:
    with pytest.raises(
        HarnessError, match="the fourth value is rm-ill-formed-, rm-non-json- or rm-invalid- and one of"
    ):
        bonus(call)
