"""Who takes part in a run in one process: which roles, how many players, of which kind, under which names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from string import ascii_lowercase
from typing import Any

from machines.messages.shapes import Mismatch
from machines.messages.types import compile_type
from machines.model import (
    Accept,
    Attribute,
    Binary,
    Binding,
    Branch,
    Constant,
    Expression,
    Let,
    Name,
    Role,
    SendMessages,
    Spec,
    State,
    Step,
    Type,
)
from machines.parser.settings import apply_settings
from machines.values import Range
from runtime.commands.exit_codes import CommandError
from runtime.commands.options import of_ours
from runtime.players.registry import PERSONS, check_kind, default_kind
from runtime.sessions.topology import around, connections

PERSON_SECONDS = 300.0
PLAYERS_MAX = 100  # In one process; each has its own connections, tasks and thread.


@dataclass(frozen=True, slots=True)
class MatchSetup:
    """Who plays. ``kinds`` and ``names`` have an item a player, in the order in which they join.

    ``server`` is the role whose session is the game; ``listeners`` are all roles that listen, it included. ``spec`` has
    its seats narrowed to the players who come, and ``settings`` says how.
    """

    spec: Spec
    settings: Mapping[str, str]
    server: str
    listeners: tuple[str, ...]
    client: str
    kinds: tuple[str, ...]
    names: tuple[str, ...]


def cast(
    spec: Spec, settings: Mapping[str, str], players: int | None, kinds: Sequence[str], role: str | None
) -> MatchSetup:
    """Return who plays a spec.

    ``players`` None stands for as few as the game needs, as many as its seats where they are a number, or as many as
    there are ``kinds``, each a kind of player or NAME=KIND. The players for whom no kind is given are of the game's own
    choice. ``role`` is the role to play, if several connect.

    With a person among them there is time to think; see `relax_time_limits`.

    Raises:
        CommandError: the spec has no role for players or none that takes them in, or does not play with so many.
        UnknownPlayerError: there is no such player.
    """
    spec = of_ours(spec, "a whole game")
    client, server = _player_and_server(spec, role)
    taken = max(1, connections(spec, client, server))
    count = _player_count(spec, settings, client, server, taken, players, kinds)
    given, kinds = named(kinds)
    chosen = (*kinds, *[default_kind(spec)] * (count - len(kinds)))
    for kind in dict.fromkeys(chosen):
        check_kind(kind, spec)
    chosen_settings = {**settings, **fix_seats(spec, spec.roles[server], count * taken)}
    if not PERSONS.isdisjoint(chosen):
        chosen_settings |= relax_time_limits(spec, client, settings)
    return MatchSetup(
        spec=apply_settings(spec, chosen_settings),
        settings=chosen_settings,
        server=server,
        listeners=spec.listeners(),
        client=client,
        kinds=chosen,
        names=tuple(_all_names(spec, spec.roles[client], given, count)),
    )


def _player_and_server(spec: Spec, role: str | None) -> tuple[str, str]:
    """Return the players' role, the first that connects if none is given, and the one whose session is the game.

    Raises:
        CommandError: there are no such roles.
    """
    listeners = spec.listeners()
    connecting = tuple(name for name in spec.connects if name not in listeners)
    if not connecting or not listeners:
        raise CommandError(f"{spec.protocol} has no role that connects to one that listens, so nobody can play it")
    client = role or connecting[0]
    if client not in connecting:
        raise CommandError(f"the role {client!r} is none that connects: there is {', '.join(connecting)}")
    accepting = [name for name in listeners if not spec.roles[name].machines["main"].parameters]
    reached = reversed(around(spec, client))
    return client, next((name for name in (*spec.connects[client], *reached) if name in accepting), listeners[0])


def _player_count(
    spec: Spec,
    settings: Mapping[str, str],
    client: str,
    server: str,
    taken: int,
    players: int | None,
    kinds: Sequence[str],
) -> int:
    """Return how many play, where each has ``taken`` connections to the server.

    Raises:
        CommandError: the game is not played by so many, or they are too many for one process or too few for ``kinds``.
    """
    seats = seats_of(spec, spec.roles[server])
    if seats is not None and taken > 1:
        least, most = -(-seats.low // taken), seats.high // taken
        if least > most:
            raise CommandError(
                f"{spec.protocol} cannot be played: each {client} has {taken} connections to {server}, and its seats "
                f"are {seats.low}..{seats.high}"
            )
        seats = Range(least, most)
    table = seats_filled_again(spec, spec.roles[server])
    needed = seats or (Range(-(-table.low // taken), table.high) if table is not None else None)
    count = players if players is not None else max(len(kinds), needed.low if needed is not None else 2 // taken, 1)
    if players is not None and not 1 <= players <= PLAYERS_MAX:
        raise CommandError(f"--players {players} is not within 1..{PLAYERS_MAX}")
    if seats is not None and seats.low > PLAYERS_MAX:
        raise CommandError(
            f"{spec.protocol} is played by {seats.low} or more: its seats are {seats.low}..{seats.high}, and one "
            f"process has {PLAYERS_MAX} players at most"
        )
    if count > PLAYERS_MAX:
        raise CommandError(f"{len(kinds)} kinds of player are given, and one process has {PLAYERS_MAX} at most")
    if seats is not None and count not in seats:
        raise CommandError(f"{spec.protocol} is played by {seats.low} to {seats.high}, not by {count}")
    if seats is None and (fixed := _seats_not_narrowed(spec, spec.roles[server], settings)) > count * taken:
        raise CommandError(f"{spec.protocol} is played by {-(-fixed // taken)}, not by {count}: nobody else would come")
    if len(kinds) > count:
        raise CommandError(f"{len(kinds)} kinds of player are given for {count} players")
    return count


def named(players: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the names, empty where none is given, and the kinds of players that are each a kind or ``NAME=KIND``."""
    names, kinds = [], []
    for text in players:
        name, equals, kind = text.partition("=")
        if not equals or ":" in name:  # of the command of a program, or the text has no name
            name, kind = "", text
        elif not name:
            raise CommandError(f"--player {text!r} has no name before its '=': write NAME=KIND, or the kind alone")
        names.append(name)
        kinds.append(kind)
    return names, kinds


def _all_names(spec: Spec, client: Role, given: Sequence[str], count: int) -> list[str]:
    """Return the names given, and others where there is none."""
    for index, name in enumerate(given):
        if name:
            check_name(name, spec, client, what="--player")
            if name in given[:index]:
                raise CommandError(f"two players are called {name!r}: give each --player a name of its own")
    others = (name for name in names(spec, client, count + len(given)) if name not in given)
    return [*(name or next(others) for name in given), *(next(others) for _ in range(count - len(given)))]


def seats_of(spec: Spec, server: Role) -> Range | None:
    """Return how many may sit down, over all ``accept`` of the server's main machine; None if any number may."""
    ranges = [_range(spec, accept.seats) for accept in _accepts(server) if accept.seats is not None]
    known = [found for found in ranges if found is not None]
    if not known:
        return None
    return Range(min(found.low for found in known), max(found.high for found in known))


def seats_filled_again(spec: Spec, server: Role) -> Range | None:
    """Return the most that sit down at a time where the seats are a number; None if they are none."""
    counts = [count for accept in _accepts(server) if (count := _number(spec, accept.seats)) is not None]
    return Range(max(counts), max(counts)) if counts else None


def _seats_not_narrowed(spec: Spec, server: Role, given: Mapping[str, str]) -> int:
    """Return the largest number of seats that is written as such, or set by ``given``; 0 if there is none."""
    written = [accept.seats for accept in _accepts(server)]
    fixed = [seats for seats in written if not (isinstance(seats, Name) and seats.name not in given)]
    return max((count for seats in fixed if (count := _number(spec, seats)) is not None), default=0)


def fix_seats(spec: Spec, server: Role, count: int) -> dict[str, str]:
    """Return the settings, as text, with which nobody waits for more than ``count`` players.

    A range in ``seats: seats`` becomes ``count..count``. In ``seats: enough..most`` the upper end becomes ``count``,
    and so does the lower one if it is above; if that is no setting, as in ``5..most``, and above ``count``, the upper
    end is left alone. Nothing is narrowed that is no setting.
    """
    found: dict[str, str] = {}
    too_low: set[str] = set()
    for accept in _accepts(server):
        match accept.seats:
            case Name(name) if name in spec.settings:
                found[name] = f"{count}..{count}" if spec.settings[name].kind == "range" else str(count)
            case Binary("..", low, Name(name)) if name in spec.settings:
                least = _number(spec, low)
                if least is not None and least <= count:
                    found[name] = str(count)
                elif least is not None and isinstance(low, Name):
                    found[name] = found[low.name] = str(count)
                else:
                    too_low.add(name)  # another window may begin with fewer, but this one would be left without a range
            case _:
                pass
    return {name: value for name, value in found.items() if name not in too_low}


def relax_time_limits(spec: Spec, client: str, given: Mapping[str, str]) -> dict[str, str]:
    """Return the settings, as text, that give a person time: limits of a program's few seconds are too short.

    Those are the settings that limit a question to the player, or a call in which there is one, and another role's
    wait for an answer to one. The player is the client's, and that of the roles with a session for each connection
    that it connects to. None that is ``given`` already, and none that is long enough.
    """
    deciding = [client, *(name for name in spec.connects[client] if spec.roles[name].machines["main"].parameters)]
    asking = {name: _asking(spec.roles[name]) for name in deciding}
    answers = {
        message for states in asking.values() for state in states if state.ask for message in state.answers.receive
    }
    found: dict[str, str] = {}
    for role in sorted(spec.roles.values(), key=lambda role: role.name not in deciding):
        for state, limit in _limited(role):
            # The wait of another role is longer than the question, as it has to hold the journey there and back.
            seconds, text = (PERSON_SECONDS, "5 min") if role.name in deciding else (PERSON_SECONDS + 60, "6 min")
            asked = state in asking.get(role.name, ()) or not answers.isdisjoint(state.answers.receive)
            match limit:
                case Name(name) if asked and name in spec.settings and name not in given:
                    setting = spec.settings[name]
                    if setting.kind == "duration" and setting.value < seconds:
                        found[name] = text
                case _:
                    pass
    return found


def _limited(role: Role) -> Iterator[tuple[State, Expression]]:
    """Yield each state with its limit: its own, or each that an ``always`` around it may give it."""

    def around(name: str, inner: frozenset[str]) -> Iterator[Expression]:
        always = role.machines[name].always
        if always is not None and always.within is not None:
            yield always.within
            return
        for caller in role.machines.values():
            calls = any(state.run is not None and state.run.path == name for state in caller.states.values())
            if calls and caller.name not in inner:
                yield from around(caller.name, inner | {name})

    for machine in role.machines.values():
        general = list(around(machine.name, frozenset()))
        for state in machine.states.values():
            yield from ((state, limit) for limit in ([state.within] if state.within is not None else general))


def _asking(role: Role) -> list[State]:
    """Return the states of a role that ask its player, or call a machine in which it is asked."""
    machines: set[str] = set()
    while True:
        states = {
            name: [
                state
                for state in machine.states.values()
                if state.ask is not None or (state.run is not None and state.run.path in machines)
            ]
            for name, machine in role.machines.items()
        }
        grown = {name for name, found in states.items() if found}
        if grown == machines:
            return [state for found in states.values() for state in found]
        machines = grown


def _accepts(server: Role) -> Iterator[Accept]:
    for state in server.machines["main"].states.values():
        if state.accept is not None:
            yield state.accept


def _range(spec: Spec, seats: Expression | None) -> Range | None:
    match seats:
        case Name(name) if name in spec.settings:
            value = spec.settings[name].value
            if isinstance(value, Range):
                return value
            # A number of seats may be filled again and again: a lobby of tables. Then any number may come.
            return None
        case Binary("..", low, high):
            least, most = _number(spec, low), _number(spec, high)
            return Range(least, most) if least is not None and most is not None else None
        case _:
            return None


def _number(spec: Spec, expression: Expression | None) -> int | None:
    match expression:
        case Constant(int() as value) if not isinstance(value, bool):
            return value
        case Name(name) if name in spec.settings and spec.settings[name].kind == "int":
            number: int = spec.settings[name].value
            return number
        case _:
            return None


# -- names -------------------------------------------------------------------------------------------------------------


def names(spec: Spec, client: Role, count: int) -> list[str]:
    """Return names for players: player1, player2, …; playera, playerb, … if the spec wants letters alone.

    What it wants are the types of the fields in which the client sends ``my.name``.
    """
    shapes = [compile_type(wanted, spec.types) for wanted in _name_types(spec, client)]

    def fits(name: str) -> bool:
        try:
            for shape in shapes:
                shape.freeze(name)
        except Mismatch:
            return False
        return True

    numbered = [f"player{index + 1}" for index in range(count)]
    lettered = [f"player{_letters(index)}" for index in range(count)]
    short = [_letters(index) for index in range(count)]
    for family in (numbered, lettered, short):
        if all(map(fits, family)):
            return family
    return numbered  # The client will say which message they do not fit.


def _letters(index: int) -> str:
    """Return a, b, …, z, aa, ab, … for 0, 1, …"""
    text = ""
    index += 1
    while index:
        index, letter = divmod(index - 1, 26)
        text = ascii_lowercase[letter] + text
    return text


def check_name(name: str, spec: Spec, client: Role, *, what: str = "--name") -> None:
    """Make sure that every message in which a client sends its own name can carry this one.

    Raises:
        CommandError: one cannot; the text says which, and what a name has to be.
    """
    for holder in (*_parts(client, State), *_parts(client, Branch)):
        aliases: set[str] = set()  # what is the name for certain: bound just before, in the same steps
        for step in holder.steps:
            if isinstance(step, Let):
                for binding in step.bindings:
                    (aliases.add if _is_my_name(binding.value, aliases) else aliases.discard)(binding.target)
            for message, field_type in _name_fields(spec, step, aliases):
                try:
                    compile_type(field_type, spec.types).freeze(name)
                except Mismatch as error:
                    raise CommandError(f"{what} {name!r} does not fit {message}: {error}") from None


def _name_types(spec: Spec, client: Role) -> Iterator[Type]:
    aliases = {binding.target for binding in _parts(client, Binding) if _is_my_name(binding.value, frozenset())}
    for _, field_type in _name_fields(spec, client, aliases):
        yield field_type


def _name_fields(spec: Spec, part: Role | Step, aliases: set[str]) -> Iterator[tuple[str, Type]]:
    """Yield the messages in which a part sends its client's name, or what has it, and the type of the field."""
    for send in _parts(part, SendMessages):
        for call in send.messages:
            if call.path in spec.messages:
                for field, argument in zip(spec.messages[call.path].fields, call.arguments or (), strict=False):
                    if _is_my_name(argument, aliases):
                        yield call.path, field.type


def _is_my_name(expression: Expression, aliases: frozenset[str] | set[str]) -> bool:
    match expression:
        case Attribute(Name("my"), "name"):
            return True
        case Name(name):
            return name in aliases
        case _:
            return False


def _parts(value: Any, kind: type[Any]) -> Iterator[Any]:
    """Yield everything of a kind within a part of a spec, in file order."""
    if isinstance(value, kind):
        yield value
    if isinstance(value, tuple):
        for item in value:
            yield from _parts(item, kind)
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _parts(item, kind)
    elif is_dataclass(value):
        for field in fields(value):
            yield from _parts(getattr(value, field.name), kind)
