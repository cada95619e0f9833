"""Who is on stage: one actor for each session, and the connections between them.

A role that nobody connects to is a client; of the first of them there are as many as is asked for, of each other
one or two.
A role that runs once for each connection has an actor for each; any other that listens has one, for all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from machines.model import Spec
from machines.verification.abstract.alike import Alike
from machines.verification.abstract.budget import Budget
from machines.verification.abstract.contracts import Contract
from machines.verification.abstract.process import Process
from machines.verification.abstract.role_info import RoleOutline

OTHERS = 2  # with at most so many of the first kind of client, two of each further kind are tried as well


@dataclass(slots=True)
class ProcessInstance:
    """One session. ``peers[seat]`` is (actor, its seat for us); ``group`` is the client it belongs to, or -1."""

    name: str
    role: str
    part: Process
    group: int
    peers: list[tuple[int, int]] = field(default_factory=list)
    queues: list[tuple[int, int]] = field(default_factory=list)  # for each seat: (what we send, what comes in)


def clients_of(spec: Spec) -> list[str]:
    """Return the roles that connect, and that nobody connects to."""
    listening = spec.listeners()
    return [role for role in spec.roles if spec.connects.get(role) and role not in listening]


class System:
    """The actors of a spec with so many clients, and ``others`` of each further role that connects.

    ``specs`` gives a role another version of the spec, ``budget`` is what its search may cost; ``outlines`` are those
    of the roles as far as they are known, of another number of clients: the rest is added.
    """

    part: type[Process] = Process  # how a role is computed
    decides_only = True  # whether of names only those are known that decide something

    def __init__(
        self,
        spec: Spec,
        clients: int,
        contracts: Mapping[str, Contract],
        specs: Mapping[str, Spec] | None = None,
        *,
        others: int = 1,
        budget: Budget | None = None,
        outlines: dict[str, RoleOutline] | None = None,
    ) -> None:
        self.budget = budget or Budget()
        self.spec = spec
        self.clients = clients
        self.of = {role: (specs or {}).get(role, spec) for role in spec.roles}
        self.outlines = outlines if outlines is not None else {}
        for role in spec.roles:
            if role not in self.outlines:
                self.outlines[role] = RoleOutline(self.of[role], role, contracts, decides_only=self.decides_only)
        self.actors: list[ProcessInstance] = []
        self.links = 0
        self.groups = 0
        self._shared: dict[str, int] = {}
        self._alike: dict[tuple[int, int], Alike] = {}
        leaves = clients_of(spec)
        self.alike_groups: list[list[int]] = []
        for at, role in enumerate(leaves):
            count = clients if at == 0 else others
            members = []
            for index in range(count):
                members.append(self.groups)
                self.groups += 1
                name = role if count == 1 else f"{role} {index + 1}"
                self._add(role, name, members[-1])
            if count > 1:
                self.alike_groups.append(members)
        seats = dict.fromkeys(spec.roles, 0)
        for actor in self.actors:
            seats[actor.role] = max(seats[actor.role], len(actor.peers))
        parts: dict[str, Process] = {}
        for actor in self.actors:
            if actor.role not in parts:
                parts[actor.role] = self.part(self.outlines[actor.role], self._alike_for(actor.role), seats[actor.role])
                parts[actor.role].budget = self.budget
            actor.part = parts[actor.role]
        self.parts = parts

    def _alike_for(self, role: str) -> Alike:
        """What a role reads was written by its peers: with their version of the spec."""
        others = [self.of[other] for other in self.spec.peers_of(role)]
        return Alike(others[0] if others else self.of[role], self.of[role])

    def _add(self, role: str, name: str, group: int) -> None:
        """Add an actor and all whom it connects to, each before the next connection of the one before it."""
        under_way = [self._actor(role, name, group)]  # no recursion: roles may connect to roles, many in a row
        while under_way:
            at, targets = under_way[-1]
            target = next(targets, None)
            if target is None:
                under_way.pop()
                if under_way:
                    self._connect(under_way[-1][0], at)
            elif target in self._shared:
                self._connect(at, self._shared[target])
            elif self.outlines[target].per_connection:
                actor = self.actors[at]
                under_way.append(self._actor(target, f"{target} of {actor.name}", actor.group))
            else:
                self._shared[target] = len(self.actors)
                under_way.append(self._actor(target, target, -1))

    def _actor(self, role: str, name: str, group: int) -> tuple[int, Iterator[str]]:
        """Add an actor; return its number, and whom it is to be connected to."""
        self.actors.append(ProcessInstance(name, role, None, group))  # type: ignore[arg-type]  # set once the seats are counted
        return len(self.actors) - 1, iter(self.outlines[role].connects)

    def _connect(self, at: int, other: int) -> None:
        one, another = self.actors[at], self.actors[other]
        ours, theirs = len(one.peers), len(another.peers)
        one.peers.append((other, theirs))
        another.peers.append((at, ours))
        one.queues.append((2 * self.links, 2 * self.links + 1))
        another.queues.append((2 * self.links + 1, 2 * self.links))
        self.links += 1
