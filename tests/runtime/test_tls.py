"""TLS: the same sessions over secure streams; who does not speak it, or is not trusted, is told so."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Any

import anyio
import pytest

from machines.effects import Ended
from runtime.commands.exit_codes import PROBLEMS, sentence
from runtime.network.tls import TlsFileError, client_context, server_context
from runtime.network.transport import CannotConnectError
from runtime.sessions.client import join
from tests.runtime.fakes import LineSessions, ScriptedPlayer, line_program
from tests.runtime.test_server import Served, read, serving, until

pytestmark = pytest.mark.anyio


async def connect(served: Served, trusted: ssl.SSLContext) -> Any:
    return await anyio.connect_tcp("127.0.0.1", served.port, ssl_context=trusted, tls_standard_compatible=False)


async def test_bytes_go_both_ways_and_the_end_comes_behind_the_last_of_them(
    stock: bool, pem: tuple[Path, Path]
) -> None:
    trusted = client_context(pem[0])
    async with serving(stock, tls=server_context(*pem)) as served:
        one, two = await connect(served, trusted), await connect(served, trusted)
        assert await read(one, b"\n") == b"hello\n"
        assert await read(two, b"\n") == b"hello\n"
        await one.send(b"flood 300000\nall done\n")
        assert await read(one, b"done\n") == b"x" * 300_000 + b"done\n"
        assert await read(two, b"\n") == b"done\n"
        await two.send(b"end well\n")

        assert (await read(two, b"!")).endswith(b"over\n")
        await two.aclose()
        await one.aclose()
        await served.over.wait()
        assert served.ended == Ended("well", None)


async def test_a_client_joins_whom_it_trusts(stock: bool, pem: tuple[Path, Path]) -> None:
    async def think(question: str) -> str:
        return question

    ended: list[Ended] = []
    async with serving(stock, tls=server_context(*pem)) as served:

        async def client() -> None:
            with anyio.fail_after(10):
                program = line_program(connects=("server",))
                address = {"server": ("127.0.0.1", served.port)}
                tls = {"server": client_context(pem[0])}
                ended.append(
                    await join(
                        program, address, ScriptedPlayer(think), stock=stock, tls=tls, make_session=LineSessions()
                    )
                )

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client)
            await until(lambda: bool(served.sessions.made and served.session.peers))
            other = await connect(served, client_context(pem[0]))
            await other.send(b"all end good\n")
            await read(other, b"good\n")
            await other.aclose()

    assert ended == [Ended("good", None)]


async def test_a_server_that_is_not_trusted_is_told_in_one_sentence(stock: bool, pem: tuple[Path, Path]) -> None:
    async with serving(stock, tls=server_context(*pem)) as served:
        with pytest.raises(CannotConnectError, match="not trusted"):
            await _joined(served, client_context(None), stock)


async def test_a_server_without_tls_is_told_in_one_sentence(stock: bool, pem: tuple[Path, Path]) -> None:
    async with serving(stock) as served:
        with pytest.raises(CannotConnectError, match="cannot connect to server at"):
            await _joined(served, client_context(pem[0]), stock)


async def _joined(served: Served, trusted: ssl.SSLContext, stock: bool) -> Ended:
    program = line_program(connects=("server",))
    address = {"server": ("127.0.0.1", served.port)}
    return await join(program, address, None, stock=stock, tls={"server": trusted}, make_session=LineSessions())


async def test_who_does_not_speak_tls_harms_nobody_and_takes_no_seat(stock: bool, pem: tuple[Path, Path]) -> None:
    async with serving(stock, tls=server_context(*pem)) as served:
        plain = await served.connect()
        silent = await served.connect()
        await plain.send(b"all not in TLS\n")
        await read(plain, b"never")
        good = await connect(served, client_context(pem[0]))

        assert await read(good, b"\n") == b"hello\n"
        assert len(served.session.peers) == 1
        for stream in (plain, silent, good):
            await stream.aclose()


@pytest.mark.parametrize("wrong", ["missing", "no certificate", "another key"])
def test_a_file_that_is_no_certificate_is_told_in_one_sentence(
    wrong: str, pem: tuple[Path, Path], tmp_path: Path
) -> None:
    certificate, key = pem
    bad = tmp_path / "bad.pem"
    if wrong == "no certificate":
        bad.write_text("no PEM")
    given = {"missing": (bad, key), "no certificate": (bad, key), "another key": (certificate, certificate)}[wrong]

    with pytest.raises(TlsFileError) as found:
        server_context(*given)
    if wrong != "another key":
        with pytest.raises(TlsFileError, match=r"bad\.pem"):
            client_context(bad)

    assert "\n" not in str(found.value)
    assert sentence(found.value) == (str(found.value), PROBLEMS)
