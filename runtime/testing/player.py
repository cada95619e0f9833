"""Whether a player conforms: it answers each question with a message that may answer, in time, and the same again."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from types import ModuleType
from typing import Any

from machines.values import plain
from runtime.commands.match_setup import MatchSetup
from runtime.journal.losses import violation_text
from runtime.players.base import Arguments, DecisionError, EndlessAnswer, Player, RawAnswer, Vanish
from runtime.players.registry import open_player
from runtime.players.seeds import derived_seed
from runtime.players.wrapped import WrappedPlayer
from runtime.sessions.game_result import Participant
from runtime.sessions.match import play
from runtime.testing import expect
from runtime.testing.games import game_of

MakePlayer = Callable[..., AbstractAsyncContextManager[Player]]
"""Makes a player as `runtime.players.registry.open_player` does."""


async def check_player(
    spec: str,
    kind: str,
    *,
    rules: Sequence[str] = (),
    seeds: Iterable[int] = range(2),
    repeatable: bool = True,
    make_player: MakePlayer = open_player,
) -> int:
    """Hold a player to `runtime.players.base.Player` and to the rules of its game; return how often it was asked.

    It plays whole games of a spec over loopback TCP, on the event loop that runs, one with each seed, against players
    of the game's own choice. ``kind`` is one that ``--player`` takes; with a ``make_player`` of one's own, any word.
    With ``repeatable`` each game is played twice, and the player must decide the same.

    Raises:
        NonconformanceError: it does not conform.
        CommandError, SpecError, SpecNotFound, RulesError, UnknownPlayerError: there is no such game or player.
    """
    asked = 0
    setup, modules = game_of(spec, [kind], rules)
    for seed in seeds:
        first = await _decisions(setup, modules, seed, make_player)
        asked += len(first)
        if repeatable:
            again = await _decisions(setup, modules, seed, make_player)
            differs = next((pair for pair in zip(first, again, strict=False) if pair[0] != pair[1]), None)
            expect(differs is None, f"with seed {seed} it decided {differs}: the same seed must give the same game")
    expect(asked > 0, f"{kind} was never asked anything: the games show nothing")
    return asked


async def _decisions(
    setup: MatchSetup, modules: Mapping[str, ModuleType], seed: int, make_player: MakePlayer
) -> list[Any]:
    """Return the questions of a game to its first player and the answers, in order."""
    name = setup.names[0]
    seats = [
        Participant(name, kind, derived_seed(seed, "player", index))
        for index, (name, kind) in enumerate(zip(setup.names, setup.kinds, strict=True))
    ]
    looked_at: list[WatchedPlayer] = []

    @asynccontextmanager
    async def made(kind: str, *, name: str, **how: Any) -> AsyncIterator[Player]:
        make = make_player if name == setup.names[0] else open_player
        async with make(kind, name=name, **how) as player:
            if name == setup.names[0]:
                looked_at.append(WatchedPlayer(player))
                yield looked_at[0]
            else:
                yield player

    result = await play(
        setup.spec, modules, seats, server=setup.server, client=setup.client, seed=seed, make_player=made
    )
    [player] = looked_at
    expect(not player.faults, f"with seed {seed}: {'; '.join(player.faults)}")
    for loss in result.losses:
        expect(loss.name != name, f"with seed {seed} it lost: {violation_text(loss.violation, name)}")
    failed = next((one.failed for one in result.players if one.name == name), None)
    expect(failed is None, f"with seed {seed} its client failed: {failed}")
    return player.decisions


class WatchedPlayer(WrappedPlayer):
    """A player, and what it did; ``faults`` are what a player may not do."""

    def __init__(self, player: Player) -> None:
        super().__init__(player)
        self.decisions: list[Any] = []
        self.faults: list[str] = []

    async def decide(
        self, question: str, arguments: Arguments, messages: tuple[str, ...], seconds: float | None
    ) -> Any:
        """See `Player.decide`."""
        try:
            answer = await super().decide(question, arguments, messages, seconds)
        except DecisionError as error:
            self.faults.append(f"{question}: it has no answer: {error}")
            raise
        except Exception as error:
            self.faults.append(f"{question}: it raised {type(error).__name__}, not DecisionError: {error}")
            raise
        self.decisions.append((question, plain(answer)))
        match answer:
            case RawAnswer() | EndlessAnswer() | Vanish():
                self.faults.append(f"{question}: it misbehaves: {type(answer).__name__}")
            case (str(message), Mapping()) if message not in messages:
                self.faults.append(f"{question}: it answered {message}, which is none of {', '.join(messages)}")
            case _:
                pass
        return answer

    def heard(self, message: str, fields: dict[str, Any]) -> None:
        """See `Player.heard`."""
        told: object = self._player.heard(message, fields)  # type: ignore[func-returns-value]
        if told is not None:
            self.faults.append(f"heard returned {told!r}: it returns None, at once")
