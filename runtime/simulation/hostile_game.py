"""Games in memory some of whose clients are hostile: what they send is drawn at random, from whatever may do harm.

A hostile client begins as an honest one, so that its session stands where the protocol leads; then something else may
become of each message that it is about to send: see `MISDEEDS`. Whom it meets must not fail, hang, or hold it against
anybody else: that is what the `Oracle` says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from types import ModuleType
from typing import Final

from machines.effects import Drop, Send
from machines.model import Spec
from machines.values import Range
from runtime.players.seeds import derived_seed
from runtime.simulation.campaign import Campaign
from runtime.simulation.judged_game import AFTER_MAX, JudgedActor, JudgedGame
from runtime.simulation.network import EndlessError
from runtime.simulation.oracle import Failure, Oracle
from runtime.simulation.scenarios import CLIENTS, NAMES, GameScenario, callers, seats

CHANCE: Final = 0.25  # that something else is sent instead of a message
CLIENTS_MAX: Final = 5
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


class HostileCampaign:
    """Plays games of one spec, with clients of its own players of whom at least one is hostile."""

    def __init__(self, spec: Spec, rules: Mapping[str, ModuleType]) -> None:
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
        game.hostile = frozenset(chance.sample(range(clients), chance.randint(1, clients)))
        game.calm_max = None if chance.random() < TO_THE_END else AFTER_MAX
        self._campaign.invite(game, scene, seed)
        assert callers(self._spec), "somebody connects"
        try:
            game.play()
            oracle.finish(game)
        except EndlessError as error:
            oracle.endless(game, str(error))
        return game, oracle.found
