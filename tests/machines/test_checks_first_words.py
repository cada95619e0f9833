"""Messages that their first word, length or keys tell apart are not compared, and no others are left out."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from machines.checks.ambiguity import apart
from machines.checks.first_words import FirstWords
from machines.model import Body, BodyList, BodyMap, Field, LiteralBody, Message, Scalar, Text
from machines.problems import Place

HERE = Place("x.yaml", 1, 1)
literals = st.sampled_from([True, False, 1, 0, 1.0, "a", "b", None])
fields = st.booleans().map(lambda optional: Field("x", Scalar("int"), HERE, optional=optional))
texts = st.just(Text(("a", Field("y", Scalar("string"), HERE))))
atoms = st.one_of(literals.map(LiteralBody), fields, texts)
bodies: st.SearchStrategy[Body] = st.one_of(
    atoms,
    st.lists(atoms, max_size=3).map(lambda items: BodyList(tuple(items))),
    st.dictionaries(st.sampled_from("pq"), atoms, max_size=2).map(lambda items: BodyMap(tuple(items.items()))),
)


def message(name: str, body: Body, *also: Body) -> Message:
    return Message(name, ("client",), body, also, False, HERE)


@given(st.lists(st.lists(bodies, min_size=1, max_size=2), min_size=2, max_size=6))
def test_only_pairs_that_are_apart_are_left_out(given_bodies: list[list[Body]]) -> None:
    messages = {f"m{index}": message(f"m{index}", *listed) for index, listed in enumerate(given_bodies)}
    compared = list(FirstWords(messages).pairs(messages))

    assert len(compared) == len(set(compared))
    for first, second in combinations(messages, 2):
        if (first, second) not in compared:
            one, other = messages[first], messages[second]
            assert all(apart(a, b) for a in (one.body, *one.also) for b in (other.body, *other.also))


def test_many_messages_that_begin_with_a_word_each_are_not_compared() -> None:
    number = Field("n", Scalar("int"), HERE)
    messages = {f"m{index}": message(f"m{index}", BodyList((LiteralBody(f"m{index}"), number))) for index in range(600)}
    anything = message("any", number)

    assert list(FirstWords(messages).pairs(messages)) == []
    assert len(list(FirstWords({**messages, "any": anything}).pairs([*messages, "any"]))) == 600
