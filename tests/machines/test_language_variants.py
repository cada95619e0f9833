"""The language, shown key by key: ``extends`` with ``rename``, ``remove``, ``before``, ``around`` and ``part``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from time import thread_time
from typing import Any

import pytest

from machines.model import LiteralBody, Spec
from machines.parser.inheritance import REMOVALS_MAX
from machines.parser.insertions import INSERTIONS_MAX
from machines.parser.loader import load, load_text, resolved, shipped, sources
from machines.parser.unparse import written
from machines.problems import Problem, SpecError
from tests.support.session_harness import Run
from tests.support.tiny import shows

ROOT = Path(__file__).resolve().parents[2]

BASE = """\
protocol: walk
wire: {framing: lines}
connects: {client: server}
settings: {reply: 5 s, wait: 20 s}
messages:
  client:
    STEP: [step, $far int]
    STOP: stop
  server:
    GO: {go: $turn int}
    BYE: bye
also:
  STOP: [halt]
roles:
  server:
    main(client):
      first: {let: {n: 1}, then: asking}
      asking:
        run: turn(client, n)
        as: n
        then: judged
      judged:
        - {if: n > 2, then: over}
        - asking
      over: {send: BYE, return: n}
    turn(walker, n):
      always: {closed: out}
      asked:
        send: GO(n)
        await: walker
        within: reply
        receive:
          STEP: {if: far > 0, return: n + far}
          STOP: out
        fault: out
      out: {return: 99}
  client:
    main:
      always: {within: wait, closed: {return: null}}
      walking:
        receive:
          GO: {send: STEP(1), then: walking}
          BYE: {return: null}
"""


def variant(tmp_path: Path, text: str, **files: str) -> Spec:
    """Return the spec that a text makes of the base; further files lie beside it."""
    (tmp_path / "walk.yaml").write_text(BASE)
    for name, other in files.items():
        (tmp_path / f"{name}.yaml").write_text(other)
    (tmp_path / "variant.yaml").write_text("protocol: other\n" + text)
    return load(str(tmp_path / "variant.yaml"))


def told(tmp_path: Path, text: str, **files: str) -> list[Problem]:
    """Return the problems of a variant."""
    with pytest.raises(SpecError) as caught:
        variant(tmp_path, text, **files)
    return list(caught.value.problems)


def walked(spec: Spec, *says: Any) -> tuple[list[Any], Any]:
    """Return what a client that says these hears of the server, and what the server returns."""
    server = Run(spec)
    server.say(0, *says)
    return server.heard(0), server.ended.value if server.ended else "goes on"


def test_a_state_differs_in_one_key_and_keeps_the_others(tmp_path: Path) -> None:
    spec = variant(tmp_path, "extends: walk\nroles: {server: {turn: {asked: {within: 1 s}}}}\n")
    state = spec.roles["server"].machines["turn"].states["asked"]

    assert spec.roles["server"].machines["turn"].parameters == ("walker", "n")
    assert (state.place.line, len(state.answers.receive)) == (3, 2)
    assert walked(spec, ["step", 5]) == ([{"go": 1}, "bye"], 6)


@pytest.mark.parametrize("leads", ["then: out", "return: n + 1"])
def test_a_state_that_only_does_its_steps_now_waits_no_more(tmp_path: Path, leads: str) -> None:
    spec = variant(tmp_path, f"extends: walk\nroles: {{server: {{turn: {{asked: {{let: {{n: n + 4}}, {leads}}}}}}}}}\n")
    state = spec.roles["server"].machines["turn"].states["asked"]

    assert (state.awaits, state.within, state.answers.receive) == (None, None, {})
    assert walked(spec) == ([{"go": 5}, "bye"], 99 if leads == "then: out" else 6)


def test_a_state_that_is_to_wait_and_go_on_is_a_problem_all_the_same(tmp_path: Path) -> None:
    text = "extends: walk\nroles: {server: {turn: {asked: {within: 1 s, then: out}}}}\n"

    assert [(problem.code, problem.place.line) for problem in told(tmp_path, text)] == [("A122", 3)]


@pytest.mark.parametrize(
    ("branch", "says", "heard"),
    [
        ("STEP: {send: BYE}", ["step", 5], ([{"go": 1}, "bye", "bye"], 6)),
        ("STEP: {return: 50}", ["step", 5], ([{"go": 1}, "bye"], 50)),
        ("STEP: {then: out}", ["step", 5], ([{"go": 1}, "bye"], 99)),
        ("STOP: {send: BYE}", "stop", ([{"go": 1}, "bye", "bye"], 99)),
        ("STOP: {return: 7}", "stop", ([{"go": 1}, "bye"], 7)),
        ("STOP: [{if: n > 5, return: 7}, {return: 8}]", "stop", ([{"go": 1}, "bye"], 8)),
    ],
)
def test_a_branch_differs_in_one_key(tmp_path: Path, branch: str, says: Any, heard: Any) -> None:
    text = f"extends: walk\nroles: {{server: {{turn: {{asked: {{receive: {{{branch}}}}}}}}}}}\n"

    assert walked(variant(tmp_path, text), says) == heard


@shows("rename")
def test_a_renamed_message_is_renamed_wherever_it_is_named(tmp_path: Path) -> None:
    roles = "roles: {server: {turn: {asked: {receive: {HALT: {return: 5}}}}}}\n"
    text = "extends: walk\nrename: {STOP: HALT, GO: TURN}\n" + roles
    spec = variant(tmp_path, text)

    assert list(spec.messages) == ["STEP", "HALT", "TURN", "BYE"]
    assert spec.messages["HALT"].also == (LiteralBody("halt"),)
    assert walked(spec, "halt") == ([{"go": 1}, "bye"], 5)


@shows("remove")
def test_what_is_removed_is_gone_and_may_be_given_anew(tmp_path: Path) -> None:
    text = """\
extends: walk
remove:
  - also.STOP
  - messages.client.STOP
  - roles.server.turn.asked.receive.STOP
  - roles.server.turn.out
  - roles.server.main.first
roles: {server: {turn: {out: {return: 42}}, main: {first: {let: {n: 7}, then: over}}}}
"""
    spec = variant(tmp_path, text)

    assert "STOP" not in spec.messages
    assert list(spec.roles["server"].machines["main"].states) == ["first", "asking", "judged", "over"]
    assert walked(spec) == (["bye"], 7)


def test_a_mapping_that_is_left_empty_goes_too(tmp_path: Path) -> None:
    spec = variant(tmp_path, "extends: walk\nremove: [roles.server.turn.always.closed]\n")

    assert spec.roles["server"].machines["turn"].always is None


def test_a_state_comes_before_another_on_every_way(tmp_path: Path) -> None:
    text = "extends: walk\nroles: {server: {main: {told: {before: judged, send: BYE, then: judged}}}}\n"
    spec = variant(tmp_path, text)

    assert list(spec.roles["server"].machines["main"].states) == ["first", "asking", "told", "judged", "over"]
    assert walked(spec, ["step", 1], ["step", 1]) == ([{"go": 1}, "bye", {"go": 2}, "bye", "bye"], 3)


def test_a_state_before_the_first_is_the_first(tmp_path: Path) -> None:
    text = "extends: walk\nroles: {server: {main: {greeting: {before: first, send: BYE, then: first}}}}\n"

    assert walked(variant(tmp_path, text), "stop") == (["bye", {"go": 1}, "bye"], 99)


def test_a_machine_is_put_around_another(tmp_path: Path) -> None:
    text = """\
extends: walk
roles:
  server:
    twice(walker, n):
      around: turn
      a: {run: "turn(walker, n)", as: n, then: b}
      b:
        run: turn(walker, n)
        as: n
        return: n
"""
    assert walked(variant(tmp_path, text), ["step", 1], ["step", 8]) == ([{"go": 1}, {"go": 2}, "bye"], 10)


@shows("part")
def test_a_part_is_put_into_several_specs(tmp_path: Path) -> None:
    part = """\
part: thanks
messages: {server: {THANKS: thanks}}
roles: {server: {main: {thanks: {before: over, send: THANKS, then: over}}}}
"""
    short = "protocol: short\nextends: walk\nsettings: {reply: 1 s}\n"
    one = variant(tmp_path, "extends: [walk, thanks]\n", thanks=part)
    two = variant(tmp_path, "extends: [short, thanks]\n", thanks=part, short=short)

    assert walked(one, "stop")[0] == walked(two, "stop")[0] == [{"go": 1}, "thanks", "bye"]
    assert two.settings["reply"].value == 1.0


def test_a_part_is_no_spec_by_itself() -> None:
    with pytest.raises(SpecError) as caught:
        load_text("part: thanks\nmessages: {server: {THANKS: thanks}}\n")

    assert [(problem.code, problem.place.line) for problem in caught.value.problems] == [("A136", 1)]


@pytest.mark.parametrize(("first", "code"), [("part: other\n", "A136"), ("protocol: other\npart: it\n", "A121")])
def test_a_part_that_extends_a_spec_is_none_either(tmp_path: Path, first: str, code: str) -> None:
    (tmp_path / "walk.yaml").write_text(BASE)
    (tmp_path / "part.yaml").write_text(first + "extends: walk\n")

    with pytest.raises(SpecError) as caught:
        load(str(tmp_path / "part.yaml"))
    assert [problem.code for problem in caught.value.problems] == [code]


def test_two_variants_of_one_spec_are_put_together_and_the_spec_is_laid_once(tmp_path: Path) -> None:
    short = "protocol: short\nextends: walk\nsettings: {reply: 1 s}\n"
    loud = "protocol: loud\nextends: walk\nmessages: {server: {BYE: BYE}}\n"
    spec = variant(tmp_path, "extends: [short, loud]\n", short=short, loud=loud)

    assert (spec.settings["reply"].value, spec.messages["BYE"].body) == (1.0, LiteralBody("BYE"))
    assert [path.stem for path in sources(str(tmp_path / "variant.yaml"))] == ["variant", "loud", "short", "walk"]


@pytest.mark.parametrize(
    "extends", ["[walk, walk]", "[]", "[walk, nothing]", "[[walk]]", "[walk, variant]", "{walk: 1}", "[walk, ../walk]"]
)
def test_a_list_that_cannot_be_followed_is_a_problem_in_its_line(tmp_path: Path, extends: str) -> None:
    found = told(tmp_path, f"extends: {extends}\n")

    assert {problem.place.line for problem in found} == {2}
    assert {problem.code for problem in found} <= {"A136", "A113", "A112"}


def test_a_circle_through_a_list_is_a_problem(tmp_path: Path) -> None:
    found = told(tmp_path, "extends: [walk, a]\n", a="part: a\nextends: b\n", b="part: b\nextends: [a]\n")

    assert [(Path(p.place.file).name, p.code) for p in found] == [("b.yaml", "A136")]


def test_more_removals_than_anyone_needs_are_a_problem(tmp_path: Path) -> None:
    paths = ", ".join(f"x{number}" for number in range(REMOVALS_MAX + 1))
    found = told(tmp_path, f"extends: walk\nremove: [{paths}]\n")

    assert "A140" in {problem.code for problem in found}
    assert any("more of A140" in problem.text for problem in found)


def test_more_insertions_than_anyone_needs_are_a_problem(tmp_path: Path) -> None:
    states = "".join(f"      s{number}: {{before: judged, then: judged}}\n" for number in range(INSERTIONS_MAX + 1))
    found = told(tmp_path, f"extends: walk\nroles:\n  server:\n    main:\n{states}")

    assert [problem.place.line for problem in found if f"more than {INSERTIONS_MAX}" in problem.text] == [46]


@pytest.mark.xdist_group("time")
def test_a_large_variant_of_a_large_spec_is_laid_within_seconds(tmp_path: Path) -> None:
    states = "".join(f"      t{number}: {{send: GO(1), then: asking}}\n" for number in range(1500))
    many = "protocol: many\nextends: walk\nroles:\n  server:\n    main:\n" + states
    befores = "".join(f"      s{number}: {{before: t{number}, then: judged}}\n" for number in range(INSERTIONS_MAX))
    removed = ", ".join(f"roles.server.main.t{number}" for number in range(1499, 1499 - REMOVALS_MAX, -1))
    (tmp_path / "walk.yaml").write_text(BASE)
    (tmp_path / "many.yaml").write_text(many)
    (tmp_path / "variant.yaml").write_text(
        f"protocol: v\nextends: many\nremove: [{removed}]\nroles:\n  server:\n    main:\n{befores}"
    )
    began = thread_time()
    node = resolved(str(tmp_path / "variant.yaml"))

    assert "s39" in written(node)
    assert thread_time() - began < 10


def test_a_problem_of_a_part_is_told_in_the_part(tmp_path: Path) -> None:
    part = "part: thanks\nroles: {server: {main: {over: {sned: BYE}}}}\n"
    found = told(tmp_path, "extends: [walk, thanks]\n", thanks=part)

    assert [(Path(p.place.file).name, p.place.line, p.code) for p in found] == [("thanks.yaml", 2, "A111")]


def test_a_renamed_message_is_renamed_in_properties_and_accepted_problems(tmp_path: Path) -> None:
    below = """\
protocol: sure
extends: walk
messages: {client: {WAVE: wave}}
accepted: {A330: {WAVE: a later version waves}, A331: {WAVE: and is seen}}
properties: {kept: {eventually: {sends: BYE}}}
"""
    spec = variant(tmp_path, "extends: sure\nrename: {WAVE: NOD, BYE: FAREWELL}\n", sure=below)

    assert {one.where for one in spec.accepted} == {"NOD"}
    assert "FAREWELL" in repr(spec.properties)
    assert "BYE" not in repr(spec.properties)


def test_a_state_may_be_called_like_a_word_of_variants() -> None:
    around = "{around: {before: {then: x}}}"
    spec = load_text(BASE.replace("first: {let: {n: 1}, then: asking}", "around: {let: {n: 1}, then: asking}"))

    assert next(iter(spec.roles["server"].machines["main"].states)) == "around", around


# -- the whole of it, written out ------------------------------------------------------------------------------------

WHOLE = sorted(
    [
        *shipped(),
        *[str(path) for path in (ROOT / "tests" / "specs").glob("*.yaml")],
        *[str(path) for path in (ROOT / "docs" / "cookbook").glob("*-*.yaml")],  # the part has one word
    ]
)


def bare(value: Any) -> Any:
    """Return a spec without places, which are all that two readings of it may differ in."""
    if is_dataclass(value):
        return {
            field.name: bare(getattr(value, field.name))
            for field in fields(value)
            if field.name not in ("place", "file") and field.compare
        }
    if isinstance(value, dict):
        return {key: None if type(part).__name__ == "Place" else bare(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [bare(part) for part in value if type(part).__name__ != "Place"]
    return value


@pytest.mark.parametrize("name", WHOLE, ids=lambda name: Path(name).stem)
def test_a_spec_written_out_is_the_same_spec(name: str) -> None:
    text = written(resolved(name))
    allowed = ["tests.support.stub_rules"]

    assert bare(load_text(text, rules=allowed)) == bare(load(name, rules=allowed))


def test_each_line_is_where_it_says(tmp_path: Path) -> None:
    variant(tmp_path, "extends: walk\nsettings: {reply: 1 s}\nroles: {server: {turn: {asked: {within: 1 s}}}}\n")

    for text, file, line in lines_of(written(resolved(str(tmp_path / "variant.yaml")))):
        words = [word for part in text.split() if (word := part.partition("(")[0].strip("{}:,'\""))]
        assert any(word in Path(file).read_text().splitlines()[line - 1] for word in words), (text, file, line)


def lines_of(text: str) -> Iterator[tuple[str, str, int]]:
    for line in text.splitlines():
        said, _, place = line.rpartition("  # ")
        file, _, number = place.rpartition(":")
        yield said, file, int(number)


@pytest.mark.parametrize(
    "value", ["'it''s'", '"a: b"', '"# no"', '""', '"\\n"', '"\\u0007"', "a b", '"5 s"', '"null"', '"\\"\\\\"', '" x "']
)
def test_texts_come_back_as_they_were(value: str) -> None:
    text = BASE.replace("BYE: bye", f"BYE: {value}")
    from machines.problems import Problems
    from machines.yaml.nodes import parse_yaml

    node = parse_yaml(text, "a.yaml", Problems())
    assert node is not None
    again = parse_yaml(written(node), "b.yaml", Problems())

    assert bare(again) == bare(node)
