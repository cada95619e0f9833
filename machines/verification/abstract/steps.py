"""What the steps of a branch, or of a state that is entered, do: names bound, messages sent, peers dropped."""

from __future__ import annotations

from machines.model import Call, DropPeers, Expression, Let, Name, Secure, SendMessages, Start, Step
from machines.verification.abstract.dialogue import Dialogue
from machines.verification.abstract.domain import FALSE, UNSET, AbstractError, Flag, OtherThan, Seats, Unknown, Value
from machines.verification.abstract.state import SILENT, AbstractCall, Secured, Sent, Token

SENT_BY = ".sent by"  # a field of a message on its way, where it is asked: the place in the spec that sent it


class StepRunner(Dialogue):
    """A role that does steps."""

    def _steps(
        self, steps: tuple[Step, ...], call: AbstractCall, seat: int | None, awaits: Expression | None,
        *, stays: bool = False,
    ) -> None:  # fmt: skip
        for step in steps:
            match step:
                case Let(bindings):
                    values = [self._begun(one, call) or self._needed(one.value, call) for one in bindings]
                    for binding, value in zip(bindings, values, strict=True):
                        if binding.field is None:
                            self._bind(call, binding.target, value)
                        else:
                            self._know_of(call.look(binding.target), {binding.field: value})
                case SendMessages(receivers, messages) if self.outline.unheard:
                    for part in (receivers, *(argument for said in messages for argument in said.arguments or ())):
                        _ = None if part is None else self._needed(part, call)  # it may have no value at all
                case SendMessages(receivers, messages):
                    if receivers is not None:
                        to = self._receivers(receivers, call)
                    elif seat is not None:
                        to = (seat,)
                    elif awaits is not None:
                        to = self._receivers(awaits, call)
                    elif self.outline.one_partner:
                        to = (0,)
                    else:
                        raise AbstractError(f"nobody is at hand for the message in line {step.place.line}")
                    for message in messages:
                        token = self._token(message, call)
                        if message.path in self.outline.traced:
                            token = (token[0], (*token[1], (SENT_BY, str(message.place))))
                        for one in to:
                            if self.seats[one] not in SILENT:
                                asks = self.outline.questions
                                self.out.append(Sent(one, self._counted(one, token, stays=stays) if asks else token))
                case Start(machine):
                    given = tuple([self._needed(argument, call) for argument in machine.arguments or ()])
                    self.starting.append((call, machine.path, given))
                case DropPeers(peers) | Secure(peers):
                    for one in self._receivers(peers, call) if self._value(peers, call) is not None else ():
                        if isinstance(step, DropPeers):
                            self._drop(one, "dropped")
                        elif self.seats[one] not in SILENT:
                            self.out.append(Secured(one))

    def _receivers(self, peers: Expression, call: AbstractCall) -> Seats:
        """Return the seats that an expression says; of some value, one if it is a name that stands for one peer."""
        value = self.reckoner.known(self._value(peers, call))
        if type(value) is Unknown and value.peers and self._is_one(peers, call):
            return (self.reckoner.peer(value),)
        return self.reckoner.receivers(value)

    def _is_one(self, peers: Expression, call: AbstractCall) -> bool:
        return isinstance(peers, Name) and (call.table.machine.name, peers.name) in self.outline.single

    def _needed(self, expression: Expression, call: AbstractCall) -> Value:
        """Return the value of an expression, UNSET if it decides nothing: see `relevance`."""
        return UNSET if id(expression) in self.outline.idle else self._value(expression, call)

    def _token(self, message: Call, call: AbstractCall) -> Token:
        tracked = self.outline.tracked.get(message.path)
        arguments = message.arguments
        fields = self.outline.spec.messages[message.path].fields
        if not tracked:
            for argument in arguments or ():
                if id(argument) not in self.outline.idle:
                    self._value(argument, call)  # it may have no value at all
            return (message.path, ())
        found = []
        for at, field in enumerate(fields):
            if field.name not in tracked:
                continue
            value = self._value(arguments[at], call) if arguments is not None else self._look(call, field.name)
            if type(value) is Unknown or type(value) is OtherThan:
                options = tracked[field.name]
                chosen = self._any(tuple(one for one in options if self.reckoner.same(value, one) is not FALSE))
                if type(value) is Unknown:
                    self.reckoner.facts[value.term] = chosen
                value = chosen
            elif not isinstance(value, Flag) and value not in tracked[field.name]:
                value = tracked[field.name][-1]
            found.append((field.name, value))
        return (message.path, tuple(found))
