"""A client whom the server would not have says so and fails; one whose protocol ends with the connection does not."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from machines.parser.loader import load
from runtime.cli import main
from tests.parts import played

Run = Callable[..., tuple[int, str, str]]
Port = Callable[[bytes], int]

# Who listens says a word or none, the client has one question, and the end is always that the connection ends.
PARTING = """protocol: parting
title: the end of the connection is the end of the protocol
wire: {framing: lines}
connects: {client: server}
messages:
  client:
    HI: {hi: $name string}
    BYE: bye
  server:
    HELLO: {hello: $name string}
roles:
  server:
    main(client):
      named: {await: client, within: 5 s, receive: {HI: {send: HELLO, then: left}, BYE: {return: null}}, fault: gone}
      left: {await: client, within: 5 s, receive: {BYE: {return: null}}, fault: gone}
      gone: {return: null}
  client:
    main:
      always: {within: 10 s}
      come:
        ask: which
        receive: {HI: {send: HI, then: waiting}, BYE: {send: BYE, then: leaving}}
        closed: {return: ('gone')}
      waiting: {receive: {HELLO: listening}, closed: {return: ('lost')}}
      listening: {receive: {HELLO: listening}, closed: {return: ('heard')}}
      leaving: {closed: {return: ('left')}}
"""


@pytest.fixture
def accord(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    def run(*words: str) -> tuple[int, str, str]:
        code = main(words)
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return code, captured.out, captured.err

    return run


@pytest.fixture
def port() -> Iterator[Port]:
    """Listen on a port; whoever comes is told these bytes, and no more once it has said a line or nothing for long."""
    open_ones: list[socket.socket] = []

    def listen(said: bytes, *, hears: bool = False) -> int:
        door = socket.create_server(("127.0.0.1", 0))
        open_ones.append(door)

        def close_on_all() -> None:
            while True:
                try:
                    one, _ = door.accept()
                except OSError:
                    return
                with one:
                    one.sendall(said)
                    if hears:
                        one.settimeout(5)
                        one.recv(1000)

        threading.Thread(target=close_on_all, daemon=True).start()
        found: int = door.getsockname()[1]
        return found

    yield listen
    for door in open_ones:
        door.close()


def joined(spec: str | Path, at: int, *words: str) -> tuple[str, ...]:
    return ("join", str(spec), f"127.0.0.1:{at}", "--name", "ann", "--no-journal", *words)


@pytest.mark.parametrize("name", played())
def test_a_client_of_any_shipped_spec_that_is_turned_away_says_so_and_fails(name: str, accord: Run, port: Port) -> None:
    spec = load(name)
    role = next(iter(spec.connects))
    at = port(b"")

    code, out, err = accord(*joined(name, at))

    assert code == 1
    assert "ERROR" not in err, "it is told once"
    assert out.startswith(f"turned away: {spec.connects[role][0]} at 127.0.0.1:{at} ended the connection before ")
    assert out.endswith("no seat is left, its game is over, too few have come, or it does not want this client\n")
    assert out.count("\n") == 1


def test_it_says_so_in_json_too(accord: Run, port: Port) -> None:
    code, out, _ = accord(*joined("redis", port(b""), "--json"))

    facts = json.loads(out)
    assert (code, facts["turned_away"], facts["result"]) == (1, True, None)
    assert facts["failed"].startswith("turned away: server at 127.0.0.1:")


@pytest.fixture
def parting(tmp_path: Path) -> Path:
    path = tmp_path / "parting.yaml"
    path.write_text(PARTING)
    return path


def player(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: str) -> str:
    """Return the kind of a player that says always the same."""
    answer: dict[str, Any] = {"HI": {"name": "ann"}, "BYE": {}}[says]
    (tmp_path / f"says_{says.lower()}.py").write_text(
        f"class One:\n    def __init__(self, name, seed): pass\n    def which(self): return {says!r}, {answer!r}\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    return f"python:says_{says.lower()}:One"


def test_who_says_good_bye_and_waits_for_the_end_was_not_turned_away(
    accord: Run, port: Any, parting: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = player(tmp_path, monkeypatch, "BYE")

    code, out, _ = accord(*joined(parting, port(b"", hears=True), "--player", kind, "--json"))

    facts = json.loads(out)
    assert (code, facts["result"], facts["failed"], facts["turned_away"]) == (0, "left", None, False)


@pytest.mark.parametrize(("said", "code", "result"), [(b"", 1, "lost"), (b'{"hello":"ann"}\n', 0, "heard")])
def test_a_word_that_was_heard_makes_the_difference(
    said: bytes, code: int, result: str, accord: Run, port: Any, parting: Path, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    kind = player(tmp_path, monkeypatch, "HI")

    found, out, _ = accord(*joined(parting, port(said, hears=True), "--player", kind, "--json"))

    facts = json.loads(out)
    assert (found, facts["result"], facts["turned_away"]) == (code, result, bool(code))


def test_who_hangs_up_itself_was_not_turned_away(accord: Run, port: Any, parting: Path) -> None:
    code, out, _ = accord(*joined(parting, port(b"", hears=True), "--player", "gone", "--json"))

    facts = json.loads(out)
    assert (code, facts["turned_away"]) == (0, False)


def test_players_of_a_whole_game_are_not_turned_away(accord: Run, parting: Path, tmp_path: Path,
                                                      monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    kind = player(tmp_path, monkeypatch, "BYE")

    code, out, _ = accord("play", str(parting), "--players", "2", "--player", kind, "--player", kind, "-q", "--json")

    facts = json.loads(out)
    assert code == 0
    assert [one["result"] for one in facts["players"]] == ["left", "left"]


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (b'"you misbehaved"\n', 'said "you misbehaved", which is no message of tsuro, in main in started (tsuro.yaml:'),
        (
            b'{"error": "you misbehaved"}\n',
            'said {"error": "you misbehaved"}, which is no message of tsuro',
        ),
        (b"bye, cheater\n", "said bye, cheater, which cannot be read, in main in started (tsuro.yaml:"),
        (b"", "ended the connection, here where the protocol goes on, in main in started (tsuro.yaml:"),
    ],
)
def test_who_is_expelled_in_the_midst_is_told_so(said: bytes, words: str, accord: Run, port: Any) -> None:
    at = port(b'"red"\n"started"\n' + said, hears=True)

    code, out, err = accord(*joined("tsuro", at))
    facts = json.loads(accord(*joined("tsuro", at, "--json"))[1])

    assert code == 1
    assert out.startswith(f"expelled, as it seems: the server {words}")
    assert out.count("\n") == 1
    assert facts["failed"] == out.strip()
    assert "ERROR" not in err, "it is told once"


def test_a_server_that_says_what_is_not_expected_has_not_expelled_anybody(accord: Run, port: Any) -> None:
    code, out, _ = accord(*joined("tsuro", port(b'"red"\n"red"\n', hears=True)))
    assert code == 1
    assert out.startswith("failed: ")


def test_what_the_players_own_program_said_wrongly_to_its_client_is_told(accord: Run) -> None:
    """The server of the relay hears nothing of it, and could say only that the client is late."""
    with socket.create_server(("127.0.0.1", 0)) as door:

        def ask() -> None:
            with suppress(OSError):
                one, _ = door.accept()
                with one:
                    one.sendall(b'{"type": "Start", "content": null}\n{"type": "placement", "content": null}\n')
                    while one.recv(1000):
                        pass

        threading.Thread(target=ask, daemon=True).start()
        limits = ("--set", "patience=900 ms", "--set", "reply=700 ms", "--set", "think=600 ms")
        words = joined("santorini-relay", door.getsockname()[1], "--player", "malformed", *limits, "--json")
        losses = json.loads(accord(*words)[1])["losses"]

    told = [(loss["player"], loss["role"], loss["decided_by"], loss["kind"]) for loss in losses]
    assert ("ann", "ai", "client", "malformed") in told
