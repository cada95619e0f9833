"""How the parts of a spec are said in a picture: durations, settings with their values, sends, bindings."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from math import isinf

from diagrams.rendering.expressions import show
from machines.frame_parts import (
    Count,
    FrameBits,
    FrameByte,
    FrameContent,
    FrameHeaders,
    FrameJson,
    FrameNumber,
    NumberKind,
    Rest,
)
from machines.messages.syntax import parse_literal
from machines.messages.types import type_text
from machines.model import (
    Binding,
    Body,
    BodyList,
    BodyMap,
    Branch,
    Call,
    Choice,
    CompositeFrame,
    Constant,
    DropPeers,
    Expression,
    Field,
    FrameBytes,
    FrameLine,
    FramePart,
    FrameRepeat,
    FrameSize,
    FrameUntil,
    Goto,
    Handlers,
    Let,
    LiteralBody,
    Name,
    Return,
    Secure,
    SendMessages,
    Spec,
    Start,
    Stay,
    Step,
    Text,
)
from machines.problems import Place, Problems
from machines.values import plain

# What is no plain text of YAML: it begins or ends with a blank or a sign, or holds what ends one.
_NO_WORD = re.compile(
    r"^$|^[-?:,\[\]{}#&*!|>'\"%@`]|^\s|\s$|:(\s|$)|\s#|[\x00-\x1f\x7f-\x9f]|(?<!\$)\{|(?<![\w.])\}|[\[\],]|[^\x20-\x7e]"
)
_NOWHERE = Place("", 0, 0)


def duration(seconds: float) -> str:
    """Return a duration as a spec writes it: ``5 s``, ``10 min``, ``400 ms``, ``never``.

    >>> duration(600.0), duration(0.4), duration(90.0)
    ('10 min', '400 ms', '90 s')
    """
    if isinf(seconds):
        return "never"
    if 0 < seconds < 1 or seconds % 1:
        return f"{seconds * 1000:g} ms"
    for size, unit in ((3600, "h"), (60, "min")):
        if seconds and seconds % size == 0:
            return f"{seconds / size:g} {unit}"
    return f"{seconds:g} s"


def moment(spec: Spec, answers: Handlers, event: str) -> str | None:
    """Return what is under ``after``, ``every`` or ``when`` as an event says it; None for all other events."""
    for way, moments in (("after", answers.after), ("every", answers.every), ("when", answers.when)):
        if event.startswith(f".{way}"):
            wait = moments[int(event.removeprefix(f".{way}"))].wait
            return f"{way} {show(wait) if way == 'when' else quantity(spec, wait, time=True)}"
    return None


def quantity(spec: Spec, expression: Expression, *, time: bool = False) -> str:
    """Return an expression as text, with the value of a setting after its name; ``time``: a number is seconds."""
    if isinstance(expression, Constant) and time and type(expression.value) in (int, float):
        return duration(float(expression.value))
    if isinstance(expression, Name) and expression.name in spec.settings:
        setting = spec.settings[expression.name]
        value = duration(setting.value) if setting.kind == "duration" else setting.value
        return f"{expression.name} ({value})"
    return show(expression)


def told(call: Call) -> str:
    """Return a message as it is sent: its arguments only where each is a constant, ``told(false)``."""
    if call.arguments and all(isinstance(argument, Constant) for argument in call.arguments):
        return show(call)
    return call.path


def bound(binding: Binding) -> str:
    """Return ``name := value``, or ``as name`` for a call's result bound as it is."""
    if binding.field is None and isinstance(binding.value, Name) and binding.value.name == "result":
        return f"as {binding.target}"
    target = binding.target if binding.field is None else f"{binding.target}.{binding.field}"
    return f"{target} := {show(binding.value)}"


def sends_in_full(steps: Iterable[Step]) -> Iterator[str]:
    """Yield the messages sent by some steps with all they are sent with."""
    for step in steps:
        if isinstance(step, SendMessages):
            yield from (f"! {show(message)}" for message in step.messages if message.arguments)


def sent_in_full(choice: Choice) -> Iterator[str]:
    """Yield the messages sent by a choice's branches with all they are sent with."""
    for branch in choice.branches:
        yield from sends_in_full(branch.steps)
        if isinstance(branch.next, Choice):
            yield from sent_in_full(branch.next)


def same(choice: Choice) -> tuple[object, ...]:
    """Return what a choice does without its places: equal for two that do the same."""

    def text(expression: Expression | None) -> str:
        return "" if expression is None else show(expression)

    def step(step: Step) -> tuple[object, ...]:
        match step:
            case Let(bindings, _):
                return ("let", *map(bound, bindings))
            case Start(machine, _):
                return ("start", show(machine))
            case SendMessages(receivers, messages, _):
                return ("send", text(receivers), *map(show, messages))
            case Secure(peers, _):
                return ("secure", show(peers))
            case DropPeers(peers, _):
                return ("drop", show(peers))

    def onward(branch: Branch) -> object:
        match branch.next:
            case Goto(state, _):
                return state
            case Stay(again, _):
                return again
            case Return(value, _, outcome):
                return ("return", show(value), text(outcome))
            case Choice():
                return same(branch.next)

    return tuple(
        (text(branch.guard), text(branch.limit), tuple(map(step, branch.steps)), onward(branch))
        for branch in choice.branches
    )


def outcome_parts(ending: Return) -> tuple[str, ...]:
    """Return what the end of a match says of it, a text for each key; nothing if it says nothing."""
    items = ending.outcome.items if ending.outcome is not None else ()
    return tuple([f"{key}: {show(value)}" for key, value in items])


def body_text(body: Body, spec: Spec) -> str:
    """Return a message's body on one line, as it is written in a spec: read again, it is the same body."""
    match body:
        case Field():
            default = f" = {_json(body.default)}" if body.optional else ""
            return f"${body.name} {type_text(body.type)}{default}"
        case Text(parts):
            return _word("".join(_dollars(part) if isinstance(part, str) else _in_text(part, spec) for part in parts))
        case BodyList(items):
            return f"[{', '.join(body_text(item, spec) for item in items)}]"
        case BodyMap(pairs):
            return f"{{{', '.join(f'{_word(_dollars(key))}: {body_text(item, spec)}' for key, item in pairs)}}}"
        case LiteralBody(value):
            if not isinstance(value, str):
                return _json(value)
            return (
                _word(_dollars(value)) if isinstance(parse_literal(value, _NOWHERE, Problems()), str) else _json(value)
            )


def _in_text(field: Field, spec: Spec) -> str:
    return f"${{{body_text(field, spec)[1:]}}}"


def _dollars(text: str) -> str:
    return text.replace("$", "$$")


def _word(text: str) -> str:
    """Return a text as a scalar of YAML, in double quotes only if it would be something else without."""
    return _json(text) if _NO_WORD.search(text) else text


def frame_text(frame: CompositeFrame) -> str:
    """Return in words what a message that is no single line is made of."""
    return ", then ".join(map(_part, frame))


def _part(part: FramePart) -> str:
    match part:
        case FrameLine(pattern, _):
            words = "" if pattern is None else "".join(f"${{{p}}}" if n % 2 else p for n, p in enumerate(pattern))
            if part.shorter or part.hexadecimal:
                words = part.text  # with what may be missing, and how it counts
            return f"a line {words}{' in any case' if part.any_case else ''}" if words else "any line"
        case FrameBytes(size, _):
            return counted("bytes", size)
        case FrameUntil(mark, _):
            return f"lines up to one that is {mark}"
        case FrameRepeat(count, parts, _):
            return f"{counted('times', count)} ({frame_text(parts)})"
        case FrameSize(size, parts, _):
            return f"{counted('bytes', size)} ({frame_text(parts)})"
        case FrameByte(value, _):
            return f"the byte 0x{value:02x}"
        case FrameNumber(kind, name, _):
            return f"a number {name} ({kind})" if name else f"a number ({kind})"
        case FrameBits(bits, _, _):
            return f"the bits {' '.join(map(str, bits))}"
        case FrameJson(size, _):
            return f"JSON of {counted('bytes', size)}"
        case FrameHeaders(counts, _):
            return f"headers with {' and '.join(header for header, _ in counts)}" if counts else "headers"
        case FrameContent(json, _):
            return "JSON as they announce it" if json else "the content that they announce"


def counted(what: str, count: Count) -> str:
    """Return in words how many bytes or times there are."""
    if isinstance(count, NumberKind):
        return f"as many {what} as a number ({count}) before them says"
    return f"the {what} that are left" if isinstance(count, Rest) else f"{count} {what}"


def _json(value: object) -> str:
    return json.dumps(plain(value), ensure_ascii=False, separators=(",", ":"))
