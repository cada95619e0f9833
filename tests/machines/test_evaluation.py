"""What expressions are worth, and when they have no value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import Any

import pytest

from machines.expressions.compiler import EvaluationError, Evaluator, compile, compile_guard, fixed  # noqa: A004 (as in re.compile)
from machines.expressions.operations import INTEGER_MAX, INTEGER_MIN, LENGTH_MAX
from machines.model import (
    Attribute,
    Binary,
    Call,
    Comprehension,
    Conditional,
    Constant,
    Expression,
    Item,
    Mapped,
    Name,
    Sequence,
)
from machines.values import Range, Record
from tests.machines.named_values import HERE, NEVER, ORDER, SLOTS, WAYS, Names, ann, expression


def exactly(value: Any) -> Any:
    """The value with its kinds, for Python takes 1, 1.0 and true for equal."""
    if isinstance(value, tuple):
        return (type(value).__name__, *map(exactly, value))
    if isinstance(value, Mapping):
        return (type(value).__name__, {key: exactly(item) for key, item in value.items()})
    return (type(value).__name__, value)


@pytest.mark.parametrize("scope", WAYS, ids=lambda scope: scope.how)
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # names, fields, elements
        ("ann", ann),
        ("ann.name", "ann"),
        ("ann.number", "seven"),
        ("players[1].name", "bob"),
        ("record.a", 1),
        ("record.b.c[0]", 2),
        ("record['b']['c'][1]", None),
        ("pair[one]", 2),
        ("pair[unit]", 2),
        ("listed[1]", 2),
        ("point.x + point[1]", 7),
        ("offer.rails", 3),
        ("offer.cards", ["red", "blue"]),  # frozen by whoever binds it
        ("white.value", "white"),
        ("left.name", "LEFT"),
        ("seats.high - seats.low", 2),
        ("rate.count", 10),
        ("rules.both(ann, bob)[0].token", "red"),
        # lists
        ("[]", ()),
        ("[one]", (1,)),
        ("[one, two]", (1, 2)),
        ("[one, 'a', null]", (1, "a", None)),
        ("[pair[0], pair[1], pair[0], pair[1]]", (1, 2, 1, 2)),
        ("[p.name for p in players]", ("ann", "bob")),
        ("[n * n for n in 1..4 if n != two]", (1, 9, 16)),
        ("[n for n in []]", ()),
        ("[[a * b + one for b in 1..a] for a in pair + [3] if a > one and yes]", ((3, 5), (4, 7, 10))),
        ("[{at: n, of: [n, one]} for n in pair]", (Record(at=1, of=(1, 1)), Record(at=2, of=(2, 1)))),
        ("[rules.count(p, one) for p in players if not gone(p)]", (2,)),
        ("{a: one, 'b c': {d: two}}", Record({"a": 1, "b c": Record(d=2)})),
        ("{a: one}.a + {b: 2}['b']", 3),
        # arithmetic
        ("1 + 2 * 3 - -1", 8),
        ("len(players) - 1", 1),
        ("one + unit", 2.0),
        ("half * two", 1.0),
        ("-half", -0.5),
        ("-one", -1),
        ("low + one", 2),
        ("most + zero", INTEGER_MAX),
        ("-9223372036854775808", INTEGER_MIN),
        ("most * -1 - 1", INTEGER_MIN),
        ("never - one", NEVER),
        ("-never + never * -1", -NEVER),
        ("red + 'dish' + empty", "reddish"),
        ("white + empty", "white"),
        ("pair + [] + listed", (1, 2, 1, 2)),
        ("listed + listed", (1, 2, 1, 2)),
        ("len(long_text + empty)", LENGTH_MAX),
        ("len(long_list + [])", LENGTH_MAX),
        # ranges
        ("1..len(pair)", Range(1, 2)),
        ("unit..two", Range(1, 2)),
        ("two..one", Range(2, 1)),
        # order
        ("one < two", True),
        ("two <= two", True),
        ("one > two", False),
        ("one >= 1", True),
        ("one >= half", True),
        ("half < 1", True),
        ("never > most", True),
        ("low < 2", True),
        ("'a' < 'b'", True),
        ("red >= empty", True),
        ("1 < two", True),
        # equality
        ("one == 1", True),
        ("1 == one", True),
        ("unit == 1", True),
        ("one == unit", True),
        ("half == one", False),
        ("yes == one", False),
        ("one == true", False),
        ("yes == true", True),
        ("true != yes", False),
        ("no == zero", False),
        ("no != zero", True),
        ("no == null", False),
        ("nothing == null", True),
        ("null != nothing", False),
        ("zero == null", False),
        ("empty == null", False),
        ("nothing == no", False),
        ("nothing == nothing", True),
        ("red == 'red'", True),
        ("'red' != red", False),
        ("one == '1'", False),
        ("one != '1'", True),
        ("white == 'white'", True),
        ("red == white", False),
        ("low == 1", True),
        ("low == one", True),
        ("low == yes", False),
        ("left == 'left'", False),
        ("ann == bob", False),
        ("ann == ann_again", True),
        ("ann != ann_again", False),
        ("ann.token == red", True),
        ("ann == zero", False),
        ("pair == [1, 2]", True),
        ("pair == floats", True),
        ("pair == listed", True),
        ("flags == [1, 0]", False),
        ("flags == [true, false]", True),
        ("pair == [1]", False),
        ("point == [3, 4]", True),
        ("pair == red", False),
        ("mixed == [null, 1, 'red', [1, [true]]]", True),
        ("mixed == [null, 1, 'red', [1, [1]]]", False),
        ("record == other", True),
        ("record == flagged", False),
        ("record != pair", True),
        ("record == record.b", False),
        ("players == [ann_again, bob]", True),
        ("seats == 3..5", True),
        ("offer == offer", True),
        # membership
        ("one in pair", True),
        ("unit in pair", True),
        ("yes in pair", False),
        ("one in flags", False),
        ("true in flags", True),
        ("null in mixed", True),
        ("null in pair", False),
        ("[1, [true]] in mixed", True),
        ("[1, [1]] in mixed", False),
        ("'red' in mixed", True),
        ("ann_again in players", True),
        ("ann in rules.list(bob)", False),
        ("ann in rules.list(bob, ann)", True),
        ("pair in [listed]", True),
        ("3 in seats", True),
        ("3.0 in seats", True),
        ("3.5 in seats", False),
        ("6 in seats", False),
        ("true in 0..5", False),
        ("null in seats", False),
        ("'a' in record", True),
        ("'c' in record", False),
        ("1 in record", False),
        ("pair in record", False),
        ("'e' in red", True),
        ("'x' in red", False),
        # logic
        ("yes and no", False),
        ("yes or no", True),
        ("not no", True),
        ("not yes or not no", True),
        ("yes and one == 1 and ann == ann", True),
        ("yes and yes and yes and no", False),
        ("no or no or no", False),
        ("no or no or no or yes", True),
        ("no and nothing", False),
        ("yes or nothing", True),
        ("no and 1 < nothing", False),
        ("one >= 0 and two == one", False),
        # calls
        ("len(pair) + len(record) + len(red) + len(seats) + len(listed)", 12),
        ("len(two..one)", 0),
        ("rules.count()", 0),
        ("rules.count(one)", 1),
        ("rules.count(one, 2)", 2),
        ("rules.count(one, two, half)", 3),
        ("rules.count(one, two, half, red)", 4),
        ("rules.count(one, two, half, red, ann)", 5),
        ("rules.count(one, two, half, red, 5)", 5),
        ("rules.count(one, two, half, red, ann, bob)", 6),
        ("rules.count(one, two, half, red, ann, bob, yes)", 7),
        ("rules.count(1, 2, 3)", 3),
        ("rules.count(1, 2, 3, 4)", 4),
        ("rules.count(1, 2, 3, 4, 5, 6)", 6),
        ("rules.count(1, 2, 3, 4, 5, 6, 7)", 7),
        ("rules.both(two, one)", (2, 1)),
        ("rules.both(two, 1)", (2, 1)),
        ("gone(bob)", True),
        ("gone(ann)", False),
        ("seed()", (len(SLOTS),)),
        ("seed(one, 2)", (len(SLOTS), 1, 2)),
    ],
)
def test_an_expression_is_worth_the_same_however_its_names_are_read(scope: Names, text: str, expected: Any) -> None:
    value = compile(expression(text), scope)(SLOTS)

    assert exactly(value) == exactly(expected)


@pytest.mark.parametrize("scope", WAYS, ids=lambda scope: scope.how)
@pytest.mark.parametrize(
    ("text", "fault", "why"),
    [
        ("nothing and yes", "nothing", "true or false is needed, not null"),
        ("yes and one", "one", "not a number"),
        ("no or red", "red", "not a text"),
        ("yes and yes and pair", "pair", "not a list"),
        ("not zero", "zero", "not a number"),
        ("not rules.count()", "rules.count()", "not a number"),
        ("one < red", "one < red", "a number cannot be compared with a text"),
        ("one < yes", "one < yes", "a boolean"),
        ("yes >= 0", "yes >= 0", "a boolean"),
        ("red > 1", "red > 1", "a text cannot be compared with a number"),
        ("pair < pair", "pair < pair", "a list cannot be compared with a list"),
        ("nothing <= nothing", "nothing <= nothing", "null"),
        ("one + red", "one + red", "a number and a text cannot be added"),
        ("yes + one", "yes + one", "a boolean"),
        ("pair + seats", "pair + seats", "a range"),
        ("pair + red", "pair + red", "a list and a text"),
        ("red - red", "red - red", "cannot be subtracted"),
        ("red * 2", "red * 2", "cannot be multiplied"),
        ("2 * pair", "2 * pair", "cannot be multiplied"),
        ("-red", "-red", "a text has no sign"),
        ("-yes", "-yes", "a boolean has no sign"),
        ("most + 1", "most + 1", "64 bits"),
        ("least - one", "least - one", "64 bits"),
        ("most * most", "most * most", "64 bits"),
        ("-least", "-least", "64 bits"),
        ("1e+308 * 10", "1e+308 * 10", "not a number"),
        ("never - never", "never - never", "not a number"),
        ("never * 0", "never * 0", "not a number"),
        ("long_text + 'x'", "long_text + 'x'", f"longer than {LENGTH_MAX}"),
        ("long_list + [1]", "long_list + [1]", f"longer than {LENGTH_MAX}"),
        ("half..two", "half..two", "whole number"),
        ("one..yes", "one..yes", "not a boolean"),
        ("one..never", "one..never", "whole number"),
        ("one in two", "one in two", "nothing can be in a number"),
        ("one in nothing", "one in nothing", "null"),
        ("one in red", "one in red", "a number cannot be in a text"),
        ("one in ann", "one in ann", "a peer"),
        ("left + one", "left + one", "a rule's Side and a number"),
        ("rate < one", "rate < one", "a rate cannot be compared"),
        ("ann.colour", "ann.colour", "no 'colour': it has name, token, number"),
        ("ann.toke", "ann.toke", "did you mean 'token'?"),
        ("ann.fields", "ann.fields", "the peer has no 'fields'"),
        ("record.c", "record.c", "the mapping has no 'c'"),
        ("record.keys", "record.keys", "the mapping has no 'keys'"),
        ("record['c']", "record['c']", "the mapping has no 'c'"),
        ("record[0]", "record[0]", "indexed by a text or a peer, not by a number"),
        ("pair.count", "pair.count", "a list has no field"),
        ("point.count", "point.count", "is a method"),
        ("red.upper", "red.upper", "a text has no field"),
        ("one.real", "one.real", "a number has no field"),
        ("nothing.name", "nothing.name", "null has no field"),
        ("offer.total", "offer.total", "is a method"),
        ("offer.price", "offer.price", "a rule's Offer has no field 'price'"),
        ("pair[2]", "pair[2]", "no element 2 in a list of 2"),
        ("pair[zero - 1]", "pair[zero - 1]", "no element -1"),
        ("pair[red]", "pair[red]", "whole number, not by a text"),
        ("pair[yes]", "pair[yes]", "not by a boolean"),
        ("red[0]", "red[0]", "a text has no elements"),
        ("ann[0]", "ann[0]", "a peer has no elements"),
        ("seats[0]", "seats[0]", "a range has no elements"),
        ("[x for x in one]", "[x for x in one]", "takes a list, not a number"),
        ("[x for x in record]", "[x for x in record]", "takes a list, not a mapping"),
        ("[it.name for it in pair]", "it.name", "a number has no field"),
        ("[o for o in pair if rules.count(o)]", "rules.count(o)", "not a number"),
        ("len(one)", "len(one)", "a number has no length"),
        ("len(ann)", "len(ann)", "a peer has no length"),
        ("len(least..most)", "len(least..most)", "64 bits"),
        ("rules.count(one + red)", "one + red", "cannot be added"),
    ],
)
def test_what_has_no_value_says_which_part_and_why(scope: Names, text: str, fault: str, why: str) -> None:
    run = compile(expression(text), scope)

    with pytest.raises(EvaluationError) as caught:
        run(SLOTS)

    assert caught.value.text == fault
    assert why in caught.value.what
    assert caught.value.place == HERE.right(text.find(fault[:3]))
    assert str(caught.value) == f"{caught.value.place}: {caught.value.what}, in `{fault}`"


@pytest.mark.parametrize("scope", WAYS, ids=lambda scope: scope.how)
@pytest.mark.parametrize(
    ("text", "expected"),
    [("yes", True), ("no", False), ("one < two", True), ("ann == bob", False), ("gone(bob)", True), ("not yes", False)],
)
def test_a_guard_is_a_boolean(scope: Names, text: str, expected: bool) -> None:
    assert compile_guard(expression(text), scope)(SLOTS) is expected


@pytest.mark.parametrize("scope", WAYS, ids=lambda scope: scope.how)
@pytest.mark.parametrize("text", ["one", "nothing", "red", "players", "rules.count(one)", "one + two", "[yes]", "1..2"])
def test_a_guard_that_is_no_boolean_is_an_error(scope: Names, text: str) -> None:
    guard = compile_guard(expression(text), scope)

    with pytest.raises(EvaluationError, match="true or false is needed"):
        guard(SLOTS)


def test_a_mapping_becomes_a_record() -> None:
    items = (("name", expression("ann.name")), ("given", Sequence((Constant(1, HERE),), HERE)))

    value = compile(Mapped(items, HERE), Names("slots"))(SLOTS)

    assert exactly(value) == exactly(Record(name="ann", given=(1,)))


def test_what_depends_on_nothing_is_computed_once() -> None:
    run = compile(expression("[one + 1, 1..two, ann.name]"), Names("constants"))

    assert run([]) is run([])
    assert fixed(5)([]) == 5


def test_names_are_looked_up_once_each() -> None:
    # Nested `and`, `or` and `not` must not be compiled twice at each level.
    found: list[str] = []

    class Counting(Names):
        def name(self, name: Name) -> Evaluator:
            found.append(name.name)
            return super().name(name)

    text = "yes"
    for _ in range(7):
        text = f"(not ({text} and yes) or no)"
    guard = compile_guard(expression(text), Counting("slots"))

    assert guard(SLOTS) is False
    assert len(found) == 1 + 2 * 7


def test_a_closure_that_reads_several_slots_is_no_slot() -> None:
    class Pairs(Names):
        def name(self, name: Name) -> Evaluator:
            return itemgetter(1, 2)

    assert compile(expression("rules.both(a, b)"), Pairs("slots"))(SLOTS) == ((1, 2), (1, 2))


def test_what_a_rule_raises_comes_through_as_it_is() -> None:
    class Broken(Names):
        def call(self, call: Call) -> tuple[Callable[..., Any], bool]:
            return (lambda *arguments: arguments[9]), False

    with pytest.raises(IndexError):
        compile(expression("rules.broken(one) and yes"), Broken("slots"))(SLOTS)


def test_slots_are_read_when_run_and_never_changed() -> None:
    run = compile(expression("[one, two + one, one == two, one < two]"), Names("slots"))
    slots = list(SLOTS)
    slots[ORDER.index("one")] = 2

    assert run(slots) == (2, 4, True, False)
    assert run(SLOTS) == (1, 3, False, True)
    assert slots == [*SLOTS[:1], 2, *SLOTS[2:]]


@pytest.mark.parametrize("name", ["class", "from", "lambda", "None", "naïve", "ﬁeld", "__class__"])
def test_a_field_may_have_any_name(name: str) -> None:
    """Python has words of its own, and takes some letters for others."""
    owner = Constant(Record({name: 5, "field": 6}), HERE)

    class Owner(Names):
        def name(self, name: Name) -> Evaluator:
            return itemgetter(0)

    assert compile(Attribute(owner, name, HERE), Owner("slots"))([]) == 5
    assert compile(Attribute(Name("o", HERE), name, HERE), Owner("slots"))([owner.value]) == 5
    assert compile(Mapped(((name, Constant(1, HERE)),), HERE), Owner("slots"))([]) == Record({name: 1})


@pytest.mark.parametrize(
    "value", ["'); raise SystemExit #", 'a"b\\', "{x}", "\ud800", "\n", INTEGER_MIN, INTEGER_MAX, True]
)
def test_a_constant_is_nothing_but_itself(value: Any) -> None:
    class Same(Names):
        def name(self, name: Name) -> Evaluator:
            return itemgetter(0)

    constant = Constant(value, HERE)

    assert exactly(compile(constant, Same("slots"))([])) == exactly(value)
    assert compile(Binary("==", Name("x", HERE), constant, HERE), Same("slots"))([value]) is True
    assert compile(Binary("!=", constant, Name("x", HERE), HERE), Same("slots"))([value]) is False


@pytest.mark.parametrize("levels", [1, 19, 20, 21, 60, 100])
def test_what_is_deep_is_worth_the_same(levels: int) -> None:
    """Python reads 200 brackets in each other; lists and mappings of a spec's YAML may be as deep as YAML."""
    deep: Expression = Name("one", HERE)
    for level in range(levels):
        sum_ = Binary("+", deep, Constant(1, HERE), HERE) if level % 2 == 0 else deep
        deep = Conditional(Name("yes", HERE), sum_, Constant(0, HERE), HERE)
    of_items = Comprehension(Binary("+", deep, Name("each", HERE), HERE), "each", Name("pair", HERE), None, HERE)
    nested: Expression = deep
    for _ in range(levels):
        nested = Item(Sequence((nested,), HERE), Constant(0, HERE), HERE)

    for _ in range(levels // 4):
        once = Sequence((Name("one", HERE),), HERE)
        of_items = Comprehension(Item(of_items, Name("zero", HERE), HERE), "once", once, None, HERE)

    assert compile(nested, Names("slots"))(SLOTS) == 1 + (levels + 1) // 2
    value = compile(of_items, Names("slots"))(SLOTS)
    assert value == (2 + (levels + 1) // 2, 3 + (levels + 1) // 2)[: 2 if levels < 4 else 1]
