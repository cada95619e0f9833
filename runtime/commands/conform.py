"""``accord conform``: whether a program that others wrote keeps to its role."""

from __future__ import annotations

import shlex
import shutil
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache, partial
from math import inf, isfinite
from pathlib import Path
from types import ModuleType
from typing import Annotated, Final, Literal

import anyio
from cyclopts import Parameter

from machines.analysis.call_graph import kind
from machines.conforming.cases import Case, cases
from machines.conforming.overhearing import callers_of, why_not_followed
from machines.conforming.requirements import EVENT_OF, Requirement, requirements
from machines.conforming.role_knowledge import RoleKnowledge
from machines.engine.session import Program
from machines.model import Name, Spec
from machines.parser.loader import rules_modules
from machines.parser.settings import apply_settings
from machines.problems import near
from machines.values import Range
from runtime.commands.backends import run as run_loop
from runtime.commands.conform_reports import ConformanceReport, exit_code, written
from runtime.commands.exit_codes import OK, UNDETERMINED, CommandError
from runtime.commands.known_fails import excused, known_fails
from runtime.commands.match_setup import fix_seats, seats_filled_again, seats_of
from runtime.commands.options import (
    BackendOption,
    Json,
    Rules,
    Settings,
    SpecName,
    address_of,
    loaded,
    of_ours,
    settings_of,
)
from runtime.conforming.actors import Casting, OwnDecider
from runtime.conforming.campaigning import AT_ONCE, BUDGET_SECONDS, CaseCampaign
from runtime.conforming.case_setting import CaseSetting
from runtime.process.output import note, put
from runtime.simulation.campaign import Campaign
from runtime.simulation.scenarios import GameScenario

LONGEST_SECONDS: Final = 12.0
OUR_PATIENCE: Final = 6  # as many times as long do our sessions wait
MANY_CLIENTS: Final = 6  # of a server that begins at once when its seats are taken
Format = Literal["text", "json", "junit", "csv"]


@dataclass(frozen=True, slots=True)
class Whom:
    """The program that is asked about: how it is started, or where it is."""

    command: str
    address: tuple[str, int] | None
    shown: str  # the options that say so, for a command line
    between: str | None = None
    is_bot: bool = False  # behind a client of ours


@Parameter(name="*")
@dataclass(frozen=True, slots=True)
class AskedProgram:
    """Which program is asked about."""

    run: Annotated[
        str | None,
        Parameter(help="The command that starts it; {host} and {port} are where to connect to, or to listen on."),
    ] = None
    at: Annotated[str | None, Parameter(help="HOST:PORT of a program that listens already.")] = None
    exec_: Annotated[
        str | None, Parameter(name="--exec", help="A bot that speaks lines of JSON, as exec: players do.")
    ] = None
    between: Annotated[str | None, Parameter(help="With --at: a command that resets it before each case.")] = None


@Parameter(name="*")
@dataclass(frozen=True, slots=True)
class Telling:
    """How it is told."""

    known: Annotated[Path | None, Parameter(help="A YAML file of fails that are known.")] = None
    format_: Annotated[Format, Parameter(name="--format", help="What the report is written as.")] = "text"
    out: Annotated[Path | None, Parameter(name=["-o", "--out"], help="Write the report to this file.")] = None
    html: Annotated[Path | None, Parameter(help="Write one page of HTML too.")] = None
    json: Json = False


@Parameter(name="*")
@dataclass(frozen=True, slots=True)
class Pacing:
    """How many cases there are, and how long they take."""

    seed: Annotated[int, Parameter(help="What chance depends on: the same seed, the same cases.")] = 7
    seeds: Annotated[int, Parameter(help="How many games are played from each seat.")] = 2
    grace: Annotated[float, Parameter(help="Seconds that it may be later than its limits.")] = 1.0
    longest: Annotated[float, Parameter(help="Limits of so many seconds at most are waited for.")] = LONGEST_SECONDS
    at_once: Annotated[int, Parameter(name=["--jobs", "-j"], help="Cases that run at once.")] = AT_ONCE
    budget: Annotated[float, Parameter(help="Seconds in all; what was not come to by then is open.")] = BUDGET_SECONDS
    backend: BackendOption = "asyncio"


def conform(
    spec: SpecName,
    role: Annotated[str, Parameter(help="The role that the program plays.")],
    /,
    *,
    program: AskedProgram = AskedProgram(),
    list_: Annotated[bool, Parameter(name="--list", help="List the requirements, and run nothing.")] = False,
    only: Annotated[
        list[str],
        Parameter(name=["--only"], negative=(), help="Only requirements of this id, * for anything; ID@CASE: a case."),
    ] = [],  # noqa: B006 (cyclopts makes a new list)
    telling: Telling = Telling(),
    pacing: Pacing = Pacing(),
    settings: Settings = [],  # noqa: B006
    rules: Rules = [],  # noqa: B006
) -> int:
    """Say whether a program keeps to its role: Accord plays all others, and judges what it says.

    Each sentence of the spec about the role passes, fails, with the shortest way there, the bytes and the line, or is
    open: it was never come to. A fail is confirmed by two more runs. --set says what limits the program has.

    Exit code 0 if every must passes, 1 if one fails, 3 if one is open or no case ran.
    """
    overridden = settings_of(settings)
    loaded_spec = loaded(spec, overridden, rules)
    asked = Question(loaded_spec, role, overridden, rules_modules(loaded_spec, rules))
    wanted = requirements(loaded_spec, role)
    chosen, exact = _chosen(wanted, only)
    if only and not chosen:
        note(f"no requirement of {role} is called {' or '.join(only)}: accord conform {spec} {role} --list")
        return UNDETERMINED
    if list_:
        for one in chosen:
            put(f"{one.id:<48} {one.of:<12} {one.place}")
        return OK
    whom = _whom(spec, role, program, overridden, rules)
    if whom.address is not None and not asked.listens:
        raise CommandError(f"{role} of {spec} connects to others and is at no address: --run starts it")
    _check_pacing(pacing)
    return _asked(asked, whom, chosen if only else wanted, exact, telling, pacing, spec)


def _check_pacing(pacing: Pacing) -> None:
    for option, seconds in (("--grace", pacing.grace), ("--longest", pacing.longest), ("--budget", pacing.budget)):
        if not (isfinite(seconds) and seconds > 0):
            raise CommandError(f"{option} {seconds:g} is not a number of seconds above 0")
    for option, count in (("--seeds", pacing.seeds), ("--jobs", pacing.at_once)):
        if count < 1:
            raise CommandError(f"{option} {count} is less than 1")


def _asked(
    asked: Question,
    whom: Whom,
    chosen: Sequence[Requirement],
    exact: Sequence[Case],
    telling: Telling,
    pacing: Pacing,
    spec: str,
) -> int:
    """Run what is asked for, tell of it, and return the exit code."""
    excuses = known_fails(telling.known) if telling.known is not None else {}
    needed = [one for one in chosen if one.id not in excuses or not excuses[one.id].skip]
    listed = exact or asked.cases(needed, pacing.seed, longest=pacing.longest, seeds=pacing.seeds)
    one_by_one = whom.address is not None and not asked.is_per_connection  # it is one program for all cases
    campaign = CaseCampaign(
        asked.setting(whom, pacing.grace),
        chosen,
        at_once=1 if one_by_one else pacing.at_once,
        between=partial(_reset, whom.between) if whom.between else None,
        budget=pacing.budget,
        searches=not exact,
    )
    began = time.monotonic()
    found = excused(run_loop(partial(campaign.run, listed), pacing.backend), excuses)
    report = ConformanceReport(spec, whom.shown, found, pacing.seed, time.monotonic() - began)
    written(report, "json" if telling.json else telling.format_, telling.out, telling.html)
    return exit_code(found)


class Question:
    """A role of a spec that is asked about: who plays against it, and how many."""

    def __init__(self, spec: Spec, role: str, settings: Mapping[str, str], rules: Mapping[str, ModuleType]) -> None:
        if role in spec.foreign:
            raise CommandError(f"{role} of {spec.protocol} is foreign: the spec does not say what it has to do")
        spec = of_ours(spec, "accord conform")
        if role not in spec.roles:
            raise CommandError(
                f"{spec.protocol} has no role {role!r}: {near(role, spec.roles) or ', '.join(spec.roles)}"
            )
        self.spec, self.role, self._rules = spec, role, rules
        listeners = spec.listeners()
        self.listens = role in listeners
        why = why_not_followed(spec, role, alone=True) if self.listens else why_not_followed_client(spec, role)
        if why:
            raise CommandError(f"{role} of {spec.protocol} cannot be judged: {why}")
        callers = callers_of(spec, role) if self.listens else (role,)
        self.client = next(iter(callers))
        self.is_per_connection = bool(spec.roles[role].machines["main"].parameters)
        self._host = self._seating()
        host = spec.roles[self._host] if self._host else None
        room = seats_of(spec, host) or seats_filled_again(spec, host) if host is not None else None
        self.room = room if room is not None else Range(1, 1)
        self._campaign = Campaign(spec, rules)
        self.programs = cache(self._programs)
        self.knowledge = cache(self._knowledge)

    def _seating(self) -> str:
        """Return the role that gives seats to those who play, be it the one asked about; empty if none does."""
        if self.listens and not self.is_per_connection:
            return self.role
        targets = [one for one in self.spec.connects[self.client] if one != self.role]
        return next((one for one in targets if not self.spec.roles[one].machines["main"].parameters), "")

    def cases(self, wanted: Sequence[Requirement], seed: int, *, longest: float, seeds: int) -> tuple[Case, ...]:
        """Return the cases that tell of some requirements."""
        low, high = self.room.low, self.room.high
        if self.listens and not self.is_per_connection:
            low = high if high <= MANY_CLIENTS else low  # who waits for more would have us wait as long
            high = low
        listed = cases(self.spec, self.role, low, high, seed, longest=longest, seeds=seeds)
        ids = {one.id for one in wanted}
        plain = any(one.of != "broken peer" for one in wanted)
        return tuple(
            case
            for case in listed
            if (f"{self.role}/{case.state}/{EVENT_OF[case.deed]}" in ids if case.deed else plain)
        )

    def setting(self, whom: Whom, grace: float) -> CaseSetting:
        """Return what all cases share."""
        return CaseSetting(
            self.spec,
            self.role,
            lambda case: self.programs(case.clients),
            self.knowledge,
            self._casting(),
            self.client,
            command=whom.command,
            address=whom.address,
            grace=grace,
            is_bot=whom.is_bot,
        )

    def _programs(self, clients: int) -> dict[str, Program]:
        """Return our roles, with seats for so many."""
        spec = self.spec
        if self._host not in ("", self.role):
            spec = apply_settings(spec, fix_seats(spec, spec.roles[self._host], clients))
        spec = apply_settings(spec, patient(spec, self.role))
        return {role: Program(spec, role, self._rules) for role in spec.roles}

    def _knowledge(self, case: Case) -> RoleKnowledge:
        return self._known(case.clients if self.listens else 1)

    @cache  # noqa: B019 (as long as the command)
    def _known(self, seats: int) -> RoleKnowledge:
        return RoleKnowledge(Program(self.spec, self.role, self._rules), self._rules, seats)

    def _casting(self) -> Casting:
        campaign = self._campaign

        def made(role: str, name: str, seat: int, seed: int) -> OwnDecider:
            scene = GameScenario("everybody is good", max(1, self.room.low))
            return campaign.player(scene, role, name, seat, seed)

        return made


def patient(spec: Spec, role: str) -> dict[str, str]:
    """Return settings with which all others wait longer for a role, so that it is judged by its own limits."""
    own: set[str] = set()
    others: set[str] = set()
    for one in spec.roles.values():
        for machine in one.machines.values():
            limits = [state.within for state in machine.states.values() if kind(state) == "wait"]
            limits += [machine.always.within] if machine.always is not None else []
            (own if one.name == role else others).update(each.name for each in limits if isinstance(each, Name))
    found = {}
    for name in others - own:
        value = spec.settings[name].value if name in spec.settings else None
        if isinstance(value, int | float) and 1 <= value < inf:
            found[name] = f"{value * OUR_PATIENCE:g} s"
    return found


def why_not_followed_client(spec: Spec, role: str) -> str:
    """Return why a role that connects cannot be judged; empty if it can: all whom it connects to are ours."""
    if callers_of(spec, role):
        return "it listens and connects"
    return "" if spec.connects.get(role) else "nobody talks with it"


def _whom(spec: str, role: str, program: AskedProgram, settings: Mapping[str, str], rules: Sequence[str]) -> Whom:
    given = [one for one in (program.run, program.at, program.exec_) if one is not None]
    if len(given) != 1:
        raise CommandError("say which program: one of --run COMMAND, --at HOST:PORT, --exec COMMAND")
    if program.between is not None and program.at is None:
        raise CommandError("--between goes with --at: a program that --run starts is new in each case")
    options = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
    options += [word for name in rules for word in ("--rules", name)]
    more = f" {shlex.join(options)}" if options else ""
    if program.run is not None:
        _check_command("--run", program.run)
        return Whom(program.run, None, f"--run {shlex.quote(program.run)}{more}")
    if program.at is not None:
        return Whom("", address_of(program.at, what="--at"), f"--at {program.at}{more}", program.between)
    assert program.exec_ is not None, "it is the one that was given"
    _check_command("--exec", program.exec_)
    words = [sys.executable, "-m", "runtime", "join", spec, "{host}:{port}", "--role", role, "--name", "bot"]
    words += ["--player", f"exec:{program.exec_}", "--no-journal", *options]
    return Whom(shlex.join(words), None, f"--exec {shlex.quote(program.exec_)}{more}", is_bot=True)


def _check_command(option: str, command: str) -> None:
    """Refuse a command that cannot be started; what can only be known once it is, its cases tell.

    Raises:
        CommandError: it is no command, or there is no such program.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise CommandError(f"{option} {command!r} is no command: {str(error).lower()}") from None
    if not words:
        raise CommandError(f"{option} is empty: it is the command that starts the program")
    if shutil.which(words[0]) is None:
        raise CommandError(f"{option}: there is no program {words[0]!r}, or it may not be run")


def _chosen(wanted: Sequence[Requirement], only: Sequence[str]) -> tuple[list[Requirement], tuple[Case, ...]]:
    """Return the requirements that are asked for, and the cases that are named."""
    exact = []
    found: dict[str, Requirement] = {}
    for text in only or ["*"]:
        pattern, at, named = text.partition("@")
        case = Case.parse(named)
        if at and case is None:
            raise CommandError(f"--only {text}: {named!r} is no case, as of3,seat1,seed7 is")
        if case is not None:
            exact.append(case)
        found |= {one.id: one for one in wanted if fnmatchcase(one.id, pattern)}
    return list(found.values()), tuple(exact)


async def _reset(command: str) -> None:
    found = await anyio.run_process(shlex.split(command), check=False)
    if found.returncode:
        raise CommandError(f"--between ended with exit code {found.returncode}")
