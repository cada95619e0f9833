"""``accord show``: what is in a spec."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from math import isinf
from typing import Annotated, Any

import msgspec
from cyclopts import Parameter

from diagrams.documents.exchange import exchange as exchange_of
from diagrams.documents.exchange import exchange_text, phases
from diagrams.states.phrases import body_text
from machines.checks.event_coverage import Pair, pairs
from machines.engine.compiler import Program
from machines.messages.bodies import compile_message
from machines.messages.types import compile_type, type_text
from machines.model import (
    Machine,
    Message,
    Name,
    Role,
    Setting,
    Spec,
    TypeDeclaration,
)
from machines.parser.loader import RulesError, resolved, rules_modules
from machines.parser.unparse import written as yaml_of
from machines.problems import near
from machines.values import plain
from runtime.commands.exit_codes import OK, CommandError
from runtime.commands.options import Json, Rules, SpecName, is_spec, looked_at
from runtime.players.registry import default_kind, kinds
from runtime.process.output import put_result, table

ANSWERED = {
    "here": "the state",
    "always": "its always",
    "outside": "a layer around",
    "invalid": "- invalid, unexpected",
    "early": "- what early says",
    "end": "- the session ends",
    "drop": "- the peer is dropped",
}


def show(
    spec: SpecName,
    /,
    *,
    resolved_: Annotated[
        bool,
        Parameter(name="--resolved", negative=(), help="Print the whole spec, each line with the file it is from."),
    ] = False,
    table_: Annotated[
        bool,
        Parameter(name="--table", negative=(), help="Print each waiting state with what may come, and who answers."),
    ] = False,
    exchange: Annotated[
        str | None,
        Parameter(
            negative=(),
            help="Print both ends of a phase together: a machine, like turn, or host.turn of one role.",
        ),
    ] = None,
    code: Annotated[
        bool,
        Parameter(name="--code", negative=(), help="Print the Python functions that the machines are run as."),
    ] = False,
    rules: Rules = [],  # noqa: B006 (cyclopts makes a new list)
    json: Json = False,
) -> int:
    """Show what is in a spec: roles, machines, messages, types, what players are asked, settings, and who can play."""
    if exchange is not None:
        whole = looked_at(spec, rules)
        found_phases = phases(whole, exchange)
        if not found_phases:
            raise CommandError(_no_phase(whole, exchange))
        put_result(_exchanges(whole, found_phases), _exchange_lines(whole, found_phases), json=json)
    elif resolved_:
        is_spec(spec)
        text = yaml_of(resolved(spec))
        put_result({"spec": text}, [text.rstrip("\n")], json=json)
    elif table_:
        found = list(pairs(looked_at(spec, rules)))
        put_result({"pairs": found}, _pair_lines(found), json=json)
    elif code:
        functions = list(_code(looked_at(spec, rules)))
        put_result({"code": functions}, _code_lines(functions), json=json)
    else:
        facts = _facts(looked_at(spec, rules))
        put_result(facts, _lines(facts), json=json)
    return OK


def _no_phase(spec: Spec, name: str) -> str:
    known = list(dict.fromkeys(machine for role in spec.roles.values() for machine in role.machines))
    hint = near(name.rpartition(".")[2], known) or f"there are: {', '.join(known)}"
    return f"{spec.protocol} has no machine {name!r}: {hint}"


def _exchanges(spec: Spec, machines: Iterable[Machine]) -> dict[str, Any]:
    return {
        "phases": [
            {"role": machine.role, "machine": machine.name, "rows": [asdict(row) for row in exchange_of(spec, machine)]}
            for machine in machines
        ]
    }


def _exchange_lines(spec: Spec, machines: Sequence[Machine]) -> Iterator[str]:
    for index, machine in enumerate(machines):
        yield from ("",) if index else ()
        yield from exchange_text(spec, machine)


def _code(spec: Spec) -> Iterator[dict[str, str]]:
    """Yield the functions that the machines of a spec are run as: see `machines.engine.steps`."""
    modules = rules_modules(spec)
    for role in spec.roles:
        for machine in Program(spec, role, modules).tables.values():
            names = ", ".join(f"{slot} {name}" for name, slot in machine.slot_of.items())
            for state, purpose, text in machine.code():
                where = {"role": role, "machine": machine.name, "state": state}
                yield {**where, "for": purpose, "names": names, "text": text}


def _code_lines(functions: Iterable[dict[str, str]]) -> Iterator[str]:
    """Yield functions under what they are for; ``s`` are the names of a call, ``s[0]`` is the call itself.

    Before those of each machine stands which place of ``s`` is which name.
    """
    above = None
    for index, one in enumerate(functions):
        yield from ("",) if index else ()
        machine = one["role"], one["machine"]
        if machine != above:
            yield f"# {one['role']}: {one['machine']}, s: {one['names']}"
            above = machine
        state = f".{one['state']}" if one["state"] else ""
        yield f"# {one['role']}: {one['machine']}{state}, {one['for'].removeprefix('.')}"
        yield from one["text"].splitlines()


def _lines(facts: dict[str, Any]) -> Iterator[str]:
    """Yield what is in a spec, for people."""
    yield f"{facts['protocol']}: {facts['title']}"
    yield f"{facts['file']}, framing {facts['framing']}"
    yield from _prose(facts, "")
    for role in facts["roles"]:
        yield ""
        yield f"role {role['name']}, {role['does']}"
        yield from _prose(role, "  ")
        for machine in role["machines"]:
            yield f"  {machine['name']}: {' '.join(machine['states'])}"
            yield from _prose(machine, "    ")
            yield from (f"    {state}: {' '.join(doc.split())}" for state, doc in machine["docs"].items())
    messages = ((m["from"] + " > " + m["to"], m["name"], m["body"]) for m in facts["messages"])
    yield from _section("messages", messages, facts["messages"], even_empty=True)
    yield from _section("types", ((t["name"], t["is"]) for t in facts["types"]), facts["types"])
    for role in facts["roles"]:
        title = f"questions to the player of {role['name']}, and the messages that may answer"
        yield from _section(title, ((_asked(q), " | ".join(q["messages"])) for q in role["questions"]))
    yield from _section("settings", ((s["name"], s["value"], s["kind"]) for s in facts["settings"]), facts["settings"])
    players = ((p["kind"] + (" *" if p["default"] else ""), p["does"]) for p in facts["players"])
    yield from _section("players", players, even_empty=True)
    yield "  how to write one: docs/players.md"


def _section(
    title: str, rows: Iterable[tuple[str, ...]], facts: Sequence[dict[str, Any]] = (), *, even_empty: bool = False
) -> Iterator[str]:
    """Yield a table under its title, each row with what the spec says of it; nothing if it has no rows.

    With ``even_empty`` there is a title at least. ``facts`` are what the rows are of, one for one.
    """
    lines = table(rows)
    if lines or even_empty:
        yield from ("", title)
    for index, line in enumerate(lines):
        yield f"  {line}"
        if facts:
            yield from _prose(facts[index], "    ")


def _prose(facts: dict[str, Any], indent: str) -> Iterator[str]:
    """Yield what a spec says of something in words, and its examples."""
    yield from (f"{indent}{line}".rstrip() for line in facts["doc"].splitlines())
    if facts.get("examples"):
        yield f"{indent}like {', '.join(facts['examples'])}"


def _pair_lines(found: Sequence[Pair]) -> Iterator[str]:
    """Yield who answers what in each waiting state; what no layer lists is told apart."""
    rows = [
        (
            f"{pair.role}: {pair.machine}.{pair.state}",
            pair.event.removeprefix("."),
            ANSWERED.get(pair.answer, pair.answer),
        )
        for pair in found
    ]
    yield from table([("STATE", "EVENT", "ANSWERED BY"), *rows])
    open_ = sum(pair.answer in ("invalid", "early", "end", "drop") for pair in found)
    yield f"{len(found)} pairs, {len(found) - open_} answered by the spec, {open_} by what is built in"


def _asked(question: dict[str, Any]) -> str:
    return f"{question['question']}({', '.join(question['arguments'])})"


def _facts(spec: Spec) -> dict[str, Any]:
    try:
        known, default = kinds(spec), default_kind(spec)
    except RulesError:  # a spec may be looked at where it cannot be run
        known, default = {}, ""
    return {
        "protocol": spec.protocol,
        "title": spec.title,
        "doc": spec.doc,
        "file": spec.file,
        "framing": spec.wire.framing,
        "rules": [name for name, _ in spec.rules],
        "connects": spec.connects,
        "roles": [
            *(_role(spec, role) for role in spec.roles.values()),
            *(_foreign(spec, name) for name in spec.foreign),
        ],
        "foreign": list(spec.foreign),
        "messages": [_message(spec, message) for message in spec.messages.values()],
        "types": [_type(spec, declared) for declared in spec.types.values()],
        "settings": [_setting(setting) for setting in spec.settings.values()],
        "players": [{"kind": kind, "does": does, "default": kind == default} for kind, does in known.items()],
    }


def _role(spec: Spec, role: Role) -> dict[str, Any]:
    targets = spec.connects.get(role.name, ())
    does = [f"connects to {', '.join(targets)}"] if targets else []
    does += ["listens"] if role.name in spec.listeners() else []
    return {
        "name": role.name,
        "does": " and ".join(does) or "alone",
        "doc": role.doc,
        "machines": [_machine(machine) for machine in role.machines.values()],
        "questions": _questions(spec, role),
    }


def _foreign(spec: Spec, name: str) -> dict[str, Any]:
    targets = spec.connects.get(name, ())
    does = f"connects to {', '.join(targets)}" if targets else "listens"
    return {
        "name": name,
        "does": f"{does}; only programs of others play it",
        "doc": "",
        "machines": [],
        "questions": [],
    }


def _questions(spec: Spec, role: Role) -> list[dict[str, Any]]:
    """Return what a role's player is asked, each question once however many states ask it in the same words."""
    found: list[dict[str, Any]] = []
    for machine in role.machines.values():
        for state in machine.states.values():
            if state.ask is None:
                continue
            question = {
                "question": state.ask.path,
                # As a program is told them: an argument that is no name goes by its place.
                "arguments": [
                    argument.name if isinstance(argument, Name) else str(index)
                    for index, argument in enumerate(state.ask.arguments or ())
                ],
                # A state that asks may hear its peers too; the player answers with what its own role sends.
                "messages": [name for name in state.answers.receive if role.name in spec.messages[name].senders],
            }
            if question not in found:
                found.append(question)
    return found


def _type(spec: Spec, declared: TypeDeclaration) -> dict[str, Any]:
    shape = compile_type(declared.type, spec.types)
    return {
        "name": declared.name,
        "is": type_text(declared.type),
        "example": msgspec.json.encode(plain(shape.example())).decode(),
        "examples": [msgspec.json.encode(plain(one)).decode() for one in declared.examples],
        "doc": declared.doc,
        "schema": shape.json_schema(),
    }


def _machine(machine: Machine) -> dict[str, Any]:
    call = f"{machine.name}({', '.join(machine.parameters)})" if machine.parameters else machine.name
    return {
        "name": call,
        "states": list(machine.states),
        "always": machine.always is not None,
        "doc": machine.doc,
        "docs": {state.name: state.doc for state in machine.states.values() if state.doc},
    }


def _message(spec: Spec, message: Message) -> dict[str, Any]:
    to = dict.fromkeys(peer for sender in message.senders for peer in spec.peers_of(sender))
    shape = compile_message(message, spec.types)
    return {
        "name": message.name,
        "from": ", ".join(message.senders),
        "to": ", ".join(to),
        "holes": list(shape.fields),
        "body": body_text(message.body, spec),
        "example": msgspec.json.encode(plain(shape.example())).decode(),
        "examples": [msgspec.json.encode(plain(one)).decode() for one in message.examples],
        "doc": message.doc,
        "schema": shape.json_schema(),
        "urgent": message.urgent,
    }


def _setting(setting: Setting) -> dict[str, Any]:
    return {"name": setting.name, "value": written(setting), "kind": setting.kind, "doc": setting.doc}


def written(setting: Setting) -> str:
    """Return a setting's value as it is written in a spec or after ``--set``."""
    value = setting.value
    match setting.kind:
        case "duration":
            if isinf(value):
                return "never"
            for unit, seconds in (("h", 3600.0), ("min", 60.0), ("s", 1.0)):
                if value >= seconds and (value / seconds).is_integer():
                    return f"{value / seconds:g} {unit}"
            return f"{value * 1000:g} ms" if value < 1 else f"{value:g} s"
        case "bool":
            return "true" if value else "false"
        case _:
            return str(value)
