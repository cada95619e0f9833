"""Wrong edits of variants: each gives a problem that names the line and says what to do; none passes, none is a crash.

An edit replaces one text of a recipe of the cookbook by another. ``where`` is the line that the problem has to name:
a text that stands in it, in the recipe or, behind ``base:``, in the spec below.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from machines.checks import check
from machines.parser.loader import load, rules_modules
from machines.problems import Problem, SpecError

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "cookbook"


@cache
def recipe(name: str) -> str:
    return (FOLDER / f"{name}.yaml").read_text()


def problems(folder: Path, name: str, right: str, wrong: str) -> list[Problem]:
    """Return the problems of a recipe in which the one place of ``right`` has ``wrong``."""
    text = recipe(name)
    assert text.count(right) == 1, f"{text.count(right)} times {right!r}"
    (folder / "heartbeat.yaml").write_text(recipe("heartbeat"))
    (folder / f"{name}.yaml").write_text(text.replace(right, wrong))
    try:
        spec = load(str(folder / f"{name}.yaml"))
        return list(check(spec, rules_modules(spec)))
    except SpecError as error:
        return list(error.problems)


def line_of(problem: Problem, name: str, right: str, wrong: str) -> str:
    """Return the line that a problem names."""
    if problem.place.file.endswith(f"/{name}.yaml"):
        text = recipe(name).replace(right, wrong)
    else:
        text = (ROOT / problem.place.file).read_text() if "/" in problem.place.file else ""
        assert text, problem.place
        return "base:" + text.splitlines()[problem.place.line - 1]
    return text.splitlines()[problem.place.line - 1]


QUICK, RETRY, BEAT, DRAW, SPARE = "tsuro-quick", "tsuro-retry", "tsuro-heartbeat", "tsuro-draw", "tsuro-spare"
WINDOWS, ACK, SEEN, VERSIONS = "tsuro-two-windows", "tsuro-acknowledged", "tsuro-observed", "tsuro-versions"

EDITS = [
    # misspelt
    (QUICK, "extends: tsuro", "extends: tsruo", "A136", "tsruo"),
    (QUICK, "extends:", "extend:", "A111", "extend:"),
    (QUICK, "reply:", "replay:", "A333", "replay"),
    (QUICK, "500 ms", "500 sek", "A129", "500 sek"),
    (QUICK, "settings:", "setings:", "A111", "setings"),
    (RETRY, "RETRY: try again", "RETRX: try again", "A105", "RETRY"),
    (RETRY, "server.intermediate_placement.", "server.intermediate_placment.", "A321", "intermediate_placment"),
    (RETRY, ".asked.", ".askd.", "A320", "askd"),
    (RETRY, "invalid:", "invalit:", "A111", "invalit"),
    (RETRY, "'illegal', limit", "'illegl', limit", "A341", "illegl"),
    (RETRY, "limit: 1", "limt: 1", "A111", "limt"),
    (RETRY, "INTER_REQ: intermediate", "INTER_REQ: intermediat", "A103", "intermediat"),
    (RETRY, "tsuro.eject", "tsuro.ejct", "A401", "ejct"),
    (RETRY, "  client.main:", "  klient.main:", "A133", "klient"),
    (BEAT, "before: judged", "before: juged", "A140", "juged"),
    (BEAT, "before: judged", "bevore: judged", "A111", "bevore"),
    (BEAT, "heartbeat]", "heartbeet]", "A136", "heartbeet"),
    (BEAT, "run: heartbeat(player)", "run: hartbeat(player)", "A104", "hartbeat"),
    (SEEN, "around: intermediate_placement", "around: intermediate", "A140", "around"),
    (SEEN, "live:", "life:", "A111", "life"),
    (WINDOWS, "settings.wait", "settings.wiat", "A140", "wiat"),
    (WINDOWS, "roles.server.main.start_up.linger", "roles.server.main.startup.linger", "A140", "startup"),
    # missing
    (RETRY, "RETRY, then: stay", "RETRY", "A124", "limit"),
    (RETRY, "messages: {server: {RETRY: try again}}\n", "", "A105", "RETRY"),
    (QUICK, "protocol: tsuro-quick\n", "", "A113", "extends"),
    (QUICK, "extends: tsuro\n", "", "A113", "protocol"),
    (BEAT, "    then: judged\n", "", "A123", "beats"),
    (BEAT, "(player, table):", "(player):", "A117", "run: beat"),
    (DRAW, "fault: {drop: other, return: false}", "timeout: {return: false}", "A326", "asked:"),
    (ACK, "placed: {receive: {ACK: playing}}", "", "A103", "placed"),
    (QUICK, "500 ms, think: 400 ms}", "500 ms, think: }", "A140", "think"),
    (QUICK, "{reply: 500 ms", "{reply 500 ms", "A114", "reply 500"),
    (QUICK, "400 ms}", "400 ms", "A100", "settings"),
    (WINDOWS, "      accept: join(peer)\n", "", "A122", "as: players"),
    # doubled
    (QUICK, "title:", "protocol: other\ntitle:", "A102", "other"),
    (BEAT, "[tsuro, heartbeat]", "[tsuro, tsuro]", "A136", "[tsuro, tsuro]"),
    (WINDOWS, "settings.seats,", "settings.wait,", "A140", "settings.wait"),
    (
        RETRY,
        "  client.main:",
        "  client.main: {}\n  client.main:",
        "A102",
        "client.main",
    ),
    (BEAT, "  server.beat(player, table):", "  server.join(player, table):", "A117", "base:      accept: join(peer)"),
    (VERSIONS, "AGREED: agreed", "TOKEN: agreed", "A105", "AGREED"),
    # of the wrong type
    (QUICK, "reply: 500 ms", "reply: 5", "A129", "reply: 5"),
    (QUICK, "reply: 500 ms", "reply: [1, 2]", "A112", "[1, 2]"),
    (QUICK, "{reply: 500 ms, think: 400 ms}", "fast", "A112", "fast"),
    (WINDOWS, "remove: [", "remove: {a: [", "A100", ""),
    (RETRY, "{RETRY: try again}", "[RETRY]", "A112", "RETRY"),
    (RETRY, "limit: 1", "limit: few", "A106", "few"),
    (DRAW, "until: drawn", "until: 1", "A340", "until: 1"),
    (SEEN, "around: intermediate_placement", "around: [intermediate_placement]", "A103", "around"),
    (BEAT, "before: judged", "before: [judged]", "A140", "before"),
    (BEAT, "each: player in players", "each: players", "A135", "each"),
    # pointing at nothing
    (SEEN, "around: intermediate_placement", "around: main", "A140", "main"),
    (WINDOWS, "settings.wait,", "settings.wait.long,", "A140", "long"),
    (WINDOWS, "settings.wait,", "wait,", "A140", "wait"),
    (WINDOWS, "settings.wait,", "roles,", "A140", "roles"),
    (WINDOWS, "settings.wait,", "settings.wait, settings.think,", "A301", "base:within: think"),
    (WINDOWS, "settings.wait,", "settings.wait, messages.client.JOIN,", "A105", "base:JOIN"),
    (WINDOWS, "settings.wait,", "settings.wait, types.Tile,", "A201", "base:Tile"),
    (WINDOWS, "settings.wait,", "settings.wait, roles.server.main.ended,", "A103", "base:ended"),
    (QUICK, "extends: tsuro", "extends: ../specs/tsuro", "A136", "../specs"),
    (QUICK, "extends: tsuro", "extends: tsuro-quick", "A136", "extends"),
    (QUICK, "extends: tsuro", "extends: []", "A113", "extends"),
    (QUICK, "settings:", "rename: {JION: HELLO}\nsettings:", "A140", "JION"),
    (QUICK, "settings:", "rename: {JOIN: TOKEN}\nsettings:", "A140", "TOKEN"),
    (QUICK, "settings:", "rename: [JOIN]\nsettings:", "A112", "rename"),
    (RETRY, "table, player)", "table, playr)", "A301", "playr"),
    # in the wrong place
    (RETRY, "send: RETRY", "send: INTER_PLACE", "A119", "INTER_PLACE"),
    (QUICK, "settings:", "remove: settings.wait\nsettings:", "A112", "remove"),
    (QUICK, "settings: {", "wire: {", "A111", "wire"),
    (SEEN, "    placed: {fold: table, run:", "    placed: {before: shown, fold: table, run:", "A140", "before"),
    (VERSIONS, "before: named", "before: start_up", "A140", "start_up"),
    (BEAT, "    before: judged\n", "", "A320", "beats"),
    (BEAT, "server.main.beats:\n    before: judged\n", "server.main.judged:\n    before: judged\n", "A140", "before"),
    (
        DRAW,
        "    live: {drawn: false, playing: []}",
        "    always: {live: {drawn: false, playing: []}}",
        "A111",
        "live",
    ),
    (ACK, "initial: {say:", "initial: {recieve:", "A111", "recieve"),
    (
        SPARE,
        "fault: {drop: player, then: replaced}",
        "fault: {drop: player, then: replaced, return: 1}",
        "A121",
        "fault",
    ),
    (SPARE, "started: {send: {spares: STARTED}}", "started: null", "A140", "started"),
]


@pytest.mark.parametrize(
    ("name", "right", "wrong", "code", "where"), EDITS, ids=[f"{e[0]}: {e[2].strip()[:40]}" for e in EDITS]
)
def test_a_wrong_edit_is_told_with_its_line_and_a_way_out(
    tmp_path: Path, name: str, right: str, wrong: str, code: str, where: str
) -> None:
    found = problems(tmp_path, name, right, wrong)

    assert code in [problem.code for problem in found], "\n".join(map(str, found)) or "it passes unnoticed"
    lines = [line_of(problem, name, right, wrong) for problem in found if problem.code == code]
    kind, _, words = where.rpartition(":") if where.startswith("base:") else ("", "", where)
    assert any(line.startswith("base:") == bool(kind) and words in line for line in lines), lines
    assert all(problem.hint or "did you mean" in problem.text for problem in found), "\n".join(map(str, found))


def test_there_are_as_many_edits_as_were_asked_for_and_each_recipe_is_right_without_them(tmp_path: Path) -> None:
    assert len(EDITS) >= 40
    for name in {edit[0] for edit in EDITS}:
        assert problems(tmp_path, name, recipe(name), recipe(name)) == []


@pytest.mark.parametrize("name", sorted({edit[0] for edit in EDITS}))
def test_no_line_left_out_or_said_twice_or_moved_in_is_a_crash(tmp_path: Path, name: str) -> None:
    lines = recipe(name).splitlines(keepends=True)
    (tmp_path / "heartbeat.yaml").write_text(recipe("heartbeat"))
    for index, line in enumerate(lines):
        for instead in ("", (line * 2, "  " + line, line.replace(": ", ": [", 1))[index % 3]):
            text = "".join([*lines[:index], instead, *lines[index + 1 :]])
            (tmp_path / "edited.yaml").write_text(text)
            try:
                spec = load(str(tmp_path / "edited.yaml"))
                found = list(check(spec, rules_modules(spec)))
            except SpecError as error:
                found = list(error.problems)
                assert found
            assert all(problem.place.line >= 1 for problem in found)
