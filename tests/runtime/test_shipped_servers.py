"""Programs that others wrote speak to servers made of specs alone: Python's smtplib, aiosmtplib, the redis client."""

from __future__ import annotations

import asyncio
import json
import shutil
import smtplib
import socket
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiosmtplib
import anyio
import pytest
from anyio import to_thread

from machines.effects import Ended
from machines.engine.session import Program
from machines.parser.loader import load
from runtime.sessions.server import serve

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def serving(
    name: str, stock: bool, role: str = "server", **settings: str
) -> AsyncIterator[tuple[int, list[Ended]]]:
    """Run a shipped spec's server; yield its port, and how its sessions ended so far."""
    endings: list[Ended] = []
    ports: list[int] = []
    listening = anyio.Event()

    def on_listening(port: int) -> None:
        ports.append(port)
        listening.set()

    async def run() -> None:
        program = Program(load(name, settings=settings), role, {})
        await serve(
            program, on_listening=on_listening, on_ended=lambda number, ended: endings.append(ended), stock=stock
        )

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run)
        with anyio.fail_after(20):
            await listening.wait()
            yield ports[0], endings
        tasks.cancel_scope.cancel()


async def in_thread(talk: Callable[[], Any]) -> Any:
    with anyio.fail_after(20):
        return await to_thread.run_sync(talk)


async def until(holds: Callable[[], bool]) -> None:
    with anyio.fail_after(10):
        while not holds():
            await anyio.wait_all_tasks_blocked()
            await to_thread.run_sync(lambda: None)


# -- mail ------------------------------------------------------------------------------------------------------------

BODIES = [
    "Subject: hello\n\nHow are you?",
    "Subject: dots\n\n.\n..\n.one\nin.the middle.\n.",
    "Subject: many\n\n" + "\n".join(f"line {number}" for number in range(2000)),
    "Subject: é\n\n𝄞".encode().decode("latin-1"),  # what is said in UTF-8, as a character for each byte
    "Subject: all bytes\n\n" + "".join(chr(byte) for byte in range(256) if byte not in b"\r\n"),
]


async def test_smtplib_delivers_mail(stock: bool) -> None:
    def deliver(port: int) -> list[Any]:
        with smtplib.SMTP("127.0.0.1", port, timeout=10) as client:
            said: list[Any] = [client.ehlo("me.example")]
            for body in BODIES:
                mail = body.replace("\n", "\r\n").encode("latin-1")  # it sends bytes as they are
                said.append(client.sendmail("ann@example", ["bob@example", "cal@example"], mail))
            return said

    async with serving("smtp", stock) as (port, endings):
        said = await in_thread(lambda: deliver(port))
        await until(lambda: bool(endings))

    assert said == [(250, b"mail.example\nAUTH PLAIN LOGIN\n8BITMIME"), *[{}] * len(BODIES)]
    assert endings[0].failed is None
    # smtplib ends the content with a line end before the dot, as the RFC has it
    assert [letter["content"] for letter in endings[0].value] == BODIES
    assert {letter["recipients"] for letter in endings[0].value} == {("bob@example", "cal@example")}


async def test_a_mail_in_latin_1_is_taken_as_it_is(stock: bool) -> None:
    def deliver(port: int) -> Any:
        with smtplib.SMTP("127.0.0.1", port, timeout=10) as client:
            return client.sendmail("a@b", ["c@d"], b"Subject: caf\xe9\r\n\r\n\xe9\r\n", ["BODY=8BITMIME"])

    async with serving("smtp", stock) as (port, endings):
        assert await in_thread(lambda: deliver(port)) == {}
        await until(lambda: bool(endings))

    assert endings[0].value[0]["content"] == "Subject: café\n\né"


async def test_another_client_delivers_mail_too(stock: bool) -> None:
    async def deliver(port: int) -> list[Any]:
        async with aiosmtplib.SMTP(hostname="127.0.0.1", port=port, timeout=10, start_tls=False) as client:
            return [await client.sendmail("ann@example", ["bob@example"], body.encode("latin-1")) for body in BODIES]

    # It runs on asyncio alone, so it has a loop of its own on each backend.
    async with serving("smtp", stock) as (port, endings):
        said = await in_thread(lambda: asyncio.run(deliver(port)))
        await until(lambda: bool(endings))

    assert [refused for refused, _ in said] == [{}] * len(BODIES)
    assert [letter["content"].rstrip("\n") for letter in endings[0].value] == [body.rstrip("\n") for body in BODIES]


async def test_commands_out_of_order_are_refused_and_the_session_goes_on(stock: bool) -> None:
    def talk(port: int) -> list[int]:
        with smtplib.SMTP("127.0.0.1", port, timeout=10) as client:
            codes = [
                client.docmd(line)[0] for line in ("MAIL FROM:<a@b>", "RCPT TO:<c@d>", "DATA", "RSET", "NOOP", "x")
            ]
            client.helo("me")
            codes += [
                client.docmd(line)[0] for line in ("RCPT TO:<c@d>", "mail from: <a@b>", "DATA", "MAIL FROM:<a@b>")
            ]
            codes += [client.rset()[0], client.docmd("RCPT TO:<c@d>")[0], client.verify("ann")[0]]
            client.sendmail("a@b", ["c@d"], "after all that")
            return codes

    async with serving("smtp", stock) as (port, endings):
        codes = await in_thread(lambda: talk(port))
        await until(lambda: bool(endings))

    assert codes == [503, 503, 503, 250, 250, 500, 503, 250, 503, 503, 250, 503, 252]
    assert [letter["content"] for letter in endings[0].value] == ["after all that"]


@pytest.mark.parametrize("size", [1, 3, 1000])
async def test_commands_and_content_in_one_stream_are_told_apart_by_the_state(stock: bool, size: int) -> None:
    stream = (
        b"EHLO me\r\nMAIL FROM:<a@b> BODY=8BITMIME\r\nRCPT TO:<c@d>\r\nDATA\r\nQUIT\r\n..\r\nRSET\r\n.\r\n"
        b"NOOP\r\nMAIL FROM:<>\r\nRCPT TO:<e@f>\r\nRCPT TO:<g@h>\r\nDATA\r\n.\r\nQUIT\r\nNOOP\r\n"
    )

    def talk(port: int) -> bytes:
        with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
            for at in range(0, len(stream), size):
                connection.sendall(stream[at : at + size])
            heard = b""
            while chunk := connection.recv(65536):
                heard += chunk
            return heard

    async with serving("smtp", stock) as (port, endings):
        heard = await in_thread(lambda: talk(port))
        await until(lambda: bool(endings))

    codes = [line[:3].decode() for line in heard.split(b"\r\n")[:-1] if line[3:4] == b" "]
    assert codes == ["220", "250", "250", "250", "354", "250", "250", "250", "250", "250", "354", "250", "221"]
    assert [(letter["recipients"], letter["content"]) for letter in endings[0].value] == [
        (("c@d",), "QUIT\n.\nRSET"),
        (("e@f", "g@h"), ""),
    ]


async def test_too_long_a_mail_costs_its_sender_only(stock: bool) -> None:
    def flood(port: int) -> bytes:
        with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
            connection.sendall(b"HELO me\r\nMAIL FROM:<a@b>\r\nRCPT TO:<c@d>\r\nDATA\r\n")
            try:
                for _ in range(200):
                    connection.sendall(b"x" * 99_998 + b"\r\n")
                while connection.recv(65536):
                    pass
            except OSError:
                pass
        return b""

    def deliver(port: int) -> Any:
        with smtplib.SMTP("127.0.0.1", port, timeout=10) as client:
            return client.sendmail("a@b", ["c@d"], "short")

    async with serving("smtp", stock) as (port, endings):
        await in_thread(lambda: flood(port))
        assert await in_thread(lambda: deliver(port)) == {}
        await until(lambda: len(endings) == 2)

    assert sorted(len(ended.value) for ended in endings) == [0, 1]


# -- keys and values -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [None, 2])
async def test_the_redis_client_keeps_values(stock: bool, version: int | None) -> None:
    """As it comes: it says HELLO 3 first; with ``protocol=2`` it says nothing."""
    redis: Any = pytest.importorskip("redis")
    every_byte = bytes(range(256))

    def talk(port: int) -> list[Any]:
        how: dict[str, Any] = {"socket_timeout": 10} | ({"protocol": version} if version is not None else {})
        with redis.Redis("127.0.0.1", port, **how) as one:
            said: list[Any] = [one.ping(), one.set("a", "1"), one.get("a"), one.incr("a"), one.incrby("a", 40)]
            said += [one.decr("a"), one.decrby("a", 9), one.exists("a", "b"), one.echo("h\r\n*1 é"), one.get("none")]
            said += [one.set("bytes", every_byte), one.get("bytes") == every_byte, one.mget("a", "none", "bytes")[:2]]
            said += [sorted(one.keys("*")), one.keys("by*"), one.keys("a"), one.keys("b"), one.dbsize()]
            said += [one.type("a"), one.strlen("a"), one.info()["role"], one.client_setname("ann")]
            for command in (("INCR", "bytes"), ("LPUSH", "list", 1), ("SET", "a", 1, "EX"), ("SET", "a", 1, "EX", 0)):
                with pytest.raises(redis.ResponseError):
                    one.execute_command(*command)
            pipe = one.pipeline(transaction=False)
            for number in range(100):
                pipe.set(f"k{number}", number)
            said.append(len(pipe.execute()))
            with redis.Redis("127.0.0.1", port, **how) as other:
                said += [other.get("k99"), other.delete("a", "bytes", "none"), other.get("a")]
            return said

    async with serving("redis", stock) as (port, _):
        said = await in_thread(lambda: talk(port))

    assert said == [
        *(True, True, b"1", 2, 42),
        *(41, 32, 1, "h\r\n*1 é".encode(), None),
        *(True, True, [b"32", None]),
        *([b"a", b"bytes"], [b"bytes"], [b"a"], [], 2),
        *(b"string", 2, "master", True),
        *(100, b"99", 2, None),
    ]


async def test_keys_have_a_time_and_are_set_on_conditions(stock: bool) -> None:
    redis: Any = pytest.importorskip("redis")

    def talk(port: int) -> list[Any]:
        with redis.Redis("127.0.0.1", port, socket_timeout=10) as one:
            said: list[Any] = [one.set("a", "1", ex=100), one.ttl("a"), 99_000 < one.pttl("a") <= 100_000]
            said += [one.set("a", "2", nx=True), one.set("b", "2", nx=True), one.set("c", "3", xx=True), one.get("a")]
            said += [
                one.set("a", "4", xx=True, keepttl=True),
                one.ttl("a"),
                one.persist("a"),
                one.ttl("a"),
                one.ttl("c"),
            ]
            said += [one.expire("b", 50), one.ttl("b"), one.expire("c", 50), one.expire("b", -1), one.get("b")]
            said += [one.set("soon", "gone", px=1), one.set("later", "here", px=1_000_000)]
            while one.exists("soon"):
                pass
            return [*said, one.get("soon"), one.get("later"), one.dbsize()]

    async with serving("redis", stock) as (port, _):
        said = await in_thread(lambda: talk(port))

    assert said == [
        *(True, 100, True),
        *(None, True, None, b"1"),
        *(True, 100, True, -1, -2),
        *(True, 50, False, True, None),
        *(True, True),
        *(None, b"here", 2),
    ]


NODE = {
    "redis": """
        const {createClient} = require('redis');
        const one = createClient({url: 'redis://127.0.0.1:' + process.argv[2]});
        (async () => {
          await one.connect();
          const said = [await one.ping(), await one.set('a', '1', {EX: 10}), await one.get('a'), await one.get('b')];
          said.push(await one.mGet(['a', 'b']), await one.keys('*'), await one.ttl('a'), await one.decrBy('n', 3));
          said.push(await one.del('a'));
          console.log(JSON.stringify(said));
          await one.close();
        })();
    """,
    "ioredis": """
        const Redis = require('ioredis');
        const one = new Redis(Number(process.argv[2]));
        (async () => {
          const said = [await one.ping(), await one.set('a', '1', 'EX', 10), await one.get('a'), await one.get('b')];
          said.push(await one.mget('a', 'b'), await one.keys('*'), await one.ttl('a'), await one.decrby('n', 3));
          said.push(await one.del('a'));
          console.log(JSON.stringify(said));
          await one.quit();
        })();
    """,
}


@pytest.mark.parametrize("package", NODE)
async def test_clients_of_node_keep_values_as_they_come(stock: bool, package: str, tmp_path: Path) -> None:
    node = shutil.which("node")
    found = node and subprocess.run([node, "-e", f"require('{package}')"], capture_output=True, check=False)
    if not node or not found or found.returncode:
        pytest.skip(f"node, or its package {package} (npm install {package}, and NODE_PATH), is not here")
    script = tmp_path / "client.js"
    script.write_text(NODE[package], encoding="utf-8")

    def talk(port: int) -> Any:
        out = subprocess.run([node, script, str(port)], capture_output=True, check=True, timeout=20)
        return json.loads(out.stdout)

    async with serving("redis", stock) as (port, _):
        assert await in_thread(lambda: talk(port)) == ["PONG", "OK", "1", None, ["1", None], ["a"], 10, -3, 1]


async def test_values_and_keys_are_bytes_of_any_kind(stock: bool) -> None:
    redis: Any = pytest.importorskip("redis")
    every = bytes(range(256))

    def talk(port: int) -> list[Any]:
        with redis.Redis("127.0.0.1", port, socket_timeout=10) as one:
            said: list[Any] = [one.set("bin", b"\xff\x00"), one.set(every, every), one.get("bin"), one.get(every)]
            return [*said, one.exists(every, "bin")]

    async with serving("redis", stock) as (port, _):
        assert await in_thread(lambda: talk(port)) == [True, True, b"\xff\x00", every, 2]


@pytest.mark.parametrize("size", [1, 1000])
async def test_what_is_on_the_wire_is_resp(stock: bool, size: int) -> None:
    stream = (
        b"*1\r\n$4\r\nPING\r\n*3\r\n$3\r\nset\r\n$1\r\na\r\n$19\r\n9223372036854775807\r\n*2\r\n$4\r\nINCR\r\n$1\r\na\r\n"
        b"*3\r\n$6\r\nINCRBY\r\n$1\r\na\r\n$2\r\n-7\r\n*2\r\n$3\r\nGET\r\n$1\r\na\r\n*2\r\n$3\r\nGET\r\n$1\r\nb\r\n"
        b"*4\r\n$3\r\nDEL\r\n$1\r\na\r\n$1\r\nb\r\n$1\r\na\r\n*1\r\n$4\r\nQUIT\r\n"
    )

    def talk(port: int) -> bytes:
        with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
            for at in range(0, len(stream), size):
                connection.sendall(stream[at : at + size])
            heard = b""
            while chunk := connection.recv(65536):
                heard += chunk
            return heard

    async with serving("redis", stock) as (port, _):
        heard = await in_thread(lambda: talk(port))

    assert heard == (
        b"+PONG\r\n+OK\r\n-ERR increment or decrement would overflow\r\n:9223372036854775800\r\n"
        b"$19\r\n9223372036854775800\r\n$-1\r\n:1\r\n+OK\r\n"
    )


async def test_a_full_store_refuses_new_keys_and_nonsense_costs_its_sender_only(stock: bool) -> None:
    def talk(port: int) -> tuple[bytes, bytes]:
        with socket.create_connection(("127.0.0.1", port), timeout=10) as good:
            with socket.create_connection(("127.0.0.1", port), timeout=10) as bad:
                bad.sendall(b"*1\r\nhello\r\n")
                nonsense = bad.recv(100)
            for key in (b"a", b"b", b"c"):
                good.sendall(b"*3\r\n$3\r\nSET\r\n$1\r\n" + key + b"\r\n$1\r\n1\r\n")
            good.sendall(b"*1\r\n$4\r\nQUIT\r\n")
            heard = b""
            while chunk := good.recv(65536):
                heard += chunk
            return nonsense, heard

    async with serving("redis", stock, keys_max="2") as (port, _):
        nonsense, heard = await in_thread(lambda: talk(port))

    assert nonsense == b""
    assert heard == b"+OK\r\n+OK\r\n-OOM the store is full\r\n+OK\r\n"
