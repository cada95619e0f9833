"""The pages of the manual about games; `machines.manual` says what form they have.

Each bad example has the problem of its page in a game of `runtime.simulation`, each mended one has none.

A600: a session fails in a game.

A rule or an expression has no value for what was said, or nothing answers to what a peer did. Whoever plays can bring
that about, so the game of all ends there. Ask before, with 'if', or answer with 'failed'.

Bad:

    protocol: first-word
    connects: {client: server}
    types: {Words: [string, ...]}
    messages:
      client: {SAY: {say: $words Words}}
      server: {FIRST: {first: $word string}}
    roles:
      server:
        main(client):
          ready:
            within: 5 s
            receive:
              SAY: {send: "FIRST(words[0])", return: null}
            fault: {return: null}
      client:
        main:
          deciding:
            ask: say
            within: 2 s
            receive: {SAY: {send: SAY, then: waiting}}
          waiting: {within: 5 s, receive: {FIRST: {return: word}}, closed: {return: null}}

Mended:

    protocol: first-word
    connects: {client: server}
    types: {Words: [string, ...]}
    messages:
      client: {SAY: {say: $words Words}}
      server: {FIRST: {first: $word string}}
    roles:
      server:
        main(client):
          ready:
            within: 5 s
            receive:
              SAY:
                - {if: len(words) > 0, send: "FIRST(words[0])", return: null}
                - {send: FIRST(''), return: null}
            fault: {return: null}
      client:
        main:
          deciding:
            ask: say
            within: 2 s
            receive: {SAY: {send: SAY, then: waiting}}
          waiting: {within: 5 s, receive: {FIRST: {return: word}}, closed: {return: null}}

A601: a game does not end.

Messages follow on one another for ever, or somebody waits and nothing will come. What should end the game never comes
true: look at the condition, and at what changes what it asks. It is told where that is sure: all stands as it did
before, and nobody was asked in between, or every answer that the types allow was tried from each state of the round.
Where only a bound was met, the check says that it is unknown, and ends with 3: --longer N raises the bound.

Bad:

    protocol: countdown
    connects: {client: server}
    messages:
      client: {ONE: one}
      server: {LEFT: {left: $left int}, OVER: over}
    roles:
      server:
        main(client):
          begin: {let: {left: 3}, then: asking}
          asking:
            send: LEFT(left)
            within: 5 s
            receive:
              ONE:
                - {if: left == 0, send: OVER, return: null}
                - asking
            fault: {return: null}
      client:
        main:
          playing:
            within: 10 s
            receive: {LEFT: {send: ONE, then: playing}, OVER: {return: null}}
            closed: {return: null}

Mended:

    protocol: countdown
    connects: {client: server}
    messages:
      client: {ONE: one}
      server: {LEFT: {left: $left int}, OVER: over}
    roles:
      server:
        main(client):
          begin: {let: {left: 3}, then: asking}
          asking:
            send: LEFT(left)
            within: 5 s
            receive:
              ONE:
                - {if: left == 0, send: OVER, return: null}
                - {let: {left: left - 1}, then: asking}
            fault: {return: null}
      client:
        main:
          playing:
            within: 10 s
            receive: {LEFT: {send: ONE, then: playing}, OVER: {return: null}}
            closed: {return: null}

A602: somebody who does nothing wrong is treated as if it did.

A message is refused, a limit passes or a connection is lost, and the branch for that is taken, against one who does
what the spec says, with a player that keeps to the rules. Either the condition is wrong, or what is sent is.

Two things are not told. A move that is always refused is seen only where somebody vouches for who makes it: the players
that a game calls FAIR keep to its rules, one that tries everything may not. And a client that is dropped, or never told
the end, while others are, may just be out of the game, if it has an answer to closed: that is for people to judge.

Bad:

    protocol: next-number
    connects: {client: server}
    messages:
      client: {TOLD: {told: $n int}}
      server: {ASK: {ask: $first int}, RIGHT: right, WRONG: wrong}
    roles:
      server:
        main(client):
          begin: {let: {first: 7}, then: asking}
          asking:
            send: ASK(first)
            within: 5 s
            receive:
              TOLD: {if: n == first + 2, send: RIGHT, return: true}
            fault: {send: WRONG, return: false}
      client:
        main:
          waiting:
            within: 10 s
            receive: {ASK: {send: TOLD(first + 1), then: told}}
          told:
            within: 10 s
            receive: {RIGHT: {return: true}, WRONG: {return: false}}
            closed: {return: null}

Mended:

    protocol: next-number
    connects: {client: server}
    messages:
      client: {TOLD: {told: $n int}}
      server: {ASK: {ask: $first int}, RIGHT: right, WRONG: wrong}
    roles:
      server:
        main(client):
          begin: {let: {first: 7}, then: asking}
          asking:
            send: ASK(first)
            within: 5 s
            receive:
              TOLD: {if: n == first + 1, send: RIGHT, return: true}
            fault: {send: WRONG, return: false}
      client:
        main:
          waiting:
            within: 10 s
            receive: {ASK: {send: TOLD(first + 1), then: told}}
          told:
            within: 10 s
            receive: {RIGHT: {return: true}, WRONG: {return: false}}
            closed: {return: null}

A603: a property does not hold in a game.

An exploration says so too (A508), if it is asked and comes to its end. Here it is a game that was played.

Bad:

    protocol: two-words
    connects: {client: server}
    messages:
      client: {HELLO: hello, BYE: bye}
      server: {SEEN: seen}
    properties:
      polite: {never: {server: main.left, sends: SEEN}}
    roles:
      server:
        main(client):
          begin: {within: 5 s, receive: {HELLO: left}, fault: {return: null}}
          left: {send: SEEN, within: 5 s, receive: {BYE: {return: null}}, fault: {return: null}}
      client:
        main:
          begin:
            send: HELLO
            within: 10 s
            receive: {SEEN: {send: BYE, return: null}}
            closed: {return: null}

Mended:

    protocol: two-words
    connects: {client: server}
    messages:
      client: {HELLO: hello, BYE: bye}
      server: {SEEN: seen}
    properties:
      polite: {never: {server: main.left, sends: SEEN}}
    roles:
      server:
        main(client):
          begin: {within: 5 s, receive: {HELLO: seen}, fault: {return: null}}
          seen: {send: SEEN, within: 5 s, receive: {BYE: left}, fault: {return: null}}
          left: {return: null}
      client:
        main:
          begin:
            send: HELLO
            within: 10 s
            receive: {SEEN: {send: BYE, return: null}}
            closed: {return: null}

A604: a game goes another way than in the baseline.

The same players with the same seed said something else, at another time, or to somebody else, or a session ended
otherwise. If that is what was meant, record the baseline again: --record FILE. Only games of seeds that both have are
compared. A game that only one of them has shows that something amiss can happen now, or can no more.

Bad:

    protocol: greeting
    connects: {client: server}
    messages:
      client: {HELLO: hello}
      server: {WELCOME: {welcome: $number int}}
    roles:
      server:
        main(client):
          begin: {within: 5 s, receive: {HELLO: {send: WELCOME(2), return: null}}, fault: {return: null}}
      client:
        main:
          begin:
            send: HELLO
            within: 10 s
            receive: {WELCOME: {return: number}}
            closed: {return: null}

Mended:

    protocol: greeting
    connects: {client: server}
    messages:
      client: {HELLO: hello}
      server: {WELCOME: {welcome: $number int}}
    roles:
      server:
        main(client):
          begin: {within: 5 s, receive: {HELLO: {send: WELCOME(1), return: null}}, fault: {return: null}}
      client:
        main:
          begin:
            send: HELLO
            within: 10 s
            receive: {WELCOME: {return: number}}
            closed: {return: null}
"""
