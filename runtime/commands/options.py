"""Options that several commands share, and the loading of a spec that they name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from machines.engine.violations import EVIDENCE_BYTES
from machines.model import Spec
from machines.parser.loader import SpecNotFound, allowed_rules, load, named_rules, rules_modules, shipped
from machines.problems import SpecError, near
from runtime.commands.exit_codes import CommandError
from runtime.process.import_path import add_working_folder
from runtime.process.packages import pages_can_be_served

if TYPE_CHECKING:  # a check runs nothing
    from machines.engine.compiler import Program

TOKEN_BYTES_MAX: Final = 200
WORKERS_MAX: Final = 256  # processes in which strategies think

SpecName = Annotated[str, Parameter(help="The name of a shipped spec, or a path.")]
Json = Annotated[bool, Parameter(name="--json", help="Write one JSON object to standard output.")]
Workers = Annotated[
    int, Parameter(help="Processes in which strategies think, so that several cores are used; 0: in this one.")
]
Settings = Annotated[
    list[str],
    Parameter(name=["--set"], help="Override a setting, as in --set 'reply=2 s'; may be given again.", negative=()),
]
Answers = Annotated[
    list[str],
    Parameter(
        name=["--answer"],
        help="QUESTION=JSON or QUESTION=@FILE (JSON or YAML): a question is always answered with this message, and no "
        "player is asked; may be given again. Thus --answer map=@my_map.json plays trains on a map of one's own.",
        negative=(),
    ),
]
Kinds = Annotated[
    list[str],
    Parameter(
        name=["--player"],
        negative=(),
        help="Who decides for a player: a kind that accord show SPEC lists, exec:COMMAND, python:MODULE:CLASS or "
        "human; with NAME= before it under that name, as in ann=exec:./bot. May be given again, for one player after "
        "another; the rest are of the game's own choice.",
    ),
]
Players = Annotated[int | None, Parameter(help="How many play; as few as the game allows if left out.")]
PlayersRole = Annotated[str | None, Parameter(name="--role", help="The players' role, if several connect.")]
Role = Annotated[str | None, Parameter(help="The role to run; the first that fits if left out.")]
To = Annotated[
    list[str],
    Parameter(name=["--to"], help="ROLE=HOST:PORT of a further role that this one connects to.", negative=()),
]
Rules = Annotated[
    list[str],
    Parameter(name=["--rules"], help="Allow a module of rules that is not shipped; this runs its code.", negative=()),
]


@Parameter(name="*")
@dataclass(frozen=True, slots=True)
class SpecOptions:
    """What is said of a spec besides its name: values of its settings, and modules of rules that it may run."""

    settings: Settings = field(default_factory=list)
    rules: Rules = field(default_factory=list)


Backend = Literal["asyncio", "trio", "uvloop"]
BackendOption = Annotated[Backend, Parameter(help="The event loop.")]
PlayerFoldersPath = Annotated[
    Path | None,
    Parameter(
        name="--player-folders",
        help="A new folder, in which each player gets one: all it was sent and said, its board, its standard error, "
        "why it lost.",
    ),
]
Seed = Annotated[int | None, Parameter(help="What chance depends on; drawn and reported if left out.")]
Level = Annotated[
    Literal["debug", "info", "warning", "error"], Parameter(name="--log", help="What is logged to standard error.")
]
Evidence = Annotated[
    int,
    Parameter(
        name="--evidence",
        help="How many bytes are shown of a message that was a fault; 1024 at the most.",
        validator=Number(gte=0, lte=EVIDENCE_BYTES),
    ),
]
LogJson = Annotated[bool, Parameter(name="--log-json", help="Log as JSON Lines.")]

PORT_MAX = 65535
SEED_MAX = (1 << 63) - 1  # A seed is a value of the spec language, which has 64 bits.


def settings_of(given: Sequence[str]) -> dict[str, str]:
    """Return settings given as ``name=value`` by name.

    Raises:
        CommandError: one has no equals sign, or a name is given twice.
    """
    found: dict[str, str] = {}
    for text in given:
        name, equals, value = text.partition("=")
        name = name.strip()
        if not equals or not name:
            raise CommandError(f"--set {text!r} is not of the form name=value, as in --set 'reply=2 s'")
        if name in found:
            raise CommandError(f"the setting {name!r} is given twice")
        found[name] = value.strip()
    return found


def seed_of(given: int | None) -> int:
    """Return the seed given, or a new one of up to nine digits, short enough to be typed again.

    Raises:
        CommandError: it is negative or beyond 64 bits.
    """
    if given is None:
        from random import SystemRandom

        return SystemRandom().randrange(1_000_000_000)
    if not 0 <= given <= SEED_MAX:
        raise CommandError(f"--seed {given} is not within 0..{SEED_MAX}")
    return given


def program(spec: Spec, role: str, rules: Sequence[str]) -> Program:
    """Return a role compiled, with its rules imported.

    Raises:
        RulesError, SpecError: a module cannot be imported, or lacks what the spec calls.
    """
    from machines.engine.compiler import Program

    return Program(spec, role, rules_modules(spec, rules))


def is_spec(name: str) -> None:
    """Make sure that a name may be that of a spec.

    Raises:
        SpecNotFound: it is that of a directory.
    """
    if name not in shipped():
        with suppress(OSError, ValueError):  # what is no path at all is told of when it is looked for
            if name and Path(name).is_dir():
                raise SpecNotFound(f"{name} is a directory: name the YAML file of a spec, or a shipped one")


def are_modules(rules: Sequence[str]) -> None:
    """Make sure that each module allowed with ``--rules`` is there, if only in the present folder.

    This imports the packages that they are in.

    Raises:
        CommandError: there is none of that name, or a package that one is in cannot be imported.
    """
    if rules:
        add_working_folder()
    for name in rules:
        try:
            found = find_spec(name) is not None
        except (ImportError, ValueError):  # its package is missing; it is no name
            found = False
        except (Exception, SystemExit) as error:  # whatever a package does when it is imported
            fault = f"{type(error).__name__}: {error}".rstrip(": ")
            raise CommandError(f"--rules {name}: the package that it is in cannot be imported: {fault}") from error
        if not found:
            raise CommandError(f"--rules {name}: there is no Python module of that name here")


def loaded(name: str, settings: Mapping[str, str], rules: Sequence[str]) -> Spec:
    """Return a spec that has no problems; what is wrong with one is told as ``accord check`` would.

    Raises:
        CommandError: a module of ``rules`` is not there.
        SpecError, SpecNotFound, SettingError, RulesError: see `machines.parser.loader.load` and
            `machines.checks.check_for_run`.
    """
    from machines.checks import check_for_run

    is_spec(name)
    are_modules(rules)
    spec = load(name, settings, rules)
    problems = tuple(check_for_run(spec, rules_modules(spec, rules), settings))
    if problems:
        raise SpecError(problems)
    return spec


def looked_at(name: str, rules: Sequence[str] = ()) -> Spec:
    """Return a spec to be told of or drawn: its rules modules may be missing, for nothing of them is imported.

    Raises:
        SpecError, SpecNotFound: see `machines.parser.loader.load`.
    """
    is_spec(name)
    return load(name, rules=[*rules, *missing_rules(name)])


def are_apart(names: Sequence[str], specs: Sequence[Spec]) -> None:
    """Make sure that no two specs write files of the same names; ``names`` are what they are called by here.

    Raises:
        CommandError: two have the same name of protocol, or names that are the same on some file systems.
    """
    from diagrams.rendering.labels import stem

    first: dict[str, str] = {}
    for name, spec in zip(names, specs, strict=True):
        other = first.setdefault(stem(spec.protocol).lower(), name)
        if other != name:
            raise CommandError(
                f"{other} and {name} would write the same files, {stem(spec.protocol)}...: write each into a folder of "
                "its own with -o"
            )


def missing_rules(name: str) -> list[str]:
    """Return the rules modules that a spec, or one it extends, names and that are not allowed here."""
    allowed = allowed_rules()
    return [rules for rules in named_rules(name) if rules not in allowed]


def of_ours(spec: Spec, does: str) -> Spec:
    """Return a spec without the foreign clients, which need not come; ``does`` says what plays all roles, for people.

    Raises:
        CommandError: a foreign role has to be there: ours connects to it, or no client is ours.
    """
    needed = any(name in spec.foreign for targets in spec.connects.values() for name in targets)
    if spec.foreign and (needed or all(name in spec.foreign for name in spec.connects)):
        who = " and ".join(spec.foreign)
        raise CommandError(
            f"{does} needs all roles of {spec.protocol}, and only programs of others play {who} (foreign): run "
            f"{' or '.join(spec.roles)} with accord {'serve' if spec.listeners() else 'join'}, and try it by hand with "
            "accord try"
        )
    return spec.of_ours()


def chosen_role(spec: Spec, given: str | None, fit: Sequence[str], does: str) -> str:
    """Return the role given, or the first of those that fit; ``does`` says what a fitting role does, for people.

    Raises:
        CommandError: the role does not exist or does not fit, or none fits.
    """
    fit = [role for role in fit if role not in spec.foreign]
    if given is None:
        if not fit:
            raise CommandError(f"{spec.protocol} has no role that {does}")
        return fit[0]
    if given in spec.foreign:
        raise CommandError(f"the role {given!r} of {spec.protocol} is foreign: only programs of others play it")
    if given not in spec.roles:
        raise CommandError(f"{spec.protocol} has no role {given!r}: {near(given, spec.roles) or ', '.join(spec.roles)}")
    if given not in fit:
        raise CommandError(f"the role {given!r} of {spec.protocol} is none that {does}: {', '.join(fit) or 'none is'}")
    return given


def token_in(file: Path) -> str:
    """Return the token that a file has: one line of ASCII, without blanks.

    Raises:
        CommandError: it can not be read, or is none.
    """
    try:
        with file.open(encoding="ascii") as opened:
            found = opened.read(TOKEN_BYTES_MAX + 1).strip()
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{file}: this token cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if not found or len(found) > TOKEN_BYTES_MAX or len(found.split()) > 1:
        raise CommandError(f"{file} has no token: one line of 1 to {TOKEN_BYTES_MAX} characters without blanks")
    return found


def address_of(text: str, *, what: str = "the address") -> tuple[str, int]:
    """Return host and port of ``HOST:PORT``; an IPv6 host stands in brackets.

    Raises:
        CommandError: it is not of that form.
    """
    host, colon, port = text.rpartition(":")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif ":" in host:
        colon = ""  # an IPv6 address without brackets: nobody can tell where its port begins
    if not colon or not host or not (port.isascii() and port.isdecimal()):
        raise CommandError(f"{what} {text!r} is not of the form HOST:PORT, as in 127.0.0.1:8000")
    if len(port.lstrip("0")) > len(str(PORT_MAX)) or not 1 <= int(port) <= PORT_MAX:
        raise CommandError(f"{what} {text!r} has a port that is none: they go from 1 to {PORT_MAX}")
    return host, int(port)


def addresses_of(given: Sequence[str], targets: Sequence[str]) -> dict[str, tuple[str, int]]:
    """Return addresses given as ``role=HOST:PORT`` by role; ``targets`` are the roles one connects to.

    Raises:
        CommandError: one is not of that form, or names a role that is not connected to.
    """
    found = {}
    for text in given:
        role, equals, where = text.partition("=")
        if not equals:
            raise CommandError(f"--to {text!r} is not of the form ROLE=HOST:PORT")
        if role not in targets:
            raise CommandError(
                f"--to {text!r}: nothing connects to {role!r} here, only to {', '.join(targets) or 'none'}"
            )
        found[role] = address_of(where, what=f"the address of {role}")
    return found


def shown_address(host: str, port: int) -> str:
    """Return ``HOST:PORT`` as ``address_of`` reads it."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def pages_are_there(otherwise: str) -> None:
    """Refuse to go on where the packages that serve pages are not installed; ``otherwise`` is what needs none.

    Raises:
        CommandError: they are not.
    """
    if not pages_can_be_served():
        raise CommandError(f"the pages need the extra 'web': pip install 'accord[web]' ({otherwise})")


def check_workers(count: int) -> None:
    """Make sure that there may be so many processes for strategies.

    Raises:
        CommandError: there may not.
    """
    if not 0 <= count <= WORKERS_MAX:
        raise CommandError(f"--workers {count} is not within 0..{WORKERS_MAX}")
