"""Players from elsewhere: they come by token through a lobby, match after match, and nobody else does."""

from __future__ import annotations

import json
import re
import select
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

pytest.importorskip("sqlalchemy")

from runtime.tournament.lobby import Lobby, LobbyError
from tests.runtime.tournament.test_events import accord

TOKEN, OTHER = "abcdefghij0123456789", "zyxwvutsrq9876543210"
CUP = """
event: far cup
spec: sticks
settings: {reply: 100 s, think: 90 s, again: 1000}
seed: 4
limits: {come: COME}
players:
  ann: {kind: random}
  cyd: {token: cyd.token}
  dan: {token: dan.token}
"""


@pytest.fixture
def lobby() -> Iterator[Lobby]:
    found = Lobby("127.0.0.1", 0, {TOKEN: "cyd", OTHER: "dan"})
    yield found
    found.close()


def come(lobby: Lobby, said: bytes, answered: bool = True) -> tuple[socket.socket, bytes]:
    """Return a connection that has said something, and what the lobby answered."""
    connection = socket.create_connection(("127.0.0.1", lobby.port), timeout=30)
    connection.sendall(said)
    while answered and not select.select([connection], [], [], 0)[0]:
        select.select(lobby.sockets(), [], [], 1)
        lobby.turn()
    return connection, connection.recv(300) if answered else b""


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (b"accord wrong\n", b"nobody in this event has that token"),
        (b"accord \n", b"nobody in this event has that token"),
        (TOKEN.encode() + b"\n", b"nobody in this event has that token"),
        (b"\xff\xfe\n", b"nobody in this event has that token"),
        (b"x" * 1000, b"nobody in this event has that token"),
        (f"accord {TOKEN}\nname".encode(), b"more than a token came before the match began"),
    ],
)
def test_who_has_no_token_of_the_event_is_refused_with_a_reason(lobby: Lobby, said: bytes, why: bytes) -> None:
    connection, answer = come(lobby, said)

    assert answer == b"accord refused: " + why + b"\n"
    assert not lobby.is_here("cyd")
    connection.close()


def test_a_token_is_one_player_at_a_time_and_who_has_gone_makes_room(lobby: Lobby) -> None:
    first, answer = come(lobby, f"accord {TOKEN}\n".encode())
    assert (answer, lobby.is_here("cyd"), lobby.is_here("dan")) == (b"accord welcome\n", True, False)

    second, answer = come(lobby, f"accord {TOKEN}\n".encode())
    assert answer == b"accord refused: with that token somebody waits already\n"

    first.close()
    third, answer = come(lobby, f"accord {TOKEN}\r\n".encode())
    assert answer == b"accord welcome\n"
    with lobby.take("cyd") as taken:
        taken.sendall(b"accord begin\n")
        assert third.recv(100) == b"accord begin\n"
    assert not lobby.is_here("cyd")
    second.close()
    third.close()


def test_who_speaks_before_its_match_begins_waits_no_longer(lobby: Lobby) -> None:
    connection, _ = come(lobby, f"accord {TOKEN}\n".encode())
    connection.sendall(b"my name\n")
    select.select([connection], [], [], 0)

    while lobby.is_here("cyd"):
        pass
    with suppress(ConnectionResetError):
        assert connection.recv(100) == b""
    connection.close()


def test_strangers_who_say_nothing_do_not_fill_the_lobby(lobby: Lobby, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runtime.tournament.lobby.OPENING_SECONDS", 0.0)
    silent = [come(lobby, b"", answered=False)[0] for _ in range(70)]
    welcome, answer = come(lobby, f"accord {TOKEN}\n".encode())

    assert answer == b"accord welcome\n"
    assert silent[0].recv(100) == b"accord refused: no token came\n"
    for one in (*silent, welcome):
        one.close()


def test_an_address_that_cannot_be_had_is_told(lobby: Lobby) -> None:
    with pytest.raises(LobbyError, match=f"no lobby can be opened at 127.0.0.1:{lobby.port}: address already in use"):
        Lobby("127.0.0.1", lobby.port, {})


def cup(folder: Path, seconds: str) -> Path:
    (folder / "cyd.token").write_text(f"{TOKEN}\n")
    (folder / "dan.token").write_text(f"{OTHER}\n")
    path = folder / "cup.yaml"
    path.write_text(CUP.replace("COME", seconds))
    return path


def test_who_comes_by_token_plays_all_its_matches_and_ends_with_the_event(tmp_path: Path) -> None:
    path = cup(tmp_path, "5 min")
    words = [sys.executable, "-m", "runtime", "tournament", "run", str(path), "--lobby", "127.0.0.1:0", "--json"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as event:
        assert event.stderr is not None
        found = re.search(r"the lobby is at (127\.0\.0\.1:\d+)", event.stderr.readline())
        assert found is not None
        joins = [sys.executable, "-m", "runtime", "join", "sticks", "--lobby", found[1], "--json", "--retry", "0"]
        guests = [
            subprocess.Popen(
                [*joins, "--name", "same", "--player", "random", "--token", str(tmp_path / f"{name}.token")],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for name in ("cyd", "dan")
        ]
        heard = [guest.communicate() for guest in guests]
        said, told = event.communicate()

    facts = json.loads(said)
    assert (event.returncode, facts["played"], facts["void"]) == (0, 3, []), told
    assert [row["faults"] for row in facts["standings"]] == [0, 0, 0]
    for guest, (lines, last) in zip(guests, heard, strict=True):
        assert (guest.returncode, len(lines.splitlines())) == (0, 2), last
        assert "the event is over, or was stopped; matches played: 2" in last


def test_who_does_not_come_has_lost_and_the_others_play(tmp_path: Path) -> None:
    path = cup(tmp_path, "10 ms")
    code, said, _ = accord("run", str(path), "--lobby", "127.0.0.1:0", "--json")

    facts = json.loads(said)
    assert (code, facts["played"], facts["void"]) == (0, 3, [])
    faults = [(match["match"], one["player"]) for match in facts["matches"] for one in match["places"] if one["fault"]]
    assert len(faults) == 4  # both of them where they were to meet
    assert {one["fault"] for match in facts["matches"] for one in match["places"] if one["fault"]} == {
        "absent: nobody came with its token within 0.01 s"
    }
    assert facts["standings"][0]["player"] == "ann"
    assert facts["standings"][0]["points"] == 2


def test_what_is_wrong_with_tokens_and_lobbies_is_said_in_a_sentence(tmp_path: Path) -> None:
    path = cup(tmp_path, "1 s")
    code, _, told = accord("run", str(path))
    assert (code, "cyd comes by token: give --lobby HOST:PORT" in told) == (2, True)
    code, said, _ = accord("check", str(path))
    assert (code, "no match was tried: 1 of the players are here" in said) == (0, True)

    (tmp_path / "dan.token").write_text("short\n")
    code, _, told = accord("run", str(path))
    assert (code, f"the file {tmp_path}/dan.token has no token (a line of 16 to 200" in told) == (2, True)
    (tmp_path / "dan.token").write_text(TOKEN)
    assert "is another player's too" in accord("run", str(path))[2]
    (tmp_path / "dan.token").unlink()
    assert "dan.token cannot be read" in accord("run", str(path))[2]


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["--lobby", "127.0.0.1:1", "--token", "cyd.token", "--retry", "0"], 4, "no lobby is at 127.0.0.1:1"),
        (["--lobby", "127.0.0.1:1"], 2, "--lobby needs --token FILE"),
        (["--lobby", "127.0.0.1:1", "--token", "none"], 2, "none: this token cannot be read: No such file"),
        (["127.0.0.1:1", "--lobby", "127.0.0.1:1", "--token", "cyd.token"], 2, "give no other address"),
        (["127.0.0.1:1", "--token", "cyd.token"], 4, "nobody listens at 127.0.0.1:1"),
        ([], 2, "or --lobby HOST:PORT and --token FILE"),
    ],
)
def test_a_lobby_that_cannot_be_joined_is_told(words: list[str], code: int, says: str, tmp_path: Path) -> None:
    cup(tmp_path, "1 s")
    asked = [sys.executable, "-m", "runtime", "join", "sticks", *words]
    done = subprocess.run(asked, capture_output=True, text=True, check=False, cwd=tmp_path)

    assert (done.returncode, says in done.stderr) == (code, True), done.stderr
