"""``accord check --fix``: what is known to have been meant is written into the file, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from runtime.cli import main
from runtime.commands.reports import forget_sources

Run = Callable[..., tuple[int, str, str]]
RIGHT = """\
protocol: mended
connects: {client: server}
settings: {reply: 5 s}
messages:
  client: {HI: hi, MORE: {more: $text string}}
  server: {YO: {yo: $y string}}
roles:
  server:
    main(client):
      asked:
        within: 5 s                    # with a comment behind
        receive: {HI: {send: YO(('yes')), then: said}, MORE: {if: "text == 'a, b: c'", return: ('so')}}
        fault: {return: ('lost')}
      said: {return: [('a'), ('b')]}
  client:
    main:
      begin: {send: HI, then: heard}
      heard:
        within: reply
        receive:
          YO:
            - if: y == 'yes' and y != 'it''s' or not (y == 'b')
              return: y
            - {send: MORE('a, b'), return: null}
        fault: {return: null}
"""
WRONG = [
    ("settings: {reply: 5 s}", "settings: {reply: 5 sec}"),
    ("within: 5 s    ", "within: 5 seconds    "),
    ("('lost')", "'lost'"),
    ("('so')", '"so"'),
    ("[('a'), ('b')]", "['a', \"b\"]"),
    ("{if: \"text == 'a, b: c'\"", "{if: text == 'a, b: c'"),
    ("y == 'yes' and y != 'it''s' or", 'y == "yes"&&y <> "it\'s" ||'),
]


@pytest.fixture
def check(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    monkeypatch.chdir(tmp_path)

    def run(text: str, *words: str) -> tuple[int, str, str]:
        (tmp_path / "spec.yaml").write_bytes(text.encode())
        forget_sources()
        code = main(("check", "--clients", "0", "./spec.yaml", *words))
        captured = capsys.readouterr()
        return code, captured.out, (tmp_path / "spec.yaml").read_bytes().decode()

    return run


def wrong(*changes: tuple[str, str]) -> str:
    text = RIGHT
    for right, mistake in changes:
        assert text.count(right) == 1, right
        text = text.replace(right, mistake)
    return text


def test_the_right_spec_has_no_problem_and_nothing_is_written(check: Run) -> None:
    assert check(RIGHT, "--fix") == (0, "", RIGHT)


@pytest.mark.parametrize("change", WRONG, ids=[mistake for _, mistake in WRONG])
def test_a_mistake_whose_meaning_is_known_is_shown_mended_and_written_when_asked(
    change: tuple[str, str], check: Run
) -> None:
    text = wrong(change)

    code, out, same = check(text)
    assert code == 2
    assert "mended: " in out
    assert same == text
    code, out, mended = check(text, "--fix")
    assert (code, out, mended) == (0, "", RIGHT)


def test_all_mistakes_at_once_are_mended_at_once_also_with_other_line_ends(check: Run) -> None:
    assert check(wrong(*WRONG), "--fix") == (0, "", RIGHT)
    code, _, mended = check(wrong(*WRONG).replace("\n", "\r\n"), "--fix")
    assert (code, mended) == (0, RIGHT.replace("\n", "\r\n"))


@pytest.mark.parametrize(
    "change",
    [
        ("then: said}", "then: sayd}"),  # a name that is like another may be either
        ("return: y\n", "return: 'yy'\n"),
        ("y == 'yes' and", "'y == \"yes\"' and"),
        ("settings: {reply: 5 s}", "settings: {reply: 5 apples}"),
    ],
)
def test_what_may_have_been_meant_in_two_ways_stays_as_it_is(change: tuple[str, str], check: Run) -> None:
    text = wrong(change)
    code, out, same = check(text, "--fix")
    assert code == 2
    assert same == text
    assert "mended: " not in out


ORDER = """\
protocol: ordered
connects: {client: server}
settings: {reply: 5 s}
messages:
  client: {HI: {hi: $n int}, BYE: bye}
  server: {YO: {yo: $y int}}
roles:
  server:
    main(client):
      begin: {let: {x: 0, all: []}, then: asked}
      asked:
        within: reply
        receive:
          HI:
            - %s
            - {%s, return: all}
          BYE: told
        fault: {%s, return: null}
      told:
%s
  client:
    main:
      begin: {send: HI(1), then: heard}
      heard: {within: reply, receive: {YO: {send: BYE, return: null}}, fault: {return: null}}
"""
WRITTEN = ORDER % (
    "return: x  # it all\n              if: x < 9\n              let: {x: x + n}",
    "send: [YO(x), YO(2)], let: {x: 1, all: [n * 2 for n in [x, n] if n > 1]}",
    "drop: client, send: YO(1)",
    """\
        # what was
        send: YO(x)  # once
        # counts it
        # and more
        let:
          x: x + 1
            # as it is

          all: all + [x]
        # nothing comes behind

        # but that
        return: all

      # nothing stands here""",
)
MENDED = ORDER % (
    "if: x < 9\n              let: {x: x + n}\n              return: x  # it all",
    "let: {x: 1, all: [one * 2 for one in [x, n] if one > 1]}, send: [YO(x), YO(2)]",
    "send: YO(1), drop: client",
    """\
        # counts it
        # and more
        let:
          x: x + 1
            # as it is

          all: all + [x]
        # what was
        send: YO(x)  # once
        # nothing comes behind

        # but that
        return: all

      # nothing stands here""",
)


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_keys_go_where_they_are_done_with_their_comments_and_a_name_that_is_taken_is_another(
    line_end: str, check: Run
) -> None:
    written, mended = (text.replace("\n", line_end) for text in (WRITTEN, MENDED))

    code, out, same = check(written)
    assert (code, same) == (2, written)
    assert "mended: let: {x: x + n}  above  return: x  # it all" in out
    assert "mended: fault: {send: YO(1), drop: client, return: null}" in out
    assert check(written, "--fix") == (0, "", mended)
    assert check(mended, "--fix") == (0, "", mended)


def test_a_key_of_the_last_line_goes_above_another_without_a_line_end_behind(check: Run) -> None:
    head, tail = WRITTEN.split("  server:\n    main", 1)
    server, client = tail.split("  client:\n    main", 1)
    text = f"{head}  client:\n    main{client}  server:\n    main{server}"
    last = "      told:\n        return: all\n        let: {all: all + [x]}"
    text = text[: text.index("      told:")] + last

    code, out, mended = check(text, "--fix")

    assert (code, out) == (0, "")
    assert mended.endswith("      told:\n        let: {all: all + [x]}\n        return: all")


def test_the_mended_line_is_in_the_json_too(check: Run) -> None:
    _, out, _ = check(wrong(("('lost')", "'lost'")), "--json")
    (problem,) = json.loads(out)["specs"][0]["problems"]
    assert problem["mended"] == "fault: {return: ('lost')}"


def test_a_spec_that_ships_is_not_written(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(("check", "tsuro", "--fix")) == 2
    assert "is a spec that ships" in capsys.readouterr().err
