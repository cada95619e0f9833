"""The pages of the manual about types and bodies; `machines.manual` says what form they have.

A200: no type stands where one must be.

A type is a word such as string or int, the name of a declared type, names with '|' between, or one of the forms of
list and mapping that the reference lists. Anything else would be taken for a text that nobody checks.

Bad, in types:

    types:
      Hand: {emum: [rock, paper]}

Mended:

    types:
      Hand: {enum: [rock, paper]}

A201: a type is named that is not declared.

Types are declared under 'types', in any order. Most often the name is misspelt.

Bad, in types:

    types:
      Name: string
      Names: [Nmae, ...]

Mended:

    types:
      Name: string
      Names: [Name, ...]

A202: a type holds itself.

Then no bound could be given for the size of a value, or for the time to check it. For any value at all, write any.

Bad, in types:

    types:
      Tree: [Tree, ...]

Mended:

    types:
      Tree: [any, ...]

A203: an enumeration that can not be.

It takes a list of at least one text, number, boolean or null, each once. With 'loose', two texts are the same if they
differ in case, hyphens, underscores and blanks only.

Bad, in types:

    types:
      Way: {enum: [North, north], loose: true}

Mended:

    types:
      Way: {enum: [North, South], loose: true}

A204: a range of numbers that can not be.

It is written low..high, both included and both within 64 bits. A range that no number is in would refuse everything.

Bad, in types:

    types:
      Digit: {int: 9..0}

Mended:

    types:
      Digit: {int: 0..9}

A205: a pattern that can not be used.

Patterns take time linear in the text, whatever a peer sends. So there is no look-around and no back-reference.

Bad, in types:

    types:
      Word: {string: "(?=a)[a-z]+"}

Mended:

    types:
      Word: {string: "a[a-z]*"}

A206: a repetition that can not be.

'...' stands behind one type, at the end of a list. Behind it may stand how many there are: a number, or a range.

Bad, in types:

    types:
      Row: [int, ... many]

Mended:

    types:
      Row: [int, ... 10]

A207: a map that can not be.

It takes the type of its keys and that of its values. In JSON all keys are texts.

Bad, in types:

    types:
      Scores: {map: [int, int]}

Mended:

    types:
      Scores: {map: [string, int]}

A208: a union has one member twice.

The second says nothing. Most often another type was meant.

Bad, in types:

    types:
      Cell: int | int

Mended:

    types:
      Cell: int | null

A209: a word that can not name a type.

A name has letters, digits and underscores, a letter first, and is not that of a type that is built in.

Bad, in types:

    types:
      int: [bool, ...]

Mended:

    types:
      Flags: [bool, ...]

A210: a default does not fit its type.

A peer that leaves the key out would be given a value that no peer could have sent.

Bad, in types:

    types:
      Move: {x: "int = 'one'"}

Mended:

    types:
      Move: {x: int = 1}

A211: a type is too large, or too deep, for any message.

Even its least value has more parts than a message may have, so nobody could ever send one.

Bad, in types:

    types:
      Row: [int, ... 1000]
      Square: [Row, ... 1000]
      Cube: [Square, ... 1000]

Mended:

    types:
      Row: [int, ... 1000]
      Square: [Row, ... 0..1000]

A212: a default is missing, or is no JSON.

Behind '=' stands a literal: a number, a word, true, false, null, a text in single quotes, or JSON in brackets.

Bad, in types:

    types:
      Move: {x: any =}

Mended:

    types:
      Move: {x: any = 0}

A213: a number does not fit 64 bits, or is too large for a float.

Other programs would read another number. A text of digits is written in quotes.

Bad, in messages:

    messages:
      client:
        MOVE: [99999999999999999999, $x int]

Mended:

    messages:
      client:
        MOVE: ["99999999999999999999", $x int]

A220: a field has no name or no type, or a body is missing.

Each field is written $name Type. The JSON value null is written null, and the empty text ''.

Bad, in messages:

    messages:
      client:
        MOVE: [move, $x]

Mended:

    messages:
      client:
        MOVE: [move, $x int]

A221: a lone dollar.

A dollar begins a field. One that is meant as such is written twice.

Bad, in messages:

    messages:
      client:
        PAY: costs 5 $

Mended:

    messages:
      client:
        PAY: costs 5 $$

A222: a default stands where no key can be missing.

Only a key of a mapping may be left out; an element of a list or a part of a text is always there.

Bad, in messages:

    messages:
      client:
        MOVE: [move, $x int = 0]

Mended:

    messages:
      client:
        MOVE: {move: $x int = 0}

A223: two fields of a text have nothing between them.

Then nobody could say where the one ends and the other begins.

Bad, in messages:

    messages:
      client:
        SCORE: score ${ours int}${theirs int}

Mended:

    messages:
      client:
        SCORE: score ${ours int} to ${theirs int}

A224: a field may not stand in its text.

In a text it is a text, a number, a boolean or one of some texts. What it may be must not contain the text behind it.

Bad, in messages:

    messages:
      client:
        SAY: say ${words any}

Mended:

    messages:
      client:
        SAY: say ${words string}

A225: a key would be a field.

The keys of a message are fixed, so that one message is told from another by them. For a mapping with any keys, declare
a type with 'map'.

Bad, in messages:

    messages:
      client:
        MOVE: {$key: 1}

Mended:

    messages:
      client:
        MOVE: {key: $key string}

A226: two fields of a body have one name.

A received message binds its fields as names, and one of the two would be lost.

Bad, in messages:

    messages:
      client:
        MOVE: [$x int, $x int]

Mended:

    messages:
      client:
        MOVE: [$x int, $y int]

A227: another body of a message has other fields.

Whoever receives the message reads its fields, whichever body it came in. Only a field with a default may be left out.

Bad, in messages:

    messages:
      client:
        MOVE: {move: $x int}
    also:
      MOVE: [[move, $x int, $y int]]

Mended:

    messages:
      client:
        MOVE: {move: $x int}
    also:
      MOVE: [[move, $x int]]
"""
