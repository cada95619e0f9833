"""All games of a spec: `run_campaign` plays each scene with each seed, and returns what was wrong and what was said."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any, Final, Protocol

from machines.effects import Send
from machines.engine.session import Program
from machines.messages.bodies import MessageCodec
from machines.model import Spec
from machines.values import plain
from runtime.players.seeds import derived_seed
from runtime.simulation.cycle_detection import AnswerCoverage
from runtime.simulation.judged_game import JudgedActor, JudgedGame, Sent
from runtime.simulation.network import EndlessError
from runtime.simulation.oracle import Failure, Oracle, once
from runtime.simulation.reach import Reach, Taken, reach
from runtime.simulation.scenarios import (
    CULPRIT,
    GameScenario,
    Players,
    callers,
    counted_doors,
    latecomers,
    questions,
    scenes,
    seats,
    small,
)
from runtime.simulation.strategies import (
    LONG,
    SHORT,
    ClientPlayer,
    FuzzingPlayer,
    Strategy,
    StrategySet,
    Words,
    farewells,
    hears_an_end,
)

ENDLESS_MAX: Final = 3  # games without an end after which no more are played
LATE: Final = 100  # the seat of who has no part in the sign-up


End = tuple[str, Any]  # (failed or returned, what)


@dataclass(frozen=True, slots=True)
class RunLog:
    """What was said in a game: of each actor, by name, its messages, and of those that ended how.

    ``unended`` says why it was given up before its end, and ``bounded`` that this was a bound of the game and not of
    its players. ``seated`` says that it came beyond its sign-up, if that is counted.
    """

    scene: str
    seed: int
    actors: Mapping[str, tuple[Sent, ...]]
    ends: Mapping[str, End]
    unended: str = ""
    bounded: bool = False
    seated: bool = True


@dataclass(frozen=True, slots=True)
class CampaignResult:
    """What came of all games: how many there were, what is wrong, their courses, how far they came.

    ``unknown`` says why it is not known how they all go.
    """

    games: int
    troubles: tuple[Failure, ...]
    courses: tuple[RunLog, ...]
    reached: Reach
    random: bool = False  # whether no strategy played that knows the rules
    unknown: tuple[str, ...] = ()


class Host(Protocol):
    """A game that clients may come to."""

    def invite(
        self, role: str, name: str, seat: int, decider: ClientPlayer, *, at: float = 0.0, late: bool = False
    ) -> None:
        """Let a client come when it is ``at``; with ``late`` it comes once the sign-ups are shut."""


class Campaign:
    """What all games of a spec share: its roles compiled, its strategies, its scenes.

    ``specs`` are other specs for some roles, that speak the same protocol. Each bound of a game is ``longer`` times as
    high. ``strategies``, by name, play in the place of those of the spec's game.
    """

    def __init__(
        self,
        spec: Spec,
        rules: Mapping[str, ModuleType],
        specs: Mapping[str, Spec] = {},
        longer: int = 1,
        strategies: Mapping[str, Strategy] = {},
    ) -> None:
        spec = spec.of_ours()  # foreign clients do not come
        self.spec = spec
        self.taken: set[tuple[str, Taken]] = set()  # by all games so far
        self.stopped = ""  # why no more games were played
        self._longer = longer
        self.cast = StrategySet(spec, strategies)
        self.last = {role: farewells(spec, role) for role in spec.roles}
        self.scenes = tuple(scenes(spec, self.cast))
        self._words = Words(spec)
        self._shapes: dict[str, MessageCodec] = {}
        self._plain: dict[tuple[int, str, str], JudgedGame] = {}  # games without a deed, by seed and players
        # Who plays where somebody does a deed: of these the first with whom there is an occasion.
        self._ways: list[tuple[Players, str]] = [("own", "")]
        if self.cast.fair:
            self._ways += [("curious", ""), *[("other", kind) for kind in self.cast.others]]
        self._counted = seats(spec) is not None
        self._ends = {role: self._counted or hears_an_end(spec, role) for role in callers(spec)}
        self._doors = any(counted_doors(spec))
        own = {role: specs.get(role, spec) for role in spec.roles}
        self.programs = {False: {role: Program(one, role, rules) for role, one in own.items()}}
        if small(spec) is not None:
            self.programs[True] = {role: Program(small(one) or one, role, rules) for role, one in own.items()}

    @property
    def plays_at_random(self) -> bool:
        """Whether players decide, and none of them knows the rules."""
        return not self.cast.fair and any(True for role in self.spec.roles for _ in questions(self.spec, role))

    def play(self, scene: GameScenario, seed: int) -> tuple[RunLog | None, list[Failure]]:
        """Play one game; without a course if what is amiss in it never came to pass."""
        script: Sequence[Send] = ()
        if scene.deed is not None:
            ways = (replace(scene, players=players, kind=kind) for players, kind in self._ways)
            scene, who = next(((way, who) for way in ways if (who := self._who_can(way, seed))), (scene, []))
            if not who:
                return None, []
            script = who[0].spoken
        judge = Oracle(scene, seed, counted=self._counted)
        programs = self.programs[scene.small]
        ends = scene.deed is None and not scene.lonely and scene.players == "own"  # all play by the rules, to its end
        stage = JudgedGame(
            self.spec,
            programs,
            judge,
            seed=derived_seed(seed, "game"),
            deed=scene.deed,
            script=script,
            longer=self._longer,
            tried=AnswerCoverage(self.spec)
            if ends and not self.cast.fair
            else None,  # those who know the rules never tire
            slow=scene.slow,
        )
        self.invite(stage, scene, seed)
        bounded = False
        try:
            stage.play()
            judge.finish(stage)
        except EndlessError as error:
            if error.sure:
                judge.endless(stage, str(error))
            else:
                bounded = True
                stage.unended = str(error)
        if scene.deed is not None and not stage.deed_done:
            return None, []
        self.taken |= stage.taken
        course = _course(scene, seed, stage)
        unended = stage.unended if ends or bounded else ""
        return replace(course, unended=unended, bounded=bounded, seated=stage.seated or not self._doors), judge.found

    def _who_can(self, scene: GameScenario, seed: int) -> list[JudgedActor]:
        """Return who has an occasion for the deed of a scene: up to there the game is the same without it."""
        assert scene.deed is not None, "only a deed needs an occasion"
        return [actor for actor in self._unharmed(scene, seed).actors if actor.can_do(scene.deed)]

    def _unharmed(self, scene: GameScenario, seed: int) -> JudgedGame:
        key = seed, scene.players, scene.kind
        if key not in self._plain:
            judge = Oracle(scene, seed, counted=False)
            self._plain[key] = stage = JudgedGame(
                self.spec, self.programs[False], judge, seed=derived_seed(seed, "game")
            )
            self.invite(stage, scene, seed)
            with suppress(EndlessError):
                stage.play()
        return self._plain[key]

    def invite(self, stage: Host, scene: GameScenario, seed: int) -> None:
        """Let the clients of a scene come to a game, each with its player."""
        words = self._words.again()
        late = latecomers(self.spec)
        for role in callers(self.spec):
            if role in late:
                stage.invite(role, role, LATE, self._player(scene, role, role, LATE, seed, words), late=True)
                continue
            for at, name in enumerate(scene.names()):
                player = self._player(scene, role, name, at, seed, words)
                stage.invite(role, name, at, player, at=at * scene.apart)

    def player(self, scene: GameScenario, role: str, name: str, at: int, seed: int) -> ClientPlayer:
        """Return who decides for a client by itself, outside of the games that are played here."""
        return self._player(scene, role, name, at, seed, self._words.again())

    def _player(self, scene: GameScenario, role: str, name: str, at: int, seed: int, words: Words) -> ClientPlayer:
        kinds: tuple[str, ...] = ()
        if scene.players != "curious" and self.cast.fair:
            kinds = self.cast.for_seat(at, scene.kind if at == min(CULPRIT, scene.clients - 1) else "")
        own = derived_seed(seed, role, at)
        questions = LONG if scene.deed is None else SHORT
        longer = self._longer if scene.deed is None else 1
        curious = FuzzingPlayer(self.spec, own, self.last[role], words, questions, self._shapes, longer)
        return ClientPlayer(name, own, self.cast, kinds, curious, ends=self._ends.get(role, True))

    def games(self, seeds: int, lasts: Callable[[], bool] = lambda: True) -> Iterator[tuple[RunLog, list[Failure]]]:
        """Play every scene, ``seeds`` times each; yield the course of each game, and what was wrong with it.

        After ENDLESS_MAX games without an end no more are played: each of them takes its time. Nor are more played once
        ``lasts`` says that nothing is left of what they may cost.
        """
        endless = 0
        for seed in range(seeds):
            for scene in self.scenes:
                course, found = self.play(scene, seed)
                if course is None:
                    continue
                yield course, found
                endless += course.bounded or any(trouble.endless for trouble in found)
                if endless >= ENDLESS_MAX:
                    self.stopped = f"after {ENDLESS_MAX} games without an end no more were played"
                    return
                if not lasts():
                    self.stopped = "what they may cost was spent, and no more were played (--budget)"
                    return


def _course(scene: GameScenario, seed: int, stage: JudgedGame) -> RunLog:
    actors: dict[str, tuple[Sent, ...]] = {}
    ends: dict[str, End] = {}
    for number, actor in enumerate(stage.actors):
        name = actor.name if actor.name not in actors else f"{actor.name}#{number}"
        actors[name] = tuple(actor.sent)
        if actor.ended is not None:
            ends[name] = ("failed", None) if actor.ended.failed is not None else ("returned", plain(actor.ended.value))
    return RunLog(scene.name, seed, actors, ends)


def run_campaign(
    spec: Spec,
    rules: Mapping[str, ModuleType],
    seeds: int = 1,
    *,
    specs: Mapping[str, Spec] = {},
    longer: int = 1,
    lasts: Callable[[], bool] = lambda: True,
    strategies: Mapping[str, Strategy] = {},
) -> CampaignResult:
    """Play all games of a spec without problems, ``seeds`` times each.

    ``rules`` has the modules that it names; ``specs`` other specs for some roles, that speak the same protocol. Each
    bound of a game is ``longer`` times as high. ``strategies``, if any, are those who play, by name. The same spec and
    the same rules give the same rehearsal, as far as ``lasts`` lets it go on.
    """
    troubles: list[Failure] = []
    courses: list[RunLog] = []
    house = Campaign(spec, rules, specs, longer, strategies)
    for course, found in house.games(seeds, lasts):
        courses.append(course)
        troubles.extend(found)
    unknown = list(_unknown(house, courses))
    if house.stopped:
        unknown.append(house.stopped)
    reached = reach(house.spec, house.taken)
    return CampaignResult(
        len(courses), tuple(once(troubles)), tuple(courses), reached, house.plays_at_random, tuple(unknown)
    )


def _unknown(house: Campaign, courses: Sequence[RunLog]) -> Iterator[str]:
    """Yield why it is not known how games would go."""
    unended = [course for course in courses if course.unended]
    if unended:
        first, *more = unended
        others = f", and so with {len(more)} more game{'s' if len(more) > 1 else ''}" if more else ""
        yield (
            f"no end was seen when {first.scene} (seed {first.seed}){others}: {first.unended} "
            "(--longer 10 lets games go on 10 times as long)"
        )
    room = seats(house.spec)
    if courses and room is not None and not any(course.seated for course in courses):
        most = max(scene.clients for scene in house.scenes)
        yield (
            f"no game was seen: none of {len(courses)} came beyond its sign-up, which seats {room.low}..{room.high}, "
            f"and at most {most} clients came"
        )
