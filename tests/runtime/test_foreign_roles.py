"""A role that only programs of others play: our side serves and joins, and what needs both sides says so."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest
from anyio import to_thread

from machines.effects import Ended
from machines.engine.session import Program
from machines.parser.loader import load_text
from runtime import cli
from runtime.players.registry import open_player
from runtime.sessions.client import join
from runtime.sessions.server import serve

GREETER = """
protocol: greeter
wire: {framing: text}
connects: {client: server}
foreign: [client]
messages:
  client: {HELLO: "HELLO ${name string}", QUIT: QUIT}
  server: {HI: "200 hi ${name string}", BYE: 221 bye, WHAT: 500 what?}
roles:
  server:
    main(client):
      talking:
        within: 1 min
        receive:
          HELLO: {send: HI, then: talking}
          QUIT: {send: BYE, return: null}
        invalid: {send: WHAT, then: stay}
        fault: {return: null}
"""
GREETED = """
protocol: greeted
wire: {framing: text}
connects: {client: server}
foreign: server
messages:
  client: {HELLO: "HELLO ${name string}", QUIT: QUIT}
  server: {HI: "200 hi ${name string}", BYE: 221 bye, WHAT: 500 what?}
roles:
  client:
    main:
      always: {within: 5 s, fault: {return: null}}
      greeting: {send: HELLO('ann'), receive: {HI: {return: name}}}
"""
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def accord(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Run a command in a folder with the greeter; return its exit code, standard output and standard error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    Path("greeter.yaml").write_text(GREETER, encoding="utf-8")

    def run(*words: str) -> tuple[int, str, str]:
        code = cli.main(words)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.mark.anyio
async def test_a_program_of_others_talks_to_our_server(stock: bool) -> None:
    endings: list[Ended] = []
    ports: list[int] = []
    listening = anyio.Event()

    def on_listening(port: int) -> None:
        ports.append(port)
        listening.set()

    def talk() -> bytes:
        with socket.create_connection(("127.0.0.1", ports[0]), timeout=10) as connection:
            connection.sendall(b"HELLO ann\nSTAT\nQUIT\n")
            heard = b""
            while chunk := connection.recv(1000):
                heard += chunk
            return heard

    async with anyio.create_task_group() as tasks:
        program = Program(load_text(GREETER), "server", {})
        tasks.start_soon(
            lambda: serve(program, on_listening=on_listening, on_ended=lambda _, one: endings.append(one), stock=stock)
        )
        with anyio.fail_after(20):
            await listening.wait()
            heard = await to_thread.run_sync(talk)
        tasks.cancel_scope.cancel()

    assert heard == b"200 hi ann\n500 what?\n221 bye\n"
    assert [one.failed for one in endings] == [None]


@pytest.mark.anyio
async def test_our_client_joins_a_program_of_others_and_uses_a_part_of_the_messages() -> None:
    spec = load_text(GREETED)
    listener = socket.create_server(("127.0.0.1", 0))

    def answer() -> bytes:
        connection, _ = listener.accept()
        with connection:
            heard = connection.recv(1000)
            connection.sendall(b"200 hi there\n")
            return heard + connection.recv(1000)

    heard: list[bytes] = []

    async def serving() -> None:
        heard.append(await to_thread.run_sync(answer))

    with anyio.fail_after(20), listener:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(serving)
            async with open_player("random", spec=spec, name="ann", seed=1) as player:
                ended = await join(Program(spec, "client", {}), {"server": listener.getsockname()}, player)

    assert (ended.value, heard) == ("there", [b"HELLO ann\n"])


ONE_ANSWER = [
    (("play", "greeter.yaml"), "a whole game needs all roles of greeter, and only programs of others play client"),
    (("simulate", "greeter.yaml", "--games", "1"), "a whole game needs all roles of greeter"),
    (("conform", "greeter.yaml", "server", "--run", "true"), "accord conform needs all roles of greeter"),
    (("conform", "greeter.yaml", "client", "--run", "true"), "client of greeter is foreign: the spec does not say"),
    (("proxy", "greeter.yaml", "--listen", "0", "--to", "localhost:1"), "accord proxy needs all roles of greeter"),
    (("join", "greeter.yaml", "localhost:1"), "greeter has no role that connects to another"),
    (("join", "greeter.yaml", "localhost:1", "--role", "client"), "the role 'client' of greeter is foreign"),
    (("serve", "greeter.yaml", "--role", "client"), "the role 'client' of greeter is foreign"),
]


@pytest.mark.parametrize(("words", "said"), ONE_ANSWER, ids=lambda one: one[0] if isinstance(one, tuple) else "")
def test_what_needs_all_roles_gives_one_clear_answer(accord: Run, words: tuple[str, ...], said: str) -> None:
    code, out, err = accord(*words)

    assert (code, out) == (2, "")
    assert said in err
    assert len(err.strip().split("\n")) == 1


def test_a_check_says_what_it_was_proved_against_and_plays_no_games(accord: Run) -> None:
    code, _, err = accord("check", "greeter.yaml", "--games", "1")

    assert code == 0
    assert "proved against anything client may send, for any number of clients" in err
    assert "no games: only programs of others play client (foreign)" in err
    code, out, _ = accord("check", "greeter.yaml", "--json")
    assert (code, json.loads(out)["specs"][0]["explored"]["foreign"]) == (0, ["client"])


def test_show_draw_docs_and_try_know_the_foreign_role(accord: Run) -> None:
    code, out, _ = accord("show", "greeter.yaml")
    assert (code, "role client, connects to server; only programs of others play it" in out) == (0, True)

    assert accord("draw", "greeter.yaml", "-o", "pictures", "--format", "txt")[0] == 0
    assert "<- HELLO ---|" in Path("pictures/greeter-server-main-sequence.txt").read_text("utf-8")

    assert accord("docs", "greeter.yaml", "-o", "documents")[0] == 0
    told = "- `client` connects to server; only programs of others play it."
    assert told in Path("documents/greeter.md").read_text("utf-8")
    assert "only programs of others play it" in Path("documents/greeter.html").read_text("utf-8")

    Path("script").write_text("connect client ann\nsay ann HELLO name=ann\nsay ann QUIT\n", encoding="utf-8")
    code, out, _ = accord("try", "greeter.yaml", "--script", "script")
    assert code == 0
    assert "played by hand" in out
    assert "server1 is over, result: null" in out
