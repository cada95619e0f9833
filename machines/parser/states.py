"""The reader's part for roles, machines and states.

server:                     a role
  turn(player, table):      a machine, as it is called
    always: …               answers behind every state
    asked: …                a state: a mapping, or a list of branches
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import cast, get_args

from machines.model import (
    Accept,
    Always,
    Binding,
    Branch,
    Call,
    Choice,
    Constant,
    Each,
    Early,
    Goto,
    Handlers,
    Machine,
    Name,
    Next,
    Role,
    State,
    Timer,
)
from machines.parser.at_hand import with_peers_at_hand
from machines.parser.branches import (
    STAYING,
    STEPS,
    BranchScope,
    read_binding,
    read_bindings,
    read_choice,
    read_machine_call,
    read_name,
    read_outcome,
    read_steps,
    returning,
)
from machines.parser.context import MachineSignature, ParseContext, inside, joined, quoted, shown
from machines.parser.prose import is_doc, read_doc, whole_doc
from machines.problems import Place, near
from machines.yaml.nodes import ListNode, MapNode, Node, ScalarNode

FAULTS = ("timeout", "invalid", "closed")  # what 'fault' stands for
EVENTS = ("receive", *FAULTS, "fault", "failed", "connected", "ended", "after", "every", "when")
WAITS = ("await", "within", *EVENTS)
CALLS = ("run", "accept", "ask")
ALWAYS_KEYS = WAITS
STATE_KEYS = (
    *("doc", "early", "each", "if", "until", "parallel", "do", *STEPS, *CALLS, "say", "pause", "as", "fold"),
    *("seats", "linger", "seated", *WAITS, "then", "outcome", "return"),
)
_SIGNATURE = re.compile(r"([^()]*)(?:\(([^()]*)\))?")


def read_early(reading: ParseContext, node: Node | None) -> Early | None:
    """Return what an unasked message is: keep, fault or ignore; None if nothing is said."""
    if node is None:
        return None
    text = reading.text(node, "the value of 'early'")
    if text is not None and text not in get_args(Early):
        hint = near(text, get_args(Early))
        reading.fault(node.place, "A112", f"'early' is keep, fault or ignore, not {shown(text)}", hint)
        return None
    return cast(Early | None, text)


# -- roles and machines ----------------------------------------------------------------------------------------------


def outline_machines(reading: ParseContext, role: str, node: MapNode) -> dict[str, MachineSignature]:
    """Return the machines of a role by name, with the faults of their keys told; nothing in them is read yet."""
    found: dict[str, MachineSignature] = {}
    for key, value in node.pairs:
        if key.text == "early" or is_doc(key, value):
            continue
        name, parameters = _signature(reading, key)
        if name in found:
            text = f"{role} has a machine {name!r} already"
            reading.fault(key.place, "A115", text, "a machine has one set of parameters")
            continue
        states = tuple(k.text for k, v in value.pairs if not is_doc(k, v)) if isinstance(value, MapNode) else ()
        found[name] = MachineSignature(parameters, tuple(s for s in states if s not in ("always", "early", "live")))
    return found


def _machine_name(key: ScalarNode) -> str:
    return key.text.partition("(")[0].strip()


def _signature(reading: ParseContext, key: ScalarNode) -> tuple[str, tuple[str, ...] | None]:
    """Return a machine's name and its parameters, None if those are at fault."""
    name = _machine_name(key)
    match = _SIGNATURE.fullmatch(key.text)
    if match is None:
        hint = "like turn(player, table)"
        reading.fault(key.place, "A114", f"{shown(key.text)} is no machine's name with its parameters", hint)
        return name, None
    reading.name(ScalarNode(name, key.plain, key.place), "a machine")
    parameters: list[str] = []
    whole = True
    at = len(match[1]) + 1
    for written in match[2].split(",") if match[2] and match[2].strip() else ():
        parameter = written.strip()
        place = inside(key).right(at + len(written) - len(written.lstrip()))
        at += len(written) + 1
        if not reading.name(ScalarNode(parameter, True, place), "a parameter"):
            whole = False
        elif parameter in parameters:
            reading.fault(place, "A115", f"{name} has a parameter {parameter!r} already")
            whole = False
        parameters.append(parameter)
    return name, tuple(parameters) if whole else None


def read_role(reading: ParseContext, key: ScalarNode, node: MapNode, connects: Mapping[str, tuple[str, ...]]) -> Role:
    """Return a role with all its machines; what they say and await has somebody, where one is at hand."""
    role = key.text
    outlines = reading.machines[role]
    machines: dict[str, Machine] = {}
    for machine_key, value in node.pairs:
        name = _machine_name(machine_key)
        if machine_key.text == "early" or is_doc(machine_key, value) or name in machines:
            continue
        machines[name] = _machine(reading, role, name, machine_key, value, outlines[name])
    if "main" not in machines:
        hint = near("main", machines) or "the first machine entered is called main"
        reading.fault(key.place, "A134", f"the role {role!r} has no machine 'main'", hint)
    elif len(machines["main"].parameters) > 1:
        text = "main takes at most one value: the connection it is run for"
        reading.fault(machines["main"].place, "A134", text, "like main(client)")
    early, doc = read_early(reading, node.get("early")), read_doc(reading, node.get("doc"))
    return with_peers_at_hand(Role(role, machines, early, key.place, doc), connects)


def _machine(
    reading: ParseContext, role: str, name: str, key: ScalarNode, node: Node, outline: MachineSignature
) -> Machine:
    body = reading.mapping(node, f"the machine {name!r}", "its states by name")
    scope = BranchScope(role, name, outline.states, "")
    always: Always | None = None
    states: dict[str, State] = {}
    live: tuple[Binding, ...] = ()
    for state_key, value in body.pairs:
        if state_key.text == "always":
            always = _always(reading, value, scope)
        elif state_key.text == "live":
            pairs = reading.mapping(value, "'live'", "like live: {names: []}").pairs
            live = tuple(read_binding(reading, name_key, first, scope) for name_key, first in pairs)
        elif state_key.text != "early" and not is_doc(state_key, value):
            if reading.name(state_key, "a state") and state_key.text in STAYING:
                reading.fault(state_key.place, "A116", f"{state_key.text!r} is a word for what is next, no state")
            states[state_key.text] = read_state(reading, state_key, value, scope)
    if isinstance(node, MapNode) and not states:
        reading.fault(key.place, "A113", f"the machine {name!r} has no state", "it starts in its first state")
    early = read_early(reading, body.get("early"))
    doc = read_doc(reading, body.get("doc"))
    return Machine(name, role, outline.parameters or (), always, states, early, key.place, live, doc)


def _always(reading: ParseContext, node: Node, scope: BranchScope) -> Always:
    body = reading.mapping(node, "'always'", "like always: {closed: out}")
    reading.known_keys(body, ALWAYS_KEYS, "'always'")
    awaits, within = body.get("await"), body.get("within")
    return Always(
        reading.expression(awaits, "the peer after 'await'") if awaits is not None else None,
        reading.duration(within, "the time after 'within'") if within is not None else None,
        _answers(reading, body, scope, asks=False, accepts=False),
        node.place,
    )


# -- states ----------------------------------------------------------------------------------------------------------


def read_state(reading: ParseContext, key: ScalarNode, node: Node, scope: BranchScope) -> State:
    """Return a state. A list is a plain choice: a state that does nothing but go on."""
    name = key.text
    scope = replace(scope, event=f"the state {name!r}")
    if isinstance(node, ListNode):
        choice = read_choice(reading, node, replace(scope, ends=True))
        return _plain(name, choice, key)
    if isinstance(node, ScalarNode):
        hint = f"like {name}: {{then: {node.text or 'other'}}}"
        reading.mapping(node, f"the state {name!r}", hint)
        return _plain(name, None, key)
    _check_keys(reading, key, reading.known_keys(node, STATE_KEYS, "a state"))
    each = _each(reading, node)
    run, accept, ask = node.get("run"), node.get("accept"), node.get("ask")
    bound, fold = node.get("as"), node.get("fold")
    folded = Name(read_name(reading, fold, "'fold'"), inside(fold)) if fold is not None else None
    bound = bound if fold is None else fold
    awaits, within = node.get("await"), node.get("within")
    calls = run is not None or accept is not None
    accepted = read_machine_call(reading, accept, scope, "accept") if accept is not None else None
    return State(
        name=name,
        steps=read_steps(reading, node, scope),
        each=each,
        run=read_machine_call(reading, run, scope, "run", folded) if run is not None else None,
        accept=_accept(reading, node, accepted) if accepted is not None else None,
        ask=_question(reading, ask) if ask is not None else None,
        waits=not calls and each is None and any(node.get(word) is not None for word in WAITS),
        awaits=reading.expression(awaits, "the peer after 'await'") if awaits is not None else None,
        within=reading.duration(within, "the time after 'within'") if within is not None else None,
        bindings=read_bindings(reading, bound, scope) if bound is not None and run is not None else (),
        answers=_answers(reading, node, scope, asks=ask is not None, accepts=accept is not None),
        then=_until(reading, node, key, _then(reading, node, scope)),
        early=read_early(reading, node.get("early")),
        place=key.place,
        doc=whole_doc(reading, node.get("doc")),
    )


def _plain(name: str, then: Choice | None, key: ScalarNode) -> State:
    return State(name, (), None, None, None, None, False, None, None, (), Handlers(receive={}), then, None, key.place)


def _question(reading: ParseContext, node: Node) -> Call | None:
    return reading.call(node, "the question after 'ask'", "place(board)")


def _accept(reading: ParseContext, node: MapNode, machine: Call) -> Accept:
    bound, seats, linger = node.get("as"), node.get("seats"), node.get("linger")
    number = reading.expression(seats, "the number of seats") if seats is not None else None
    match number:
        case Constant(int() as count, place) if count < 1:
            reading.fault(place, "A131", "nobody could sit down: there is at least 1 seat", "leave 'seats' out")
    return Accept(
        machine,
        read_name(reading, bound, "'as'") if bound is not None else "",
        number,
        reading.duration(linger, "the time after 'linger'") if linger is not None else None,
        machine.place,
    )


_EACH = re.compile(r"\s*([^\s()\[\].,']+)\s+in\s+(?=\S)")


def _each(reading: ParseContext, node: MapNode) -> Each | None:
    written = node.get("each")
    if written is None:
        return None
    guard, until, parallel = node.get("if"), node.get("until"), node.get("parallel")
    name, items = "", None
    text = reading.text(written, "the list after 'each'")
    match = _EACH.match(text) if text is not None else None
    if text is not None and match is None:
        text = f"'each' is written NAME in LIST, not {shown(text)}"
        reading.fault(written.place, "A135", text, "like each: player in players")
    elif text is not None and match is not None:
        name = match[1]
        reading.name(ScalarNode(name, True, inside(written).right(match.start(1))), "a value")
        rest = ScalarNode(text[match.end() :], True, inside(written).right(match.end()))
        items = reading.expression(rest, "the list after 'in'")
    return Each(
        name,
        items if items is not None else Constant(None, written.place),
        reading.expression(guard, "the condition after 'if'") if guard is not None else None,
        reading.expression(until, "the condition after 'until'") if until is not None else None,
        reading.expression(parallel, "the number after 'parallel'") if parallel is not None else None,
        written.place,
    )


def _then(reading: ParseContext, node: MapNode, scope: BranchScope) -> Choice | None:
    then, value = node.get("then"), node.get("return")
    outcome = read_outcome(reading, node)
    if value is not None:
        return returning(reading.value(value, "the value after 'return'"), value.place, outcome)
    return read_choice(reading, then, replace(scope, ends=True)) if then is not None else None


def _until(reading: ParseContext, node: MapNode, key: ScalarNode, then: Choice | None) -> Choice | None:
    """Return what is next behind a call that is made until a condition holds: else the state is entered afresh."""
    until = node.get("until")
    if until is None or node.get("each") is not None or then is None:
        return then
    again = Branch(None, None, (), Goto(key.text, until.place), until.place)
    guard = reading.expression(until, "the condition after 'until'")
    return Choice((Branch(guard, None, (), _only(then), until.place), again), until.place)


def _only(then: Choice) -> Next:
    """Return what a choice says is next, without the choice if it has only one branch that just goes there."""
    first = then.branches[0] if len(then.branches) == 1 else None
    return first.next if first is not None and not (first.guard or first.limit or first.steps) else then


def _check_keys(reading: ParseContext, key: ScalarNode, keys: dict[str, Place]) -> None:
    """Tell which keys exclude one another, which have no meaning here, and whether the state leads anywhere."""
    calls = [word for word in CALLS if word in keys]
    if len(calls) > 1:
        text = f"{quoted(calls)} exclude one another"
        reading.fault(keys[calls[1]], "A121", text, "a state makes one call; the next state the next")
    if "then" in keys and "return" in keys:
        text = "'then' and 'return' exclude one another"
        reading.fault(keys["return"], "A121", text, "either go on or end the machine")
    looped = [word for word in ("accept", "ask", "receive") if word in keys]
    if "each" in keys and looped:
        text = f"'each' and {quoted(looped)} exclude one another"
        reading.fault(keys[looped[0]], "A121", text, "put that into a machine and call it with 'run'")

    def only_with(words: tuple[str, ...], needed: tuple[str, ...], hint: str = "") -> None:
        for word in words:
            if word in keys and not any(other in keys for other in needed):
                text = f"'{word}' has no meaning without {quoted(needed, 'or')}"
                reading.fault(keys[word], "A122", text, hint or f"add {quoted(needed, 'or')}, or leave it out")

    only_with(("if",), ("each",), "write the state as a list of branches")
    only_with(("until",), ("each", "run"))
    only_with(("parallel",), ("each",))
    if "until" in keys and "parallel" in keys:
        text = "'until' and 'parallel' exclude one another"
        reading.fault(keys["until"], "A121", text, "side by side, when it holds would depend on who is fastest")
    if "each" in keys:
        only_with(("parallel",), ("run",))
        if not looped:
            only_with(tuple(word for word in WAITS if word != "receive"), ("run",), "nothing waits in this state")
    only_with(("as",), ("run", "accept"), "use 'let' to bind a value")
    only_with(("fold",), ("run",))
    if "fold" in keys and "as" in keys:
        text = "'fold' and 'as' exclude one another"
        reading.fault(keys["as"], "A121", text, "'fold' gives a value to the call and takes what it returns for it")
    only_with(("seats", "linger", "seated"), ("accept",))
    if "accept" in keys:
        only_with(("linger",), ("seats",))
        if "as" not in keys:
            text = "'as' is missing: the name for those seated"
            reading.fault(keys["accept"], "A113", text, "like as: players")
    if "ask" in keys and "receive" not in keys:
        hint = "list the messages that may answer, or write say: {MESSAGE: STATE} for those that are sent as they are"
        reading.fault(keys["ask"], "A113", "'receive' is missing: what may the player answer?", hint)
    if "" not in keys:
        _check_exit(reading, key, keys)


def _check_exit(reading: ParseContext, key: ScalarNode, keys: dict[str, Place]) -> None:
    leads = "then" in keys or "return" in keys
    waits = any(word in keys for word in WAITS)
    place = key.place
    if "run" in keys or "each" in keys:
        if not leads:
            text = f"the state {key.text!r} does not say what is next once it is through"
            reading.fault(place, "A123", text, "add 'then: STATE' or 'return: VALUE'")
    elif "accept" in keys:
        if "seats" in keys and not leads:
            text = f"the state {key.text!r} does not say what is next once the seats are taken"
            reading.fault(place, "A123", text, "add 'then: STATE' or 'return: VALUE'")
        elif "seats" not in keys and leads:
            text = "'then' and 'return' are never reached: an 'accept' without 'seats' stays open"
            reading.fault(place, "A122", text, "add 'seats', or leave by an event")
    elif "ask" in keys or waits:
        if leads:
            text = f"the state {key.text!r} waits: it is left by the branches of its events only"
            reading.fault(place, "A122", text, "put 'then' or 'return' into those branches")
    elif not leads:
        text = f"the state {key.text!r} leads nowhere"
        reading.fault(place, "A123", text, "add 'then: STATE', 'return: VALUE', or something to wait for")


# -- answers ---------------------------------------------------------------------------------------------------------


def _answers(reading: ParseContext, node: MapNode, scope: BranchScope, *, asks: bool, accepts: bool) -> Handlers:
    scope = replace(scope, stays=True)

    def choice(word: str, within: BranchScope = scope) -> Choice | None:
        written = node.get(word)
        return read_choice(reading, written, replace(within, event=f"'{word}'")) if written is not None else None

    keys = {written.text: written.place for written, _ in node.pairs}
    if "fault" in keys and all(word in keys for word in FAULTS):
        text = f"'fault' stands for nothing: {joined(FAULTS)} are all written"
        reading.fault(keys["fault"], "A122", text, "leave it out")
    fault = choice("fault", replace(scope, clock=True))
    timeout = choice("timeout", replace(scope, clock=True))
    invalid = choice("invalid")
    closed = choice("closed", replace(scope, stays_unsaid=accepts))
    return Handlers(
        receive=_receive(reading, node, scope, asks=asks),
        timeout=timeout or fault,
        invalid=invalid or fault,
        closed=closed or fault,
        # What failed is over, so there is nothing to stay with; only a sign-up is still open.
        failed=choice("failed", replace(scope, stays=accepts)),
        connected=choice("connected", replace(scope, stays_unsaid=True)),
        ended=choice("ended"),
        seated=choice("seated", replace(scope, stays_unsaid=True, seats=True)),
        after=_moments(reading, node, scope, "after"),
        every=_moments(reading, node, scope, "every"),
        when=_moments(reading, node, scope, "when"),
    )


def _receive(reading: ParseContext, node: MapNode, scope: BranchScope, *, asks: bool) -> dict[str, Choice]:
    written = node.get("receive")
    if written is None:
        return {}
    found: dict[str, Choice] = {}
    body = reading.mapping(written, "'receive'", "messages by name: {JOIN: joined}")
    if isinstance(written, MapNode) and not body.pairs:
        reading.fault(written.place, "A113", "'receive' lists no message")
    # Where the connections are at fault, any other role may be at the other end.
    others = reading.peers.get(scope.role, tuple(role for role in reading.machines if role != scope.role))
    for key, value in body.pairs:
        outline = reading.messages.get(key.text)
        if outline is None:
            candidates = [name for name, other in reading.messages.items() if scope.role not in other.senders or asks]
            reading.unknown(inside(key), "A105", "message", key.text, candidates)
        elif outline.senders:
            heard = (*others, scope.role) if asks else others  # an answer of the player is the role's own message
            if not any(sender in heard for sender in outline.senders):
                text = f"{scope.role} never hears {key.text}: it is sent by {joined(outline.senders, 'or')}"
                hint = f"{scope.role} is connected with {joined(others)}" if others else "nobody is connected with it"
                reading.fault(inside(key), "A120", text, hint)
        found[key.text] = read_choice(reading, value, replace(scope, event=key.text))
    return found


def _moments(reading: ParseContext, node: MapNode, scope: BranchScope, word: str) -> tuple[Timer, ...]:
    written = node.get(word)
    if written is None:
        return ()
    what, like = ("conditions", "best > 9") if word == "when" else ("times", "5 s")
    body = reading.mapping(written, f"'{word}'", f"{what} and branches: {{{word}: {{{like}: over}}}}")
    read = reading.expression if word == "when" else reading.duration
    return tuple(
        Timer(
            read(key, f"the {what[:-1]} after '{word}'"),
            read_choice(reading, value, replace(scope, event=f"'{word}'", stays_unsaid=scope.stays)),
            key.place,
        )
        for key, value in body.pairs
    )
