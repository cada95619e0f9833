"""``each``: items in turn, every one seeing what was bound before it; or side by side, every one seeing its own past.

These raise what an expression raises; whoever called takes the transition back (`machines.engine.interpreter`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from machines.engine.call_stack import (
    GRANTED_ITEMS_MAX,
    STEPS_AN_ITEM,
    TOO_SILENT,
    CallFrame,
    FailedError,
    Loop,
    ParallelLoop,
)
from machines.engine.compiled_states import CompiledState
from machines.engine.timers import start_clocks
from machines.expressions.operations import LENGTH_MAX
from machines.messages.shapes import shown
from machines.values import Range
from machines.work import SHORT, SILENT_STEPS_MAX, spend

if TYPE_CHECKING:
    from machines.engine.interpreter import Interpreter


def begin(tree: Interpreter, frame: CallFrame, node: CompiledState) -> bool:
    """Read the list once; return whether its items are done in turn, else the first of them have begun."""
    each = node.each
    assert each is not None, "only a state with each is entered here"
    items = each.items(frame.slots)
    if type(items) is not tuple:
        if isinstance(items, Range) and items.high - items.low >= LENGTH_MAX:
            raise FailedError(f"each over more than {LENGTH_MAX} items")
        items = tuple(items)
    if len(items) > SHORT:
        spend(len(items))
    if each.parallel is None:
        frame.loop = loop = Loop(items)
        if node.run is not None:
            loop.offset = frame.number_calls(node.run[0], len(items))
        return True
    width = each.parallel(frame.slots)
    if type(width) is not int or width < 1:
        raise FailedError(f"parallel: {shown(width)} is not a whole number from 1 on")
    frame.loop = side_by_side = ParallelLoop(items, width, frame.slots[:])
    if node.run is not None:
        side_by_side.offset = frame.number_calls(node.run[0], len(items))
    start_clocks(tree, frame, node)  # side by side there is one clock, for all of them
    start_items(tree, frame, node, side_by_side)
    return False


def advance(tree: Interpreter, frame: CallFrame) -> bool:
    """Name the next item of a loop in turn; False if there is none."""
    loop, each = frame.loop, frame.node.each
    assert loop is not None, "the loop goes on"
    assert each is not None, "only a loop has items"
    index = loop.index = loop.index + 1
    tree.steps += 1
    if tree.steps > SILENT_STEPS_MAX + tree.granted:
        raise FailedError(TOO_SILENT)
    if index >= len(loop.items):
        return False
    frame.slots[each.slot] = loop.items[index]
    return True


# The usual way of a loop that calls a machine for each item in turn: what `machines.semantics.calls` do, in half the
# time. A program without ``quick`` goes by the rules here, too; tests hold the two ways together.


def call_first(tree: Interpreter, frame: CallFrame, node: CompiledState) -> None:
    """Begin a loop, and call for its first item."""
    begin(tree, frame, node)
    call_next(tree, frame, None)


def call_next(tree: Interpreter, frame: CallFrame, child: CallFrame | None) -> None:
    """Bind what was returned to a loop, if something was, and call for its next item; after the last one go on."""
    node, slots, loop = frame.node, frame.slots, frame.loop
    each, run = node.each, node.run
    assert each is not None and run is not None and loop is not None, "it is a loop that calls, and goes on"  # noqa: PT018
    saved = slots
    mark = len(tree.effects)
    tree.undoable = ()
    tree.speaker = None
    try:
        items = loop.items
        index = loop.index + 1
        if child is not None:
            frame.child = None
            if node.bind is not None:  # binds all its names or, where it raises, none
                slots[frame.table.result_slot] = child.result
                node.bind(slots)
        saved = slots.copy()  # what was returned stays, whatever the next item does
        tree.undoable = ()
        if child is not None and each.until is not None and each.until(slots):
            index = len(items)
        while index < len(items):
            loop.index = index
            tree.steps += 1
            if tree.steps > SILENT_STEPS_MAX + tree.granted:
                raise FailedError(TOO_SILENT)
            slots[each.slot] = items[index]
            if each.guard is None or each.guard(slots):
                if node.entry is not None:
                    node.entry(slots)
                if node.timed:
                    start_clocks(tree, frame, node)
                frame.child = called = tree.new_frame(run[0], run[1](slots), frame, loop.offset + index)
                tree.work.append(called)
                return
            index += 1
        frame.loop = None
        tree.go_on(frame)
    except BaseException as error:
        tree.rollback(frame, saved, mark)
        where = f"entering {node.name}" if child is None else f"with what {child.table.name} returned in {node.name}"
        tree.failed(frame, error, where)


def start_items(tree: Interpreter, frame: CallFrame, node: CompiledState, loop: ParallelLoop) -> None:
    """Start as many items side by side as may run now; when all are done, fold and go on."""
    each = node.each
    assert each is not None, "only a loop has items"
    assert node.run is not None, "only calls run side by side"
    started: list[CallFrame] = []
    while (index := loop.startable()) is not None:
        tree.steps += 1
        if tree.steps > SILENT_STEPS_MAX + tree.granted:
            raise FailedError(TOO_SILENT)
        tree.granted = min(tree.granted + STEPS_AN_ITEM, GRANTED_ITEMS_MAX * STEPS_AN_ITEM)
        view = seen_by(tree, frame, loop, index)
        if index in loop.views:
            loop.views[index] = view[:]
        view[each.slot] = loop.items[index]
        if each.guard is not None and not each.guard(view):
            loop.done.add(index)
            continue
        if node.entry is not None:
            node.entry(view)
        name, arguments = node.run
        child = tree.new_frame(name, arguments(view), frame, loop.offset + index)
        loop.running[index] = child
        started.append(child)
    tree.work.extend(reversed(started))
    if len(loop.done) == len(loop.items):
        frame.loop = None
        fold(tree, frame, loop, sorted(loop.results))
        tree.go_on(frame)


def seen_by(tree: Interpreter, frame: CallFrame, loop: ParallelLoop, index: int) -> list[Any]:
    """Return the names as an item sees them: those on entry, with the results of its past folded in item order.

    Where all of its past up to one item is just what that item and its own past left, this is where it begins: so in
    a chain of items each result is folded once, not once for each item behind it.
    """
    past = loop.past[index]
    begin, folded = loop.base, frozenset[int]()
    if frame.node.timeless:
        for earlier in loop.before[index]:
            known = loop.past[earlier] | {earlier}
            if len(known) > len(folded) and min(past - known, default=earlier + 1) > earlier:
                begin, folded = _left_by(tree, frame, loop, earlier), known
    view = begin[:]
    fold_into(tree, view, frame, loop, sorted((past - folded) & loop.results.keys()))
    return view


def _left_by(tree: Interpreter, frame: CallFrame, loop: ParallelLoop, index: int) -> list[Any]:
    """Return the names as an item that is done left them to those that follow it."""
    found = loop.after.get(index)
    if found is None:
        found = loop.views[index]
        if index in loop.results:
            fold_into(tree, found, frame, loop, [index])
        loop.after[index] = found
    return found


def fold(tree: Interpreter, frame: CallFrame, loop: ParallelLoop, indices: list[int]) -> None:
    """Bind the results of items in the frame's own names, in item order."""
    fold_into(tree, frame.slots, frame, loop, indices)


def fold_into(tree: Interpreter, slots: list[Any], frame: CallFrame, loop: ParallelLoop, indices: list[int]) -> None:
    """Bind the results of items, in item order, as ``as`` says."""
    node = frame.node
    if node.bind is None or node.each is None:
        return
    for index in indices:
        slots[node.each.slot] = loop.items[index]
        slots[frame.table.result_slot] = loop.results[index]
        node.bind(slots)
