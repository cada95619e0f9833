import sys
from pathlib import Path

import pytest

from machines.model import Goto, LiteralBody, Spec
from machines.parser.loader import (
    EXTENDS_MAX,
    RulesError,
    SpecNotFound,
    allowed_rules,
    find,
    load,
    load_text,
    rules_functions,
    rules_module,
    rules_modules,
    shipped,
)
from machines.parser.settings import SettingError
from machines.problems import Problem, SpecError
from machines.values import Range
from machines.yaml.nodes import BYTES_MAX
from tests.support.talk import GOOD

# -- finding ---------------------------------------------------------------------------------------------------------


def test_shipped_specs_are_found_by_name() -> None:
    assert "tsuro" in shipped()
    assert find("tsuro").name == "tsuro.yaml"


def test_a_path_is_found_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "talk.yaml"
    path.write_text(GOOD)

    assert find(str(path)) == path
    assert load(str(path)).protocol == "talk"


def test_a_bare_word_is_a_shipped_spec_and_never_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("talk.yaml").write_text(GOOD)

    assert load("talk.yaml").protocol == "talk"
    with pytest.raises(SpecNotFound):
        find("talk")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("tsuru", "did you mean 'tsuro'?"),
        ("chess", "there are: "),
        ("specs/tsuru.yaml", "there is no file"),
        ("no/such/folder.yaml", "there is no file"),
        ("a\0b.yaml", "no"),
        ("x" * 5000 + ".yaml", "no"),
        ("", "no shipped spec"),
    ],
)
def test_what_is_not_there_is_told_with_what_is(name: str, words: str) -> None:
    with pytest.raises(SpecNotFound, match=words.replace("?", r"\?")):
        load(name)


def test_a_folder_is_no_spec(tmp_path: Path) -> None:
    folder = tmp_path / "talk.yaml"
    folder.mkdir()

    with pytest.raises(SpecNotFound):
        load(str(folder))


@pytest.mark.parametrize(
    ("raw", "code", "line", "column"),
    [
        (b"a: 1\nb: \xff\n", "A100", 2, 4),
        (b"a: " + b"b" * BYTES_MAX, "A109", 1, 1),
        (b"a: " + "\u00e4".encode() * BYTES_MAX, "A109", 1, 1),
    ],
    ids=["not UTF-8", "too long", "too long and cut inside a character"],
)
def test_bytes_that_are_no_text_are_a_problem(tmp_path: Path, raw: bytes, code: str, line: int, column: int) -> None:
    path = tmp_path / "bad.yaml"
    path.write_bytes(raw)

    with pytest.raises(SpecError) as caught:
        load(str(path))

    assert [(p.code, p.place.line, p.place.column) for p in caught.value.problems] == [(code, line, column)]


def test_places_are_named_from_the_present_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bad.yaml").write_text("a: 1\n")
    monkeypatch.chdir(tmp_path)

    with pytest.raises(SpecError) as caught:
        load(str(tmp_path / "bad.yaml"))

    assert {problem.place.file for problem in caught.value.problems} == {"bad.yaml"}


# -- settings --------------------------------------------------------------------------------------------------------


def test_settings_are_overridden_by_text() -> None:
    spec = load("tsuro", {"seats": "3", "reply": "never", "think": "250 ms"})

    assert spec.settings["seats"].value == Range(3, 3)
    assert spec.settings["reply"].value == float("inf")
    assert spec.settings["think"].value == 0.25
    assert spec.settings["patience"].value == 600.0


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"replay": "5 s"}, "did you mean 'reply'"),
        ({"reply": "5"}, "duration"),
        ({"seats": "many"}, "range"),
    ],
)
def test_a_wrong_override_is_one_sentence(given: dict[str, str], words: str) -> None:
    with pytest.raises(SettingError, match=words) as caught:
        load("tsuro", given)

    assert "\n" not in str(caught.value)


# -- extends ---------------------------------------------------------------------------------------------------------


def child(tmp_path: Path, text: str, base: str = GOOD) -> Spec:
    (tmp_path / "base.yaml").write_text(base)
    (tmp_path / "child.yaml").write_text(text)
    return load(str(tmp_path / "child.yaml"))


def child_faults(tmp_path: Path, text: str, base: str = GOOD) -> list[Problem]:
    with pytest.raises(SpecError) as caught:
        child(tmp_path, text, base)
    return list(caught.value.problems)


CHILD = """\
protocol: small-talk
extends: base
wire: {early: ignore}
settings: {reply: 1 s, more: 3}
messages:
  client:
    BYE: so long
    WAVE: wave
  server:
    DONE: {bye: bye}
types: {Port: {int: 1..9}}
roles:
  server:
    serve(guest):
      ready:
        await: guest
        within: reply
        receive:
          WAVE: waved
          BYE: out
      waved: {send: {guest: DONE}, then: out}
"""


def test_a_spec_may_extend_one_beside_it(tmp_path: Path) -> None:
    spec = child(tmp_path, CHILD)

    assert (spec.protocol, spec.title, spec.wire.framing, spec.wire.early) == (
        "small-talk",
        "small-talk",
        "lines",
        "ignore",
    )
    assert spec.settings["reply"].value == 1.0
    assert list(spec.settings) == ["reply", "often", "word", "more"]
    assert list(spec.types) == ["Name", "Port"]
    assert list(spec.messages) == ["HELLO", "BYE", "NUMBERS", "WAVE", "WELCOME", "DONE"]
    assert spec.messages["BYE"].body == LiteralBody("so long")
    assert spec.messages["BYE"].also == ()  # the other bodies went with the body that was replaced
    assert spec.messages["DONE"].urgent


def test_a_state_is_laid_over_key_by_key_and_keeps_its_place(tmp_path: Path) -> None:
    machine = child(tmp_path, CHILD).roles["server"].machines["serve"]

    assert list(machine.states) == ["ready", "out", "waved"]
    assert list(machine.states["ready"].answers.receive) == ["NUMBERS", "BYE", "WAVE"]
    assert machine.always is not None
    following = machine.states["waved"].then
    assert following is not None
    assert isinstance(following.branches[0].next, Goto)


def test_a_machine_may_be_given_other_parameters(tmp_path: Path) -> None:
    text = (
        "protocol: other\nextends: base\nroles:\n  server:\n    main:\n      talk:\n        each: guest in guests\n"
        "        run: serve(guest, 1)\n        then: over\n    serve(guest, n): {out: {drop: guest, return: n}}\n"
    )
    server = child(tmp_path, text).roles["server"]

    assert list(server.machines) == ["main", "greet", "serve"]
    assert server.machines["serve"].parameters == ("guest", "n")


def test_a_message_may_move_to_other_senders(tmp_path: Path) -> None:
    text = "protocol: other\nextends: base\nmessages:\n  client, server:\n    BYE: bye\n"
    spec = child(tmp_path, text)

    assert spec.messages["BYE"].senders == ("client", "server")


def test_a_shipped_spec_may_be_extended(tmp_path: Path) -> None:
    (tmp_path / "quick.yaml").write_text("protocol: quick\nextends: tsuro\nsettings: {reply: 1 s}\n")

    spec = load(str(tmp_path / "quick.yaml"))

    assert spec.settings["reply"].value == 1.0
    assert list(spec.roles) == ["server", "client"]


def test_problems_point_into_the_right_file(tmp_path: Path) -> None:
    text = "protocol: other\nextends: base\nroles:\n  server:\n    main:\n      over: {then: nowhere}\n"
    base = GOOD.replace("then: last}\n          DONE", "then: lost}\n          DONE")

    line = base[: base.index("then: lost")].count("\n") + 1
    found = child_faults(tmp_path, text, base)

    assert [(Path(p.place.file).name, p.place.line, p.code) for p in found] == [
        ("base.yaml", line, "A103"),
        ("child.yaml", 6, "A103"),
    ]


@pytest.mark.parametrize(
    "name",
    [
        "../base",
        "/etc/passwd",
        "sub/base",
        "child",
        "nothing",
        "bas",
        "..",
        "base/../base",
        "[base]",
        "a: b",
        "base.yaml.yaml",
    ],
)
def test_what_may_not_be_extended_is_a_problem(tmp_path: Path, name: str) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "base.yaml").write_text(GOOD)

    found = child_faults(tmp_path, f"protocol: other\nextends: '{name}'\n")

    assert [(p.code, p.place.line) for p in found] == [("A136", 2)]


def test_a_file_of_the_same_folder_is_named_without_a_path(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text(GOOD)

    (found,) = child_faults(tmp_path, "protocol: other\nextends: ./base.yaml\n")

    assert found.hint == "without './': extends: base.yaml"


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "outer.yaml").write_text(GOOD)
    (inner / "linked.yaml").symlink_to(tmp_path / "outer.yaml")

    found = child_faults(inner, "protocol: other\nextends: linked\n")

    assert [(p.code, p.place.line) for p in found] == [("A136", 2)]


def test_extends_in_a_circle_is_a_problem(tmp_path: Path) -> None:
    found = child_faults(tmp_path, "protocol: a\nextends: base\n", "protocol: b\nextends: child\n")

    assert [p.code for p in found if "circle" in p.text] == ["A136"]


def test_extends_is_followed_so_many_times_and_no_more(tmp_path: Path) -> None:
    (tmp_path / "s0.yaml").write_text(GOOD)
    for number in range(1, EXTENDS_MAX + 2):
        (tmp_path / f"s{number}.yaml").write_text(f"protocol: s{number}\nextends: s{number - 1}\n")

    assert load(str(tmp_path / f"s{EXTENDS_MAX}.yaml")).protocol == f"s{EXTENDS_MAX}"
    with pytest.raises(SpecError, match="A136"):
        load(str(tmp_path / f"s{EXTENDS_MAX + 1}.yaml"))


def test_a_text_without_a_folder_extends_shipped_specs_only() -> None:
    assert load_text("protocol: other\nextends: tsuro\n").roles
    with pytest.raises(SpecError, match="A136"):
        load_text("protocol: other\nextends: base\n")


# -- rules -----------------------------------------------------------------------------------------------------------


def with_rules(*names: str) -> str:
    return GOOD.replace("connects:", f"rules: [{', '.join(names)}]\nconnects:")


@pytest.mark.parametrize("name", ["os", "subprocess", "tsuru", "players", "__init__", "rules"])
def test_rules_that_are_not_on_the_list_are_a_problem(name: str) -> None:
    with pytest.raises(SpecError) as caught:
        load_text(with_rules(name))

    found = caught.value.problems
    assert [p.code for p in found if p.place.line == 4] == ["A114" if name.startswith("_") else "A400"]


def test_the_problem_names_what_is_allowed() -> None:
    with pytest.raises(SpecError) as caught:
        load_text(with_rules("tsuru", "zzz"))

    near, far = caught.value.problems
    assert "did you mean 'tsuro'?" in near.hint
    assert "tsuro" in far.hint


def test_the_caller_may_allow_modules_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "houserules"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "ludo.py").write_text(
        "from math import floor\ndef roll(x): return floor(x)\ndef _hidden(): pass\nN = 3\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))

    spec = load_text(with_rules("ludo"), rules=["houserules.ludo"])
    module = rules_module(spec, "ludo", ["houserules.ludo"])

    assert list(rules_functions(module)) == ["roll"]
    assert rules_modules(spec, ["houserules.ludo"]) == {"ludo": module}
    with pytest.raises(RulesError, match="'ludo'"):
        rules_module(spec, "ludo")


def test_loading_imports_no_rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "explosive.py").write_text("raise RuntimeError('imported')\n")
    monkeypatch.syspath_prepend(str(tmp_path))

    spec = load_text(with_rules("explosive"), rules=["explosive"])

    assert "explosive" not in sys.modules
    with pytest.raises(RulesError, match="imported"):
        rules_module(spec, "explosive", ["explosive"])


def test_a_module_that_the_spec_does_not_name_is_not_imported() -> None:
    with pytest.raises(RulesError, match="names no rules 'os'"):
        rules_module(load_text(GOOD), "os", ["os"])


def test_all_says_which_functions_are_exported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = "from textwrap import dedent\ndef a(): pass\ndef b(): pass\n__all__ = ['a', '_c', 'gone']\n"
    (tmp_path / "choosy.py").write_text(source)
    monkeypatch.syspath_prepend(str(tmp_path))

    module = rules_module(load_text(with_rules("choosy"), rules=["choosy"]), "choosy", ["choosy"])

    assert list(rules_functions(module)) == ["a"]


def test_every_shipped_rules_module_is_allowed_by_its_own_name() -> None:
    assert {name: path for name, path in allowed_rules().items() if path.startswith("rules.")}["tsuro"] == "rules.tsuro"
    assert all(name[0] != "_" for name in allowed_rules())
