"""Every recipe of the cookbook is played to its end over TCP, by both roles, and does what it says."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import anyio
import pytest

from machines.checks import check
from machines.effects import Drop, Effect, Received, Send
from machines.engine.session import Program
from machines.model import Spec
from machines.parser.loader import load, load_text, rules_modules, sources
from runtime.players.registry import open_player
from runtime.players.seeds import derived_seed
from runtime.sessions.client import join
from runtime.sessions.game_result import GameResult, Participant
from runtime.sessions.match import play
from runtime.sessions.server import serve

pytestmark = pytest.mark.anyio

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "cookbook"
RECIPES = sorted(path.stem for path in FOLDER.glob("*.yaml") if not path.read_text().startswith("part:"))
SECONDS_MAX = 30.0
HERE = "python:tests.runtime.cookbook_players:"


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@cache
def recipe(name: str) -> Spec:
    """Return a recipe's spec."""
    return load(str(FOLDER / f"{name}.yaml"))


@dataclass
class Game:
    """How a game ended, and what its server sent and took, in order, with the peer."""

    result: GameResult
    sent: list[tuple[int, str, bytes]] = field(default_factory=list)
    heard: list[tuple[int, str]] = field(default_factory=list)
    dropped: list[int] = field(default_factory=list)

    @property
    def value(self) -> Any:
        assert self.result.ended is not None
        assert self.result.ended.failed is None, self.result.ended.failed
        return self.result.ended.value

    def count(self, message: str) -> int:
        return sum(name == message for _, name, _ in self.sent) + sum(name == message for _, name in self.heard)


async def played(name: str, *kinds: str, **settings: str) -> Game:
    """Play a recipe's game with these players, ``p0`` the first; one of the cookbook's own is called by its class."""
    spec = load(str(FOLDER / f"{name}.yaml"), settings) if settings else recipe(name)
    effects: list[Effect] = []
    seats = [
        Participant(f"p{'abcdef'[number]}", HERE + kind if kind[0].isupper() else kind, derived_seed(7, str(number)))
        for number, kind in enumerate(kinds)
    ]
    with anyio.fail_after(SECONDS_MAX):
        result = await play(
            spec, rules_modules(spec), seats, server="server", client="client", seed=7, observe=effects.append
        )
    game = Game(result)
    for effect in effects:
        match effect:
            case Send(peer, data, message):
                game.sent.append((peer, message, data))
            case Received(peer, message, _):
                game.heard.append((peer, message))
            case Drop(peer, _):
                game.dropped.append(peer)
    return game


TSURO = ("second", "second", "second")
FAST = {"seats": "3..3"}


async def test_a_shorter_reply_limit_ejects_who_says_nothing() -> None:
    game = await played("tsuro-quick", "second", "silent", "second", **FAST)

    assert game.value["cheaters"] == ("pb",)
    assert game.result.seconds < 5


async def test_a_tagged_envelope_is_round_every_message() -> None:
    game = await played("tsuro-tagged", *TSURO, **FAST)

    assert game.value["cheaters"] == ()
    assert all(re.match(rb'\{"type": ?"[a-z_]+"', data) for _, _, data in game.sent)


async def test_each_legal_move_is_acknowledged() -> None:
    game = await played("tsuro-acknowledged", *TSURO, **FAST)

    assert game.count("ACK") == game.count("INIT_PLACE") + game.count("INTER_PLACE") > 6
    assert game.value["cheaters"] == ()


@pytest.mark.parametrize(("kind", "retries", "cheaters"), [("Cheater", 1, ()), ("TwiceCheater", 1, ("pa",))])
async def test_after_an_illegal_move_there_is_one_more_try(kind: str, retries: int, cheaters: Any) -> None:
    game = await played("tsuro-retry", kind, "second", "second", **FAST)

    assert (game.count("RETRY"), game.value["cheaters"]) == (retries, cheaters)


async def test_who_thinks_for_long_is_warned_and_plays_on() -> None:
    game = await played("tsuro-warned", "second", "Slow", "second", hurry="20 ms", **FAST)

    assert [peer for peer, message, _ in game.sent if message == "HURRY"].count(1) >= 1
    assert game.value["cheaters"] == ()


async def test_heartbeats_are_answered_between_rounds() -> None:
    game = await played("tsuro-heartbeat", *TSURO, **FAST)

    assert game.count("BEAT") == game.count("ALIVE") > 6
    assert game.value["cheaters"] == ()


async def test_a_dead_peer_is_dropped_between_rounds_and_the_others_play_on() -> None:
    """The client that hangs up is played by hand: it makes its first placement and is never heard again."""
    spec = load(str(FOLDER / "tsuro-heartbeat.yaml"), {"beat": "200 ms", **FAST})
    mute = load("tsuro")  # knows nothing of heartbeats, so it answers none: to the server it is dead
    effects, ended = await table(spec, [(spec, "client"), (mute, "client"), (spec, "client")])

    assert ended.value["cheaters"] == ("p1",)
    assert 1 in [effect.peer for effect in effects if isinstance(effect, Drop)]
    assert not [
        effect for effect in effects if isinstance(effect, Send) and (effect.peer, effect.message) == (1, "INTER_REQ")
    ]


async def test_the_same_heartbeat_serves_another_protocol() -> None:
    game = await played("trains-heartbeat", "strong", "strong", window="200 ms")

    assert game.count("BEAT") == game.count("ALIVE") >= 2
    assert {path.stem for path in sources(str(FOLDER / "trains-heartbeat.yaml"))} >= {"trains", "heartbeat"}


async def table(spec: Spec, clients: list[tuple[Spec, str]], until: str = "TOKEN") -> tuple[list[Effect], Any]:
    """Let clients of several specs play at the table of one; each joins once so many tokens are given out."""
    effects: list[Effect] = []
    listening = anyio.Event()
    changed = [anyio.Event()]
    port = 0
    ends: list[Any] = []

    def on_listening(taken: int) -> None:
        nonlocal port
        port = taken
        listening.set()

    def observe(effect: Effect) -> None:
        effects.append(effect)
        changed[0].set()
        changed[0] = anyio.Event()

    async def hold() -> None:
        server = Program(spec, "server", rules_modules(spec))
        ends.append(await serve(server, "127.0.0.1", 0, on_listening=on_listening, observe=observe, seed=7))

    async def sit(number: int, own: Spec, role: str) -> None:
        kind = "second" if role == "client" else HERE + "Looker"
        async with open_player(kind, spec=own, name=f"p{number}", seed=number) as player:
            program = Program(own, role, rules_modules(own))
            await join(program, {"server": ("127.0.0.1", port)}, player, my={"name": f"p{number}"})
        changed[0].set()
        changed[0] = anyio.Event()

    with anyio.fail_after(SECONDS_MAX):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(hold)
            await listening.wait()
            for number, (own, role) in enumerate(clients):
                before = Counter(type(effect).__name__ for effect in effects)["Drop"]
                wanted = sum(isinstance(e, Send) and e.message == until for e in effects) + 1
                tasks.start_soon(sit, number, own, role)
                if role == "client":
                    while (
                        sum(isinstance(e, Send) and e.message == until for e in effects) < wanted
                        and Counter(type(effect).__name__ for effect in effects)["Drop"] == before
                    ):
                        await changed[0].wait()
    return effects, ends[0]


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("tsuro-versions", {}, {"speaks": "0.9"}),
        ("tsuro-password", {}, {"password": "sardine"}),
    ],
)
async def test_who_has_another_version_or_password_gets_no_seat(name: str, right: Any, wrong: Any) -> None:
    good = load(str(FOLDER / f"{name}.yaml"), FAST)
    bad = load(str(FOLDER / f"{name}.yaml"), {**FAST, **wrong})
    clients = [(good, "client"), (bad, "client"), (good, "client"), (good, "client")]
    effects, ended = await table(good, clients)

    assert [player["name"] for player in ended.value["players"]] == ["p0", "p2", "p3"]
    assert sum(isinstance(effect, Send) and effect.message == "REFUSED" for effect in effects) == ("versions" in name)


async def test_who_resigns_has_lost_the_game_and_stays_in_the_tournament() -> None:
    game = await played("santorini-resign", "quick", "Quitter", sign_up="300 ms")

    assert game.count("resignation") >= 1
    assert set(game.result.players[0].value["rows"]) == {("pa", "pb")}
    assert game.result.players[0].value["misbehaved"] == ()


async def test_a_draw_is_one_if_all_others_agree() -> None:
    drawn = await played("tsuro-draw", "Offering", "Offering", "Offering", **FAST)
    refused = await played("tsuro-draw", "Offering", "Stubborn", "Stubborn", **FAST)

    assert drawn.value["ranking"] == (("pa", "pb", "pc"),)
    assert drawn.count("ANSWER") == 1
    assert refused.count("REFUSE") == refused.count("ANSWER") > 1
    assert refused.value["cheaters"] == drawn.value["cheaters"] == ()
    requests = [data for peer, message, data in refused.sent if message == "INTER_REQ" and peer == 0]
    assert requests[0] == requests[1], "who has offered is asked again with the same hand"


async def test_who_offers_a_draw_twice_in_a_turn_is_ejected() -> None:
    game = await played("tsuro-draw", "Pest", "Stubborn", "Stubborn", **FAST)

    assert game.value["cheaters"] == ("pa",)
    assert game.count("OFFER") >= 1


async def test_observers_get_every_board_from_when_they_come() -> None:
    spec = load(str(FOLDER / "tsuro-observed.yaml"), FAST)
    clients = [(spec, "client"), (spec, "client"), (spec, "client"), (spec, "observer"), (spec, "observer")]
    effects, ended = await table(spec, clients)

    sent = [(effect.peer, effect.message) for effect in effects if isinstance(effect, Send)]
    boards = [sum(one == (peer, "BOARD") for one in sent) for peer in (3, 4)]
    placed = sum(isinstance(effect, Received) and effect.message == "INTER_PLACE" for effect in effects)
    assert 0 < boards[1] <= boards[0] <= placed
    assert boards[0] > 3
    assert [sum(one == (peer, "ENDED") for one in sent) for peer in (3, 4)] == [1, 1]
    assert len(ended.value["players"]) == 3


async def test_a_series_is_best_of_five() -> None:
    game = await played("santorini-best-of-5", "quick", "quick", waiting_for="300 ms", pause="1 ms")

    games = game.count("placement_request") // 4
    assert 3 <= games <= 5
    assert len(game.result.players[0].value["rows"]) == 1  # a row a series


@pytest.mark.parametrize(("count", "seconds"), [(5, 0.0), (3, 0.6)])
async def test_three_are_enough_in_the_second_window_only(count: int, seconds: float) -> None:
    game = await played(
        "tsuro-two-windows", *["second"] * count, first="300 ms" if count < 5 else "20 s", second="300 ms"
    )

    assert len(game.value["players"]) == count
    assert game.result.seconds >= seconds


async def test_who_signed_up_last_moves_first() -> None:
    game = await played("tsuro-reversed", *TSURO, **FAST)

    assert [peer for peer, message, _ in game.sent if message in ("INIT_REQ", "INTER_REQ")][:6] == [2, 1, 0, 2, 1, 0]
    assert [player["name"] for player in game.value["players"]] == ["pc", "pb", "pa"]


async def test_what_one_says_all_hear_and_nobody_loses_a_move_by_it() -> None:
    game = await played("tsuro-chat", "Talker", "second", "Talker", **FAST, chat="1000 per 1 s")

    assert game.count("SAID") == 3 * game.count("SAY") > 3
    assert game.value["cheaters"] == ()


@pytest.mark.parametrize(
    ("name", "framed"),
    [
        ("tsuro-length", lambda data: int.from_bytes(data[:4], "big") == len(data) - 4),
        ("tsuro-json", lambda data: data.endswith(b"\n")),
        ("trains-lines", lambda data: data.endswith(b"\n") and data.count(b"\n") == 1),
    ],
)
async def test_messages_are_cut_in_another_way(name: str, framed: Callable[[bytes], bool]) -> None:
    kinds, settings = (TSURO, FAST) if "tsuro" in name else (("strong", "strong"), {"window": "200 ms"})
    game = await played(name, *kinds, **settings)

    assert game.sent
    assert all(framed(data) for _, _, data in game.sent)
    assert all(player.failed is None for player in game.result.players)
    assert game.value is not None


async def test_a_spare_takes_the_place_of_who_is_dropped() -> None:
    game = await played("tsuro-spare", "second", "Quits", "second", "second")

    assert game.value["cheaters"] == ()
    assert [player["name"] for player in game.value["players"]] == ["pa", "pb", "pc"]
    after = [peer for peer, message, _ in game.sent if message == "INTER_REQ"]
    assert after.count(3) >= 1
    assert 1 not in after[after.index(3) :]


async def test_the_spare_takes_one_place_only() -> None:
    game = await played("tsuro-spare", "second", "Quits", "Quits", "second")

    assert game.value["cheaters"] == ("pc",)


async def test_two_recipes_of_one_spec_are_put_together() -> None:
    text = "extends: [tsuro-acknowledged, tsuro-tagged, tsuro-reversed]\nprotocol: tsuro-all\nsettings: {seats: 3..3}\n"
    spec = load_text(text, folder=FOLDER)
    effects, ended = await table(spec, [(spec, "client")] * 3)

    sent = [effect for effect in effects if isinstance(effect, Send)]
    assert ended.value["cheaters"] == ()
    assert [player["name"] for player in ended.value["players"]] == ["p2", "p1", "p0"]
    assert any(effect.message == "ACK" for effect in sent)
    assert any(effect.data.startswith(b'{"type":') for effect in sent)


# -- the recipes as files --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_has_no_problems(name: str) -> None:
    spec = recipe(name)

    assert [str(problem) for problem in check(spec, rules_modules(spec))] == []
    assert spec.protocol == name


def test_most_recipes_are_short() -> None:
    lengths = [len((FOLDER / f"{name}.yaml").read_text().splitlines()) for name in RECIPES]

    assert len(lengths) >= 17
    assert sum(length < 25 for length in lengths) >= 0.8 * len(lengths)


def test_every_recipe_is_played_here() -> None:
    text = Path(__file__).read_text()

    assert [name for name in RECIPES if not re.search(rf'"{name}["\.]', text)] == []
