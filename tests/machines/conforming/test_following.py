"""A follower believes whatever its role allows, and nothing else. All of it in virtual time."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from machines.conforming.deeds import example
from machines.conforming.deviations import Deviation
from machines.conforming.following import Follower
from machines.conforming.role_knowledge import RoleKnowledge
from machines.conforming.spec_lines import explained, place_of
from machines.engine.session import Program
from machines.parser.loader import load, rules_modules
from runtime.simulation.fault_injection import InjectedFault
from runtime.simulation.scenarios import GameScenario
from tests.machines.conforming.followed import SEATS, FollowedCampaign
from tests.parts import played


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


@pytest.mark.parametrize("name", [name for name in played() if name != "trains"])
def test_nobody_who_is_right_is_accused(name: str) -> None:
    for scene in scenes(name)[:2]:
        assert accusations(name, scene, 0) == [], scene.name


@pytest.mark.whole
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", played())
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


def test_what_is_no_message_to_some_readers_may_be_answered_or_not() -> None:
    spec = load("smtp")
    answers, skips, twice = (Follower(RoleKnowledge(Program(spec, "server", {}), {}, 1)) for _ in range(3))
    other = answers.knowledge.reader.token("OTHER", {})
    for one in (answers, skips, twice):
        one.start(0.0)
        one.said(0, b"220 ready\r\n", 0.0)
        one.told(0, (other,), 1.0, perhaps=True)
    answers.said(0, b"500 what\r\n", 1.1)
    twice.said(0, b"500 what\r\n500 what\r\n", 1.1)
    for one in (answers, skips):
        one.told(0, [("QUIT", ())], 2.0)
        one.said(0, b"221 bye\r\n", 2.1)
        one.ended(0, 2.2)

    assert answers.deviation is None
    assert skips.deviation is None
    assert twice.deviation is not None


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


def table(seats: int = 5, *, knows_limits: bool = False) -> Follower:
    """Return a server of Tsuro, all of whose players were asked where they begin; the last has not answered."""
    spec = load("tsuro", {"seats": str(seats)})
    rules = rules_modules(spec, ())
    program = Program(spec, "server", rules)
    found = Follower(RoleKnowledge(program, rules, seats), knows_limits=knows_limits)
    found.start(0.0)
    for seat in range(seats):
        found.connected(seat, 0.1)
        found.told(seat, [("JOIN", ())], 0.1)
    for message in ("TOKEN", "STARTED"):
        for seat in range(seats):
            found.said(seat, example(program, message) or b"", 0.2)
    for seat in range(seats):
        found.said(seat, example(program, "INIT_REQ") or b"", 0.3)
        if seat < seats - 1:
            found.told(seat, [("INIT_PLACE", ())], 0.3)
    return found


def test_a_table_is_no_more_to_believe_than_what_its_clocks_allow() -> None:
    found = table()

    assert found.judges
    assert 1 < len(found.beliefs) <= 2**5  # each of four may have been thrown out for its move


def test_a_server_with_a_shorter_limit_breaks_a_time_and_not_the_order_at_a_full_table_too() -> None:
    found = table()
    spec = found.knowledge.program.spec
    found.said(0, example(found.knowledge.program, "INTER_REQ") or b"", 2.3)  # it waited for the last for 2 s

    assert found.deviation is None
    assert [one.kind for one in found.late] == ["time"]
    assert "setting reply" in explained(spec, "server", found.late[0])
    found.told(0, [("INTER_PLACE", ())], 2.4)
    found.said(1, example(found.knowledge.program, "INTER_REQ") or b"", 2.5)
    assert found.judges
    assert len(found.late) == 1


def test_what_no_clock_explains_is_a_deviation_at_a_full_table_too() -> None:
    found = table(4)
    assert 1 < len(found.beliefs) <= 2**3, "without clocks there are more"
    found.said(3, example(found.knowledge.program, "STARTED") or b"", 2.3)

    assert found.deviation is not None
    assert (found.deviation.kind, found.deviation.names) == ("order", ("STARTED",))


def test_where_too_much_would_have_to_be_gone_through_only_who_runs_with_known_limits_has_deviated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("machines.conforming.following.AGAIN_MAX", 10)
    foreign, known = table(), table(knows_limits=True)
    for found in (foreign, known):
        found.said(0, example(found.knowledge.program, "INTER_REQ") or b"", 2.3)

    assert foreign.deviation is None
    assert "clock" in foreign.lost_track
    assert known.deviation is not None
