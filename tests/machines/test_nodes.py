import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from machines.parser.unparse import written
from machines.problems import Problem, Problems
from machines.yaml.nodes import (
    BYTES_MAX,
    DEPTH_MAX,
    NODES_MAX,
    ListNode,
    MapNode,
    Node,
    ScalarNode,
    parse_yaml,
)


def parsed(text: str) -> tuple[Node | None, list[Problem]]:
    problems = Problems()
    node = parse_yaml(text, "a.yaml", problems)
    return node, list(problems)


def plain(node: Node | None) -> object:
    """The tree without places, for comparison with what YAML makes of the same text."""
    match node:
        case ScalarNode(text):
            return text
        case ListNode(items):
            return [plain(item) for item in items]
        case MapNode(pairs):
            return {key.text: plain(value) for key, value in pairs}
        case None:
            return None


def places(node: Node) -> list[tuple[str, int, int]]:
    match node:
        case ScalarNode(text, _, place):
            return [(text, place.line, place.column)]
        case ListNode(items):
            return [found for item in items for found in places(item)]
        case MapNode(pairs):
            return [found for pair in pairs for item in pair for found in places(item)]


@pytest.mark.parametrize("word", ["on", "NO", "yes", "1:30", "0o17", "1e3", "~", "null", "2001-01-01", "0x1F", ".inf"])
def test_a_scalar_stays_the_text_its_author_wrote(word: str) -> None:
    node, problems = parsed(f"{word}: {word}")

    assert plain(node) == {word: word}
    assert not problems


def test_quotes_are_told_from_plain_words() -> None:
    node, _ = parsed("a: [null, 'null', \"null\"]\nb: |\n  null\n")

    assert isinstance(node, MapNode)
    quoted, block = node.get("a"), node.get("b")
    assert isinstance(quoted, ListNode)
    assert isinstance(block, ScalarNode)
    assert [item.plain for item in quoted.items if isinstance(item, ScalarNode)] == [True, False, False]
    assert not block.plain


def test_every_node_knows_its_place() -> None:
    node, _ = parsed("a: {b: c}\nd:\n  - 'e'\n  - f: g\n")

    assert node is not None
    assert places(node) == [
        ("a", 1, 1),
        ("b", 1, 5),
        ("c", 1, 8),
        ("d", 2, 1),
        ("e", 3, 5),
        ("f", 4, 5),
        ("g", 4, 8),
    ]


REFUSED = [
    ("a: &x 1", "A101", 1, 4),
    ("a: 1\nb: *x", "A101", 2, 4),
    ("a: !!int 3", "A101", 1, 4),
    ("a: !python/object:os.system x", "A101", 1, 4),
    ("a: ! 3", "A101", 1, 4),
    ("a: {<<: {b: 1}}", "A101", 1, 5),
    ("%YAML 1.2\n---\na: 1", "A101", 1, 1),
    ("a: 1\n---\nb: 1", "A101", 2, 1),
    ("a: 1\nb: 2\na: 3", "A102", 3, 1),
    ("a: {b: 1, b: 2}", "A102", 1, 11),
    ("? [a]\n: 1", "A100", 1, 3),
    ("{a: 1}: 1", "A100", 1, 1),
    (": 1", "A100", 1, 1),
    ("", "A100", 1, 1),
    ("# only a remark\n", "A100", 1, 1),
    ("a:\n\tb: 1", "A100", 2, 1),
    ("a: 1\n b: 2", "A100", 2, 3),
    ("a:\n  b: 1\n c: 2", "A100", 3, 2),
    ("a: b: c", "A100", 1, 5),
    ("a: 1\nword\nb: 2", "A100", 2, 1),
    ("a: @b", "A100", 1, 4),
    ("a: 'b", "A100", 1, 4),
    ("a: {b: c", "A100", 1, 4),
    ("a: [b\nc: d", "A100", 2, 2),
    ("a: {if: x in [1, 2}", "A100", 1, 14),
    ("a: [b] c: d", "A100", 1, 8),
    ('a: "\\q"', "A100", 1, 6),
    ('a: "\\Uffffffff"', "A100", 1, 7),
    ('a: "\\ud800"', "A100", 1, 4),
    ("a: 1\nb: \x07", "A100", 2, 4),
    ("a: \ud800", "A100", 1, 4),
]


@pytest.mark.parametrize(("text", "code", "line", "column"), REFUSED, ids=[repr(row[0]) for row in REFUSED])
def test_each_fault_is_told_once_at_its_place(text: str, code: str, line: int, column: int) -> None:
    _, problems = parsed(text)

    assert [(p.code, p.place.line, p.place.column) for p in problems] == [(code, line, column)]


@pytest.mark.parametrize(("text", "words"), [("a:\n\tb: 1", "tab"), ("a:\n  b: 1\n c: 2", "does not fit those around")])
def test_a_tab_and_a_bad_indent_are_told_in_plain_words(text: str, words: str) -> None:
    _, problems = parsed(text)

    assert words in problems[0].text


def test_all_refusals_of_a_text_come_in_one_pass() -> None:
    _, problems = parsed("a: &x 1\nb: *x\nc: !!str 2\na: 3\nd: {if: x == 'a, b: c'}\n")

    assert [(p.code, p.place.line) for p in problems] == [
        ("A101", 1),
        ("A101", 2),
        ("A101", 3),
        ("A102", 4),
        ("A110", 5),
    ]


WHOLE = [
    ("{return: f(a, b)}", {"return": "f(a, b)"}),
    ("{run: turn(p, table), as: t}", {"run": "turn(p, table)", "as": "t"}),
    ("{if: f(a, g(b, c), d), then: x}", {"if": "f(a, g(b, c), d)", "then": "x"}),
    ("{return: f(a, b) + g(c, d)}", {"return": "f(a, b) + g(c, d)"}),
    ("{let: {offers: offers + [result]}, send: f(a, b)}", {"let": {"offers": "offers + [result]"}, "send": "f(a, b)"}),
    ("{if: x == 'a, b', then: y}", {"if": "x == 'a, b'", "then": "y"}),
    ("{if: x == 'a # b', then: y}", {"if": "x == 'a # b'", "then": "y"}),
    ("{if: 'a: b' in x, then: y}", {"if": "'a: b' in x", "then": "y"}),
    ("{return: a[0], b: c[d[1]]}", {"return": "a[0]", "b": "c[d[1]]"}),
    ("{return: [1, 2][x], b: [c]}", {"return": "[1, 2][x]", "b": ["c"]}),
    ("{return: f(a,\n   [b,\n   c])}", {"return": "f(a, [b, c])"}),
    ("{[a, b]: X, f(c, d): Y, e[0]: Z(1, 2)}", {"[a, b]": "X", "f(c, d)": "Y", "e[0]": "Z(1, 2)"}),
    ("{say: are you there?, x: ${n int}/${m int}}", {"say": "are you there?", "x": "${n int}/${m int}"}),
    ("{string: [a-z]{1,20}}", {"string": "[a-z]{1,20}"}),
    ("[f(a, b), c, g(d,\n    e)]", ["f(a, b)", "c", "g(d, e)"]),
    ("[f(a, b + 'it''s (', c), d]", ["f(a, b + 'it''s (', c)", "d"]),
    ("[F(a, {x: 1}), G('b', {x: 1}, c)]", ["F(a, {x: 1})", "G('b', {x: 1}, c)"]),
    ("[$a [Name, ...], $b [int, ... 0..6]]", ["$a [Name, ...]", "$b [int, ... 0..6]"]),
    ("x ? 1 : 2", "x ? 1 : 2"),  # the expression is told, and mended
    ("[1, 2, 3][x]", "[1, 2, 3][x]"),
    ("[p.name for p in players]", "[p.name for p in players]"),
    ("[f(p, 1) for p in players if g(p, 'a: b')] # why", "[f(p, 1) for p in players if g(p, 'a: b')]"),
    ("[p.name for p\n    in players]", "[p.name for p in players]"),
    ("[{name: p.name, n: [p, 1]} for p in players]", "[{name: p.name, n: [p, 1]} for p in players]"),
    ("f([{name: p.name} for p in players], {a: 1})", "f([{name: p.name} for p in players], {a: 1})"),
    ("{let: {all: [x for x in y], b: [x]}, then: c}", {"let": {"all": "[x for x in y]", "b": ["x"]}, "then": "c"}),
    (
        "{send: T([{n: p} for p in ps], {a: [1, 2]}), then: x}",
        {"send": "T([{n: p} for p in ps], {a: [1, 2]})", "then": "x"},
    ),
    ("[[x for x in y], z]", ["[x for x in y]", "z"]),
    ("{[x for x in y]: NEWS}", {"[x for x in y]": "NEWS"}),
    ("\n  - [x for x in y]\n  - {a: [x for x in y if x.z]}", ["[x for x in y]", {"a": "[x for x in y if x.z]"}]),
    ("[wait for me in the hall]", ["wait for me in the hall"]),
    ("[p.name for p in players where p.ok]", "[p.name for p in players where p.ok]"),
    ("'yes' + name # why", "'yes' + name"),
    ("x == 'a: b'", "x == 'a: b'"),
    ("\n  [a, b]: X\n  c: d", {"[a, b]": "X", "c": "d"}),
]


@pytest.mark.parametrize(("text", "meant"), WHOLE)
def test_an_expression_is_read_as_it_stands_in_braces_and_out_of_them(text: str, meant: object) -> None:
    node, problems = parsed(f"a: {text}\nb: [x[0], 'y']\n")

    assert not problems
    assert plain(node) == {"a": meant, "b": ["x[0]", "y"]}


@pytest.mark.parametrize(("text", "meant"), WHOLE)
def test_an_expression_is_written_out_as_yaml_that_every_program_reads(text: str, meant: object) -> None:
    node, _ = parsed(f"a: {text}\n")
    assert node is not None
    again = written(node)

    assert yaml.load(again, yaml.BaseLoader) == {"a": meant}
    assert plain(parsed(again)[0]) == {"a": meant}


@pytest.mark.parametrize(("text", "meant"), WHOLE)
def test_it_is_read_so_whatever_else_stands_in_the_file(text: str, meant: object) -> None:
    for rest in ("", "b: 1\n", "b: {c: }\n", "b: f(x[0])\n"):
        assert plain(parsed(f"a: {text}\n{rest}")[0]).get("a") == meant  # type: ignore[attr-defined]


def test_a_value_in_a_line_of_its_own_hides_no_expression_behind_it() -> None:
    text = "a:\n  f(x)\n  + 1\nb: {c: f(1, 2)}\nd:\n  - [k: f(a, b)]\n  - 3\n    + 4\n  - {e: g[0]}\n"
    node, problems = parsed(text)

    assert not problems
    assert plain(node) == {
        "a": "f(x) + 1",
        "b": {"c": "f(1, 2)"},
        "d": [[{"k": "f(a, b)"}], "3 + 4", {"e": "g[0]"}],
    }
    text = "a:\n    |\n  [x] + y\n  'a' + b\nb: {c: f(1, 2)}\nd: \"\\u0041 {f(1, 2)}\"\n"
    assert plain(parsed(text)[0]) == {"a": "[x] + y\n'a' + b\n", "b": {"c": "f(1, 2)"}, "d": "A {f(1, 2)}"}
    alone, _ = parsed("d: [k: f(a, b), m: x == 'a, b']\n")
    assert plain(alone) == {"d": [{"k": "f(a, b)"}, {"m": "x == 'a, b'"}]}


def test_places_behind_an_expression_in_braces_are_those_of_the_text() -> None:
    node, _ = parsed("a: {if: x in [1, 2], then: y}\nb: [f(a, b), c]\n")

    assert isinstance(node, MapNode)
    a, b = (value for _, value in node.pairs)
    assert isinstance(a, MapNode)
    assert [(key.place.column, value.place.column) for key, value in a.pairs] == [(5, 9), (22, 28)]
    assert isinstance(b, ListNode)
    assert [item.place.column for item in b.items] == [5, 14]


CUT = [
    ("{if: x == 'a, b: c', then: y}", {"if": "x == 'a, b: c'", "then": "y"}, "if: \"x == 'a, b: c'\""),
    ("{return: f(a, b: c)}", {"return": "f(a, b: c)"}, 'return: "f(a, b: c)"'),
]


@pytest.mark.parametrize(("text", "meant", "line"), CUT)
def test_what_could_be_a_key_is_one_problem_and_read_as_it_was_meant(
    text: str, meant: dict[str, str], line: str
) -> None:
    node, problems = parsed(f"a:\n  b: {text}")

    assert plain(node) == {"a": {"b": meant}}
    assert [p.code for p in problems] == ["A110"]
    assert problems[0].hint.endswith(line)
    mended, none = parsed(f"a:\n  b:\n    {line}")
    assert not none
    assert plain(mended) == {"a": {"b": {key: value for key, value in meant.items() if key != "then"}}}


@pytest.mark.parametrize("text", ["{return: f(a), then: x}", "[don't, can't]", "{a: (, b: )}", "{a, b}", "[x, y)]"])
def test_commas_that_cut_nothing_are_left_alone(text: str) -> None:
    node, problems = parsed(f"a: {text}")

    assert not problems
    assert node is not None


def test_two_calls_with_the_same_rest_are_no_equal_keys() -> None:
    node, problems = parsed("{a: f(x, 1), b: g(y, 1)}")

    assert plain(node) == {"a": "f(x, 1)", "b": "g(y, 1)"}
    assert not problems


LARGE = [
    "[" * (DEPTH_MAX + 2) + "]" * (DEPTH_MAX + 2),
    "".join(f"{'  ' * depth}a:\n" for depth in range(DEPTH_MAX + 2)),
    "- " * 5000 + "a",
    "{a: " * 5000,
    "- a\n" * (NODES_MAX + 1),
    "a: " + "b" * BYTES_MAX,
    "a: " + "ä" * (BYTES_MAX // 2),
    "a: &a [" + "*a, " * 50 + "]\n" + "".join(f"b{n}: [" + "*a, " * 500 + "]\n" for n in range(50)),
]


@pytest.mark.parametrize("text", LARGE, ids=range(len(LARGE)))
def test_a_text_that_is_too_large_is_refused_with_a_problem(text: str) -> None:
    node, problems = parsed(text)

    assert node is None
    assert "A109" in [p.code for p in problems]


def test_the_limits_themselves_are_allowed() -> None:
    _, deep = parsed("[" * DEPTH_MAX + "]" * DEPTH_MAX)
    _, many = parsed("- a\n" * (NODES_MAX - 1))

    assert not deep
    assert not many


KEYS = st.text("abcxyz_", min_size=1, max_size=3)
TREES = st.recursive(
    st.text("ab 12:,'\"#-{}[]\n", max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(KEYS, TREES, min_size=1, max_size=3), st.booleans())
def test_what_yaml_writes_is_read_back_as_it_was(tree: dict[str, object], flow: bool) -> None:
    # A huge width, because YAML folds long texts; quotes everywhere, because a plain text could be a cut call.
    text = yaml.safe_dump(tree, default_flow_style=flow, default_style="'", width=1 << 20, allow_unicode=True)
    node, problems = parsed(text.replace("!!str ", ""))

    assert not [p for p in problems if p.code != "A100"]
    assert plain(node) == tree


@given(st.text(alphabet=st.sampled_from("ab:,[]{}&*!|>'\"%@`-? \t\n#()\\\x07\ufeff\x85ü"), max_size=60))
def test_any_text_gives_a_tree_or_problems_inside_it(text: str) -> None:
    node, problems = parsed(text)

    lines = max(1, len(text.splitlines()))
    assert node is not None or problems
    assert all(1 <= p.place.line <= lines and p.place.column >= 1 for p in problems)


@given(st.permutations(["a:", "{b:", "[c,", "f(d,", "e)]}\n-", "'x'\n", "y:", '"z"\n', "- g(", "h, i)"]))
def test_a_shuffled_text_gives_a_tree_or_problems(words: list[str]) -> None:
    node, problems = parsed(" ".join(words))

    assert node is not None or problems
