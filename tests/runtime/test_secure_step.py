"""``secure``: a peer speaks TLS from a step on; what was said before is never taken for what comes in it."""

from __future__ import annotations

import socket
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio import to_thread

from machines.effects import Drop, Ended, Resume, SecureLink, Send
from machines.engine.session import Program
from machines.parser.loader import load_text
from runtime import cli
from runtime.commands.exit_codes import PROBLEMS
from runtime.network import anyio_transport
from runtime.network.tls import client_context, server_context
from runtime.sessions.client import join
from runtime.sessions.server import serve
from tests.support.session_harness import Run

LATER = """
protocol: later
wire: {framing: FRAMING, inbox_messages_max: 4}
connects: {client: server}
messages:
  client: {START: STARTTLS, SAY: {say: $words string}, COUNT: COUNT}
  server: {GO: go on, HEARD: {heard: $words string}, NO: none}
roles:
  server:
    main(client):
      always: {within: 10 s, fault: {drop: client, return: heard}}
      begin: {let: {heard: []}, then: plain}
      plain:
        receive:
          START: [{if: my.secure, send: GO, secure: client, then: safe}, {send: NO, then: stay}]
          SAY: {let: {heard: heard + [words]}, send: HEARD, then: stay}
      safe: {receive: {SAY: {let: {heard: heard + [words]}, send: HEARD, then: stay}}}
  client:
    main:
      always: {within: 10 s, fault: {return: reason}}
      begin: {send: START, receive: {GO: {secure: server, then: safe}, NO: {return: null}}}
      safe: {send: SAY('hi'), receive: {HEARD: {return: words}}}
"""
LINES, VALUES, TEXT = (LATER.replace("FRAMING", framing) for framing in ("lines", "json", "text"))
TEXT = TEXT.replace("{say: $words string}", "say ${words string}").replace(
    "{heard: $words string}", "heard ${words string}"
)
FRAMED = TEXT.replace("say ${words string}", "$words string") + 'frames: {SAY: [{line: "say ${words}"}, {line: ""}]}\n'
SAID = {LINES: b'{"say": "%s"}\n', VALUES: b'{"say": "%s"}', TEXT: b"say %s\n", FRAMED: b"say %s\n\n"}
START = {LINES: b'"STARTTLS"\n', VALUES: b'"STARTTLS"', TEXT: b"STARTTLS\n", FRAMED: b"STARTTLS\n"}


def say(spec: str, words: bytes) -> bytes:
    return SAID[spec] % words


def sent(run: Run) -> list[str]:
    return [effect.message for effect in run.effects if isinstance(effect, Send)]


# -- the session, which sees no TLS ------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", SAID, ids=["lines", "json", "text", "frames"])
@pytest.mark.parametrize("cut", [1, 7, 1000])
@pytest.mark.parametrize("many", [1, 9])
def test_what_stands_behind_the_command_is_thrown_away_however_it_comes(spec: str, cut: int, many: int) -> None:
    run = Run(spec, my={"secure": True})
    plain = START[spec] + say(spec, b"slipped in") * many + say(spec, b"cut off")[:-2]
    secured = False
    for begin in range(0, len(plain), cut):
        if not secured:  # a runtime hands over nothing of it behind the effect
            run.write(0, plain[begin : begin + cut])
            secured = any(isinstance(effect, SecureLink) for effect in run.effects)
    run.write(0, say(spec, b"safe"))

    assert sent(run) == ["GO", "HEARD"]
    assert [effect for effect in run.effects if isinstance(effect, SecureLink)] == [SecureLink(0)]
    run.lose(0)
    assert run.ended == Ended(("safe",), None)


def test_what_was_broken_before_is_whole_behind_it() -> None:
    run = Run(LINES, my={"secure": True})
    run.write(0, START[LINES] + b"x" * 2_000_000)

    run.write(0, say(LINES, b"safe"))

    assert sent(run) == ["GO", "HEARD"]
    assert not any(isinstance(effect, Drop) for effect in run.effects)


def test_a_peer_whose_inbox_was_full_is_read_again() -> None:
    spec = LINES.replace("begin: {let: {heard: []}, then: plain}", "begin: {pause: 1 s, let: {heard: []}, then: plain}")
    run = Run(load_text(spec), my={"secure": True})
    run.write(0, START[LINES] + say(LINES, b"x") * 10)
    run.wait(2)

    kinds = [type(effect) for effect in run.effects if isinstance(effect, SecureLink | Resume)]
    assert kinds == [SecureLink, Resume]
    run.write(0, say(LINES, b"safe"))
    assert sent(run) == ["GO", "HEARD"]


def test_a_branch_that_fails_has_secured_nobody_and_thrown_nothing_away() -> None:
    spec = LINES.replace(
        "send: GO, secure: client, then: safe}", "do: [{secure: client}, {let: {heard: heard + 1}}], then: safe}"
    )
    spec = spec.replace("fault: {drop", "failed: {then: plain}, fault: {drop")
    run = Run(spec, my={"secure": True})
    run.write(0, START[LINES] + say(LINES, b"still there"))

    assert sent(run) == ["HEARD"]
    assert not any(isinstance(effect, SecureLink) for effect in run.effects)


def test_it_is_not_offered_where_the_run_has_no_certificate() -> None:
    run = Run(LINES)
    run.write(0, START[LINES])

    assert sent(run) == ["NO"]


# -- over TCP ----------------------------------------------------------------------------------------------------------


@asynccontextmanager
async def serving(
    spec: str, pem: tuple[Path, Path] | None, *, secure: bool = True
) -> AsyncIterator[tuple[int, list[Ended]]]:
    """Serve a spec; yield its port, and how its sessions ended so far."""
    endings: list[Ended] = []
    ports: list[int] = []
    listening = anyio.Event()

    def on_listening(port: int) -> None:
        ports.append(port)
        listening.set()

    async def run() -> None:
        await serve(
            Program(load_text(spec), "server", {}),
            on_listening=on_listening,
            on_ended=lambda number, ended: endings.append(ended),
            starttls=server_context(*pem) if pem is not None else None,
            my={"secure": secure},
        )

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run)
        with anyio.fail_after(20):
            await listening.wait()
            yield ports[0], endings
            while not endings:
                await anyio.sleep(0.001)
        tasks.cancel_scope.cancel()


async def talked(port: int, talk: Callable[[socket.socket], Any]) -> Any:
    def run() -> Any:
        with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
            return talk(connection)

    with anyio.fail_after(20):
        return await to_thread.run_sync(run)


def line(connection: socket.socket) -> bytes:
    heard = b""
    while not heard.endswith(b"\n"):
        chunk = connection.recv(1)
        if not chunk:
            break
        heard += chunk
    return heard


@pytest.mark.anyio
async def test_both_ends_go_on_in_tls(way: str, pem: tuple[Path, Path]) -> None:
    def talk(connection: socket.socket) -> list[bytes]:
        connection.sendall(b'"STARTTLS"\n')
        said = [line(connection)]
        with client_context(pem[0]).wrap_socket(connection, server_hostname="127.0.0.1") as safe:
            for word in (b"a", b"x" * 20_000):
                safe.sendall(say(LINES, word))
                said.append(line(safe))
        return said

    async with serving(LINES, pem) as (port, endings):
        said = await talked(port, talk)

    assert said == [b'"go on"\n', b'{"heard":"a"}\n', b'{"heard":"%s"}\n' % (b"x" * 20_000)]
    assert endings == [Ended(("a", "x" * 20_000), None)]


@pytest.mark.anyio
async def test_a_client_of_ours_begins_tls_and_is_heard_behind_it(way: str, pem: tuple[Path, Path]) -> None:
    async with serving(LINES, pem) as (port, endings):
        program, address = Program(load_text(LINES), "client", {}), {"server": ("127.0.0.1", port)}
        ended = await join(program, address, None, starttls=client_context(pem[0]))

    assert (ended, endings) == (Ended("hi", None), [Ended(("hi",), None)])


@pytest.mark.anyio
async def test_what_is_slipped_in_behind_the_command_is_not_said_in_tls(way: str, pem: tuple[Path, Path]) -> None:
    def talk(connection: socket.socket) -> bytes:
        connection.sendall(b'"STARTTLS"\n' + say(LINES, b"slipped in") * 2000)  # more than a turn's worth
        assert line(connection) == b'"go on"\n'
        try:
            with client_context(pem[0]).wrap_socket(connection, server_hostname="127.0.0.1") as safe:
                safe.sendall(say(LINES, b"safe"))
                return line(safe)
        except OSError:  # some of it had not been read yet: it is no handshake
            return b"refused"

    async with serving(LINES, pem) as (port, endings):
        said = await talked(port, talk)

    assert said in (b'{"heard":"safe"}\n', b"refused")
    assert endings in ([Ended(("safe",), None)], [Ended((), None)])


@pytest.mark.anyio
@pytest.mark.parametrize("what", ["nonsense", "gone", "silent", "twice", "no certificate"])
async def test_without_a_handshake_the_peer_is_lost_and_nothing_is_said_plain(
    way: str, what: str, pem: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(anyio_transport, "HANDSHAKE_SECONDS", 0.1 if what == "silent" else 10.0)
    spec = LINES.replace(
        "safe: {receive: {", "safe: {send: HEARD('secret'), receive: {START: {send: GO, secure: client, then: safe}, "
    )

    def rest(connection: socket.socket) -> bytes:
        heard = b""
        with suppress(OSError):  # it may be cut off
            while chunk := connection.recv(1000):
                heard += chunk
        return heard

    def talk(connection: socket.socket) -> bytes:
        connection.sendall(b'"STARTTLS"\n')
        if what == "twice":
            assert line(connection) == b'"go on"\n'
            with client_context(pem[0]).wrap_socket(connection, server_hostname="127.0.0.1") as safe:
                assert line(safe) == b'{"heard":"secret"}\n'
                safe.sendall(b'"STARTTLS"\n')
                return rest(safe)
        if what == "nonsense":
            assert line(connection) == b'"go on"\n'
            connection.sendall(b"no handshake\n" * 100)
        elif what == "gone":
            connection.shutdown(socket.SHUT_WR)
        return rest(connection)

    async with serving(spec, None if what == "no certificate" else pem) as (port, endings):
        said = await talked(port, talk)

    assert b"secret" not in said
    assert endings == [Ended((), None)]


@pytest.mark.anyio
async def test_a_client_that_does_not_trust_the_certificate_says_nothing(way: str, pem: tuple[Path, Path]) -> None:
    async with serving(LINES, pem) as (port, endings):
        program, address = Program(load_text(LINES), "client", {}), {"server": ("127.0.0.1", port)}
        ended = await join(program, address, None, starttls=ssl.create_default_context())

    assert (ended, endings) == (Ended("closed", None), [Ended((), None)])


# -- as commands -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["serve", "{spec}", "--secure", "{cert}", "{key}", "--tls", "{cert}", "{key}"], "give one of them"),
        (["serve", "sticks", "--secure", "{cert}", "{key}"], "host of sticks has no 'secure' step"),
        (["serve", "{spec}", "--secure", "{key}", "{key}"], "no certificate"),
        (["join", "{spec}", "127.0.0.1:1", "--secure", "--tls"], "neither --tls nor --token"),
        (["join", "sticks", "127.0.0.1:1", "--secure"], "player of sticks has no 'secure' step"),
    ],
)
def test_what_cannot_be_meant_is_told_in_one_sentence(
    words: list[str], told: str, pem: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = tmp_path / "later.yaml"
    spec.write_text(LINES, encoding="utf-8")

    code = cli.main([word.format(spec=spec, cert=pem[0], key=pem[1]) for word in words])

    captured = capsys.readouterr()
    assert (code, captured.out, captured.err.count("\n")) == (PROBLEMS, "", 1)
    assert told in captured.err
