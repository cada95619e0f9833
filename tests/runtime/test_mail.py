"""Mail in TLS and with a name: STARTTLS and AUTH, with smtplib and aiosmtplib as clients, and aiosmtpd as a server."""

from __future__ import annotations

import asyncio
import base64
import smtplib
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import aiosmtplib
import anyio
import pytest
from anyio import to_thread

from machines.effects import Ended
from machines.engine.session import Program
from machines.parser.loader import load
from runtime.network.tls import client_context, server_context
from runtime.sessions.client import join
from runtime.sessions.server import serve
from tests.runtime.fakes import ScriptedPlayer

pytestmark = pytest.mark.anyio

Pem = tuple[Path, Path]
LETTER = b"Subject: caf\xe9\r\n\r\n.\r\n\xff\x80\r\n"


@asynccontextmanager
async def serving(pem: Pem | None, stock: bool, **settings: str) -> AsyncIterator[tuple[int, list[Ended]]]:
    """Serve mail, with a certificate for STARTTLS or none; yield the port, and how sessions ended so far."""
    endings: list[Ended] = []
    ports: list[int] = []
    listening = anyio.Event()

    def on_listening(port: int) -> None:
        ports.append(port)
        listening.set()

    async def run() -> None:
        await serve(
            Program(load("smtp", settings={"password": "open ÿ", **settings}), "server", {}),
            on_listening=on_listening,
            on_ended=lambda number, ended: endings.append(ended),
            starttls=server_context(*pem) if pem is not None else None,
            my={"secure": pem is not None},
            stock=stock,
        )

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run)
        with anyio.fail_after(30):
            await listening.wait()
            yield ports[0], endings
            while not endings:
                await anyio.sleep(0.001)
        tasks.cancel_scope.cancel()


async def in_thread(talk: Callable[[], Any]) -> Any:
    with anyio.fail_after(30):
        return await to_thread.run_sync(talk)


def code_of(talk: Callable[[], Any]) -> int:
    """Return the code with which smtplib is refused."""
    with pytest.raises(smtplib.SMTPResponseException) as refused:
        talk()
    return refused.value.smtp_code


async def test_smtplib_begins_tls_logs_in_and_delivers(stock: bool, pem: Pem) -> None:
    def deliver(port: int) -> list[Any]:
        with smtplib.SMTP("127.0.0.1", port, timeout=20) as client:
            said: list[Any] = [client.ehlo("me")[1], client.docmd("AUTH PLAIN AGFubgBvcGVu")[0]]
            said += [client.starttls(context=client_context(pem[0]))[0], client.docmd("MAIL FROM:<a@b>")[0]]
            said += [client.ehlo("me")[1], client.docmd("STARTTLS")[0], client.docmd("MAIL FROM:<a@b>")[0]]
            client.auth_plain = lambda challenge=None: "\0ann\0wrong"  # type: ignore[method-assign]
            client.user, client.password = "ann", "open ÿ"
            said.append(code_of(lambda: client.auth("PLAIN", client.auth_plain)))
            said.append(client.docmd("AUTH PLAIN", base64.b64encode(b"\0ann\0open \xff").decode())[0])
            return [*said, client.docmd("AUTH PLAIN x")[0], client.sendmail("a@b", ["c@d"], LETTER)]

    async with serving(pem, stock, strangers="0") as (port, endings):
        said = await in_thread(lambda: deliver(port))

    assert said == [
        *(b"mail.example\nSTARTTLS\n8BITMIME", 538),
        *(220, 503),
        *(b"mail.example\nAUTH PLAIN LOGIN\n8BITMIME", 454, 530),
        535,
        235,
        *(503, {}),
    ]
    assert [letter["content"] for letter in endings[0].value] == ["Subject: café\n\n.\nÿ\x80"]


@pytest.mark.parametrize("way_in", ["PLAIN", "LOGIN"])
@pytest.mark.parametrize("at_once", [True, False])
async def test_smtplib_logs_in_either_way(stock: bool, way_in: str, at_once: bool) -> None:
    def talk(port: int) -> list[Any]:
        with smtplib.SMTP("127.0.0.1", port, timeout=20) as client:
            client.ehlo("me")
            client.esmtp_features["auth"] = way_in
            refused = code_of(lambda: client.login("ann", "shut", initial_response_ok=at_once))
            said = client.login("ann", "open", initial_response_ok=at_once)[0]
            return [refused, said]

    async with serving(None, stock, password="open") as (port, _):
        assert await in_thread(lambda: talk(port)) == [535, 235]


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_what_is_no_login_lets_nobody_in(pem: Pem) -> None:
    empty = base64.b64encode(b"\0ann\0").decode()
    lines = [f"AUTH PLAIN {empty}", "AUTH PLAIN !", "AUTH PLAIN", "*", "AUTH LOGIN", "*", "AUTH LOGIN YW5u", "*"]
    lines += ["AUTH DIGEST x", "AUTH PLAIN a b", "AUTH LOGIN", "YW5u", "", "STARTTLS", "NOOP"]

    def talk(port: int) -> list[int]:
        with smtplib.SMTP("127.0.0.1", port, timeout=20) as client:
            return [client.docmd("AUTH PLAIN x")[0], client.ehlo("me")[0], *(client.docmd(line)[0] for line in lines)]

    async with serving(None, stock=False, password="€") as (port, _):
        codes = await in_thread(lambda: talk(port))

    assert codes == [503, 250, 535, 535, 334, 501, 334, 501, 334, 501, 504, 501, 334, 334, 535, 454, 250]


async def test_aiosmtplib_begins_tls_and_logs_in(stock: bool, pem: Pem) -> None:
    async def deliver(port: int) -> Any:
        how: dict[str, Any] = {"username": "ann", "password": "open", "tls_context": client_context(pem[0])}
        async with aiosmtplib.SMTP(hostname="127.0.0.1", port=port, timeout=20, start_tls=True, **how) as client:
            return await client.sendmail("a@b", ["c@d"], LETTER)

    async with serving(pem, stock, strangers="0", password="open") as (port, endings):
        refused, _ = await in_thread(lambda: asyncio.run(deliver(port)))

    assert refused == {}
    assert len(endings[0].value) == 1


async def test_commands_slipped_in_behind_starttls_are_never_carried_out(stock: bool, pem: Pem) -> None:
    """CVE-2011-0411: who stands between client and server may write behind the client's STARTTLS, in plain text."""

    def talk(port: int) -> bytes:
        with socket.create_connection(("127.0.0.1", port), timeout=20) as plain:
            plain.sendall(b"EHLO me\r\nSTARTTLS\r\nEHLO evil\r\nMAIL FROM:<evil@b>\r\nRCPT TO:<c@d>\r\nDATA\r\n")
            heard = b""
            while not heard.endswith(b"220 go on\r\n"):
                heard += plain.recv(1)
            with client_context(pem[0]).wrap_socket(plain, server_hostname="127.0.0.1") as safe:
                safe.sendall(b"NOOP\r\nMAIL FROM:<a@b>\r\nQUIT\r\n")
                said = b""
                while chunk := safe.recv(1000):
                    said += chunk
                return said

    async with serving(pem, stock) as (port, endings):
        said = await in_thread(lambda: talk(port))

    assert said.split(b"\r\n") == [b"250 ok", b"503 bad sequence of commands", b"221 mail.example closes", b""]
    assert endings == [Ended((), None)]


# -- a client of ours --------------------------------------------------------------------------------------------------


class Inbox:
    """What a server of aiosmtpd was handed, and who had logged in."""

    def __init__(self) -> None:
        self.letters: list[tuple[str, list[str], bytes]] = []
        self.logins: list[tuple[str, bytes, bytes]] = []

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802
        self.letters.append((envelope.mail_from, envelope.rcpt_tos, envelope.content))
        return "250 taken"

    def known(self, mechanism: str, login: bytes, password: bytes) -> bool:
        self.logins.append((mechanism, login, password))
        return password == b"open"


@contextmanager
def aiosmtpd_server(pem: Pem) -> Iterator[tuple[int, Inbox]]:
    """Run a server of aiosmtpd that wants TLS and a login; yield its port and what it was handed."""
    controllers: Any = pytest.importorskip("aiosmtpd.controller")
    inbox = Inbox()
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(*pem)
    taken = socket.create_server(("127.0.0.1", 0))
    port = taken.getsockname()[1]
    taken.close()
    wants: dict[str, Any] = {"require_starttls": True, "auth_required": True, "auth_callback": inbox.known}
    one = controllers.Controller(inbox, hostname="127.0.0.1", port=port, tls_context=tls, **wants)
    one.start()
    try:
        yield port, inbox
    finally:
        one.stop()


SAYS = {
    "command": [
        *("EHLO me", "STARTTLS", "EHLO me"),
        f"AUTH PLAIN {base64.b64encode(b'%cann%cshut' % (0, 0)).decode()}",
        *("AUTH LOGIN", "MAIL FROM:<a@b> BODY=8BITMIME", "RCPT TO:<c@d>", "DATA", "QUIT"),
    ],
    "secret": ["YW5u", "b3Blbg=="],
    "content": ["Subject: café\n\n.\nÿ"],
}


async def delivered(port: int, pem: Pem, stock: bool) -> tuple[Ended, list[int]]:
    """Hand a letter over with our client; return how that ended, and the codes of all replies."""
    said = {question: iter(answers) for question, answers in SAYS.items()}

    async def answer(question: str) -> str:
        return next(said[question])

    player = ScriptedPlayer(answer)
    program, addresses = Program(load("smtp"), "client", {}), {"server": ("127.0.0.1", port)}
    with anyio.fail_after(30):
        ended = await join(
            program, addresses, player, stock=stock, starttls=client_context(pem[0]), my={"secure": True}
        )
    return ended, [fields["code"] for message, fields in player.news if message == "REPLY"]


CODES = [220, 250, 220, 250, 535, 334, 334, 235, 250, 250, 354, 250]


async def test_our_client_delivers_to_our_server_in_tls(stock: bool, pem: Pem) -> None:
    async with serving(pem, stock, password="open", strangers="0") as (port, endings):
        assert await delivered(port, pem, stock) == (Ended(None, None), CODES)

    assert [letter["content"] for letter in endings[0].value] == ["Subject: café\n\n.\nÿ"]


async def test_our_client_delivers_to_aiosmtpd_in_tls(stock: bool, pem: Pem) -> None:
    with aiosmtpd_server(pem) as (port, inbox):
        assert await delivered(port, pem, stock) == (Ended(None, None), CODES)

    assert inbox.letters == [("a@b", ["c@d"], b"Subject: caf\xe9\r\n\r\n.\r\n\xff\r\n")]
    assert inbox.logins == [("PLAIN", b"ann", b"shut"), ("LOGIN", b"ann", b"open")]
