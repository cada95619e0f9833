"""The command, in process: what it prints, its exit codes, and one sentence for each fault, never a traceback."""

from __future__ import annotations

import json
import os
import socket
import sys
import time
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import runtime
from machines.parser.loader import shipped
from runtime.__main__ import INTERRUPTED, start
from runtime.cli import main
from runtime.process import installation

SPECS = Path(__file__).resolve().parent.parent / "specs"
Run = Callable[..., tuple[int, str, str]]
QUICK = ("--set", "think=500 ms")
RANDOM = ("--player", "random") * 3  # where it does not matter how they play: they think a hundred times faster


@pytest.fixture
def accord(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Run a command line; return its exit code, standard output and standard error."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("COLUMNS", "200")

    def run(*words: str) -> tuple[int, str, str]:
        code = main(words)
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err + captured.out
        return code, captured.out, captured.err

    return run


# -- faults ------------------------------------------------------------------------------------------------------------

FAULTS = [
    (("pley",), 2, 'Unknown command "pley". Did you mean "play"?'),
    (("play", "tsuro", "--sed", "1"), 2, "Unknown option: --sed. Did you mean --seed?"),
    (("play", "tsuro", "--players", "many"), 2, 'unable to convert "many" into int'),
    (("play",), 2, "requires an argument"),
    (("play", "tsuroo"), 2, "no shipped spec is called 'tsuroo': did you mean 'tsuro'?"),
    (("play", "./none.yaml"), 2, "there is no file ./none.yaml"),
    (("play", "tsuro", "--players", "9"), 2, "tsuro is played by 3 to 5, not by 9"),
    (("play", "tsuro", "--player", "secnd"), 2, "no player 'secnd' for tsuro (did you mean 'second'?)"),
    (("play", "tsuro", "--player", "exec:/no/such/bot"), 2, "exec:/no/such/bot: No such file or directory"),
    (("play", "tsuro", "--set", "seats"), 2, "--set 'seats' is not of the form name=value"),
    (("play", "tsuro", "--set", "seatz=3..5"), 2, "tsuro has no setting 'seatz': did you mean 'seats'?"),
    (("play", "tsuro", "--set", "seats=x"), 2, "setting 'seats' is a range like 3..5, not 'x'"),
    (("play", "tsuro", "--set", "join=1 s", "--set", "join=2 s"), 2, "the setting 'join' is given twice"),
    (("play", "tsuro", "--seed", "-1"), 2, "--seed -1 is not within"),
    (("play", "tsuro", "--backend", "curio"), 2, "curio"),
    (("serve", "tsuro", "--role", "client"), 2, "the role 'client' of tsuro is none that listens: server"),
    (("serve", "tsuro", "--role", "serber"), 2, "tsuro has no role 'serber': did you mean 'server'?"),
    (("serve", "tsuro", "--port", "99999"), 2, "--port 99999 is not within 0..65535"),
    (("serve", "tsuro", "--port", "-1"), 2, "--port -1 is not within 0..65535"),
    (("play", "tsuro", "--pace", "-1"), 2, "--pace -1 is not a number of seconds from 0 on"),
    (("play", "tsuro", "--pace", "nan"), 2, "--pace nan is not a number of seconds from 0 on"),
    (("play", "tsuro", "--pace", "inf"), 2, "--pace inf is not a number of seconds from 0 on"),
    (("play", "tsuro", "--rules", "nomod"), 2, "--rules nomod: there is no Python module of that name here"),
    (("play", "tsuro", "--rules", "no.mod"), 2, "--rules no.mod: there is no Python module of that name here"),
    (("check", "tsuro", "--rules", "nomod"), 2, "--rules nomod: there is no Python module of that name here"),
    (("play", "tsuro", "three", "four"), 2, "nothing is known to be done with 'three', 'four'"),
    (("play", "tsuro", "--journal", "/dev/null/x"), 2, "the journal cannot be made: /dev/null is not a folder"),
    (("play", "/"), 2, "/ is a directory: name the YAML file of a spec"),
    (("show", "/"), 2, "/ is a directory: name the YAML file of a spec"),
    (("draw", "tsuro", "--all"), 2, "draw takes either specs or --all, not both"),
    (("serve", "tsuro", "--host", "no.such.host.invalid"), 4, "cannot listen on"),
    (("serve", "tsuro", "--to", "ai"), 2, "--to 'ai' is not of the form ROLE=HOST:PORT"),
    (("serve", "tsuro", "--to", "ai=a:1"), 2, "nothing connects to 'ai' here"),
    (("join", "tsuro", "nowhere"), 2, "the address 'nowhere' is not of the form HOST:PORT"),
    (("join", "tsuro", "::1:80"), 2, "is not of the form HOST:PORT"),
    (("join", "tsuro", "localhost:99999"), 2, "'localhost:99999' has a port that is none: they go from 1 to 65535"),
    (("join", "tsuro", "localhost:0"), 2, "they go from 1 to 65535"),
    (("join", "tsuro", "localhost:06553599"), 2, "they go from 1 to 65535"),
    (("join", "tsuro", f"localhost:{'9' * 5000}"), 2, "they go from 1 to 65535"),
    (("join", "tsuro", "localhost:²"), 2, "is not of the form HOST:PORT"),
    (("join", "tsuro", "127.0.0.1:1"), 4, "cannot connect to server at 127.0.0.1:1: connection refused"),
    (("check",), 2, "check needs a spec"),
    (("draw",), 2, "draw needs specs, or --all"),
    (("draw", "tsuro", "--format", "gif"), 2, "--format 'gif' is none of svg, png, dot"),
    (("draw", "tsuro", "--role", "servr"), 2, "tsuro has no role 'servr': did you mean 'server'?"),
    (("draw", "tsuro", "--machine", "mian"), 2, "tsuro has no machine 'mian': did you mean 'main'?"),
    (("draw", "tsuro", "--check", "--role", "server"), 2, "leave --role and --machine out"),
    (("replay", "./none.jsonl"), 2, "No such file"),
    (("replay", "/dev/zero"), 2, "/dev/zero: this is no file that a journal could stand in"),
    (("replay", "/"), 2, "/: "),
    (("show", ""), 2, "no shipped spec is called ''"),
    (("play", "tsuro", "--journal", "/dev/null"), 2, "/dev/null: there is a file already"),
    (("show", "/dev/zero"), 2, "/dev/zero is no file that a spec could stand in"),
    (("try", "tsuro", "--script", "/dev/null"), 2, "/dev/null: this is no file that a script could stand in"),
    (("try", "tsuro", "--script", "none.txt"), 2, "none.txt: there is no such file"),
    (("draw", "tsuro", "-o", "/dev/null"), 2, "/dev/null: it is not a folder"),
    (("docs", "tsuro", "-o", "/dev/null"), 2, "/dev/null: it is not a folder"),
    (("docs", "--fill", "LICENSE"), 2, "--fill: there is no part to be written"),
    (("play", "tsuro", "--player-folders", "/dev/null"), 2, "folders cannot be made: it is not a folder"),
    (("play", "tsuro", "--evidence", "-1"), 2, "--evidence"),
    (("studio", "tsuro", "--port", "99999"), 2, "--port 99999 is not within 0..65535"),
    (("studio", "tsuro", "--host", "no.such.host.invalid"), 4, "cannot listen on no.such.host.invalid:0"),
    (("play", "tsuro", "--evidence", "1025"), 2, "--evidence"),
    (("show", "a\0b.yaml"), 2, r"there is no file a\u0000b.yaml"),
    (("play", "no\x1b[31mgame"), 2, "no shipped spec is called"),
    (("serve", "tsuro", "--per-address", "0"), 2, "--per-address 0 is less than 1"),
    (("show", "tsuroo"), 2, "did you mean 'tsuro'?"),
]


@pytest.mark.parametrize(
    ("words", "code", "text"), FAULTS, ids=lambda value: " ".join(value) if isinstance(value, tuple) else ""
)
def test_a_fault_is_one_sentence_and_an_exit_code(words: tuple[str, ...], code: int, text: str, accord: Run) -> None:
    found, out, err = accord(*words)

    assert (found, out) == (code, "")
    assert text in err
    assert err.startswith("accord: ")
    assert err.count("\n") == 1


def test_control_characters_reach_no_terminal(accord: Run, tmp_path: Path) -> None:
    spec = tmp_path / "loud.yaml"
    spec.write_text((SPECS / "lobby.yaml").read_text().replace("title: ", r'title: "\e[2J\x9b31m\u202e" #', 1))
    told = [accord("show", str(spec)), accord("show", str(spec), "--json"), accord("\x1b[2J")]
    spec.write_text("protocol: p\ntitle: t\n" + r'"\e[2J": x' + "\n")
    told.append(accord("check", str(spec)))

    for code, out, err in told:
        assert not any(character in out + err for character in "\x1b\x9b\u202e")
        assert r"\u001b[2J" in out + err or r"\x1b[2J" in out + err, code
    assert json.loads(told[1][1])["title"] == "\x1b[2J\x9b31m\u202e"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_one_sentence(accord: Run, tmp_path: Path) -> None:
    path = tmp_path / "secret.yaml"
    path.write_text("protocol: p\n")
    path.chmod(0)

    for command in ("check", "show", "play"):
        code, out, err = accord(command, str(path))
        assert (code, out) == (2, "")
        assert "can not be read: Permission denied" in err


@pytest.mark.parametrize("command", ["play", "serve"])
def test_a_spec_with_problems_is_told_as_check_would(command: str, accord: Run, tmp_path: Path) -> None:
    path = tmp_path / "broken.yaml"
    path.write_text("protocol: broken\ntitle: broken\nroles:\n  server:\n    main:\n      start: {then: nowhere}\n")

    code, out, err = accord(command, str(path))

    assert (code, out) == (2, "")
    assert f"{path}:6:" in err
    assert "nowhere" in err


def test_a_port_in_use_is_a_fault_of_the_network(accord: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

        code, _, err = accord("serve", "tsuro", "--port", str(port), "--log", "error")

    assert code == 4
    assert f"cannot listen on 127.0.0.1:{port}: another program uses that port" in err


def test_a_run_that_never_began_leaves_no_journal(accord: Run, tmp_path: Path) -> None:
    accord("join", "tsuro", "127.0.0.1:1")

    assert list((tmp_path / "state").rglob("*.jsonl")) == []


def test_a_fault_of_ours_is_said_to_be_one(accord: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(name: str) -> None:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr("runtime.commands.list_._listed", broken)
    monkeypatch.delenv("ACCORD_DEBUG", raising=False)

    code, out, err = accord("list")

    assert (code, out) == (1, "")
    assert err == "accord: a fault of Accord itself: ZeroDivisionError: oh (ACCORD_DEBUG=1 shows where)\n"


def test_a_foreign_package_stops_the_command_with_one_sentence(accord: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    foreign = ModuleSpec("rules", None, origin="/somewhere/site-packages/rules/__init__.py")
    monkeypatch.setattr(installation, "find_spec", lambda name: foreign if name == "rules" else find_spec(name))

    code, out, err = accord("list")

    assert (code, out) == (1, "")
    assert "the package 'rules' found in /somewhere/site-packages/rules is not Accord's" in err
    assert accord("doctor")[0] == 1


# -- help --------------------------------------------------------------------------------------------------------------


def test_the_help_names_every_command_and_exit_code(accord: Run) -> None:
    code, out, _ = accord("--help")

    assert code == 0
    for command in ("new", "try", "play", "serve", "join", "check", "draw", "docs", "list", "show", "replay", "doctor"):
        assert command in out
    for words in ("1 the run failed", "2 a spec has problems", "4 a port is in use", "130 ended by Ctrl-C"):
        assert words in out


def test_no_words_are_a_call_for_help(accord: Run) -> None:
    assert accord()[:2] == accord("--help")[:2]


@pytest.mark.parametrize(
    "command",
    ["new", "try", "play", "serve", "join", "check", "draw", "docs", "list", "show", "replay", "doctor"],
)
def test_every_command_takes_json_and_says_so(command: str, accord: Run) -> None:
    code, out, _ = accord(command, "--help")

    assert code == 0
    assert "--json" in out


# -- play, replay ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@pytest.mark.parametrize("players", [3, 4, 5])
def test_a_game_is_one_json_object(players: int, backend: str, accord: Run) -> None:
    code, out, _ = accord(
        *("play", "tsuro", "--players", str(players), "--seed", "1"),
        *("--player", "random") * players,
        *("--json", "--quiet", "--backend", backend),
    )

    assert code == 0
    facts = json.loads(out)
    assert facts["spec"] == "tsuro"
    assert facts["seed"] == 1
    assert facts["backend"] == backend
    assert facts["failed"] is None
    assert len(facts["players"]) == players
    assert facts["players"][0]["name"] == "player1"
    assert sum(map(len, facts["result"]["ranking"])) == players
    assert Path(facts["journal"]).is_file()


def test_the_same_seed_gives_the_same_game_and_another_seed_another(accord: Run) -> None:
    def result(seed: int, backend: str) -> Any:
        words = ("--json", "-q", "--no-journal", "--backend", backend)
        code, out, _ = accord("play", "tsuro", "--seed", str(seed), *RANDOM, *words)
        assert code == 0
        return json.loads(out)["result"]

    first = result(1, "asyncio")
    assert first == result(1, "trio")
    assert first != result(7, "asyncio")


def test_a_game_is_shown_as_it_goes_and_its_result_printed(accord: Run) -> None:
    code, out, err = accord("play", "tsuro", "--seed", "1", "--no-journal")

    assert code == 0
    assert out.startswith("tsuro: player1 (strong), player2 (strong), player3 (strong)\n1. player")
    assert 'player1: JOIN name "player1"' in err
    assert "is laid at" in err
    assert err.count("\n 0 ") == 1, "the board, once"
    assert "seed 1, " in err


def test_a_quiet_game_prints_its_result_and_nothing_of_the_game(accord: Run) -> None:
    _, out, err = accord("play", "tsuro", "--seed", "1", *RANDOM, "--quiet", "--no-journal")

    assert "1. player" in out
    assert "laid at" not in err


def test_cheaters_are_told_and_the_exit_code_is_the_games(accord: Run) -> None:
    code, out, _ = accord(
        *("play", "tsuro", "--seed", "1", "-q", "--player", "illegal", "--player", "silent", "--player", "random"),
        *QUICK,
    )

    assert code == 0
    assert "ejected: player1, player2" in out
    assert "player2 failed: " in out


def test_a_journal_is_replayed(accord: Run, tmp_path: Path) -> None:
    journal = tmp_path / "game.jsonl"
    accord("play", "tsuro", "--seed", "1", "-q", *RANDOM, "--journal", str(journal))

    code, out, _ = accord("replay", str(journal))
    assert code == 0
    assert "all agree" in out

    code, out, _ = accord("replay", str(journal), "--json")
    facts = json.loads(out)
    assert (code, facts["agrees"], facts["complete"], facts["difference"]) == (0, True, True, None)

    journal.write_text(journal.read_text().replace('\\"white\\"', '\\"green\\"', 1))
    code, out, _ = accord("replay", str(journal))
    assert code == 1
    assert "the effects differ" in out


def test_a_journal_goes_where_it_is_told(accord: Run, tmp_path: Path) -> None:
    words = ("play", "tsuro", "--seed", "1", "-q", *RANDOM, "--json")

    assert json.loads(accord(*words, "--no-journal")[1])["journal"] is None
    assert Path(json.loads(accord(*words)[1])["journal"]).parent == tmp_path / "state" / "accord" / "journals"
    assert Path(json.loads(accord(*words, "--journal", str(tmp_path))[1])["journal"]).parent == tmp_path
    code, _, err = accord(*words, "--journal", str(Path(__file__)))
    assert code == 2
    assert "a journal is never written over" in err


def test_a_spec_that_has_changed_is_not_replayed_unless_forced(accord: Run, tmp_path: Path) -> None:
    spec = tmp_path / "lobby.yaml"
    spec.write_bytes((SPECS / "lobby.yaml").read_bytes())
    journal = tmp_path / "game.jsonl"
    assert accord("play", str(spec), "-q", "--journal", str(journal))[0] == 0
    spec.write_text(spec.read_text() + "# a word\n")

    code, _, err = accord("replay", str(journal))
    assert code == 2
    assert "it has changed since" in err
    assert accord("replay", str(journal), "--force")[0] == 0
    assert accord("replay", str(journal), "--spec", str(SPECS / "lobby.yaml"))[0] == 0


def test_a_journal_that_lacks_a_line_is_told_by_its_name(accord: Run, tmp_path: Path) -> None:
    journal = tmp_path / "game.jsonl"
    assert accord("play", "tsuro", "--seed", "1", "-q", *RANDOM, "--journal", str(journal))[0] == 0
    head, *lines = journal.read_text().splitlines(keepends=True)
    told = []
    for kind in ("start", "connect"):
        journal.write_text(head + "".join(line for line in lines if f'"in":"{kind}"' not in line))
        code, out, err = accord("replay", str(journal))
        assert code in (1, 2)
        told.append(out + err)

    assert told[0].startswith(f"accord: {journal}: line 2: this session has not started: a line before it is missing")
    assert f"{journal}: line " in told[1]
    assert "Error" not in told[1]


def test_another_spec_is_said_to_be_another(accord: Run, tmp_path: Path) -> None:
    journal = tmp_path / "game.jsonl"
    assert accord("play", "tsuro", "--seed", "1", "-q", *RANDOM, "--journal", str(journal))[0] == 0

    code, _, err = accord("replay", str(journal), "--spec", str(SPECS / "lobby.yaml"))

    assert code == 2
    assert "lobby.yaml is not the tsuro that ran, but another spec or version" in err


EACH = """protocol: each
title: a session for each connection
connects: {client: server}
messages:
  client:
    HI: {hi: $name string}
  server:
    HELLO: {hello: $name string}
roles:
  server:
    main(client):
      named: {await: client, within: 5 s, receive: {HI: {send: HELLO, return: name}}}
  client:
    main:
      always: {within: 10 s}
      come: {send: HI(my.name), then: waiting}
      waiting: {receive: {HELLO: {return: name}}}
"""


def test_sessions_for_each_connection_have_one_journal_and_a_result_each(accord: Run, tmp_path: Path) -> None:
    spec, journal = tmp_path / "each.yaml", tmp_path / "each.jsonl"
    spec.write_text(EACH)

    code, out, err = accord("play", str(spec), "--players", "3", "--journal", str(journal))

    assert code == 0
    assert [line for line in out.splitlines() if "result" in line] == [
        f'player{number}: result: "player{number}"' for number in (1, 2, 3)
    ]
    assert [line for line in err.splitlines() if "HI" in line] == [
        f'player{number}: HI name "player{number}"' for number in (1, 2, 3)
    ]
    code, out, _ = accord("replay", str(journal), "--json")
    facts = json.loads(out)
    assert (code, facts["agrees"], facts["sessions"], facts["complete"]) == (0, True, 3, True)
    assert [ending["session"] for ending in facts["endings"]] == [0, 1, 2]


def test_why_a_server_failed_is_told_and_not_that_nobody_answers_there(accord: Run) -> None:
    code, out, err = accord("play", "tsuro", "--set", "seats=9", "--no-journal")

    assert code == 1
    assert "\nfailed: main (" in out
    assert "all five tokens are taken" in out
    assert "player9 failed: the game was over before it could join" in out
    assert "accord: " not in err
    assert err.count("all five tokens") == 0, "it is told once"


@pytest.mark.xdist_group("time")
def test_why_players_are_out_is_told_once(accord: Run) -> None:
    kinds = [word for kind in ("silent", "gone", "malformed", "infinite") for word in ("--player", kind)]

    began = time.monotonic()
    code, out, err = accord("play", "tsuro", "--seed", "1", "--players", "5", "--set", "reply=500 ms", *kinds)

    assert code == 0
    assert time.monotonic() - began < 5, "nobody thinks on once the game is over"
    told = [line for line in err.splitlines() if line.startswith("player") and "JOIN" not in line]
    assert told[:2] == ["player1: late", "player2: closed"]
    assert told[2].startswith("player3: malformed: ")
    assert "player failed" not in err
    whys = [line for line in out.splitlines() if " failed: " in line]
    # The other three hear how the game ended, whatever they did in it.
    assert whys == ["player2 failed: it hung up"]


def test_an_arena_that_fails_is_not_the_players_fault(accord: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    import rules.tsuro

    def broken(table: Any) -> Any:
        raise ValueError("a bug")

    monkeypatch.setattr(rules.tsuro, "over", broken)

    code, out, _ = accord("play", "tsuro", "--seed", "1", "-q", "--json", "--no-journal")

    assert code == 1
    assert "a bug" in json.loads(out)["failed"]


# -- check, draw, list, show, doctor -----------------------------------------------------------------------------------

BAD = """protocol: bad
title: bad
connects: {client: server}
messages:
  client:
    HI: hi
roles:
  server:
    main:
      open:
        accept: join(peer)
        as: players
        seats: 2..3
        within: 5 s
        timeout: {return: null}
        then: opne
    join(peer):
      named:
        await: peer
        within: 5 s
        receive:
          HO: {return: {a: 1}}
  client:
    main:
      come: {send: HI, return: null}
"""


def test_a_good_spec_has_no_problems(accord: Run) -> None:
    assert accord("check", "tsuro", "--clients", "0") == (0, "", "no problems in tsuro\n")
    assert json.loads(accord("check", "tsuro", "--clients", "0", "--json")[1]) == {
        "ok": True,
        "specs": [{"spec": "tsuro", "problems": [], "accepted": []}],
    }


def test_a_good_spec_is_explored_and_proved(accord: Run) -> None:
    code, out, err = accord("check", "tsuro")

    assert (code, out) == (0, "")
    assert err.startswith("tsuro: proved with 1, 2 and 3 clients and at most 2 messages waiting for a peer: ")
    told = json.loads(accord("check", "tsuro", "--json")[1])
    assert told["ok"] is True
    assert told["specs"][0]["explored"]["verdict"] == "proved"


def test_rules_are_looked_for_in_the_present_folder_too_and_there_last(
    accord: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [path for path in sys.path if path not in ("", os.getcwd())])
    (tmp_path / "only_here.py").write_text("def least(x):\n    return x\n")
    (tmp_path / "one.yaml").write_text(f"{DEAF}rules: [only_here]\n")

    code, out, _ = accord("check", "./one.yaml", "--rules", "only_here", "--clients", "0")

    assert (code, out) == (0, "")
    assert sys.path[-1] == str(tmp_path)


def test_a_search_that_meets_its_bound_is_undetermined(accord: Run) -> None:
    code, _, err = accord("check", "tsuro", "--limit", "100")

    assert code == 3
    assert "unknown: more than 100 states (with 3)" in err


def test_bounds_that_make_no_sense_are_refused(accord: Run) -> None:
    code, _, err = accord("check", "tsuro", "--clients", "9")

    assert code == 2
    assert "--clients 9 is not within 0..8" in err


def test_roles_that_do_not_fit_each_other_are_refuted_with_a_trace(accord: Run, tmp_path: Path) -> None:
    path = tmp_path / "one.yaml"
    path.write_text(DEAF)

    code, out, err = accord("check", str(path))

    assert code == 2
    assert "A500 nothing can happen any more" in out
    assert "  3 client: reads ASK of server of client; then main.silent" in out
    assert "refuted with" in err


def test_a_property_that_a_game_breaks_is_told_and_its_journal_replays(accord: Run, tmp_path: Path) -> None:
    spec, journal = tmp_path / "mute.yaml", tmp_path / "run.jsonl"
    text = (Path(__file__).resolve().parents[1] / "specs" / "correct" / "ping-pong.yaml").read_text()
    spec.write_text(f"{text}\nproperties:\n  mute: {{never: {{sends: PONG}}}}\n")

    code, _, err = accord("play", str(spec), "--players", "1", "--seed", "2", "--journal", str(journal))

    assert code == 0
    assert "the property 'mute' does not hold: never sends PONG" in err
    assert accord("replay", str(journal))[0] == 0


def test_two_versions_are_compared(accord: Run, tmp_path: Path) -> None:
    old, new = tmp_path / "old.yaml", tmp_path / "new.yaml"
    old.write_text(DEAF)
    new.write_text(DEAF.replace("ASK: ask", "ASK: asked"))

    assert accord("diff", "tsuro", "tsuro")[0] == 0
    code, out, _ = accord("diff", str(old), str(new))

    assert code == 2
    assert "ASK has another body" in out
    assert "a new server with old clients:" in out
    assert "confirmed by a replay" in out


STRANGE = """
protocol: strange
connects: {client: server}
messages:
  client: {SAY: said}
  server: {CALL: call}
roles:
  server:
    main(client):
      asked: {send: CALL, within: 5 s, receive: {SAY: {return: null}}, fault: {return: null}}
  client:
    main: {always: {within: 1 min}, heard: {receive: {CALL: telling}}, telling: {send: SAY, return: null}}
"""


def test_specs_without_a_message_in_common_do_not_serve_each_other(accord: Run, tmp_path: Path) -> None:
    old, new = tmp_path / "old.yaml", tmp_path / "new.yaml"
    old.write_text(STRANGE)
    new.write_text(STRANGE.replace("SAY", "TELL").replace("said", "told").replace("CALL: call", "ASK: ask")
                          .replace("CALL", "ASK").replace("strange", "other"))  # fmt: skip
    text = "strange and other have no message in common: neither serves the other's clients"

    assert accord("diff", str(old), str(new)) == (2, f"{text}\n", "")
    facts = json.loads(accord("diff", str(old), str(new), "--json")[1])
    assert (facts["verdict"], facts["apart"], facts["changes"]) == ("refuted", text, [])
    new.write_text(STRANGE.replace("SAY", "TELL").replace("CALL", "ASK"))
    code, out, _ = accord("diff", str(old), str(new))
    assert (code, "SAY is called TELL now" in out) == (0, True), "other names for the same are in common"


DEAF = """
protocol: deaf
connects: {client: server}
messages:
  client: {TELL: tell}
  server: {ASK: ask}
roles:
  server:
    main(client):
      asked: {send: ASK, within: 5 s, receive: {TELL: {return: null}}, fault: {return: null}}
  client:
    main:
      always: {within: 1 min}
      heard: {receive: {ASK: silent}}
      silent: {receive: {ASK: telling}}
      telling: {send: TELL, return: null}
"""


def test_problems_are_lines_with_their_place(accord: Run, tmp_path: Path) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(BAD)

    code, out, err = accord("check", str(path), "tsuro")

    assert code == 2
    places = [line.partition(": ")[0] for line in out.splitlines()]
    assert f"{path}:16:15" in places
    assert f"{path}:22:11" in places
    assert err.endswith("problems\n")


def test_problems_are_json_objects_too(accord: Run, tmp_path: Path) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(BAD)

    code, out, _ = accord("check", str(path), "nosuch", "--json")

    assert code == 2
    facts = json.loads(out)
    assert facts["ok"] is False
    found = facts["specs"][0]["problems"]
    assert {"line": 16, "column": 15} in [{"line": p["line"], "column": p["column"]} for p in found]
    assert all(problem["file"] == str(path) and problem["code"] for problem in found)
    assert "no shipped spec is called 'nosuch'" in facts["specs"][1]["error"]


def test_a_spec_that_is_not_there_is_not_said_to_have_no_problems(accord: Run) -> None:
    code, out, err = accord("check", "nofile", "tsuro")

    assert (code, out) == (2, "")
    assert err.endswith("\n1 spec not checked\n")
    assert "0 problems" not in err


def test_machines_are_drawn_as_files(accord: Run, tmp_path: Path) -> None:
    words = ("draw", "tsuro", "-o", str(tmp_path), "--format", "svg,dot", "--role", "client", "--kind", "states")
    code, out, _ = accord(*words, "--json")

    assert code == 0
    written = [Path(path) for path in json.loads(out)["written"]]
    assert [path.suffix for path in written] == [".svg", ".dot"]
    assert "<svg" in written[0].read_text()


def test_stale_pictures_are_found(accord: Run, tmp_path: Path) -> None:
    assert accord("draw", "tsuro", "-o", str(tmp_path), "--format", "dot")[0] == 0
    assert accord("draw", "tsuro", "-o", str(tmp_path), "--check")[0] == 0
    next(tmp_path.glob("*main.dot")).write_text("digraph {}")

    code, out, _ = accord("draw", "tsuro", "-o", str(tmp_path), "--check")

    assert code == 1
    assert "stale" in out


def test_what_is_drawn_can_be_checked_whatever_its_form(accord: Run, tmp_path: Path) -> None:
    words = ("draw", "tsuro", "-o", str(tmp_path))
    assert accord(*words, "--format", "svg")[0] == 0
    assert accord(*words, "--check")[:2] == (0, "")
    assert accord(*words, "--check", "--format", "svg")[:2] == (0, "")

    code, out, _ = accord(*words, "--check", "--format", "png")
    assert code == 1
    assert "tsuro-server-main.png is missing" in out

    for path in tmp_path.glob("*.dot"):
        path.unlink()
    code, out, _ = accord(*words, "--check")
    assert code == 1
    assert "cannot be compared without their DOT" in out


def test_the_list_has_every_shipped_spec(accord: Run) -> None:
    code, out, _ = accord("list", "--json")

    assert code == 0
    listed = {spec["name"]: spec for spec in json.loads(out)["specs"]}
    assert set(listed) == set(shipped())
    assert listed["tsuro"]["runnable"] is True
    assert all(spec["title"] and spec["roles"] for spec in listed.values())
    assert "tsuro" in accord("list")[1]


def test_a_spec_is_shown(accord: Run) -> None:
    code, out, _ = accord("show", "tsuro")

    assert code == 0
    for words in ("role server, listens", "initial_placement(player, table): asked", "[$tile Tile, $x int, $y int]"):
        assert words in out
    facts = json.loads(accord("show", "tsuro", "--json")[1])
    assert [message["name"] for message in facts["messages"]][:2] == ["JOIN", "INIT_PLACE"]
    assert {"name": "think", "value": "8 s", "kind": "duration", "doc": ""} in facts["settings"]
    assert [player["kind"] for player in facts["players"] if player["default"]] == ["strong"]


@pytest.mark.parametrize("name", shipped())
def test_every_shipped_spec_can_be_shown(name: str, accord: Run) -> None:
    code, out, _ = accord("show", name)

    assert code == 0
    assert out.startswith(f"{name}: ")


def test_the_doctor_looks_at_everything(accord: Run) -> None:
    code, out, _ = accord("doctor", "--json")

    facts = json.loads(out)
    found = {finding["what"]: finding["well"] for finding in facts["findings"]}
    assert found.keys() >= {"python", "accord", "msgspec", "trio", "pictures", "open files", "encoding", "journals"}
    assert (code == 0) == all(found.values()) == facts["ok"]
    assert found["python"]
    assert found["accord"]
    assert found["pictures"]


def test_a_check_has_a_budget_and_says_what_was_not_decided(accord: Run) -> None:
    code, _, err = accord("check", "tests/specs/chat.yaml", "--budget", "0.1")

    assert code == 3
    assert "unknown: the budget of 0.1 s of computing is spent: the most in main." in err
    assert accord("check", "tsuro", "--budget", "0")[0] == accord("check", "tsuro", "--memory", "1")[0] == 2


def test_ctrl_c_while_the_command_line_is_loaded_is_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Interrupted:
        def find_spec(self, name: str, *_: object) -> None:
            if name == "runtime.cli":
                raise KeyboardInterrupt

    monkeypatch.delitem(sys.modules, "runtime.cli")
    monkeypatch.delattr(runtime, "cli")
    monkeypatch.setattr(sys, "meta_path", [Interrupted(), *sys.meta_path])

    assert start() == INTERRUPTED
    assert capsys.readouterr() == ("", "interrupted\n")
