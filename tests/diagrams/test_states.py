"""State diagrams: what stands in a picture, and that it stands there once."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from html import unescape

import pytest

from diagrams.render import render
from diagrams.states.builder import flow
from diagrams.states.dot import stems, write_machine, write_spec
from diagrams.states.looks import LOOKS
from diagrams.states.model import Kind, Node, StateDiagram
from diagrams.states.phrases import duration
from machines.model import Branch, Choice, Spec
from machines.parser.loader import load, load_text
from tests.diagrams.examples import GAMES, games
from tests.diagrams.test_pictures import size


@pytest.fixture(scope="module")
def spec() -> Spec:
    return games()


def arrows(drawn: StateDiagram) -> Iterator[tuple[str, str, str, str]]:
    """Each arrow as (source, target, kind, its text in one line)."""
    for arrow in drawn.arrows:
        text = " ".join(line.text for label in arrow.labels for line in label.lines)
        yield arrow.source, arrow.target, arrow.kind.name, text


def box(drawn: StateDiagram, name: str) -> list[str]:
    """All lines of a box, those of the branches that keep its state included."""
    node = next(node for node in drawn.nodes if node.name == name)
    return [line.text for line in (*node.lines, *(line for label in node.inside for line in label.lines))]


def test_a_machine_that_chooses_calls_and_ends_has_these_arrows(spec: Spec) -> None:
    assert list(arrows(flow(spec, "server", "main"))) == [
        (".start", "gather", "START", ""),
        ("gather", ".end1", "CLOCK", "timeout"),
        ("gather", "rounds", "PASS", "enough are seated"),
        ("rounds", "judged", "PASS", "after the last"),
        ("judged", "done", "PASS", "1 [last == 0]"),
        ("judged", "rounds", "PASS", "2 [else]"),
        ("done", ".end2", "PASS", ""),
    ]


def test_guards_stand_in_their_order_and_equal_faults_share_an_arrow(spec: Spec) -> None:
    assert list(arrows(flow(spec, "server", "turn"))) == [
        (".start", "asked", "START", ""),
        (".always", ".end1", "MESSAGE", "? BYE"),
        (".always", "gone", "FAULT", "timeout, closed"),
        ("asked", ".end2", "MESSAGE", "? MOVE 2 [n == left] ! YES(true) → peer"),
        ("asked", ".junction1", "MESSAGE", "? MOVE 3 [else]"),
        (".junction1", "asked", "PASS", "1 [n == 1]"),
        (".junction1", ".end3", "PASS", "2 [else]"),
        ("asked", "gone", "INVALID", "invalid"),
        ("gone", ".end1", "PASS", ""),
    ]


def test_an_answer_of_the_player_is_told_from_a_message_of_the_peer(spec: Spec) -> None:
    drawn = list(arrows(flow(spec, "client", "main")))

    assert ("choose", "told", "ANSWER", "answer MOVE ! MOVE → server") in drawn
    assert ("told", "choose", "MESSAGE", "? YES") in drawn


@pytest.mark.parametrize(
    ("role", "machine", "state", "lines"),
    [
        (
            "server", "main", "gather",
            ["gather", "accept join(peer) as players", "seats: seats (2..4)", "linger: wait (30 s)",
             "within: slow (never)", "↺ seated", "! HELLO → peer"],
        ),
        (
            "server", "main", "rounds",
            ["for each player in players", "side by side: pace (2)", "rounds", "run turn(player, 3)", "as last"],
        ),
        ("server", "join", "named", ["named", "await: peer", "within: reply (400 ms)",
                                     "timeout, invalid, closed: no seat"]),
        (
            "server", "turn", "asked",
            ["asked", "await: player", "within: reply (400 ms)", "↺ ? ASK", "[at most checks (10 per 1 s)]",
             "! YES → peer", "↺ ? MOVE", "1 [n > left]", "entered again"],
        ),
        ("server", "turn", ".always", ["in every state"]),
        ("client", "main", ".always", ["in every state", "within: slow (never)"]),
        ("client", "main", "choose", ["choose", "ask move(to)", "within: reply (400 ms)"]),
    ],
)  # fmt: skip
def test_a_box_says_what_its_state_does(spec: Spec, role: str, machine: str, state: str, lines: list[str]) -> None:
    assert box(flow(spec, role, machine), state) == lines


def test_a_fault_answered_further_out_names_the_machine_that_answers() -> None:
    text = GAMES.replace("        closed: gone\n        timeout: gone\n", "").replace("        invalid: gone\n", "")
    text = text.replace("    main:\n      gather:", "    main:\n      always: {closed: done}\n      gather:", 1)

    assert "closed: see main" in box(flow(load_text(text), "server", "turn"), "asked")


def branches(choice: Choice) -> Iterator[Branch]:
    for branch in choice.branches:
        yield branch
        if isinstance(branch.next, Choice):
            yield from branches(branch.next)


def test_every_branch_of_a_machine_is_drawn_and_nothing_else_is(spec: Spec) -> None:
    for role, name in stems(spec):
        machine = spec.roles[role].machines[name]
        drawn = flow(spec, role, name)

        layers = [state.answers for state in machine.states.values()]
        layers += [machine.always.answers] if machine.always is not None else []
        choices = [choice for answers in layers for _, choice in answers.choices()]
        choices += [state.then for state in machine.states.values() if state.then is not None]
        labels = [label for arrow in drawn.arrows for label in arrow.labels]
        labels += [label for node in drawn.nodes for label in node.inside]
        assert {place for label in labels for place in label.places} == {
            branch.place for choice in choices for branch in branches(choice)
        }


def test_a_state_that_calls_is_linked_to_the_picture_of_its_machine(spec: Spec) -> None:
    dot = write_machine(spec, "server", "main")

    assert 'URL="games-server-turn.svg"' in dot
    assert 'URL="games-server-join.svg"' in dot
    assert 'HREF="games-server-main.svg"' in write_machine(spec, "server", "turn")


def test_tooltips_name_the_line_and_no_folder(spec: Spec) -> None:
    dot = write_machine(spec, "server", "turn")

    line = next(number for number, text in enumerate(GAMES.splitlines(), 1) if text == "      asked:")
    assert rf'tooltip="games.yaml:{line}\n' in dot
    assert "folder" not in dot


def test_every_kind_of_arrow_looks_unlike_every_other_without_colour() -> None:
    looks = [(look.style, look.width, look.tail) for kind, look in LOOKS.items() if kind is not Kind.START]

    assert len(set(looks)) == len(looks)
    assert set(LOOKS) == set(Kind)


def test_the_same_spec_gives_the_same_bytes_in_another_process(spec: Spec) -> None:
    code = (
        "import sys, hashlib; from tests.diagrams.examples import games; from diagrams.states.dot import write_spec;"
        "print(hashlib.sha256(repr(write_spec(games())).encode()).hexdigest())"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", code],
            check=True, capture_output=True, text=True,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip

    assert len(digests) == 1


def test_a_changed_limit_changes_the_pictures_that_show_it_and_no_other(spec: Spec) -> None:
    before = write_spec(spec)
    after = write_spec(load_text(GAMES.replace("reply: 400 ms", "reply: 5 s"), "folder/games.yaml"))

    changed = {name for name in before if before[name] != after[name]}
    assert changed == {"games-server-join", "games-server-turn", "games-client-main"}


def test_pictures_are_named_after_protocol_role_and_machine(spec: Spec) -> None:
    assert list(write_spec(spec)) == list(stems(spec).values())
    assert stems(spec)["server", "turn"] == "games-server-turn"


def chain(states: int, fault: str) -> Spec:
    """A server of so many states in a row, each of which answers every fault alike."""
    lines = "\n".join(
        f"      s{n}: {{await: peers, within: 1 s, receive: {{GO: {f's{n + 1}' if n + 1 < states else 'out'}}}, "
        f"fault: {fault}}}"
        for n in range(states)
    )
    return load_text(
        "protocol: chain\nconnects: {client: server}\nsettings: {}\nmessages:\n  client: {GO: go}\n"
        "  server: {STOP: stop}\n"
        "roles:\n  server:\n    main:\n"
        "      door: {accept: join(peer), as: peers, seats: 1..1, within: 1 s, timeout: out, then: s0}\n"
        f"{lines}\n      out: {{return: 1}}\n"
        "    join(peer):\n      named: {await: peer, within: 1 s, receive: {GO: {return: {a: 1}}}}\n"
        "  client:\n    main:\n      go: {send: GO, return: 1}\n"
    )


def test_few_sources_share_an_end_and_many_have_one_each() -> None:
    def ends(drawn: StateDiagram) -> list[Node]:
        return [node for node in drawn.nodes if node.kind == "end"]

    assert len(ends(flow(chain(3, "{return: 2}"), "server", "main"))) == 2
    assert len(ends(flow(chain(9, "{return: 2}"), "server", "main"))) == 10


def test_where_many_arrows_meet_at_a_state_jump_marks_stand_for_it() -> None:
    drawn = flow(chain(30, "out"), "server", "main")

    into = [arrow for arrow in drawn.arrows if arrow.target == "out"]
    jumps = [node for node in drawn.nodes if node.kind == "jump"]
    assert len(into) <= 5
    assert len(jumps) >= 25
    assert {node.lines[0].text for node in jumps} == {"out"}
    _assert_whole(drawn)


def _assert_whole(drawn: StateDiagram) -> None:
    names = [node.name for node in drawn.nodes]
    assert len(set(names)) == len(names)
    assert {end for arrow in drawn.arrows for end in (arrow.source, arrow.target)} <= set(names)
    assert len({(arrow.source, arrow.target, arrow.kind) for arrow in drawn.arrows}) == len(drawn.arrows)


def shop(counters: int) -> Spec:
    """A machine whose first state has a counter for each message, and each counter has four ways on."""
    asked = ", ".join(f"ASK{n}: counter{n}" for n in range(counters))
    ways = ", ".join(f"{{if: n == {n}, let: {{a_name_that_is_long: n + {n}}}, then: door}}" for n in range(3))
    counter = f"[{ways}, {{let: {{n: n + 1}}, then: door}}]"
    return load_text(
        "protocol: shop\nwire: {framing: lines}\nconnects: {client: server}\n"
        f"messages: {{client: {{{', '.join(f'ASK{n}: ask{n}' for n in range(counters))}}}, server: {{OVER: over}}}}\n"
        "roles:\n  server:\n    main(client):\n      begin: {let: {n: 0, a_name_that_is_long: 0}, then: door}\n"
        f"      door: {{within: 1 s, receive: {{{asked}}}, timeout: {{return: 1}}}}\n"
        + "".join(f"      counter{n}: {counter}\n" for n in range(counters))
        + "  client:\n    main:\n      go: {send: ASK0, return: 1}\n",
        "shop.yaml",
    )


@pytest.mark.parametrize("counters", [1, 2, 6, 12])
def test_a_chart_that_would_be_too_wide_is_drawn_in_parts_one_below_the_other(counters: int) -> None:
    drawn = flow(shop(counters), "server", "main")

    assert bool(drawn.under) is (counters > 2)
    _assert_whole(drawn)
    roots = {lower for _, lower in drawn.under}
    arrows = {arrow.target for arrow in drawn.arrows}
    assert not roots & arrows, "only marks lead to a part"
    shown = {node.lines[0].text for node in drawn.nodes if node.kind == "jump"}
    assert roots <= shown <= set(drawn.machine.states)
    assert {arrow.source for arrow in drawn.arrows} >= set(drawn.machine.states), "each state has what leads on"
    assert size(render(write_machine(shop(counters), "server", "main"), "png"))[0] < 2000


def test_arrows_join_nodes_that_exist_and_parallel_ones_are_merged(spec: Spec) -> None:
    for role, machine in stems(spec):
        _assert_whole(flow(spec, role, machine))


def test_a_label_of_an_arrow_keeps_the_words_of_its_branch(spec: Spec) -> None:
    dot = write_machine(spec, "server", "turn")
    texts = [unescape(text).replace("\N{NO-BREAK SPACE}", " ") for text in re.findall(r">([^<>]+)</FONT>", dot)]

    arrows = flow(spec, "server", "turn").arrows
    said = [line.text for arrow in arrows for label in arrow.labels for line in label.lines]
    assert [text for text in said if text not in texts] == []


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0 s"), (0.4, "400 ms"), (1.8, "1800 ms"), (5.0, "5 s"), (90.0, "90 s"),
        (120.0, "2 min"), (7200.0, "2 h"), (float("inf"), "never"),
    ],
)  # fmt: skip
def test_a_duration_is_said_as_a_spec_writes_it(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_a_guard_too_long_to_show_stands_in_full_in_the_tooltip(spec: Spec) -> None:
    guard = " and ".join(f"n != {number}" for number in range(100, 128))
    dot = write_machine(load_text(GAMES.replace("if: n == left", f"if: {guard}")), "server", "turn")

    assert "…" in dot
    assert f"2 [{guard}]" in dot


def test_ids_in_the_pictures_of_a_spec_are_unique_so_that_one_page_can_hold_them(spec: Spec) -> None:
    ids = [found for dot in write_spec(spec).values() for found in re.findall(r'\bid="?([^"\s\]]+)', dot)]

    assert len(ids) > 50
    assert len(set(ids)) == len(ids)


def test_the_number_of_a_branch_stands_before_its_limit() -> None:
    """Alone in a line nobody could tell what it counts."""
    written = write_machine(load("sticks"), "host", "turn")
    assert "3 [at most again (2)]" in written
    assert not re.search(r">\s*\d+\s*<", written)


def test_the_largest_number_is_said_as_the_power_that_it_is() -> None:
    written = write_machine(load("redis"), "server", "main")
    assert "(2^63" in written
    assert str(2**63 - 1) not in written
