"""What is wrong with a run: the questions put to every global state and every move of a search."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from machines.problems import Place
from machines.verification.abstract.domain import OtherThan
from machines.verification.abstract.process import NOT_STARTED
from machines.verification.abstract.state import Closed, Observation, Sent
from machines.verification.search.moves import GlobalState, Transition
from machines.verification.search.state_space import StateSpace
from machines.verification.search.system import ProcessInstance
from machines.verification.verdict import Finding, TraceStep

_HINTS = {
    "A500": "let one of them send what the other waits for, or expect what is sent",
    "A501": "list the message there, or in an 'always'; or let nobody send it then",
    "A502": "after that timeout, drop the peer, or list what may still come (early: ignore throws it away)",
    "A503": "give the two messages different shapes, or expect only one of them there",
    "A505": "send the last message to everybody, or let the client answer 'closed'",
    "A509": "let its answer repeat a number that the question has, and hold it against that; or drop who is late",
    "limit": "let the limit allow as many as the other side sends by itself, or let that send fewer",
    "A507": "add a way that leads on to a 'return'",
}


# What a role that programs of others play may do, and is no fault of the protocol, which has to answer it.
_ITS_DOING = frozenset({"unexpected", "early", "illegal", "limit", "misread", "stale"})
OTHERS_MAX = 16  # ways to one finding that are kept besides the shortest: a replay may find one of them that is real


class ErrorDetector:
    """Collects findings while a graph is built; each is told once, with the first trace to it."""

    def __init__(self, clients: int) -> None:
        self.clients = clients
        self.found: dict[tuple[str, ...], Finding] = {}
        self.returned: set[str] = set()  # roles of which some session has come to its end
        self.ended = False  # whether the shared roles have, in a run in which nothing went wrong
        self.others: dict[tuple[str, ...], list[tuple[int, Transition | None]]] = {}  # other ways to what was found
        self.fair: set[tuple[str, ...]] = set()  # findings of which a way is known on which nothing goes wrong

    # -- asked of every move and every global state -----------------------------------------------------------------

    def moved(self, graph: StateSpace, before: int, after: int, move: Transition) -> None:
        """Look at a move that is loud."""
        for one in move.all():
            if one.next is None:
                continue
            for hit in one.next.outcome.hits:
                self._hit(graph, before, move, one, hit)
            actor = graph.cast.actors[one.actor]
            if one.next.local in actor.part.over and actor.part.rest(one.next.local).over == "":
                self.returned.add(actor.role)

    def seen(self, graph: StateSpace, at: int, moves: list[Transition]) -> None:
        """Look at a global state, whose moves are all there are."""
        config = graph.configs[at]
        if any(move.fair for move in moves) or (config[2] and _has_limit(graph, config)):
            return  # once something went wrong, a limit may be what is meant to end it
        if is_open(graph, config):
            return  # more may come
        waiting = [index for index in range(len(config[0])) if not _is_over(graph, config, index)]
        if waiting:
            places: dict[str, Place] = {}
            for index in waiting:
                actor = graph.cast.actors[index]
                where = actor.part.rest(config[0][index]).where
                places.setdefault(f"{actor.role} in {where}", place_of(actor, where))
            first, *_ = told = sorted(places)
            text = f"nothing can happen any more: {', '.join(told)}"
            self.tell(graph, "A500", text, at, None, key=("A500",), place=places[first])
        elif not config[2]:
            self._ended(graph, at)

    def _ended(self, graph: StateSpace, at: int) -> None:
        """All is over and nothing went wrong: was a client left without an end that another one came to?

        Where a role is foreign that is not asked, as it may leave at any time.
        """
        if graph.cast.spec.foreign:
            return
        config = graph.configs[at]
        ends: dict[str, dict[str, int]] = {}  # of each role, the ends with who comes to them
        for index, actor in enumerate(graph.cast.actors):
            if actor.group >= 0 and config[0][index] >= 0:
                ends.setdefault(actor.role, {}).setdefault(actor.part.rest(config[0][index]).over or "", index)
        for role, found in ends.items():
            left = sorted(text for text in found if text.endswith(": over"))
            if left:
                graph.without_end.add(role)
            if left and "" in found:
                text = f"a {role} is left without an end that another comes to: {left[0].removesuffix(': over')}"
                key = ("A505", role)
                place = self._last_place(graph, at, found[left[0]]) if key not in self.found else None
                self.tell(graph, "A505", text, at, None, key=key, place=place)

    def _last_place(self, graph: StateSpace, at: int, index: int) -> Place:
        """Return the place of the state in which an actor last stood before it was over."""
        moves, who = graph.moves_to(at)
        name = names_of(graph, who)[index]
        stood = [step.where for step in steps(graph, moves) if step.who == name and "." in step.where]
        return place_of(graph.cast.actors[index], stood[-1] if stood else "")

    def _hit(self, graph: StateSpace, before: int, move: Transition, one: Transition, hit: Observation) -> None:
        actor = graph.cast.actors[one.actor]
        sender = graph.cast.actors[actor.peers[hit.seat][0]].role if hit.seat >= 0 else ""
        if hit.kind in _ITS_DOING and sender in graph.cast.spec.foreign:
            return
        text = f"{actor.role}: {hit.text}"
        code = {"misread": "A503", "broken": "A506", "stale": "A509"}.get(hit.kind)
        sent_by_itself = hit.kind == "limit" and not _is_chosen(graph, before, one, hit)
        if hit.kind in ("unexpected", "early", "illegal") or sent_by_itself:
            code = "A502" if self._is_late(graph, before) else "A501"
        elif hit.kind == "unanswered" and actor.group < 0 and actor.role not in graph.cast.spec.connects:
            code = "A506"
        if code is not None:
            key = ("A501" if code == "A502" else code, actor.role, hit.text)
            place = place_of(actor, hit.state.rpartition(", ")[2])
            self.tell(graph, code, text, before, move, key=key, place=place, hint=_HINTS.get(hit.kind))

    def _is_late(self, graph: StateSpace, number: int) -> bool:
        rung = (move.given[1] for _, move, _ in graph.moves_to(number)[0] if move.given[0] == "ring")
        return any(timer.kind == "late" for timer in rung)

    # -- asked of the whole ------------------------------------------------------------------------------------------

    def finish(self, graph: StateSpace) -> None:
        """Ask what only a whole graph can answer; one that met a bound cannot."""
        for key, others in self.others.items():
            traces = tuple(self._trace(graph, at, move) for at, move in reversed(others))
            self.found[key] = replace(self.found[key], others=traces)
        if graph.beyond:
            return
        before: list[list[int]] = [[] for _ in graph.configs]
        for at, after in enumerate(graph.after):
            lost = graph.by_loss.get(at, ())  # that a connection may be lost is no way out of an endless talk
            for number in after:
                if number not in lost:
                    before[number].append(at)
        todo = [at for at, config in enumerate(graph.configs) if at in graph.of_fewer or _has_ended(graph, config)]
        ending = set(todo)
        while todo:
            for number in before[todo.pop()]:
                if number not in ending:
                    ending.add(number)
                    todo.append(number)
        stuck = next((at for at in range(len(graph.configs)) if at not in ending), None)
        if stuck is not None and not any(key[0] == "A500" for key in self.found):
            waiting = _where(graph, graph.configs[stuck])
            text = f"from here no way leads to the end: {'; '.join(f'{who.name} in {where}' for who, where in waiting)}"
            place = place_of(*waiting[0]) if waiting else None
            self.tell(graph, "A507", text, stuck, None, key=("A507",), place=place)

    def tell(
        self,
        graph: StateSpace,
        code: str,
        text: str,
        at: int,
        move: Transition | None,
        *,
        key: tuple[str, ...],
        place: Place | None = None,
        hint: str | None = None,
    ) -> None:
        """Note a finding with the trace to a global state, and a move from there."""
        if key in self.found:
            kept = self.others.setdefault(key, [])
            fair = not graph.configs[at][2]
            if len(kept) < OTHERS_MAX or (fair and key not in self.fair):
                kept.append((at, move))
            if fair:
                self.fair.add(key)
            return
        if not graph.configs[at][2]:
            self.fair.add(key)
        trace = self._trace(graph, at, move)
        self.found[key] = Finding(code, text, self.clients, trace, hint or _HINTS.get(code, ""), place)

    def _trace(self, graph: StateSpace, at: int, move: Transition | None) -> tuple[TraceStep, ...]:
        moves, who = graph.moves_to(at)
        if move is not None:
            moves = [*moves, (at, move, who)]
        return tuple(steps(graph, moves))


def _is_chosen(graph: StateSpace, number: int, read: Transition, hit: Observation) -> bool:
    """Whether something went wrong on the way to a global state, or a player said so much of its own free will."""
    if graph.configs[number][2]:
        return True
    sender, _ = graph.cast.actors[read.actor].peers[hit.seat]
    moves, who = graph.moves_to(number)
    name = names_of(graph, who)[sender]
    for at, move, were in moves:
        if move.next is None or move.given[0] != "answer" or names_of(graph, were)[move.actor] != name:
            continue
        actor = graph.cast.actors[move.actor]
        said = any(isinstance(one, Sent) and one.token[0] == hit.message for one in move.next.outcome.out)
        rest = actor.part.rest(graph.configs[at][0][move.actor])
        if said and (len(rest.questions) > 1 or not any(timer.kind == "late" for timer in rest.timers)):
            return True
    return False


# -- what a global state is -----------------------------------------------------------------------------------------


def _is_over(graph: StateSpace, config: GlobalState, at: int) -> bool:
    return config[0][at] in graph.cast.actors[at].part.over


def _has_limit(graph: StateSpace, config: GlobalState) -> bool:
    """Whether a clock runs for somebody who is not over, be it one that only ends his session."""
    return any(
        local >= 0 and actor.part.rest(local).timers for actor, local in zip(graph.cast.actors, config[0], strict=True)
    )


def _has_ended(graph: StateSpace, config: GlobalState) -> bool:
    return is_open(graph, config) or all(
        config[0][at] == NOT_STARTED or _is_over(graph, config, at) for at in range(len(config[0]))
    )


def is_open(graph: StateSpace, config: GlobalState) -> bool:
    """Whether a door is open: more clients may come than there are."""
    locals_ = config[0]
    for at, part in graph.shared:
        local = locals_[at]
        if local >= 0 and (part.rests.get(local) or part.rest(local)).door:
            return True
    return False


def _where(graph: StateSpace, config: GlobalState) -> list[tuple[ProcessInstance, str]]:
    """Return who is there and not over, each with where it is."""
    found = []
    for at, local in enumerate(config[0]):
        actor = graph.cast.actors[at]
        if local >= 0 and actor.part.rest(local).over is None:
            found.append((actor, actor.part.rest(local).where))
    return found


def place_of(actor: ProcessInstance, where: str) -> Place:
    """Return the place of the state that an actor is in, by `Rest.where`: of several the first; of none the role's."""
    role = actor.part.outline.role
    machine, _, state = where.partition(", ")[0].partition(".")
    if machine in role.machines and state in role.machines[machine].states:
        return role.machines[machine].states[state].place
    return role.place


# -- traces ----------------------------------------------------------------------------------------------------------


def steps(graph: StateSpace, moves: list[tuple[int, Transition, list[int]]]) -> list[TraceStep]:
    """Return moves as steps for people."""
    found: list[TraceStep] = []
    for _, move, who in moves:
        name_of = names_of(graph, who)
        if move.given == ("die",):
            found.append(TraceStep(name_of[move.actor], "dies", "", "", "loses its connection", (), (), "dead"))
            continue
        for one in move.all():
            if one.next is not None:
                found.append(step_of(graph, one, name_of))
    return found


def names_of(graph: StateSpace, who: list[int]) -> list[str]:
    """Return the names of the actors where ``who[group]`` is the client that was there at first."""
    actors = graph.cast.actors
    by_group: dict[int, list[Any]] = {}
    for actor in actors:
        by_group.setdefault(actor.group, []).append(actor)
    found = []
    seen: dict[int, int] = {}
    for actor in actors:
        if actor.group < 0:
            found.append(actor.name)
            continue
        place = seen.get(actor.group, 0)
        seen[actor.group] = place + 1
        found.append(by_group[who[actor.group]][place].name)
    return found


# What an input is in a trace.
_KINDS = {"start": "connects", "connect": "connects", "read": "reads", "overtake": "reads", "answer": "decides",
          "ring": "rings", "misbehave": "misbehaves"}  # fmt: skip


def step_of(graph: StateSpace, move: Transition, name_of: list[str]) -> TraceStep:
    """Return a move of one actor as a step; ``name_of`` has the actors' names."""
    assert move.next is not None, "it leads somewhere"
    actor = graph.cast.actors[move.actor]
    outcome = move.next.outcome
    peer = message = taken = ""
    kind: Any = _KINDS[move.given[0]]
    does = outcome.event
    if kind == "reads":
        peer = name_of[actor.peers[move.given[1]][0]]
        message = move.given[2][0] if type(move.given[2]) is tuple else ""
        taken = next((hit.taken for hit in outcome.hits if hit.taken), "")
        if taken:
            does = f"reads as {taken}: {message}"
        does = f"{does} of {peer}"
        values = [one for one in move.given[2][1] if one[0][0] != "."] if type(move.given[2]) is tuple else ()
        if values:
            does += f" ({', '.join(f'{field} {_value(value)}' for field, value in values)})"
    elif move.given[0] == "connect":
        peer = name_of[actor.peers[move.given[1]][0]]
        does = f"{peer} connects"
    elif move.given[0] == "answer":
        message = move.given[2]
    if outcome.fault in ("illegal", "limit"):
        does += ", which is not legal" if outcome.fault == "illegal" else ", once too often"
    sent = tuple((name_of[actor.peers[one.seat][0]], one.token[0]) for one in outcome.out if isinstance(one, Sent))
    closed = tuple(name_of[actor.peers[one.seat][0]] for one in outcome.out if isinstance(one, Closed))
    where = actor.part.rest(move.next.local).where
    return TraceStep(name_of[move.actor], kind, peer, message, does, sent, closed, where, taken)


def _value(value: Any) -> str:
    if isinstance(value, OtherThan):
        return f"other than {', '.join(map(_value, value.excluded))}"
    return repr(value) if not isinstance(value, str) else value
