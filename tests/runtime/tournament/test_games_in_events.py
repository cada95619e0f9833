"""Events of the other games with players that come with them: to the end, and each result as the server returned it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sqlalchemy")

from tests.runtime.tournament.test_events import played

TOWERS = """
event: towers
spec: SPEC
seed: 5
players:
  ann: {kind: diagonal}
  bob: {kind: random}
  cyd: {kind: gone}
"""
RAILS = """
event: rails
spec: SPEC
seed: 5
FORM
players:
  ann: {kind: hold-10}
  bob: {kind: buy-now}
  cyd: {kind: cheat}
"""
THREE = "format: {groups: 3, rounds: 2}"


def of_towers(returned: Any) -> tuple[list[str], list[str]]:
    return returned["winners"], returned["expelled"]


def of_rails(returned: Any) -> tuple[list[str], list[str]]:
    winners, kicked = returned
    return winners, kicked


def rails(spec: str, form: str) -> str:
    return RAILS.replace("SPEC", spec).replace("FORM", form)


@pytest.mark.parametrize(
    ("text", "read", "fault"),
    [
        pytest.param(TOWERS.replace("SPEC", "santorini-official"), of_towers, "closed: ", id="santorini-official"),
        pytest.param(rails("trains", THREE), of_rails, "illegal: there is no such connection", id="trains-of-three"),
        *(
            pytest.param(text, read, fault, id=name, marks=pytest.mark.whole)
            for name, text, read, fault in (
                ("trains", rails("trains", ""), of_rails, "illegal: there is no such connection"),
                ("trains-official", rails("trains-official", ""), of_rails, "illegal: there is no such connection"),
                *(
                    (name, TOWERS.replace("SPEC", name), of_towers, fault)
                    for name, fault in (
                        ("santorini-prompts", "no answer: it hung up"),
                        ("santorini-rulecheck", "closed: "),
                        ("santorini-relay", "late: "),  # its client goes on without the AI that hung up
                    )
                ),
            )
        ),
    ],
)
def test_an_event_of_a_game_has_the_results_that_its_server_returned(
    text: str, read: Callable[[Any], tuple[list[str], list[str]]], fault: str, tmp_path: Path
) -> None:
    path = tmp_path / "event.yaml"
    path.write_text(text)

    facts = played(path)

    assert (facts["played"], facts["void"]) == (facts["planned"], [])
    won = dict.fromkeys(("ann", "bob", "cyd"), 0)
    for match in facts["matches"]:
        winners, offenders = read(match["result"])
        last = len(match["seats"]) - len(offenders) + 1
        assert sorted(one["player"] for one in match["places"] if one["place"] == 1) == sorted(winners)
        assert {one["player"]: one["place"] for one in match["places"] if one["fault"]} == dict.fromkeys(
            offenders, last
        )
        assert all(one["fault"].startswith(fault) for one in match["places"] if one["fault"])
        assert offenders == (["cyd"] if "cyd" in match["seats"] else [])  # the honest lose no match to it
        for name in winners:
            won[name] += 1
    assert facts["standings"][-1]["player"] == "cyd"
    assert won["cyd"] == 0
    assert {row["player"]: row["faults"] for row in facts["standings"]} == {"ann": 0, "bob": 0, "cyd": 2}
