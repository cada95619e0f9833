"""The names of a spec, as an editor asks for them: each has its place, and can be written anew."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from machines.checks import check
from machines.parser.loader import load_text
from runtime.editor.completing import candidates
from runtime.editor.hovering import shown_at
from runtime.editor.occurrences import Occurrence
from runtime.editor.open_spec import OpenSpec, formatted
from runtime.editor.renaming import RenameError, renamed

ROOT = Path(__file__).resolve().parents[3]
FILES = sorted([*(ROOT / "specs").glob("*.yaml"), *(ROOT / "docs" / "cookbook").glob("*.yaml")])
by_file = pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
WHOLE = [path for path in FILES if path.parent.name == "specs"]

TEXT = """\
protocol: bids
doc: Guests bid once
connects: {guest: host}
rules: [tournament]
settings:
  reply: 5 s
types:
  Coins: int 0..100
docs: {BID: What a guest offers}
examples: {BID: [{amount: 3}]}
messages:
  guest: {HELLO: {hello: $name string}, BID: {amount: $amount Coins}}
  host:
    ASK: {ask: bid, best: $best Coins}
roles:
  host.main:
    door: {accept: sign_up(peer), as: guests, seats: 2, within: reply, timeout: {return: null}, then: begin}
    begin: {let: {best: 0}, then: round}
    round: {each: guest in guests, fold: best, run: turn(guest), return: best}
  host.sign_up(peer): {named: {within: reply, receive: {HELLO: {return: {name: name}}}}}
  host.turn(guest, best):
    asked:
      doc: Each has one try
      send: ASK(best)
      within: reply
      receive:
        BID: [{if: amount > best, return: amount}, {return: best}]
      fault: {return: best}
  guest.main:
    always: {within: reply, fault: {return: null}}
    arrive: {send: HELLO(my.name), then: listening}
    listening: {receive: {ASK: bidding}}
    bidding: {ask: bid(best), say: {BID: listening}}
"""


def spec(text: str = TEXT, path: Path = Path("bids.yaml")) -> OpenSpec:
    return OpenSpec(text, path)


def place(word: str, text: str = TEXT, nth: int = 1) -> tuple[int, int]:
    """Return the line and the column of a word's second letter, where it stands for the nth time."""
    at = [match.start() for match in re.finditer(rf"(?<!\w){re.escape(word)}(?!\w)", text)][nth - 1]
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at) + 1


def labels(text: str, marked: str, path: Path = Path("bids.yaml")) -> list[str]:
    """Return what may stand at the bar in ``marked``, which takes the place of what it is without its bar."""
    head, _, tail = marked.partition("|")
    at = text.index(head) + len(head) if head + tail in text else -1
    assert at >= 0, "the marked text stands in the text"
    line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
    return [one.label for one in candidates(spec(text, path), line, column)]


@by_file
def test_each_name_of_the_shipped_specs_stands_where_it_is_said_to(path: Path) -> None:
    one = OpenSpec(path.read_text("utf-8"), path)

    assert one.names
    for name in one.names:
        line = one.lines[name.place.line - 1]
        assert line[name.place.column - 1 :].startswith(name.name), name


@pytest.mark.parametrize("path", WHOLE, ids=lambda path: path.stem)
def test_each_state_machine_message_type_and_setting_that_is_used_is_declared(path: Path) -> None:
    one = OpenSpec(path.read_text("utf-8"), path)
    builtin = {"string", "int", "number", "bool", "null", "any"}

    for name in one.names:
        if name.kind in ("state", "machine", "message", "setting", "role") and name.name not in builtin:
            assert one.declaration(name) is not None, name


@pytest.mark.parametrize("path", WHOLE, ids=lambda path: path.stem)
def test_a_spec_in_which_a_name_is_written_anew_has_no_problems(path: Path) -> None:
    text = path.read_text("utf-8")
    one = OpenSpec(text, path)
    tried = 0
    seen: set[tuple[str, tuple[str, ...]]] = set()

    for name in one.names:
        wanted = name.kind in ("state", "machine", "message", "type", "setting") and (name.kind, name.owner) not in seen
        if not (name.declares and wanted) or name.name == "main" or "extends:" in text:
            continue
        seen.add((name.kind, name.owner))
        anew = written(one, name)
        assert not check(load_text(anew, path.name, folder=path.parent)), name
        tried += 1

    assert tried > 3 or "extends:" in text


def written(one: OpenSpec, name: Occurrence) -> str:
    """Return the text in which a name is another."""
    lines = list(one.lines)
    for where in reversed(renamed(one, name.place.line, name.place.column, "anew7")):
        line = lines[where.line - 1]
        lines[where.line - 1] = line[: where.column - 1] + "anew7" + line[where.column - 1 + len(name.name) :]
    return "\n".join(lines)


CANNOT = [
    (place("guest"), "x", "players, commands and journals name it"),
    (place("amount", nth=3), "x", "is a field of BID"),
    (place("within"), "x", "no name stands here"),
    (place("begin"), "never", "no name"),
    (place("begin"), "round", "there is a state 'round' already"),
]


@pytest.mark.parametrize(("at", "new", "says"), CANNOT, ids=[says for *_, says in CANNOT])
def test_what_cannot_be_written_anew_is_told(at: tuple[int, int], new: str, says: str) -> None:
    with pytest.raises(RenameError, match=says):
        renamed(spec(), *at, new)


def test_the_item_of_a_list_is_a_name_and_the_key_of_a_mapping_is_none() -> None:
    text = TEXT.replace("{best: 0}", "{best: 0, rows: [{best: one.name} for one in guests]}")
    found = [(name.place.column, name.declares) for name in spec(text).names if name.name == "one"]
    line = next(line for line in text.splitlines() if "rows" in line)

    assert found == [(line.index("one.") + 1, False), (line.index("one in") + 1, True)]
    assert line.index("best: one") + 1 not in {n.place.column for n in spec(text).names if n.name == "best"}


def test_states_of_other_machines_with_the_same_name_stay(tmp_path: Path) -> None:
    text = TEXT.replace("    listening: {receive", "    asked: {return: 1}\n    listening: {receive")

    places = renamed(spec(text), *place("asked", text), "put")

    assert [where.line for where in places] == [text[: text.index("    asked:\n")].count("\n") + 1]


OFFERED = [
    ("then: |begin", {"door", "begin", "round", "stay", "again"}, {"asked", "listening"}),
    ("run: |turn(guest)", {"sign_up", "turn"}, {"main", "door"}),
    ("send: |ASK(best)", {"ASK"}, {"BID", "HELLO"}),
    ("listening: {receive: {|ASK: bidding}", {"ASK"}, {"BID"}),
    ("say: {|BID: listening}", {"BID", "HELLO"}, {"ASK"}),
    ("$amount |Coins", {"Coins", "string", "int"}, {"reply"}),
    ("within: |reply, receive", {"reply", "peer", "len"}, {"door", "Coins"}),
    ("fold: best, |run: turn", {"run", "within", "then"}, {"limit", "messages"}),
    ("rules: [|tournament]", {"tournament", "tsuro"}, {"reply"}),
    ("{if: |amount > best", {"amount", "best", "reply", "tournament"}, {"asked"}),
]


@pytest.mark.parametrize(("marked", "there", "not_there"), OFFERED, ids=[marked for marked, *_ in OFFERED])
def test_what_fits_is_offered_and_nothing_else(marked: str, there: set[str], not_there: set[str]) -> None:
    offered = set(labels(TEXT, marked))

    assert there <= offered
    assert not not_there & offered


def test_keys_are_offered_in_a_line_of_their_own_and_while_the_line_is_no_yaml() -> None:
    text = TEXT.replace("      within: reply\n      receive:\n", "      wi\n      receive:\n")
    one = spec(text)
    assert one.tree is None, "the line is no YAML"

    found = candidates(one, *place("wi", text), spec())

    assert {"within", "fault", "say"} <= {each.label for each in found}
    within = next(each for each in found if each.label == "within")
    assert (within.insert, "time limit" in within.doc) == ("within: ", True)


def test_rules_are_offered_with_what_they_take() -> None:
    text = TEXT.replace("return: amount}", "return: tournament.odd(amount)}")

    found = candidates(spec(text), *place("odd", text))

    assert "odd" in {each.label for each in found}
    assert all(each.detail.startswith(each.label + "(") for each in found)


HOVERED = [
    (place("BID", nth=4), ["message **BID**", "What a guest offers", "amount: $amount Coins", "{amount: 3}"]),
    (place("Coins", nth=2), ["type **Coins**", "int 0..100"]),
    (place("reply", nth=2), ["setting **reply**", "5 s"]),
    (place("turn"), ["machine **turn** of host", "asked:"]),
    (place("bidding"), ["state **bidding** of guest.main", "ask: bid(best)"]),
    (place("within"), ["`within` of a state", "time limit"]),
    (place("amount", nth=4), ["field **amount** of BID"]),
    (place("tournament"), ["rules **tournament**"]),
    (place("peer"), ["`peer`"]),
]


@pytest.mark.parametrize(("at", "says"), HOVERED, ids=[says[0] for _, says in HOVERED])
def test_what_stands_there_is_explained(at: tuple[int, int], says: list[str]) -> None:
    shown = shown_at(spec(), *at)

    assert shown is not None
    for word in says:
        assert word in shown


def test_the_page_of_a_problem_is_shown_where_it_is() -> None:
    text = TEXT.replace("then: round}", "then: rond}")
    one = spec(text)

    shown = shown_at(one, *place("rond", text), one.problems())

    assert shown is not None
    assert "**A103**" in shown


def test_what_lies_below_a_variant_is_found_there(tmp_path: Path) -> None:
    (tmp_path / "bids.yaml").write_text(TEXT)
    text = "extends: bids\nprotocol: more\nroles:\n  host.turn.asked.receive.BID: {return: amount}\n"
    (tmp_path / "more.yaml").write_text(text)
    one = OpenSpec(text, tmp_path / "more.yaml")

    name = one.at(*place("BID", text))
    assert name is not None
    found = one.declaration(name)

    assert found is not None
    assert (found[0].path.name, found[1].place.line) == ("bids.yaml", 12)
    with pytest.raises(RenameError, match=r"declared in .*bids.yaml"):
        renamed(one, *place("BID", text), "OFFER")


def test_formatting_writes_what_was_meant_and_no_blanks_at_line_ends() -> None:
    text = TEXT.replace("reply: 5 s\n", "reply: 5 sec   \n").replace(
        "if: amount > best,", "if: amount > best && best < 9,"
    )

    tidy = formatted(spec(text))

    assert "reply: 5 s\n" in tidy
    assert "if: amount > best and best < 9," in tidy
    assert formatted(spec(tidy)) == tidy
    assert formatted(spec(TEXT)) == TEXT
