"""Games of a spec in memory: right ones have no problem in any scene, wrong ones have that of their page."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from machines.checks import check
from machines.model import Spec
from machines.parser.loader import load, load_text, rules_modules, shipped
from machines.values import Range
from runtime.manual import pages
from runtime.simulation.campaign import Campaign, CampaignResult, RunLog, run_campaign
from runtime.simulation.fault_injection import InjectedFault
from runtime.simulation.oracle import Failure
from runtime.simulation.scenarios import callers, latecomers, scenes, seats, small
from runtime.simulation.snapshots import changes, kept
from runtime.simulation.strategies import StrategySet, Words, farewells, hears_an_end
from tests.parts import THREE_SPECS, by_default, played

ROOT = Path(__file__).resolve().parents[2]
TESTED = ROOT / "tests" / "specs"
LITTLE = sorted(
    map(str, [*TESTED.glob("*.yaml"), *(TESTED / "correct").glob("*.yaml"), *(TESTED / "public").glob("*.yaml")])
)
WITH_ALL_ROLES = [name for name in LITTLE if not Path(name).read_text().count("\nforeign:")]
COOKBOOK = sorted(
    str(path) for path in (ROOT / "docs" / "cookbook").glob("*.yaml") if not path.read_text().startswith("part:")
)
# Of those that take seconds, a sample: each of these specs has 100 to 210 games, which the benchmark plays all.
EVERY = {**dict.fromkeys(LITTLE, 5), **dict.fromkeys(shipped(), 40), **dict.fromkeys(COOKBOOK, 80), "sticks": 1}
EVERY |= {name: 200 for name in EVERY if "santorini" in name}

PAGES = [page for page in pages().values() if page.code.startswith("A6")]
PLAYED = [page for page in PAGES if page.code != "A604"]

# What is changed in Tsuro, and the problem that its games then have.
FAULTS = {
    "a rule is not asked": (
        "if: token == player.token and tsuro.may_start(table, player, tile, port, x, y)",
        "if: token == player.token",
        "A600",
    ),
    "a rule is asked the other way round": (
        "if: tsuro.may_place(table, player, tile, x, y)",
        "if: not tsuro.may_place(table, player, tile, x, y)",
        "A602",
    ),
}


@cache
def spec_of(name: str) -> Spec:
    return load(name)


def troubles_of(spec: Spec, every: int) -> list[Failure]:
    house = Campaign(spec, rules_modules(spec))
    return [trouble for scene in house.scenes[::every] for trouble in house.play(scene, 0)[1]]


# -- no false alarm ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    by_default([*played(), *WITH_ALL_ROLES, *COOKBOOK], [*THREE_SPECS, *WITH_ALL_ROLES[::4], *COOKBOOK[::4]]),
    ids=lambda name: Path(name).stem,
)
def test_a_spec_that_is_right_plays_without_a_problem(name: str) -> None:
    assert troubles_of(spec_of(name), EVERY[name]) == []


@pytest.mark.parametrize("kind", ["game", "service", "chat"])
def test_what_new_writes_plays_without_a_problem(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from runtime.cli import main

    monkeypatch.chdir(tmp_path)
    assert main(["new", "mine", "--kind", kind]) == 0

    found = run_campaign(load("./mine.yaml"), {})
    assert found.troubles == ()
    assert found.games > 10


# -- no end ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def game(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A game of turns with seats for two or three, as ``accord new`` writes it."""
    from runtime.cli import main

    monkeypatch.chdir(tmp_path)
    assert main(["new", "mine", "--kind", "game"]) == 0
    return (tmp_path / "mine.yaml").read_text()


def changed(text: str, old: str, new: str) -> Spec:
    assert text.count(old) == 1, old
    return load_text(text.replace(old, new), "mine.yaml")


ROUNDS = {
    "nothing is ever taken": ("{left: left - count, winner", "{left: left, winner"),
    "each round begins anew": ("{if: left > 0, then: round}", "{if: left > 0, then: begin}"),
}


@pytest.mark.parametrize("fault", ROUNDS)
def test_a_game_that_no_answer_of_its_players_ends_is_told_with_the_place_where_it_goes_round(
    fault: str, game: str
) -> None:
    spec = changed(game, *ROUNDS[fault])
    found = run_campaign(spec, {})

    (trouble,) = [trouble for trouble in found.troubles if trouble.code == "A601"]
    assert "whatever its players answer it comes back to where it was" in trouble.text
    assert trouble.scene == "everybody is good"
    assert trouble.place == spec.roles["host"].machines["turn"].states["asked"].place


def test_where_an_answer_that_was_not_given_might_end_the_game_it_is_unknown(game: str) -> None:
    text = game.replace("{int: 1..3}", "{int: 1..1000000}").replace("sticks: 12", "sticks: 500000000")
    found = run_campaign(load_text(text), {})

    assert found.troubles == ()
    (told,) = found.unknown
    assert told.startswith("no end was seen when everybody is good (seed 0)")
    assert "400 answers of the player of ann did not end it, the next would be move; host is in turn.asked" in told


@pytest.mark.parametrize("name", ["auction", "requests", "public/jsonrpc", "chat"])
def test_where_players_may_go_on_or_be_silent_as_they_like_no_end_is_missed(name: str) -> None:
    house = Campaign(spec_of(str(TESTED / f"{name}.yaml")), {})

    course, troubles = house.play(house.scenes[0], 0)
    assert course is not None
    assert (course.unended, troubles) == ("", [])


@pytest.mark.parametrize(
    ("name", "ends"),
    [
        ("tsuro", True),
        ("sticks", True),
        (str(TESTED / "public" / "jsonrpc.yaml"), False),
        (str(TESTED / "requests.yaml"), False),
    ],
)
def test_who_hears_an_end_is_known_from_the_spec(name: str, ends: bool) -> None:
    (role,) = callers(spec_of(name))
    assert hears_an_end(spec_of(name), role) == ends


COUNTING = """
protocol: counting
connects: {client: server}
messages:
  client: {PONG: {pong: $k int}}
  server: {PING: {ping: $k int}, OVER: over}
roles:
  server:
    main(client):
      begin: {let: {k: 0}, then: asking}
      asking:
        send: PING(k)
        within: 5 s
        receive:
          PONG: [{if: k < 20000, let: {k: k + 1}, then: asking}, {send: OVER, return: null}]
        fault: {return: null}
  client:
    main:
      playing:
        within: 1 min
        receive: {PING: {send: PONG(k), then: playing}, OVER: {return: null}}
        closed: {return: null}
"""


def test_a_bound_that_is_met_is_no_problem_and_can_be_raised() -> None:
    spec = load_text(COUNTING)
    house = Campaign(spec, {})
    course, troubles = house.play(house.scenes[0], 0)
    assert course is not None
    assert (course.bounded, troubles) == (True, [])
    assert course.unended.startswith("30000 steps followed on one another while no time passed (PONG, PING), server is")

    assert [told.split(" when ")[0] for told in run_campaign(spec, {}).unknown] == [
        "no end was seen",
        "after 3 games without an end no more were played",
    ]
    higher = Campaign(spec, {}, longer=10)
    course, troubles = higher.play(higher.scenes[0], 0)
    assert course is not None
    assert (course.unended, course.bounded, troubles) == ("", False, [])


def test_a_game_that_is_sure_to_go_round_is_told_where_it_does() -> None:
    spec = load_text(COUNTING.replace("let: {k: k + 1}", "let: {k: 0}"))
    (trouble,) = run_campaign(spec, {}).troubles

    assert trouble.code == "A601"
    assert "all stands as before, no time passed and no player was asked: P" in trouble.text
    assert trouble.place == spec.roles["server"].machines["main"].states["asking"].place


def test_where_nobody_ever_gets_beyond_the_sign_up_it_is_said(game: str) -> None:
    found = run_campaign(changed(game, "seats: 2..4", "seats: 300..400"), {})

    assert found.troubles == ()
    (told,) = found.unknown
    assert told.startswith(f"no game was seen: none of {found.games} came beyond its sign-up, which seats 300..400")


def test_an_expression_without_a_value_is_told_at_its_own_place(game: str) -> None:
    found = run_campaign(changed(game, "winner: player.name}}", "winner: player.nam}}"), {})

    (trouble,) = found.troubles
    assert trouble.code == "A600"
    assert trouble.place is not None
    assert str(trouble.place) in trouble.text


# -- each problem ------------------------------------------------------------------------------------------------------


def rehearsed(text: str) -> CampaignResult:
    spec = load_text(text)
    assert check(spec) == []
    return run_campaign(spec, {})


@pytest.mark.parametrize("page", PLAYED, ids=lambda page: page.code)
def test_the_bad_example_of_a_page_has_its_problem_in_a_game_and_the_mended_one_none(page: object) -> None:
    bad, mended = rehearsed(page.bad.text), rehearsed(page.mended.text)  # type: ignore[attr-defined]

    assert page.code in [trouble.code for trouble in bad.troubles]  # type: ignore[attr-defined]
    assert mended.troubles == ()


def test_the_bad_example_goes_another_way_than_the_mended_one_was_recorded() -> None:
    (page,) = [page for page in PAGES if page.code == "A604"]
    was, now = (rehearsed(example.text) for example in (page.mended, page.bad))

    assert was.troubles == now.troubles == ()
    (first, *_) = changes(kept("greeting", 1, was.courses), kept("greeting", 1, now.courses))
    assert (first.scene, first.actor, first.message) == ("everybody is good", "server of ann", "WELCOME")


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_one_role_that_only_data_show_is_told(fault: str) -> None:
    old, new, code = FAULTS[fault]
    text = (ROOT / "specs" / "tsuro.yaml").read_text()
    assert text.count(old) == 1
    faulty = load_text(text.replace(old, new), "faulty.yaml")

    house = Campaign(spec_of("tsuro"), rules_modules(spec_of("tsuro")), {"server": faulty})
    found = [trouble for scene in house.scenes if scene.deed is None for trouble in house.play(scene, 0)[1]]
    assert code in {trouble.code for trouble in found}
    for trouble in found:
        assert trouble.trace
        assert trouble.place is None or trouble.place.file == "faulty.yaml"


def test_a_problem_says_in_which_game_it_was_and_what_was_said_last() -> None:
    page = pages()["A602"]
    (trouble,) = rehearsed(page.bad.text).troubles

    assert str(trouble.problem(spec_of("tsuro").place)) == (
        "spec.yaml:15:16: A602 client does nothing wrong, but says what is illegal for server in main.asking, "
        "when everybody is good (seed 0)"
    )
    assert trouble.trace[-2:] == (
        'at 0 s: server of ann -> ann  ASK  {"ask":7}',
        'at 0 s: ann -> server of ann  TOLD  {"told":8}',
    )


def test_who_is_lied_to_is_not_to_blame_and_who_lies_is_owed_nothing() -> None:
    """A refusal is a problem if the client keeps to its spec, and none if what it says was changed on its way."""
    house = Campaign(load_text(pages()["A602"].mended.text), {})
    lies = [scene for scene in house.scenes if scene.deed is not None and scene.deed.kind == "lie"]

    played = [house.play(scene, 0) for scene in lies]
    assert [troubles for _, troubles in played] == [[]] * len(lies)
    assert any(("WRONG" in [sent[2] for sent in course.actors["server of bob"]]) for course, _ in played if course)


# -- scenes ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*shipped(), *LITTLE], ids=lambda name: Path(name).stem)
def test_each_scene_has_a_name_of_its_own(name: str) -> None:
    names = [scene.name for scene in scenes(spec_of(name), StrategySet(spec_of(name)))]

    assert len(names) == len(set(names))


def test_how_many_play_is_what_the_first_door_takes() -> None:
    assert seats(spec_of("tsuro")) == Range(3, 5)
    assert seats(spec_of(str(TESTED / "lobby.yaml"))) == Range(3, 3)
    assert seats(spec_of("redis")) is None
    assert {scene.clients for scene in scenes(spec_of("tsuro"), StrategySet(spec_of("tsuro")))} == {1, 3, 4}


def test_what_guards_compare_with_is_small_in_one_scene() -> None:
    found = small(spec_of("smtp"))

    assert found is not None
    assert [name for name, setting in found.settings.items() if setting != spec_of("smtp").settings[name]] == [
        "recipients",
        "mails",
        "strangers",
    ]
    assert small(spec_of("tsuro")) is None


def test_who_has_no_part_in_the_sign_up_comes_once_the_door_is_shut() -> None:
    spec = spec_of(str(ROOT / "docs" / "cookbook" / "tsuro-observed.yaml"))
    assert (callers(spec), latecomers(spec)) == (("client", "observer"), ("observer",))

    house = Campaign(spec, rules_modules(spec))
    course, _ = house.play(house.scenes[0], 0)
    assert course is not None
    assert ("observer", "BOARD") in [(to, message) for _, to, message, _ in course.actors["server"]]


@pytest.mark.parametrize(
    ("name", "role", "found"),
    [
        ("smtp", "client", {"QUIT"}),
        ("redis", "client", {"QUIT"}),
        ("tsuro", "client", set()),
        (str(TESTED / "chat.yaml"), "client", {"QUIT"}),
        (str(TESTED / "correct" / "ping-pong.yaml"), "pinger", {"BYE"}),
    ],
    ids=lambda value: Path(value).stem if isinstance(value, str) else "",
)
def test_what_ends_a_part_is_known_from_the_spec(name: str, role: str, found: set[str]) -> None:
    assert farewells(spec_of(name), role) == found


def test_the_words_of_a_spec_are_those_of_its_guards_and_those_said_last() -> None:
    words = Words(spec_of("redis"))
    assert {"DEL", "EXISTS", "PING"} <= set(words.known_texts())
    assert 9223372036854775807 in words.known_numbers()

    words.note("key")
    assert "key" in words.known_texts()
    assert "key" not in words.again().known_texts()


def test_a_deed_is_done_once_and_only_by_whom_it_is_said_to_be() -> None:
    house = Campaign(spec_of("sticks"), {})
    deed = InjectedFault("twice", "player", 1, "HELLO")
    (scene,) = [scene for scene in house.scenes if scene.deed == deed]
    course, _ = house.play(scene, 0)

    assert scene.name == "bob says twice HELLO"
    assert course is not None
    assert [message for _, _, message, _ in course.actors["bob"]].count(
        "HELLO"
    ) == 1  # the second is no doing of its role


def test_what_never_comes_to_pass_is_not_played() -> None:
    house = Campaign(spec_of("tsuro"), rules_modules(spec_of("tsuro")))
    (scene,) = [scene for scene in house.scenes if scene.name == "bob is gone instead of INIT_PLACE, the 2nd time"]

    assert house.play(scene, 0) == (None, [])


# -- the same again ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["sticks", "redis"])
def test_the_same_seed_gives_the_same_games_and_another_seed_others(name: str) -> None:
    spec = spec_of(name)

    def some(seed: int) -> list[RunLog | None]:
        house = Campaign(spec, rules_modules(spec))
        return [house.play(scene, seed)[0] for scene in house.scenes[::16]]

    assert some(0) == some(0)
    assert some(0)[0] != some(1)[0]


def test_games_do_not_depend_on_how_python_orders_sets() -> None:
    script = (
        "from machines.parser.loader import load; from runtime.simulation.campaign import run_campaign;"
        "from runtime.simulation.snapshots import kept, written; from hashlib import sha256;"
        "text = written([kept('sticks', 1, run_campaign(load('sticks'), {}).courses)]);"
        "print(sha256(text.encode()).hexdigest())"
    )
    told = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        ).stdout
        for seed in ("1", "2")
    }

    assert len(told) == 1


# -- who plays ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", shipped())
def test_who_is_said_to_play_by_the_rules_is_a_kind_of_the_game_and_plays_first(name: str) -> None:
    cast = StrategySet(spec_of(name))

    assert set(cast.fair) <= set(cast.kinds)
    assert bool(cast.fair) == bool(spec_of(name).rules)
    for at in range(3 if cast.fair else 0):
        assert cast.for_seat(at)[0] == cast.fair[at % len(cast.fair)]
        assert set(cast.for_seat(at)) == set(cast.kinds)
    assert not set(cast.fair) & set(cast.others)


def test_games_end_with_what_they_may_cost() -> None:
    looks = iter((True, True, False))

    found = run_campaign(load("sticks"), {}, lasts=lambda: next(looks))

    assert found.games == 3
    assert found.unknown[-1] == "what they may cost was spent, and no more were played (--budget)"
