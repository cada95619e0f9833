"""The pages of the manual about roles together; `machines.manual` says what form they have.

Each bad example has the finding of its page, found by `machines.verification.verify`; each mended one is proved.

A500: deadlock: nothing can happen any more, but somebody waits.

Each waits for the other to speak, with no clock that would ring: a deadlock. The trace is the shortest way to it. If
something went wrong before, as an illegal move that its sender is not told of, a limit on either side would end it.

Bad:

    protocol: pair
    connects: {client: server}
    messages:
      client: {PING: ping}
      server: {PONG: pong}
    roles:
      server:
        main(client):
          ready: {within: never, receive: {PING: {send: PONG, return: null}}}
      client:
        main:
          begin: {within: never, receive: {PONG: {send: PING, return: null}}}

Mended:

    protocol: pair
    connects: {client: server}
    messages:
      client: {PING: ping}
      server: {PONG: pong}
    roles:
      server:
        main(client):
          ready: {within: never, receive: {PING: {send: PONG, return: null}}}
      client:
        main:
          begin: {send: PING, within: never, receive: {PONG: {return: null}}}

A501: unspecified reception: a peer that keeps to the protocol sends what the other may not get.

It would be punished for what it was told to do. List the message in that state, or in an 'always'; or let nobody
send it then.

Bad:

    protocol: pair
    connects: {client: server}
    messages:
      client: {PING: ping, BYE: bye}
      server: {PONG: pong}
    roles:
      server:
        main(client):
          ready: {within: 5 s, receive: {PING: {send: PONG, then: last}}}
          last: {within: 5 s, receive: {BYE: {return: null}}}
      client:
        main:
          begin: {send: PING, within: 5 s, receive: {PONG: last}}
          last: [{if: my.polite, send: BYE, return: null}, {send: PING, return: null}]

Mended:

    protocol: pair
    connects: {client: server}
    messages:
      client: {PING: ping, BYE: bye}
      server: {PONG: pong}
    roles:
      server:
        main(client):
          ready: {within: 5 s, receive: {PING: {send: PONG, then: last}}}
          last: {within: 5 s, receive: {BYE: {return: null}, PING: {return: null}}}
      client:
        main:
          begin: {send: PING, within: 5 s, receive: {PONG: last}}
          last: [{if: my.polite, send: BYE, return: null}, {send: PING, return: null}]

A502: timeout race: a message comes too late, because a clock rang while it was under way.

The peer answered in time, as it sees it. After such a timeout drop the peer, list what may still come, or let
messages say what they answer.

Bad:

    protocol: pair
    connects: {client: server}
    messages:
      client: {ANSWER: [answer, $x int], THANKS: thanks}
      server: {ASK: ask, LATE: late}
    roles:
      server:
        main(client):
          asked: {send: ASK, within: 5 s, receive: {ANSWER: {return: x}}, timeout: told}
          told: {send: LATE, within: 5 s, receive: {THANKS: {return: 0}}}
      client:
        main:
          begin: {within: 10 s, receive: {ASK: thinking, LATE: {send: THANKS, return: null}}, closed: {return: null}}
          thinking:
            ask: it
            within: 10 s
            receive: {ANSWER: {send: ANSWER, then: begin}, LATE: {send: THANKS, return: null}}

Mended:

    protocol: pair
    connects: {client: server}
    messages:
      client: {ANSWER: [answer, $x int], THANKS: thanks}
      server: {ASK: ask, LATE: late}
    roles:
      server:
        main(client):
          asked: {send: ASK, within: 5 s, receive: {ANSWER: {return: x}}, timeout: told}
          told: {send: LATE, within: 5 s, receive: {THANKS: {return: 0}, ANSWER: stay}}
      client:
        main:
          begin: {within: 10 s, receive: {ASK: thinking, LATE: {send: THANKS, return: null}}, closed: {return: null}}
          thinking:
            ask: it
            within: 10 s
            receive: {ANSWER: {send: ANSWER, then: begin}, LATE: {send: THANKS, return: null}}

A503: message confusion: a message is taken for another.

Both have a shape in common, and where the one is sent the other is expected. Give them different shapes. Where a
clock rang before, as here, what comes late has to be expected too.

Bad:

    protocol: pair
    connects: {client: server}
    messages:
      client: {NAME: $name string, NICK: $nick string}
      server: {ASK: ask, AGAIN: again}
    roles:
      server:
        main(client):
          named: {send: ASK, within: 5 s, receive: {NAME: {return: name}}, timeout: nicked}
          nicked: {send: AGAIN, within: 5 s, receive: {NICK: {return: nick}}}
      client:
        main:
          begin: {within: 10 s, receive: {ASK: naming, AGAIN: nicking}, closed: {return: null}}
          naming: {ask: name, within: 4 s, receive: {NAME: {send: NAME, then: begin}}}
          nicking: {ask: nick, within: 4 s, receive: {NICK: {send: NICK, return: null}}}

Mended:

    protocol: pair
    connects: {client: server}
    messages:
      client: {NAME: [name, $name string], NICK: $nick string}
      server: {ASK: ask, AGAIN: again}
    roles:
      server:
        main(client):
          named: {send: ASK, within: 5 s, receive: {NAME: {return: name}}, timeout: nicked}
          nicked: {send: AGAIN, within: 5 s, receive: {NAME: stay, NICK: {return: nick}}}
      client:
        main:
          begin: {within: 10 s, receive: {ASK: naming, AGAIN: nicking}, closed: {return: null}}
          naming: {ask: name, within: 4 s, receive: {NAME: {send: NAME, then: begin}}}
          nicking: {ask: nick, within: 4 s, receive: {NICK: {send: NICK, return: null}}}

A504: orphan message: a message is sent, and never read in any run.

Its receiver has ended before, or closed the connection, whatever the players and the clocks do.

Bad:

    protocol: pair
    connects: {client: server}
    messages:
      client: {PING: ping, BYE: bye}
    roles:
      server:
        main(client):
          ready: {within: 5 s, receive: {PING: {return: null}, BYE: {return: null}}}
      client:
        main:
          begin: {send: [PING, BYE], return: null}

Mended:

    protocol: pair
    connects: {client: server}
    messages:
      client: {PING: ping, BYE: bye}
    roles:
      server:
        main(client):
          ready: {within: 5 s, receive: {PING: stay, BYE: {return: null}}}
      client:
        main:
          begin: {send: [PING, BYE], return: null}

A505: missing end: a client is left without an end that another one comes to.

It would wait for a last word that only others are sent, until its connection is closed. Send it to everybody, or
let the client answer 'closed'.

Bad:

    protocol: pair
    connects: {client: server}
    messages:
      client: {HELLO: hello}
      server: {OVER: over}
    roles:
      server:
        main:
          door: {accept: hello(peer), as: players, seats: 2, within: 1 min, timeout: {return: null}, then: over}
          over:
            let: {first: "players[0]"}
            send: {first: OVER}
            return: null
        hello(peer):
          named: {await: peer, within: 5 s, receive: {HELLO: {return: null}}}
      client:
        main:
          begin: {send: HELLO, within: 10 min, receive: {OVER: {return: null}}}

Mended:

    protocol: pair
    connects: {client: server}
    messages:
      client: {HELLO: hello}
      server: {OVER: over}
    roles:
      server:
        main:
          door: {accept: hello(peer), as: players, seats: 2, within: 1 min, timeout: {return: null}, then: over}
          over:
            send: {players: OVER}
            return: null
        hello(peer):
          named: {await: peer, within: 5 s, receive: {HELLO: {return: null}}}
      client:
        main:
          begin: {send: HELLO, within: 10 min, receive: {OVER: {return: null}}}

A506: runtime failure: a session fails, whatever the data.

An expression that has no value, or an event that nobody answers, ends the session of all who take part in it.

Bad:

    protocol: pair
    connects: {client: server}
    messages:
      client: {PING: ping}
    roles:
      server:
        main(client):
          ready: {within: 5 s, receive: {PING: {let: {seats: []}, then: done}}}
          done: {let: {first: "seats[0]"}, return: first}
      client:
        main:
          begin: {send: PING, return: null}

Mended:

    protocol: pair
    connects: {client: server}
    messages:
      client: {PING: ping}
    roles:
      server:
        main(client):
          ready: {within: 5 s, receive: {PING: {let: {seats: [7]}, then: done}}}
          done: {let: {first: "seats[0]"}, return: first}
      client:
        main:
          begin: {send: PING, return: null}

A507: livelock: from here no way leads to the end.

Messages go to and fro, and nobody can ever return. It is no deadlock, and nothing stops it but a lost connection.

Bad:

    protocol: pair
    connects: {client: server}
    messages:
      client: {PING: ping}
      server: {PONG: pong}
    roles:
      server:
        main(client):
          ready: {within: never, receive: {PING: {send: PONG, then: ready}}}
      client:
        main:
          begin: {send: PING, within: never, receive: {PONG: begin}}

Mended:

    protocol: pair
    connects: {client: server}
    messages:
      client: {PING: ping}
      server: {PONG: pong}
    roles:
      server:
        main(client):
          ready: {within: never, receive: {PING: {send: PONG, then: ready}}}
      client:
        main:
          begin: {send: PING, within: never, receive: {PONG: {return: null}}}

A508: property violation: a property of the spec does not hold.

Under 'properties' stands what shall hold in every run; the trace is the shortest one in which it does not.

Bad:

    protocol: pair
    connects: {client: server}
    messages:
      client: {PING: ping}
      server: {PONG: pong}
    roles:
      server:
        main(client):
          ready: {within: 5 s, receive: {PING: {send: PONG, return: null}}}
      client:
        main:
          begin: {send: PING, within: 1 s, receive: {PONG: {return: null}}, timeout: {return: null}}
    properties:
      answered: {never: {client: over, server: main.ready}}

Mended:

    protocol: pair
    connects: {client: server}
    messages:
      client: {PING: ping}
      server: {PONG: pong}
    roles:
      server:
        main(client):
          ready: {within: 5 s, receive: {PING: {send: PONG, return: null}}}
      client:
        main:
          begin: {send: PING, within: 1 s, receive: {PONG: {return: null}}}
    properties:
      answered: {never: {client: over, server: main.ready}}
"""
