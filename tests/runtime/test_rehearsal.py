"""Games of a spec in memory: right ones have no problem in any scene, wrong ones have that of their page."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from machines.checks import check
from machines.library import load, load_text, rules_modules, shipped
from machines.model import Spec
from machines.values import Range
from runtime.manual import pages
from runtime.rehearsal.baseline import changes, kept
from runtime.rehearsal.deciding import Cast, Words, farewells
from runtime.rehearsal.deeds import Deed
from runtime.rehearsal.games import Course, House, Rehearsal, rehearse
from runtime.rehearsal.judging import Trouble
from runtime.rehearsal.scenes import callers, latecomers, scenes, seats, small

ROOT = Path(__file__).resolve().parents[2]
TESTED = ROOT / "tests" / "specs"
LITTLE = sorted(
    map(str, [*TESTED.glob("*.yaml"), *(TESTED / "correct").glob("*.yaml"), *(TESTED / "public").glob("*.yaml")])
)
COOKBOOK = sorted(
    str(path) for path in (ROOT / "docs" / "cookbook").glob("*.yaml") if not path.read_text().startswith("part:")
)
# Of those that take seconds, a sample: each of these specs has 100 to 210 games, which the benchmark plays all.
EVERY = {**dict.fromkeys(LITTLE, 3), **dict.fromkeys(shipped(), 24), **dict.fromkeys(COOKBOOK, 48), "sticks": 1}
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


def troubles_of(spec: Spec, every: int) -> list[Trouble]:
    house = House(spec, rules_modules(spec))
    return [trouble for scene in house.scenes[::every] for trouble in house.play(scene, 0)[1]]


# -- no false alarm ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*shipped(), *LITTLE, *COOKBOOK], ids=lambda name: Path(name).stem)
def test_a_spec_that_is_right_plays_without_a_problem(name: str) -> None:
    assert troubles_of(spec_of(name), EVERY[name]) == []


@pytest.mark.parametrize("kind", ["game", "service", "chat"])
def test_what_new_writes_plays_without_a_problem(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from runtime.cli import main

    monkeypatch.chdir(tmp_path)
    assert main(["new", "mine", "--kind", kind]) == 0

    found = rehearse(load("./mine.yaml"), {})
    assert found.troubles == ()
    assert found.games > 10


# -- each problem ------------------------------------------------------------------------------------------------------


def rehearsed(text: str) -> Rehearsal:
    spec = load_text(text)
    assert check(spec) == []
    return rehearse(spec, {})


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

    house = House(spec_of("tsuro"), rules_modules(spec_of("tsuro")), {"server": faulty})
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
    house = House(load_text(pages()["A602"].mended.text), {})
    lies = [scene for scene in house.scenes if scene.deed is not None and scene.deed.kind == "lie"]

    played = [house.play(scene, 0) for scene in lies]
    assert [troubles for _, troubles in played] == [[]] * len(lies)
    assert any(("WRONG" in [sent[2] for sent in course.actors["server of bob"]]) for course, _ in played if course)


# -- scenes ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*shipped(), *LITTLE], ids=lambda name: Path(name).stem)
def test_each_scene_has_a_name_of_its_own(name: str) -> None:
    names = [scene.name for scene in scenes(spec_of(name), Cast(spec_of(name)))]

    assert len(names) == len(set(names))


def test_how_many_play_is_what_the_first_door_takes() -> None:
    assert seats(spec_of("tsuro")) == Range(3, 5)
    assert seats(spec_of(str(TESTED / "lobby.yaml"))) == Range(3, 3)
    assert seats(spec_of("redis")) is None
    assert {scene.clients for scene in scenes(spec_of("tsuro"), Cast(spec_of("tsuro")))} == {1, 3, 4}


def test_what_guards_compare_with_is_small_in_one_scene() -> None:
    found = small(spec_of("smtp"))

    assert found is not None
    assert [name for name, setting in found.settings.items() if setting != spec_of("smtp").settings[name]] == [
        "recipients",
        "mails",
    ]
    assert small(spec_of("tsuro")) is None


def test_who_has_no_part_in_the_sign_up_comes_once_the_door_is_shut() -> None:
    spec = spec_of(str(ROOT / "docs" / "cookbook" / "tsuro-observed.yaml"))
    assert (callers(spec), latecomers(spec)) == (("client", "observer"), ("observer",))

    house = House(spec, rules_modules(spec))
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
    house = House(spec_of("sticks"), {})
    deed = Deed("twice", "player", 1, "HELLO")
    (scene,) = [scene for scene in house.scenes if scene.deed == deed]
    course, _ = house.play(scene, 0)

    assert scene.name == "bob says twice HELLO"
    assert course is not None
    assert [message for _, _, message, _ in course.actors["bob"]].count(
        "HELLO"
    ) == 1  # the second is no doing of its role


def test_what_never_comes_to_pass_is_not_played() -> None:
    house = House(spec_of("tsuro"), rules_modules(spec_of("tsuro")))
    (scene,) = [scene for scene in house.scenes if scene.name == "bob is gone instead of INIT_PLACE, the 2nd time"]

    assert house.play(scene, 0) == (None, [])


# -- the same again ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["sticks", "redis"])
def test_the_same_seed_gives_the_same_games_and_another_seed_others(name: str) -> None:
    spec = spec_of(name)

    def some(seed: int) -> list[Course | None]:
        house = House(spec, rules_modules(spec))
        return [house.play(scene, seed)[0] for scene in house.scenes[::16]]

    assert some(0) == some(0)
    assert some(0)[0] != some(1)[0]


def test_games_do_not_depend_on_how_python_orders_sets() -> None:
    script = (
        "from machines.library import load; from runtime.rehearsal.games import rehearse;"
        "from runtime.rehearsal.baseline import kept, written; from hashlib import sha256;"
        "text = written([kept('sticks', 1, rehearse(load('sticks'), {}).courses)]);"
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
    cast = Cast(spec_of(name))

    assert set(cast.fair) <= set(cast.kinds)
    assert bool(cast.fair) == bool(spec_of(name).rules)
    for at in range(3 if cast.fair else 0):
        assert cast.for_seat(at)[0] == cast.fair[at % len(cast.fair)]
        assert set(cast.for_seat(at)) == set(cast.kinds)
    assert not set(cast.fair) & set(cast.others)
