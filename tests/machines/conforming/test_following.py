"""A follower believes whatever its role allows, and nothing else. All of it in virtual time."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from machines.conforming.deviations import Deviation
from machines.conforming.following import Follower
from machines.conforming.role_knowledge import RoleKnowledge
from machines.conforming.spec_lines import explained, place_of
from machines.engine.session import Program
from machines.loader import load, rules_modules, shipped
from runtime.simulation.fault_injection import InjectedFault
from runtime.simulation.scenarios import GameScenario
from tests.machines.conforming.followed import SEATS, FollowedCampaign


@cache
def campaign(name: str) -> FollowedCampaign:
    spec = load(name)
    return FollowedCampaign(spec, rules_modules(spec, ()))


def scenes(name: str) -> list[GameScenario]:
    """Return the games of a spec in which nobody does anything against the protocol."""
    found = [scene for scene in campaign(name).campaign.scenes if scene.deed is None and scene.clients <= SEATS]
    return [scene for scene in found if scene.players != "other"]


def accusations(name: str, scene: GameScenario, seed: int) -> list[Deviation]:
    game = campaign(name).play(scene, seed)
    assert all(follower.beliefs for follower in game.followers.values())
    found = [follower.deviation for follower in game.followers.values() if follower.deviation is not None]
    return [*found, *(late for follower in game.followers.values() for late in follower.late)]


@pytest.mark.parametrize("name", [name for name in shipped() if name != "trains"])
def test_nobody_who_is_right_is_accused(name: str) -> None:
    for scene in scenes(name)[:2]:
        assert accusations(name, scene, 0) == [], scene.name


@pytest.mark.whole
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", shipped())
def test_nobody_who_is_right_is_accused_in_any_scene(name: str, seed: int) -> None:
    for scene in scenes(name):
        assert accusations(name, scene, seed) == [], scene.name


DEEDS = [
    ("tsuro", InjectedFault("twice", "client", 1, "INIT_PLACE"), "order", "main.playing"),
    ("tsuro", InjectedFault("garbage", "client", 1, "INIT_PLACE"), "bytes", "main.initial"),
    ("tsuro", InjectedFault("another", "client", 1, "INIT_PLACE", 1, "INTER_PLACE"), "order", "main.initial"),
    ("tsuro", InjectedFault("twice", "server", None, "INIT_REQ"), "order", "initial_placement.asked"),
    ("tsuro", InjectedFault("another", "server", None, "STARTED", 1, "ENDED"), "order", "main.start_up"),
    ("sticks", InjectedFault("twice", "player", 1, "HELLO"), "order", "main.waiting"),
    ("smtp", InjectedFault("twice", "client", 1, "MAIL"), "order", "main.answered"),
    ("trains-official", InjectedFault("garbage", "client", 1, "void"), "bytes", "main.between_games"),
]


@pytest.mark.parametrize(("name", "deed", "kind", "state"), DEEDS, ids=lambda one: str(one))
def test_who_does_a_deed_is_named_with_the_state_and_nobody_else_is(
    name: str, deed: InjectedFault, kind: str, state: str
) -> None:
    house = campaign(name)
    scene = next(scene for scene in house.campaign.scenes if scene.clients > 1)

    game = house.play(scene, 1, deed)

    assert game.deed_done
    first = min(
        (follower.deviation for follower in game.followers.values() if follower.deviation is not None),
        key=lambda found: found.when,
    )
    doers = {follower.knowledge.role for follower in game.followers.values() if follower.deviation is not None}
    assert doers == {deed.role}
    assert first.kind == kind
    assert state in " ".join(first.states)


def client(settings: dict[str, str] | None = None) -> Follower:
    spec = load("tsuro", settings or {})
    rules = rules_modules(spec, ())
    return Follower(RoleKnowledge(Program(spec, "client", rules), rules, 1))


def begun() -> Follower:
    """Return a client that has its token, and was told that the game has begun."""
    found = client()
    found.start(0.0)
    found.said(0, b'"ann"\n', 0.1)
    found.told(0, [("TOKEN", ())], 0.2)
    found.told(0, [("STARTED", ())], 0.3)
    return found


PLACE = b'["white",[["A","E"],["B","F"],["C","G"],["D","H"]],"A",0,0]\n'


def test_bytes_may_come_in_any_pieces() -> None:
    found = begun()
    found.told(0, [("INIT_REQ", ())], 1.0)
    for at in range(len(PLACE)):
        found.said(0, PLACE[at : at + 1], 1.0)

    assert found.deviation is None
    assert found.settled_states() == {"main.playing"}


def test_a_message_before_its_time_is_told_with_what_might_have_been_said() -> None:
    found = begun()
    found.said(0, PLACE, 1.0)

    assert found.deviation is not None
    assert found.deviation.kind == "order"
    assert found.deviation.states == ("main.started",)
    assert found.deviation.names == ("INIT_PLACE",)
    spec = found.knowledge.program.spec
    place = place_of(spec, "client", found.deviation)
    assert Path(place.file).read_text().splitlines()[place.line - 1].strip().startswith("started:")
    assert explained(spec, "client", found.deviation) == "it sent INIT_PLACE; in main.started it may send nothing"


def test_who_may_not_have_read_a_question_yet_is_not_accused_of_silence() -> None:
    found = begun()

    assert found.overdue(600.0, 1.0) is None
    found.told(0, [("INIT_REQ", ())], 10.0)
    assert found.overdue(18.5, 1.0) is None  # it may think for 8 s
    late = found.overdue(19.5, 1.0)
    assert late is not None
    assert late.kind == "silence"
    assert "INIT_PLACE" in late.may


def test_who_leaves_early_broke_a_time_and_who_leaves_at_its_limit_did_not() -> None:
    early, late = begun(), begun()
    for one in (early, late):
        one.told(0, [("INIT_REQ", ())], 1.0)
    early.ended(0, 2.0)
    late.ended(0, 9.1)

    assert early.deviation is None
    assert [one.kind for one in early.late] == ["time"]
    spec = early.knowledge.program.spec
    assert "setting think" in explained(spec, "client", early.late[0])
    assert late.deviation is None
    assert late.late == []


def test_the_end_within_a_message_and_bytes_that_are_none_are_told_apart() -> None:
    half, wrong = client(), client()
    for one in (half, wrong):
        one.start(0.0)
    half.said(0, b'"an', 0.1)
    half.ended(0, 0.2)
    wrong.said(0, b'{"name": 1}\n', 0.1)

    assert half.deviation is not None
    assert half.deviation.kind == "half"
    assert half.deviation.came == b'"an'
    assert wrong.deviation is not None
    assert wrong.deviation.kind == "bytes"


def test_who_has_lost_its_peer_may_leave_and_what_it_says_is_not_judged() -> None:
    found = begun()
    found.hung_up(0, 1.0)
    found.said(0, b"{}\n", 1.1)
    found.ended(0, 1.2)

    assert found.deviation is None
    assert found.late == []


def test_who_clings_to_a_lost_peer_is_silent() -> None:
    found = begun()
    found.hung_up(0, 1.0)

    assert found.overdue(1.9, 1.0) is None
    late = found.overdue(2.1, 1.0)
    assert late is not None
    assert late.may == ("end",)


def test_room_is_made_for_more_connections_without_forgetting() -> None:
    spec = load("sticks")
    rules = rules_modules(spec, ())
    found = Follower(RoleKnowledge(Program(spec, "host", rules), rules, 1))
    found.start(0.0)
    found.connected(0, 0.1)
    found.told(0, [("HELLO", ())], 0.2)
    found.make_room(2)
    found.connected(1, 0.3)
    found.told(1, [("HELLO", ())], 0.4)
    found.said(0, b"left 21\n", 30.5)

    assert found.deviation is None
    assert found.late == []
    assert found.settled_states() == {"turn.asked"}
