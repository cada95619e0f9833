"""The pages of the manual about reading a spec; `machines.manual` says what form they have.

A100: the text is not YAML, or not text.

Nothing can be said of the rest before it is. A colon with a blank behind it, and a '#' with a blank before it, mean
something to YAML: put such a text in quotes.

Bad, in top:

    title: "Two players

Mended:

    title: "Two players"

A101: YAML that a spec may not use.

Anchors, aliases, tags, merge keys, directives and second documents make a file mean something else than it seems to,
and let a small file grow without bound.

Bad, in settings:

    settings:
      reply: &time 5 s

Mended:

    settings:
      reply: 5 s

A102: a key that its mapping has already.

YAML would silently take the last one.

Bad, in settings:

    settings:
      reply: 5 s
      reply: 6 s

Mended:

    settings:
      reply: 5 s
      think: 6 s

A103: an unknown state.

Behind 'then', and under an event, stands a state of the same machine. What belongs to another machine is called.

Bad, in receive:

    MOVE: ovr
    QUIT: over

Mended:

    MOVE: over
    QUIT: over

A104: an unknown machine.

'run' and 'accept' call a machine of the same role.

Bad, in machines:

    game(players):
      play: {run: trun(players), as: x, return: x}
    turn(players):
      asked: {await: players, within: 5 s, receive: {MOVE: {return: x}}, fault: {return: 0}}

Mended:

    game(players):
      play: {run: turn(players), as: x, return: x}
    turn(players):
      asked: {await: players, within: 5 s, receive: {MOVE: {return: x}}, fault: {return: 0}}

A105: an unknown message.

Every message stands under 'messages', by its sender.

Bad, in server:

    told: {send: {players: NOET(1)}, return: null}

Mended:

    told: {send: {players: NOTE(1)}, return: null}

A106: an unknown setting.

'limit' takes a number, a rate, or a setting that is one of them.

Bad, in receive:

    SAY: {limit: cheks, send: NEWS, then: stay}
    QUIT: over

Mended:

    SAY: {limit: checks, send: NEWS, then: stay}
    QUIT: over

A107: an unknown role.

Roles stand under 'roles'. Senders of messages and both sides of 'connects' are among them.

Bad, in top:

    connects: {client: sever}

Mended:

    connects: {client: server}

A109: a file that is too large.

A spec from a stranger must not cost more than it is worth: a file has at most 1 MiB, 64 levels and 20,000 nodes.

Bad, in top:

    title:
      [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[
      ]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]

Mended:

    title: Two players

A110: a call that YAML cuts at its comma.

Within braces and brackets a comma ends the value, and YAML says nothing. The rest would become a key of its own. Put
the call on a line of its own, or in quotes.

Bad, in server:

    asked: {await: player, within: 5 s, receive: {MOVE: {return: tsuro.place(n, x)}}, fault: {return: n}}

Mended:

    asked: {await: player, within: 5 s, receive: {MOVE: {return: "[n, x]"}}, fault: {return: n}}

A111: an unknown key.

Most often it is misspelt. What it says would be left out in silence.

Bad, in server:

    asked:
      await: player
      within: 5 s
      recieve: {MOVE: {return: x}}
      fault: {return: 0}

Mended:

    asked:
      await: player
      within: 5 s
      receive: {MOVE: {return: x}}
      fault: {return: 0}

A112: another form is wanted: a mapping, a list, or one word.

Each key takes one form, so that a line means the same wherever it stands.

Bad, in messages:

    messages:
      client: {PING: ping, MOVE: move}
    urgent: PING

Mended:

    messages:
      client:
        PING: ping
        MOVE: move
    urgent: [PING]

A113: something is missing.

A key says something and stands there with nothing, or another that belongs to it is not there.

Bad, in main:

    door: {accept: sign_up(peer), seats: 2, within: 1 min, timeout: {return: null}, then: play}

Mended:

    door: {accept: sign_up(peer), as: players, seats: 2, within: 1 min, timeout: {return: null}, then: play}

A114: a name that is badly spelt.

A name is a letter, then letters, digits and underscores; that of a protocol has small letters and hyphens.

Bad, in settings:

    settings:
      re-ply: 5 s

Mended:

    settings:
      reply: 5 s

A115: a name is given twice.

The second would hide the first.

Bad, in top:

    connects: {client: [server, server]}

Mended:

    connects: {client: server}

A116: a name that has a meaning of its own.

Words like true, null, and, never stand for something in expressions; stay and again are no states.

Bad, in settings:

    settings:
      never: 5 s

Mended:

    settings:
      patience: never

A117: a machine is run with too many or too few values.

Each parameter gets one value, in the order in which they are written.

Bad, in machines:

    game(players, score):
      play: {run: turn(players), as: x, return: x}
    turn(players, score):
      asked: {await: players, within: 5 s, receive: {MOVE: {return: x}}, fault: {return: score}}

Mended:

    game(players, score):
      play: {run: "turn(players, score)", as: x, return: x}
    turn(players, score):
      asked: {await: players, within: 5 s, receive: {MOVE: {return: x}}, fault: {return: score}}

A118: a message is sent with too many or too few values.

Its fields take them in the order written. A message named without brackets takes the names spelt like its fields.

Bad, in server:

    told: {send: {players: NOTE()}, return: null}

Mended:

    told: {send: {players: NOTE(n)}, return: null}

A119: a message is sent by a role that is not its sender.

Under 'messages' each stands below those who send it.

Bad, in server:

    told: {send: {players: MOVE(1)}, return: null}

Mended:

    told: {send: {players: NOTE(1)}, return: null}

A120: a message is awaited that nobody at the other end sends.

It could never come, and its branch would never be taken.

Bad, in server:

    asked: {await: player, within: 5 s, receive: {NOTE: {return: n}}, fault: {return: 0}}

Mended:

    asked: {await: player, within: 5 s, receive: {MOVE: {return: x}}, fault: {return: 0}}

A121: keys that exclude one another.

The order in which keys are written means nothing, so what comes first could not be told.

Bad, in server:

    done: {then: done, return: null}

Mended:

    done: {return: null}

A122: a key that has no meaning where it stands.

It belongs to another key that is not there, or everything that it could say is said already.

Bad, in server:

    asked: {await: player, within: 5 s, seats: 2, receive: {MOVE: {return: x}}, fault: {return: 0}}

Mended:

    asked: {await: player, within: 5 s, receive: {MOVE: {return: x}}, fault: {return: 0}}

A123: a state leads nowhere.

Once its steps are done nothing could happen there any more.

Bad, in server:

    begin: {let: {x: 1}}

Mended:

    begin: {let: {x: 1}, return: x}

A124: a branch leads nowhere.

Each branch says what is next: a state, 'stay', 'again', or 'return'.

Bad, in receive:

    MOVE: {send: NOTE(x)}

Mended:

    MOVE: {send: NOTE(x), then: stay}

A125: 'stay' or 'again' where nothing waits.

There is no state to keep: the one that says so is through with what it does.

Bad, in server:

    begin: {let: {x: 1}, then: stay}

Mended:

    begin: {let: {x: 1}, return: x}

A126: 'stay' under a clock that has run out.

The state would be kept without any limit. 'again' starts its clock afresh.

Bad, in server:

    asked: {await: player, within: 5 s, receive: {MOVE: {return: x}}, timeout: stay, fault: {return: 0}}

Mended:

    asked: {await: player, within: 5 s, receive: {MOVE: {return: x}}, timeout: again, fault: {return: 0}}

A127: branches that may run out where they may not.

Under an event that is an answer: 'invalid'. After 'then' there is no event, so the machine would not know where to go.

Bad, in server:

    begin:
      - {if: n > 1, return: n}

Mended:

    begin:
      - {if: n > 1, return: n}
      - {return: 1}

A128: a field is bound that is not that of a peer being seated.

A peer is a value that never changes, so that rules may keep it. Only under 'seated', before anyone has seen it, it
gets further fields.

Bad, in server:

    begin: {let: {player.score: 1}, return: null}

Mended:

    begin: {let: {score: 1}, return: score}

A129: a setting whose value can not be read.

What begins like a number is one, or a duration, a range or a rate. A text stands in quotes.

Bad, in settings:

    settings:
      reply: 5 sek

Mended:

    settings:
      reply: 5 s

A130: a value that 'wire' does not take.

Bytes are cut into messages by what stands there, and what a peer may cost is limited by it.

Bad, in top:

    wire: {framing: line}

Mended:

    wire: {framing: lines}

A131: a limit that is no number, no rate, and no setting of either.

It counts how often a branch may be taken: so many times, or so many in so much time.

Bad, in receive:

    SAY: {limit: -1, send: NEWS, then: stay}
    QUIT: over

Mended:

    SAY: {limit: 10 per 1 s, send: NEWS, then: stay}
    QUIT: over

A133: connections that make no sense.

A role connects to another one, not to itself, and every role is at an end of a connection.

Bad, in top:

    connects: {client: [server, client]}

Mended:

    connects: {client: server}

A134: a role without 'main', or whose 'main' takes the wrong values.

'main' is entered first. A role that others connect to may have main(peer), run once for each connection; no other
values can be given to it, and to the 'main' of a role that connects none at all.

Bad, in per-connection:

    main(client, number):
      ready: {within: 5 s, receive: {MOVE: {send: NOTE(x), return: null}}}

Mended:

    main(client):
      ready: {within: 5 s, receive: {MOVE: {send: NOTE(x), return: null}}}

A135: an 'each' that is not NAME in LIST.

The name is bound to one item after the other.

Bad, in server:

    told: {each: players, send: {players: NEWS}, return: null}

Mended:

    told: {each: one in players, send: {one: NEWS}, return: null}

A136: an 'extends' that can not be followed.

It names a shipped spec, or a file in the same folder, without './'. No chain of them is longer than 8 or leads back to
itself.

Bad:

    extends: tsruo
    protocol: tsuro-blitz
    settings: {reply: 2 s}

Mended:

    extends: tsuro
    protocol: tsuro-blitz
    settings: {reply: 2 s}

A137: a frame that can not be cut, or not be written.

Its counts stand before the parts that they count, with text between two of them, and 'frames' go with plain text only.

Bad, in top:

    wire: {framing: lines}
    frames: {GO: [{until: "."}]}

Mended:

    wire: {framing: text}
    frames: {GO: [{until: "."}]}

A138: a property says nothing.

It says one of never, always, eventually, of a situation: which state each role is in.

Bad, in top:

    properties:
      ends: {never: {}}

Mended:

    properties:
      ends: {never: {client: main.only, server: main.only}}

A139: a problem is accepted that can not be.

Under 'accepted' stands its code, with the reason in a sentence; or, for one place alone, a message, a setting, a type,
or a state as role.machine.state, each with its reason. What keeps a spec from being run can not be accepted.

Bad, in top:

    accepted: {A103: states are written later}

Mended:

    title: The state is written now

A400: a module of rules that is not allowed.

Code is run only from modules that ship with Accord, that are installed as entry points of 'accord.rules', or that the
person names by --rules MODULE. A spec from a stranger can not choose.

Bad, in top:

    rules: [tsruo]

Mended:

    rules: [tsuro]

A140: a change of what a spec below does not have.

A spec that extends another can rename, remove, and put something before or around, only what is there.

Bad:

    extends: tsuro
    protocol: tsuro-open
    remove: [settings.wiat]

Mended:

    extends: tsuro
    protocol: tsuro-open
    settings: {wait: 1 s}
"""
