"""The reader's part for branches and their steps: what a machine does about an event, and what is next.

JOIN: joined                           a word: a state, stay or again
JOIN: {if: …, send: …, then: joined}   a mapping: one branch
JOIN: [{if: …, then: a}, b]            a list: the first that may be taken
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from machines.model import (
    Binding,
    Branch,
    Call,
    Choice,
    Constant,
    DropPeers,
    Expression,
    Goto,
    Let,
    Mapped,
    Name,
    Next,
    Return,
    Secure,
    SendMessages,
    Start,
    Stay,
    Step,
)
from machines.parser.context import ParseContext, inside, is_empty, joined, quoted, shown
from machines.parser.settings import parse_duration, parse_rate
from machines.problems import Place, near
from machines.yaml.nodes import ListNode, MapNode, Node, ScalarNode

STEPS = ("let", "start", "send", "secure", "drop")  # in the order in which they are done
STAYING = ("stay", "again")
# What stands for the end, or for nothing, in other languages.
_ENDS = frozenset({"null", "return", "end", "exit", "done", "finish", "finished", "stop", "quit"})
_NOTHING = frozenset({"pass", "ignore", "continue", "skip", "none", "nothing", "wait"})
BRANCH_KEYS = ("if", "limit", "do", *STEPS, "then", "outcome", "return")
OUTCOME_KEYS = ("ranking", "faults", "points")


@dataclass(frozen=True, slots=True)
class BranchScope:
    """Where a branch stands: its role, its machine and the machine's states; ``event`` says what it answers.

    ``stays``: ``stay`` and ``again`` make sense, because something waits. ``stays_unsaid``: a branch that does not
    say what is next means ``stay``. ``clock``: the event is a clock that has run out, so ``stay`` would hear it for
    ever. ``seats``: a peer is being seated, so its fields may be bound. ``ends``: the last branch has no ``if``.
    """

    role: str
    machine: str
    states: tuple[str, ...]
    event: str
    stays: bool = False
    stays_unsaid: bool = False
    clock: bool = False
    seats: bool = False
    ends: bool = False


def read_choice(reading: ParseContext, node: Node, scope: BranchScope) -> Choice:
    """Return the branches that a node says: a word, one mapping, or a list of them."""
    nodes = node.items if isinstance(node, ListNode) else (node,)
    if not nodes:
        reading.fault(node.place, "A113", f"{scope.event} has no branch", "write a state's name")
    branches = tuple(_branch(reading, item, scope) for item in nodes)
    if scope.ends and branches and (branches[-1].guard is not None or branches[-1].limit is not None):
        reading.fault(
            branches[-1].place,
            "A127",
            f"the branches of {scope.event} may run out: the last has an 'if' or a 'limit'",
            "end the list with a branch that may always be taken, like a state's name",
        )
    return Choice(branches, node.place)


def _branch(reading: ParseContext, node: Node, scope: BranchScope) -> Branch:
    if isinstance(node, ScalarNode):
        return Branch(None, None, (), _word(reading, node, scope), node.place)
    if isinstance(node, ListNode):
        reading.fault(node.place, "A112", "a branch is a word or a mapping, not a list", "put the branches in one list")
        return Branch(None, None, (), Stay(False, node.place), node.place)
    keys = reading.known_keys(node, BRANCH_KEYS, "a branch")
    guard, limit = node.get("if"), node.get("limit")
    return Branch(
        reading.expression(guard, "the condition after 'if'") if guard is not None else None,
        read_limit(reading, limit) if limit is not None else None,
        read_steps(reading, node, scope),
        _next(reading, node, scope, keys),
        node.place,
    )


def _next(reading: ParseContext, node: MapNode, scope: BranchScope, keys: dict[str, Place]) -> Next:
    then, value = node.get("then"), node.get("return")
    if then is not None and value is not None:
        reading.fault(value.place, "A121", "'then' and 'return' exclude one another", "either go on or end the machine")
    outcome = read_outcome(reading, node)
    if value is not None:
        return Return(reading.value(value, "the value after 'return'"), value.place, outcome)
    if isinstance(then, ScalarNode):
        return _word(reading, then, scope)
    if then is not None:
        return read_choice(reading, then, replace(scope, ends=True))
    if not scope.stays_unsaid and not keys.keys() & {"then", "return", ""}:
        hint = "add 'then: STATE', 'then: stay' or 'return: VALUE'" if scope.stays else "add 'then' or 'return'"
        reading.fault(node.place, "A124", f"this branch of {scope.event} does not say what is next", hint)
    return Stay(False, node.place)


def read_outcome(reading: ParseContext, node: MapNode) -> Mapped | None:
    """Return what stands under ``outcome`` beside a ``return``; None if nothing does."""
    written = node.get("outcome")
    if written is None:
        return None
    if node.get("return") is None:
        text = "'outcome' has no meaning without 'return'"
        reading.fault(written.place, "A122", text, "it says how the match went that ends there")
    body = reading.mapping(written, "'outcome'", "like {ranking: [[winner]], faults: []}")
    reading.known_keys(body, OUTCOME_KEYS, "an outcome")
    if isinstance(written, MapNode) and body.get("ranking") is None:
        reading.fault(written.place, "A113", "'ranking' is missing: who is first?", "groups of peers, the best first")
    items = ((key.text, reading.value(value, f"the value of {key.text!r}")) for key, value in body.pairs)
    return Mapped(tuple(items), written.place)


def _not_a_state(reading: ParseContext, word: str, scope: BranchScope) -> str:
    """Return what to write for what stands where a state has to, and is known to be none; nothing if it may be one."""
    if near(word, scope.states):
        return ""
    if word in _ENDS or word.startswith("return "):
        value = word.removeprefix("return").strip() if word.startswith("return") else ""
        return f"the machine ends with {{return: {value or 'null'}}}"
    if word in _NOTHING:
        keeps = "'stay' keeps the state; " if scope.stays else ""
        return f"{keeps}{{return: null}} ends the machine"
    if word.partition("(")[0] in reading.messages:
        return f"a message is sent by a key: {{send: {word}, then: STATE}}"
    if parse_duration(word) is not None:
        return f"the limit of a wait is 'within: {word}'; what to do then stands here"
    return ""


def _word(reading: ParseContext, node: ScalarNode, scope: BranchScope) -> Next:
    word = node.text.strip()
    if is_empty(node) or not word:
        reading.fault(node.place, "A113", f"{scope.event} does not say what is next", "write a state's name")
    elif word in STAYING:
        if not scope.stays:
            text = f"{word!r} has no meaning for {scope.event}: nothing waits there"
            reading.fault(node.place, "A125", text, "name a state; the state's own name enters it afresh")
        elif scope.clock and word == "stay":
            text = "'stay' keeps the clock, which has run out"
            reading.fault(node.place, "A126", text, "'again' starts the clock afresh")
        return Stay(word == "again", node.place)
    elif word not in scope.states:
        known = (*scope.states, *STAYING) if scope.stays else scope.states
        called = word.partition("(")[0] in reading.machines.get(scope.role, {})
        hint = f"that is a machine: a state with 'run: {word}' calls it" if called else ""
        hint = hint or _not_a_state(reading, word, scope)
        reading.unknown(inside(node), "A103", "state", word, known, hint)
    return Goto(word, node.place)


def read_limit(reading: ParseContext, node: Node) -> Expression:
    """Return a limit: the name of a setting that is a number or a rate, or one of them written in place."""
    text = reading.text(node, "the limit")
    place = inside(node)
    if text is None:
        return Constant(None, place)
    text = text.strip()
    rate = parse_rate(text)
    if rate is not None:
        return Constant(rate, place)
    if text.isascii() and text.isdigit() and len(text) <= 18:
        return Constant(int(text), place)
    if text not in reading.settings:
        if text[:1].isalpha():
            reading.unknown(place, "A106", "setting", text, reading.settings)
        else:
            hint = "like 10, 10 per 1 s, or a setting's name"
            reading.fault(place, "A131", f"a limit is a number, a rate or a setting's name, not {shown(text)}", hint)
    else:
        setting = reading.settings[text]
        if setting is not None and setting.kind not in ("int", "rate"):
            text = f"the setting {text!r} is no limit: it is a {setting.kind}"
            reading.fault(place, "A131", text, "a limit is a whole number or a rate like 10 per 1 s")
    return Name(text, place)


# -- steps -----------------------------------------------------------------------------------------------------------


def read_steps(reading: ParseContext, node: MapNode, scope: BranchScope) -> tuple[Step, ...]:
    """Return what a state or branch does, in order: ``let start send secure drop``, or the list under ``do``."""
    found: list[Step] = []
    do = node.get("do")
    written = {key: node.get(key) for key in STEPS}
    if do is not None:
        if any(value is not None for value in written.values()):
            also = quoted(key for key, value in written.items() if value is not None)
            reading.fault(do.place, "A121", f"'do' and {also} exclude one another", "put all steps under 'do'")
        for item in reading.items(do, "'do'", "like do: [{send: A}, {let: {x: 1}}]"):
            step = reading.mapping(item, "a step under 'do'", "like {send: A}")
            reading.known_keys(step, STEPS, "a step")
            if len(step.pairs) > 1:
                reading.fault(item.place, "A121", "one step has one key", "begin a new item with '- '")
            for key, value in step.pairs:
                found.extend(_step(reading, key.text, value, scope))
    for name, step_node in written.items():
        if step_node is not None:
            found.extend(_step(reading, name, step_node, scope))
    return tuple(found)


def _step(reading: ParseContext, name: str, node: Node, scope: BranchScope) -> tuple[Step, ...]:
    match name:
        case "let":
            pairs = reading.mapping(node, "'let'", "like let: {count: count + 1}").pairs
            return (Let(tuple(read_binding(reading, key, value, scope) for key, value in pairs), node.place),)
        case "start":
            nodes = node.items if isinstance(node, ListNode) else (node,)
            calls = [(read_machine_call(reading, item, scope, "start"), item) for item in nodes]
            return tuple(Start(call, item.place) for call, item in calls if call is not None)
        case "send":
            return _sends(reading, node, scope)
        case "secure":
            return (Secure(reading.expression(node, "the peer to speak TLS with"), node.place),)
        case "drop":
            return (DropPeers(reading.expression(node, "the peer to drop"), node.place),)
        case _:
            return ()  # told as an unknown key


def read_binding(reading: ParseContext, key: ScalarNode, value: Node, scope: BranchScope) -> Binding:
    """Return what one pair under ``let``, ``as`` or ``live`` binds."""
    target, dot, field = key.text.partition(".")
    if dot:
        if target != "peer" or not scope.seats:
            text = f"{shown(key.text)} can not be bound: only 'peer.NAME' can, under 'seated'"
            reading.fault(key.place, "A128", text, "values do not change: bind a name to a new value")
        else:
            reading.name(ScalarNode(field, key.plain, key.place.right(len(target) + 1)), "a field")
    else:
        reading.name(key, "a value")
    return Binding(target, field if dot else None, reading.value(value, f"the value of {target!r}"), key.place)


def read_bindings(reading: ParseContext, node: Node, scope: BranchScope) -> tuple[Binding, ...]:
    """Return what ``as`` binds of a call's result: a name for all of it, or a mapping of expressions over it."""
    if isinstance(node, MapNode):
        return tuple(read_binding(reading, key, value, scope) for key, value in node.pairs)
    name = read_name(reading, node, "'as'")
    return (Binding(name, None, Name("result", node.place), node.place),)


def read_name(reading: ParseContext, node: Node, what: str) -> str:
    """Return the name that a scalar is, to be bound to a value."""
    text = reading.text(node, f"the name after {what}")
    if text is None:
        return ""
    assert isinstance(node, ScalarNode), "only a scalar has a text"
    reading.name(node, "a value")
    return text


# -- sends and calls -------------------------------------------------------------------------------------------------


def _sends(reading: ParseContext, node: Node, scope: BranchScope) -> tuple[SendMessages, ...]:
    if not isinstance(node, MapNode):
        return (SendMessages(None, _messages(reading, node, scope), node.place),)
    return tuple(
        SendMessages(reading.expression(key, "the receiver"), _messages(reading, value, scope), key.place)
        for key, value in node.pairs
    )


def _messages(reading: ParseContext, node: Node, scope: BranchScope) -> tuple[Call, ...]:
    nodes = node.items if isinstance(node, ListNode) else (node,)
    if not nodes:
        reading.fault(node.place, "A113", "'send' has no message")
    calls = (_message(reading, item, scope) for item in nodes)
    return tuple(call for call in calls if call is not None)


def _message(reading: ParseContext, node: Node, scope: BranchScope) -> Call | None:
    call = reading.call(node, "a message to send", "JOIN or JOIN(my.name)")
    if call is None:
        return None
    outline = reading.messages.get(call.path)
    if outline is None:
        reading.unknown(call.place, "A105", "message", call.path, reading.messages)
        return call
    if scope.role not in outline.senders and outline.senders:
        text = f"{call.path} is sent by {joined(outline.senders, 'or')}, not by {scope.role}"
        own = [name for name, other in reading.messages.items() if scope.role in other.senders]
        reading.fault(call.place, "A119", text, f"{scope.role} sends {', '.join(own) or 'nothing'}")
    if call.arguments is not None and outline.fields is not None and len(call.arguments) != outline.fields:
        text = f"{call.path} has {_count(outline.fields, 'field')}, not {len(call.arguments)}"
        reading.fault(call.place, "A118", text, "its fields in the order written, or just its name")
    return call


def read_machine_call(
    reading: ParseContext, node: Node, scope: BranchScope, key: str, folded: Name | None = None
) -> Call | None:
    """Return the machine's call under ``run`` or ``accept``: the machine exists and is given all it takes.

    ``folded`` is given last.
    """
    call = reading.call(node, f"the machine after '{key}'", "turn(player, table)")
    if call is None:
        return None
    if folded is not None:
        call = replace(call, arguments=(*(call.arguments or ()), folded))
    machines = reading.machines.get(scope.role, {})
    outline = machines.get(call.path)
    if outline is None:
        hint = "that is a state: 'then' goes there" if call.path in scope.states and key == "run" else ""
        reading.unknown(call.place, "A104", f"machine of {scope.role}", call.path, machines, hint)
        return call
    given = len(call.arguments or ())
    if outline.parameters is not None and given != len(outline.parameters):
        takes = f"{call.path}({', '.join(outline.parameters)})" if outline.parameters else call.path
        text = f"{call.path} takes {_count(len(outline.parameters), 'value')}, not {given}"
        hint = f"it is written as {takes}"
        if folded is not None:
            hint += f", and 'fold' gives the last: run: {call.path}({', '.join(outline.parameters[:-1])})"
        reading.fault(call.place, "A117", text, hint)
    return call


def _count(number: int, noun: str) -> str:
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"


def returning(value: Expression, place: Place, outcome: Mapped | None = None) -> Choice:
    """Return the one branch that ends the machine with a value."""
    return Choice((Branch(None, None, (), Return(value, place, outcome), place),), place)
