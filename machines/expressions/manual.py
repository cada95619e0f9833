"""The pages of the manual about expressions; `machines.manual` says what form they have.

A250: an expression is longer than 1,000 characters.

Nobody can read it, and each character costs time whenever a peer speaks. Bind its parts to names with 'let', or let a
rule do the work.

Bad, in server:

    done:
      return: >-
        n + n + n + n + n + n + n + n + n + n + n + n + n +
        # and so on, 20 times
        n

Mended, in server:

    done:
      return: n * 274

A251: an expression is nested deeper than 32 levels.

Brackets within brackets are counted, and so are calls, signs and operators. Bind the inner part to a name first.

Bad, in server:

    done:
      return: ((((((((((((((((((((((((((((((((( n )))))))))))))))))))))))))))))))))

Mended:

    done:
      return: (n)

A252: a value is missing.

An operator, a bracket or a comma stands where a value must be. What has no value is written null.

Bad, in server:

    done:
      return: n +

Mended:

    done:
      return: n + 1

A253: a sign that the language does not have.

There is no division, no remainder, no bits, no choice and no lambda in an expression: what needs them is a rule, a
function of a module that is named under 'rules'.

Bad, in server:

    done:
      return: n % 2

Mended:

    done:
      return: n - 2

A254: a sign as other languages spell it.

It is read as what is meant, so that the rest is checked in the same pass; but there is one spelling only.

Bad, in server:

    done:
      - {if: n > 0 && n < 9, return: n}
      - {return: 0}

Mended:

    done:
      - {if: n > 0 and n < 9, return: n}
      - {return: 0}

A255: a text stands in double quotes.

Double quotes belong to YAML, which takes them away where they stand around a whole value. In expressions texts have
single quotes, so that both can stand in one line.

Bad, in server:

    done:
      return: str(n) + " points"

Mended:

    done:
      return: str(n) + ' points'

A256: a text is never closed.

A quote inside a text is written twice. One that stands alone opens a text that runs to the end of the expression.

Bad, in server:

    done:
      return: str(n) + ' o''clock

Mended:

    done:
      return: str(n) + ' o''clock'

A257: a bracket is never closed.

Everything behind it would belong to it.

Bad, in server:

    done:
      return: (n + 1

Mended:

    done:
      return: (n + 1)

A258: a bracket was never opened, or closes one of another kind.

One of the two brackets is missing, and only the author knows where it belongs.

Bad, in server:

    done:
      return: n + 1)

Mended:

    done:
      return: (n + 1)

A259: something that begins like a number is none, or does not fit in 64 bits.

Numbers are written 12, 0.5 or 1e6. A larger number than 64 bits can hold would be another one for each peer.

Bad, in server:

    done:
      return: n + 007

Mended:

    done:
      return: n + 7

A260: a name begins with an underscore.

In Python such names are private: rules keep them for themselves, so a spec can have none.

Bad, in server:

    done:
      return: _n

Mended:

    done:
      return: n

A261: something stands where only an operator, a comma or the end can.

Most often an operator is missing, or a word of another language was meant.

Bad, in server:

    done:
      return: n 1

Mended:

    done:
      return: n + 1

A262: a comparison of a comparison, or a range of a range.

Some languages read 1 < n < 9 as two questions, others as one about true or false. Here it must be said.

Bad, in server:

    done:
      - {if: 1 < n < 9, return: n}
      - {return: 0}

Mended:

    done:
      - {if: 1 < n and n < 9, return: n}
      - {return: 0}

A263: something is called that is no rule.

A call names a rule with its module, or a function that is built in. What a call returns is a value, and so is a field
of a value: neither can be called.

Bad, in server:

    done:
      return: players[0](n)

Mended:

    done:
      return: players[0]

A264: a rule is named like a word of Python.

No module can have a function of that name, so the call could never be made.

Bad, in server:

    done:
      return: tsuro.import(players)

Mended:

    done:
      return: tsuro.start(players)

A265: 'not' stands where it needs brackets.

'not' binds looser than operators and comparisons, so behind one of them it has to be set apart.

Bad, in server:

    done:
      - {if: n == not n, return: n}
      - {return: 0}

Mended:

    done:
      - {if: not (n == 3), return: n}
      - {return: 0}

A266: an index that no list and no mapping has.

Elements count from 0 on, and the keys of a mapping are texts. There are no negative indices.

Bad, in server:

    done:
      return: players[-1]

Mended:

    done:
      return: players[0]

A267: not a call, where one is expected.

Under 'run', 'ask', 'accept' and 'send' stands a name, with or without values in brackets, and nothing else.

Bad, in client:

    waiting:
      receive: {TURN: thinking, OVER: {return: null}}
    thinking:
      ask: move + 1
      receive: {MOVE: {send: MOVE, then: waiting}, QUIT: {send: QUIT, then: waiting}}

Mended:

    waiting:
      receive: {TURN: thinking, OVER: {return: null}}
    thinking:
      ask: move
      receive: {MOVE: {send: MOVE, then: waiting}, QUIT: {send: QUIT, then: waiting}}

A268: a field or an element of a literal.

A number or a text has no fields, and what stands in a list written here is known already.

Bad, in server:

    done:
      return: n + 'text'.length

Mended:

    done:
      return: n + len('text')
"""
