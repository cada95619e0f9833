"""Games in memory some of whose clients are hostile: what they send is drawn at random, from whatever may do harm.

A hostile client begins as an honest one, so that its session stands where the protocol leads; then something else may
become of each message that it is about to send: see `MISDEEDS`. Whom it meets must not fail, hang, or hold it against
anybody else: that is what the `Oracle` says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from random import Random
from types import ModuleType
from typing import Final

from machines.effects import Ask, Drop, Send
from machines.model import Spec
from machines.parser.loader import load, load_text, resolved
from machines.parser.unparse import written
from machines.values import Range
from runtime.players.seeds import derived_seed
from runtime.simulation.campaign import Campaign
from runtime.simulation.fault_injection import example
from runtime.simulation.judged_game import AFTER_MAX, JudgedActor, JudgedGame
from runtime.simulation.network import EndlessError
from runtime.simulation.oracle import Failure, Oracle
from runtime.simulation.scenarios import CLIENTS, NAMES, GameScenario, callers, seats

CHANCE: Final = 0.25  # that something else is sent instead of a message
CLIENTS_MAX: Final = 5
PLAIN: Final = 0.5  # how often a stranger says something plain
TO_THE_END: Final = 0.05  # how often those who are left play on however long it takes
LINE_BYTES: Final = 1 << 14
PIECES: Final = (
    b"", b"\0", b"\xff\xfe", b"\xed\xa0\x80", b"null", b"true", b"{}", b"[]", b"-0", b"1E400", b"1e-400", b"NaN",
    b"9" * 400, b"[" * 900, b"[" * 60 + b"]" * 60, b'{"a":1,"a":2}', b'"\\ud800"', b'"\\u0000"', b"*1048577", b"$-2",
    b"$99999999", b"." + b"\r\n", b"\r", b'"', b"\x1b[2J", b"[1E299," * 800, b"x" * LINE_BYTES,
    b'"' + b"\xc3\xa9" * 4000,
)  # fmt: skip

Misdeed = Callable[["HostileGame", JudgedActor, Send], None]


class HostileGame(JudgedGame):
    """A game in which the clients with the seats ``hostile`` do what they like. ``misdeeds`` counts what they did.

    It is over ``calm_max`` messages after the last of them could do anything: what comes of it has come by then.
    """

    hostile: frozenset[int] = frozenset()
    strangers: frozenset[str] = frozenset()  # roles whose clients keep to no order: nobody owes them anything
    misdeeds = 0
    calm_max: int | None = AFTER_MAX
    chance: Random
    _calm = 0

    def is_over(self) -> bool:
        """See `Simulation.is_over`."""
        return self.calm_max is not None and self._calm > self.calm_max

    def _is_calm(self) -> bool:
        """Whether none who is hostile can do anything any more."""
        return not self._coming and not any(
            actor.seat in self.hostile and not actor.mute and actor.ended is None and actor.links
            for actor in self.actors
        )

    def make_actor(self, role: str, name: str, seat: int | None, owner: JudgedActor | None) -> JudgedActor:
        """See `JudgedGame.make_actor`."""
        actor = super().make_actor(role, name, seat, owner)
        if role in self.strangers:
            actor.blame = "it is a stranger"
        return actor

    def decide(self, actor: JudgedActor, ask: Ask) -> None:
        """See `JudgedGame.decide`; a stranger often says something plain, and at first what mostly comes first."""
        if actor.role not in self.strangers or actor.mute or self.chance.random() > PLAIN:
            super().decide(actor, ask)
            return
        if all(other.ended is not None for other, _ in actor.links.values()):
            return  # nobody is there to be spoken to
        self._decided += 1
        name = self.chance.choice(ask.messages) if actor.spoken else ask.messages[0]
        answer = name, example(self.programs[actor.role], name)
        self.take_in(actor, actor.session.answer(ask.number, answer, self.now))

    def send(self, actor: JudgedActor, effect: Send) -> None:
        """See `JudgedGame.send`; a hostile client may do something else."""
        if actor.seat in self.hostile and not actor.mute and self.chance.random() < CHANCE:
            self.misdeeds += 1
            self.accuse(actor, "it is hostile")
            self.chance.choice(MISDEEDS)(self, actor, effect)
            return
        self._calm += bool(self.misdeeds) and self._is_calm()
        super().send(actor, effect)

    def say(self, actor: JudgedActor, seat: int, data: bytes) -> None:
        """Put bytes on their way, in pieces of any length."""
        at = 0
        while at < len(data):
            count = self.chance.choice((1, 7, 4096, len(data)))
            self.queue.append((actor, Send(seat, data[at : at + count], "bytes")))
            at += count


def _changed(game: HostileGame, actor: JudgedActor, effect: Send) -> None:
    """Change, put in or leave out some bytes of the message."""
    data = bytearray(effect.data)
    for _ in range(game.chance.randint(1, 4)):
        at = game.chance.randrange(len(data) + 1)
        data[at : at + game.chance.choice((0, 1, 1, 3))] = game.chance.randbytes(game.chance.choice((0, 1, 1, 2)))
    game.say(actor, effect.peer, bytes(data))


def _piece(game: HostileGame, actor: JudgedActor, effect: Send) -> None:
    """Send something that is meant to do harm, framed or not."""
    data = game.chance.choice(PIECES)
    framed = game.chance.random() < 0.5 and b"\n" not in data
    game.say(actor, effect.peer, game.programs[actor.role].make_framer().wrap(data) if framed else data)
    if game.chance.random() < 0.5:
        game.say(actor, effect.peer, effect.data)


def _within(game: HostileGame, actor: JudgedActor, effect: Send) -> None:
    """Send the message with something else within it."""
    at = game.chance.randrange(len(effect.data) + 1)
    game.say(actor, effect.peer, effect.data[:at] + game.chance.choice(PIECES) + effect.data[at:])


def _again(game: HostileGame, actor: JudgedActor, effect: Send) -> None:
    """Send the message many times at once."""
    game.say(actor, effect.peer, effect.data * game.chance.choice((2, 70, 300)))


def _half(game: HostileGame, actor: JudgedActor, effect: Send) -> None:
    """Send a part of the message, and be gone, or fall silent."""
    game.say(actor, effect.peer, effect.data[: game.chance.randrange(len(effect.data) + 1)])
    (_gone if game.chance.random() < 0.5 else _silent)(game, actor, effect)


def _gone(game: HostileGame, actor: JudgedActor, effect: Send) -> None:
    """Be gone, from all sides."""
    game.queue.extend((actor, Drop(seat, "it hung up")) for seat in list(actor.links))
    actor.mute = True


def _silent(game: HostileGame, actor: JudgedActor, effect: Send) -> None:
    """Say nothing any more."""
    actor.mute = True


def _other(game: HostileGame, actor: JudgedActor, effect: Send) -> None:
    """Send a message of its role that nobody may expect now."""
    spoken = [one for one in actor.spoken if one.peer == effect.peer]
    game.say(actor, effect.peer, game.chance.choice(spoken).data if spoken else effect.data * 2)
    game.say(actor, effect.peer, effect.data)


MISDEEDS: Final[tuple[Misdeed, ...]] = (
    _changed,
    _changed,
    _piece,
    _piece,
    _within,
    _again,
    _half,
    _gone,
    _silent,
    _other,
)


def load_with_strangers(name: str) -> Spec:
    """Return the spec of that name, with a machine for each role that others play: it says anything at any time.

    Raises:
        SpecNotFound, SpecError: see `machines.parser.loader.load`.
    """
    spec = load(name)
    if not spec.foreign:
        return spec
    text = re.sub(r"(?m)^foreign:.*\n", "", written(resolved(name)))
    roles = "".join(_talks(spec, role) for role in spec.foreign)
    return load_text(re.sub(r"(?m)^roles:.*\n", lambda found: found[0] + roles, text), spec.file)


def _talks(spec: Spec, role: str) -> str:
    own = [message.name for message in spec.messages.values() if role in message.senders]
    heard = ", ".join(f"{message.name}: {{then: stay}}" for message in spec.heard_by(role))
    said = ", ".join(f"{name}: {{send: {name}, then: talk}}" for name in own)
    always = f"always: {{within: never, receive: {{{heard}}}, fault: {{return: null}}, failed: {{then: talk}}}}"
    return f"  {role}:\n    main:\n      {always}\n      talk: {{ask: talk, receive: {{{said}}}}}\n"


class HostileCampaign:
    """Plays games of one spec, with clients of its own players of whom at least one is hostile.

    Clients of the roles ``strangers`` keep to no order, and all are hostile; see `load_with_strangers`.
    """

    def __init__(self, spec: Spec, rules: Mapping[str, ModuleType], strangers: frozenset[str] = frozenset()) -> None:
        self._strangers = strangers
        self._campaign = Campaign(spec, rules)
        self._spec = spec
        self._counted = seats(spec) is not None

    def play(self, seed: int) -> tuple[HostileGame, list[Failure]]:
        """Play one game, which follows from the seed alone; return it, and what was wrong with it.

        A game that does not come to its end is wrong, too: of the code A601.
        """
        chance = Random(derived_seed(seed, self._spec.protocol))
        room = seats(self._spec) or Range(1, CLIENTS)
        clients = chance.randint(max(1, room.low), max(1, min(room.high, CLIENTS_MAX, len(NAMES))))
        players = chance.choice(("own", "curious"))
        scene = GameScenario("some are hostile", clients, players, lonely=True)  # type: ignore[arg-type]
        oracle = Oracle(scene, seed, counted=self._counted)
        programs = self._campaign.programs[False]
        game = HostileGame(self._spec, programs, oracle, seed=derived_seed(seed, "game"))
        game.chance = chance
        least = clients if self._strangers else 1
        game.hostile = frozenset(chance.sample(range(clients), chance.randint(least, clients)))
        game.strangers = self._strangers
        game.calm_max = None if chance.random() < TO_THE_END else AFTER_MAX
        self._campaign.invite(game, scene, seed)
        assert callers(self._spec), "somebody connects"
        try:
            game.play()
            oracle.finish(game)
        except EndlessError as error:
            oracle.endless(game, str(error))
        return game, oracle.found
