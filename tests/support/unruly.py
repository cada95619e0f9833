"""Players of the shipped protocols that behave well or badly, on a network that can spoil any step of a run.

A player answers questions: rightly, with what the rules refuse, with what is no message, or not at all. What a client's
own program would never do is done to the wire: at a chosen step the network lets it write other bytes, or die.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from types import ModuleType
from typing import Any

from machines.effects import Drop, Effect, Send
from machines.engine.compiler import Program
from machines.model import Spec
from machines.wire.framing import make_framer
from tests.support.seeds import load_seed
from tests.support.session_harness import Client, Network, Run
from tests.support.stub_rules import MARKED, STUBS, TILE

Answer = tuple[str, dict[str, Any]]
Player = Callable[[str, Mapping[str, Any], bool], Answer]  # (question, its arguments, legal) -> answer

CITY = {"Aarhus": {"City 1": {"red": 3}}}
BEHAVIOURS = ("good", "silent", "illegal", "nonsense", "bytes", "unexpected", "dies")


def _tsuro(question: str, given: Mapping[str, Any], legal: bool) -> Answer:
    x, y = (0, 1) if legal else MARKED
    if question == "initial":
        return "INIT_PLACE", {"token": given["token"], "tile": TILE, "port": "A", "x": x, "y": y}
    return "INTER_PLACE", {"tile": TILE, "x": x, "y": y}


def _relay(question: str, given: Mapping[str, Any], legal: bool) -> Answer:
    if question == "placement":
        return "wid_posn", {"wid": given["wid"], "posn": (1, 2) if legal else (5, 5)}
    return "wid_move_build_dir", {"wid": 1, "move_dir": "North", "build_dir": "East" if legal else "North"}


def _prompts(question: str, given: Mapping[str, Any], legal: bool) -> Answer:
    if question == "placement":
        place = (1, 1) if legal else MARKED
        return ("check_placement" if given["ok"] is None else "place_worker_request"), {"place": place}
    worker = "ab1" if legal else "no1"
    turn = {"worker": worker, "move": ("EAST", "PUT"), "build": ("WEST", "NORTH")}
    if given["ok"] is None:
        return "check_turn", {"turn": tuple(turn.values())}
    return "turn_request", turn


def _rulecheck(question: str, given: Mapping[str, Any], legal: bool) -> Answer:
    x, y = (1, 2) if legal else MARKED
    check = given["ok"] is None
    if question == "place":
        return "place_request", {"wid": given["worker"], "x": x, "y": y, "check": check}
    squares = {"x1": x, "y1": y, "x2": 3, "y2": 4, "check": check}
    return f"{question}_request", squares


def _official(question: str, given: Mapping[str, Any], legal: bool) -> Answer:
    if question == "placement":
        return "place", {"place": (1, 1) if legal else MARKED}
    turn = {"worker": "ab1" if legal else "no1", "ew": "EAST", "ns": "PUT", "build_ew": "WEST", "build_ns": "NORTH"}
    return "turn", turn


def _trains(question: str, given: Mapping[str, Any], legal: bool) -> Answer:
    if question == "map":
        city = ["Aarhus", [1, 2]]
        return "map", {"map": {"width": 100 if legal else 13, "height": 90, "cities": [city], "connections": CITY}}
    if question == "pick":
        offered = given["destinations"]
        return "returned", {"unwanted": offered[:3] if legal else (("X", "Y"),) * 3}
    this = given["state"].this
    if legal and this.cards.red % 2:
        return "more_cards", {}
    return "connection", {"connection": ("Aarhus", "City 1", "red", 3 if legal else 5)}


@dataclass(frozen=True, slots=True)
class Seed:
    """A shipped protocol: its two roles, its player, how many take part, and settings that keep a run short."""

    name: str
    server: str
    client: str
    player: Player
    settings: Mapping[str, str]

    def spec(self, **settings: str) -> Spec:
        """Return the spec as shipped, with the settings of this seed and others."""
        return load_seed(self.name, {**self.settings, **settings})

    def rules(self, spec: Spec) -> dict[str, ModuleType]:
        """Return the stub rules that the spec names."""
        return {name: STUBS[name] for name, _ in spec.rules}


SEEDS = {
    seed.name: seed
    for seed in (
        Seed("tsuro", "server", "client", _tsuro, {"seats": "2..5", "sign_up": "1 min"}),
        Seed("santorini-relay", "server", "client", _relay, {"games": "2"}),
        Seed("santorini-prompts", "manager", "player", _prompts, {"games": "2"}),
        Seed("santorini-rulecheck", "server", "client", _rulecheck, {"games": "2"}),
        Seed("santorini-official", "server", "client", _official, {"games": "2"}),
        Seed("trains", "server", "client", _trains, {}),
        Seed("trains-official", "server", "client", _trains, {}),
    )
}


class Unruly(Network):
    """A network that spoils a run: ``spoil[n]`` is what happens when the n-th message or close is on its way."""

    def __init__(
        self,
        spec: Spec,
        server: str,
        rules: Mapping[str, ModuleType],
        programs: dict[str, Program],
        *,
        stock: bool = False,
    ) -> None:
        self.spoil: dict[int, Callable[[], None]] = {}
        self.steps = 0
        self.dead: set[int] = set()
        super().__init__(spec, server, rules, stock=stock, programs=programs)

    def route(self, run: Run, effects: list[Effect]) -> None:
        """Queue what a run wants, and do what is due at this step."""
        for effect in effects:
            if isinstance(effect, Send | Drop):
                self.queue.append((run, effect))
                self.steps += 1
                if self.steps in self.spoil:
                    self.spoil.pop(self.steps)()

    def die(self, client: Client) -> None:
        """End a client's connections and its deciding."""
        self.dead.add(id(client))
        for index, _ in enumerate(client.program.connects):
            self.queue.append((client, Drop(index, "died")))

    def write(self, client: Client, data: bytes) -> None:
        """Let a client send bytes that are none of its session's."""
        self.queue.append((client, Send(0, data, "")))


class Guest:
    """One player and how it behaves; from its ``patience``-th question or step on it misbehaves."""

    def __init__(self, seed: Seed, behaviour: str, chance: Random) -> None:
        self.seed = seed
        self.behaviour = behaviour
        self.chance = chance
        self.patience = chance.randrange(8)
        self.client: Client | None = None
        self.network: Unruly | None = None

    def decide(self, question: str, given: dict[str, Any]) -> Any:
        """Answer a question, as a message or, half of the times, as its body."""
        assert self.network is not None, "it has joined"
        if self.client is not None and id(self.client) in self.network.dead:
            return None
        self.patience -= 1
        spoilt = self.patience < 0
        if spoilt and self.behaviour == "silent":
            return None
        if spoilt and self.behaviour == "nonsense":
            return self.chance.choice(("what?", ["no", "message"], ("no_message", {}), {}, 1.5, ("BYE", {"x": 1})))
        name, fields = self.seed.player(question, given, not (spoilt and self.behaviour == "illegal"))
        if self.chance.random() < 0.5:
            return name, fields
        shape = self.network.program(self.seed.client).shapes[name]
        return shape.build([fields[field] for field in shape.fields])

    def join(self, network: Unruly, name: str) -> Client:
        """Take part in a run."""
        self.network = network
        self.client = network.join(self.seed.client, self.decide, {"name": name}, seed=self.chance.randrange(1 << 30))
        at = network.steps + 1 + self.chance.randrange(60)
        if self.behaviour == "dies":
            network.spoil[at] = lambda: network.die(self.client)  # type: ignore[arg-type]
        elif self.behaviour == "bytes":
            network.spoil[at] = lambda: network.write(self.client, self.chance.choice(GARBAGE))  # type: ignore[arg-type]
        elif self.behaviour == "unexpected":
            network.spoil[at] = lambda: network.write(self.client, self.unexpected())  # type: ignore[arg-type]
        return self.client

    def unexpected(self) -> bytes:
        """Return some message of the protocol, from either side, framed."""
        assert self.network is not None, "it has joined"
        shape = self.chance.choice(list(self.network.server.program.shapes.values()))
        return make_framer(self.network.spec.wire).wrap(json.dumps(shape.example()).encode())


GARBAGE = (
    b"}{\n",
    b"\xff\xfe\x00\n",
    b'["cut", \n',
    b"null\n",
    b'"' + b"x" * 5000 + b'"\n',
    b'{"type": "placement", "type": "placement"}\n',
    b"[" * 100 + b"]" * 100 + b"\n",
    b"12345678901234567890123\n",
    b"NaN\n",
    b'"\\ud800"\n',
    b"more cards\n",
    b"[]\n" * 200,
    b"\n\n\n \n",
    b"1.0 true false\n",
)

BOUND_SECONDS = 20 * 60.0  # of virtual time; a client gives its server up after 10 minutes of silence
PROGRAMS: dict[tuple[str, str, bool], dict[str, Program]] = {}


def play(
    name: str, number: int, behaviours: Sequence[str] | None = None, *, stock: bool = False
) -> tuple[Unruly, list[Guest]]:
    """Run a shipped protocol with players drawn from a number, until everybody is through or time is up.

    One of them behaves well, unless all ``behaviours`` are given.
    """
    seed = SEEDS[name]
    chance = Random(f"{name} {number}")
    side_by_side = str(1 + number % 3)
    settings = {} if name == "tsuro" else {"side_by_side": side_by_side}
    programs = PROGRAMS.setdefault((name, side_by_side, stock), {})
    spec = programs[seed.server].spec if programs else seed.spec(**settings)
    network = Unruly(spec, seed.server, seed.rules(spec), programs, stock=stock)
    if behaviours is None:
        drawn = ["good", *(chance.choice(BEHAVIOURS) for _ in range(chance.randrange(1, 5)))]
        chance.shuffle(drawn)
        behaviours = drawn
    guests = [Guest(seed, behaviour, chance) for behaviour in behaviours]
    for guest, letter in zip(guests, "abcde", strict=False):
        guest.join(network, chance.choice((letter, "same")))
        if chance.random() < 0.3:
            network.wait(chance.random() * 4)
    while network.server.now < BOUND_SECONDS and any(run.ended is None for run in network.runs):
        network.wait(30.0)
    return network, guests
