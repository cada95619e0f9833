"""The broker of ``specs/mqtt.yaml``: paho-mqtt speaks to it over TCP, and its bytes are those of the standard."""

from __future__ import annotations

import asyncio
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from machines.effects import Send
from machines.engine.session import Program
from machines.model import Wire
from machines.parser.loader import load
from machines.verification.verdict import PROVED
from runtime.sessions.client import join
from tests.machines.verification.bench import verdict_of
from tests.runtime.test_shipped_servers import in_thread, serving
from tests.support.session_harness import Run

anyio_test = pytest.mark.anyio
EVERY = bytes(range(256))
CONNECT = b"\x10\x0d\x00\x04MQTT\x04\x02\x00\x3c\x00\x01a"
CONNACK = b"\x20\x02\x00\x00"
PUBACK_7 = b"\x40\x02\x00\x07"


# -- paho-mqtt -------------------------------------------------------------------------------------------------------


class Client:
    """A client of paho-mqtt that waits for what it is answered."""

    def __init__(self, name: str, will: tuple[str, bytes] | None = None) -> None:
        paho: Any = pytest.importorskip("paho.mqtt.client")
        self.told = threading.Condition()
        self.heard: list[tuple[str, bytes, bool]] = []
        self.answers: list[str] = []
        self.client = paho.Client(paho.CallbackAPIVersion.VERSION2, client_id=name)
        self.client.on_connect = lambda *_: self._tell("connected")
        self.client.on_subscribe = lambda _client, _data, _number, codes, _more: self._tell(
            f"granted {[one.value for one in codes]}"
        )
        self.client.on_unsubscribe = lambda *_: self._tell("unsubscribed")
        self.client.on_message = self._hear
        self.client.on_log = lambda _client, _data, _level, text: self._tell(text)
        if will is not None:
            self.client.will_set(*will)

    def _tell(self, text: str) -> None:
        with self.told:
            self.answers.append(text)
            self.told.notify_all()

    def _hear(self, _client: Any, _data: Any, message: Any) -> None:
        with self.told:
            self.heard.append((message.topic, message.payload, bool(message.retain)))
            self.told.notify_all()

    def until(self, answer: str) -> None:
        """Wait until something like this is answered."""
        with self.told:
            assert self.told.wait_for(lambda: any(answer in one for one in self.answers), 15), self.answers

    def hears(self, count: int) -> list[tuple[str, bytes, bool]]:
        """Return the messages that were heard, once there are so many."""
        with self.told:
            assert self.told.wait_for(lambda: len(self.heard) >= count, 15), self.heard
            return list(self.heard)

    def publish(self, topic: str, payload: bytes, quality: int = 1, *, keep: bool = False) -> None:
        """Publish, and wait for what confirms it."""
        found = self.client.publish(topic, payload, quality, keep)
        found.wait_for_publish(15)
        assert found.is_published()


@contextmanager
def client(port: int, name: str, *, alive: int = 60, will: tuple[str, bytes] | None = None) -> Iterator[Client]:
    """Yield a client that is connected."""
    one = Client(name, will)
    one.client.connect("127.0.0.1", port, keepalive=alive)
    one.client.loop_start()
    try:
        one.until("connected")
        yield one
    finally:
        one.client.disconnect()
        one.client.loop_stop()


@anyio_test
async def test_paho_publishes_and_subscribes(stock: bool) -> None:
    def talk(port: int) -> list[tuple[str, bytes, bool]]:
        with client(port, "ann") as ann, client(port, "bob") as bob:
            ann.client.subscribe([("x/#", 1), ("y/+/z", 0)])
            ann.until("granted [0, 0]")
            bob.publish("x", b"", 0)
            for topic in ("x/a/é", "y/q/z", "y/q/r/z", "z/x", "y/z", "x/ends"):
                bob.publish(topic, EVERY)
            return ann.hears(4)

    async with serving("mqtt", stock, "broker") as (port, _):
        heard = await in_thread(lambda: talk(port))

    topics = ["x", "x/a/é", "y/q/z", "x/ends"]
    assert heard == [(topic, EVERY if topic != "x" else b"", False) for topic in topics]


@anyio_test
async def test_a_large_payload_and_a_pipeline_of_many_come_whole_and_in_order(stock: bool) -> None:
    def talk(port: int) -> list[bytes]:
        with client(port, "ann") as ann, client(port, "bob") as bob:
            ann.client.subscribe("t")
            ann.until("granted [0]")
            bob.publish("t", EVERY * 400)
            for number in range(200):
                bob.client.publish("t", str(number).encode(), 1)
            return [payload for _, payload, _ in ann.hears(201)]

    async with serving("mqtt", stock, "broker") as (port, _):
        heard = await in_thread(lambda: talk(port))

    assert heard == [EVERY * 400, *(str(number).encode() for number in range(200))]


@anyio_test
async def test_what_is_kept_is_told_to_who_subscribes_later_until_it_is_emptied(stock: bool) -> None:
    def talk(port: int) -> list[list[tuple[str, bytes, bool]]]:
        found = []
        with client(port, "bob") as bob:
            bob.publish("k/a", b"kept", keep=True)
            for number in range(2):
                with client(port, f"ann{number}") as ann:
                    ann.client.subscribe("k/+")
                    ann.until("granted [0]")
                    bob.publish("k/b", b"now")
                    found.append(ann.hears(2 - number))
                    ann.client.unsubscribe("k/+")
                    ann.until("unsubscribed")
                    bob.publish("k/b", b"to nobody")
                bob.publish("k/a", b"", keep=True)
        return found

    async with serving("mqtt", stock, "broker") as (port, _):
        heard = await in_thread(lambda: talk(port))

    assert heard == [[("k/a", b"kept", True), ("k/b", b"now", False)], [("k/b", b"now", False)]]


@anyio_test
async def test_the_will_of_who_is_lost_is_told_and_of_who_says_farewell_is_not(stock: bool) -> None:
    def talk(port: int) -> list[tuple[str, bytes, bool]]:
        with client(port, "ann") as ann:
            ann.client.subscribe("#")
            ann.until("granted [0]")
            with client(port, "bob", will=("will/bob", b"told by nobody")):
                pass
            with client(port, "cal", will=("will/cal", EVERY)) as cal:
                cal.client.socket().shutdown(socket.SHUT_RDWR)
                return ann.hears(1)

    async with serving("mqtt", stock, "broker") as (port, _):
        assert await in_thread(lambda: talk(port)) == [("will/cal", EVERY, False)]


@anyio_test
async def test_a_client_that_has_nothing_to_say_keeps_its_connection_by_pings(stock: bool) -> None:
    def talk(port: int) -> None:
        with client(port, "ann", alive=1) as ann:
            ann.until("Received PINGRESP")

    async with serving("mqtt", stock, "broker") as (port, _):
        await in_thread(lambda: talk(port))


@anyio_test
@pytest.mark.skipif(shutil.which("mosquitto_sub") is None, reason="mosquitto's clients are not installed")
async def test_the_clients_of_mosquitto_are_served(stock: bool) -> None:
    def talk(port: int) -> bytes:
        with client(port, "bob") as bob:
            bob.publish("a/b", b"hello", keep=True)
            told = ["-p", str(port), "-t", "a/+", "-C", "2"]
            with subprocess.Popen(["mosquitto_sub", *told], stdout=subprocess.PIPE) as hearer:
                subprocess.run(
                    ["mosquitto_pub", "-p", str(port), "-t", "a/c", "-m", "there", "-q", "1", "-r"], check=True
                )
                return hearer.communicate(timeout=15)[0]

    async with serving("mqtt", stock, "broker") as (port, _):
        assert sorted((await in_thread(lambda: talk(port))).split()) == [b"hello", b"there"]


# -- its bytes -------------------------------------------------------------------------------------------------------


def broker(**settings: str) -> Run:
    return Run(load("mqtt", settings=settings), "broker")


def joined(run: Run, raw: bytes = CONNECT) -> int:
    peer = run.join()
    run.write(peer, raw)
    return peer


def sent(run: Run, peer: int) -> bytes:
    return b"".join(effect.data for effect in run.effects if isinstance(effect, Send) and effect.peer == peer)


def packet(first: int, content: bytes) -> bytes:
    """Return a packet whose content is shorter than 16 KiB."""
    size = len(content)
    return bytes([first, *([size] if size < 128 else [size & 0x7F | 0x80, size >> 7])]) + content


def text(raw: bytes) -> bytes:
    return len(raw).to_bytes(2, "big") + raw


@pytest.mark.parametrize("size", [1, 2, 3, 1000])
def test_what_is_on_the_wire_is_the_standard_wherever_it_is_cut(size: int) -> None:
    run = broker()
    hearer = joined(run)
    talker = run.join()
    stream = (
        CONNECT
        + packet(0x82, b"\x00\x01" + text(b"a/+") + b"\x01" + text(b"b") + b"\x02")
        + packet(0x32, text(b"a/x") + b"\x00\x07" + EVERY)
        + packet(0x31, text(b"b") + b"kept")
        + packet(0xA2, b"\x00\x02" + text(b"b") + text(b"never"))
        + packet(0x30, text(b"b") + b"not heard")
        + b"\xc0\x00\xe0\x00"
    )
    run.write(hearer, packet(0x82, b"\xff\xff" + text(b"a/#") + b"\x00"))

    for at in range(0, len(stream), size):
        run.write(talker, stream[at : at + size])

    said = packet(0x30, text(b"a/x") + EVERY)
    assert sent(run, hearer) == CONNACK + b"\x90\x03\xff\xff\x00" + said
    granted, forgotten, pong = b"\x90\x04\x00\x01\x00\x00", b"\xb0\x02\x00\x02", b"\xd0\x00"
    heard_b = packet(0x30, text(b"b") + b"kept")
    assert sent(run, talker) == CONNACK + granted + PUBACK_7 + said + heard_b + forgotten + pong
    assert run.dropped.keys() == {talker}


@pytest.mark.parametrize(
    ("topic", "filters", "others"),
    [
        (b"a", [b"a", b"+", b"#", b"a/#"], [b"b", b"a/+", b"A", b"+/#/", b""]),
        (b"a/b/c", [b"a/b/c", b"a/+/c", b"+/+/+", b"a/b/#", b"#", b"a/b/c/#"], [b"a/b", b"+", b"+/+", b"a/b/+/#/"]),
        (b"/a", [b"/a", b"/+", b"+/a", b"+/+", b"/#"], [b"a", b"+", b"/"]),
        (b"$SYS/x", [b"$SYS/x", b"$SYS/#"], [b"#", b"+/x"]),
    ],
)  # fmt: skip
def test_filters_are_as_the_standard_has_them(topic: bytes, filters: list[bytes], others: list[bytes]) -> None:
    for filter_ in (*filters, *others):
        run = broker()
        peer = joined(run)
        run.write(peer, packet(0x82, b"\x00\x01" + text(filter_) + b"\x00"))
        run.write(peer, packet(0x30, text(topic) + b"x"))

        heard = sent(run, peer).endswith(packet(0x30, text(topic) + b"x"))
        assert heard == (filter_ in filters), filter_


@pytest.mark.parametrize(
    "raw",
    [
        b"\x00\x00", b"GET / HTTP/1.1\r\n\r\n", b"\x10\x00", b"\x30\x01\x00", b"\x82\x02\x00\x01", b"\x36\x00",
        packet(0x30, text(b"a/#") + b"x"), packet(0x82, b"\x00\x01" + text(b"a/b#") + b"\x00"),
        packet(0x82, b"\x00\x01" + text(b"a" + 8 * b"/b") + b"\x00"), packet(0x30, b"\x00\x09a"),
        b"\x30\xff\xff\xff\xff\x7f",
    ],
)  # fmt: skip
def test_nonsense_costs_its_sender_only(raw: bytes) -> None:
    run = broker()
    bad, good = joined(run), joined(run)
    run.write(good, packet(0x82, b"\x00\x01" + text(b"#") + b"\x00"))
    run.write(bad, raw)
    run.wait(91)  # it may be the beginning of something

    assert bad in run.dropped
    run.write(good, packet(0x30, text(b"t") + b"x"))
    assert sent(run, good).endswith(packet(0x30, text(b"t") + b"x")) or good in run.dropped
    assert run.ended is None


def test_who_is_silent_is_dropped_after_one_and_a_half_times_what_it_said_and_its_will_is_told() -> None:
    run = broker()
    hearer = joined(run, packet(0x10, text(b"MQTT") + b"\x04\x02\x00\x00" + text(b"a")))
    run.write(hearer, packet(0x82, b"\x00\x01" + text(b"w") + b"\x00"))
    silent = joined(run, packet(0x10, text(b"MQTT") + b"\x04\x06\x00\x0a" + text(b"b") + text(b"w") + text(b"gone")))
    run.wait(10)
    run.write(silent, b"\xc0\x00")
    run.wait(14.9)
    assert silent not in run.dropped
    run.wait(0.2)
    assert silent in run.dropped
    assert sent(run, hearer).endswith(packet(0x30, text(b"w") + b"gone"))
    run.wait(100_000)
    assert hearer not in run.dropped


def test_as_many_filters_and_topics_as_there_may_be_are_served_and_no_more() -> None:
    run = broker()
    peers = [joined(run) for _ in range(3)]
    levels = b"a/b/c/d/e/f/g/"
    for number in range(500):
        subscribe = b"\x00\x01" + text(levels + b"%d" % number) + b"\x00"
        run.write(peers[number % 2], packet(0x82, subscribe))
    for number in range(150):
        run.write(peers[0], packet(0x31, text(levels + b"%d" % number) + b"x"))
    run.write(peers[0], packet(0x30, text(levels + b"499") + b"end"))
    run.write(peers[2], packet(0x82, b"\x00\x01" + text(b"one more") + b"\x00"))

    assert sent(run, peers[1]).endswith(packet(0x30, text(levels + b"499") + b"end"))
    assert run.dropped.keys() == {peers[2]}
    run.write(peers[0], packet(0xA2, b"\x00\x02" + text(levels + b"0")))
    many = b"".join(text(levels + b"+") + b"\x00" for _ in range(7)) + text(b"#") + b"\x00"
    later = joined(run)
    run.write(later, packet(0x82, b"\x00\x03" + many))
    assert later in run.dropped, "eight filters may be eight more"
    for number in range(2, 16, 2):
        run.write(peers[0], packet(0xA2, b"\x00\x02" + text(levels + b"%d" % number)))
    later = joined(run)
    run.write(later, packet(0x82, b"\x00\x03" + many))
    kept = sent(run, later)
    assert kept.count(b"\x31") >= 100 * 8, "the first hundred topics, for each of its filters"
    assert kept.endswith(b"\x90\x0a\x00\x03" + bytes(8))
    assert run.ended is None
    assert later not in run.dropped


def test_who_has_left_takes_no_room() -> None:
    run = broker(filters_max="10")
    for number in range(30):
        peer = joined(run)
        run.write(peer, packet(0x82, b"\x00\x01" + text(b"%d" % number) + b"\x00"))
        assert sent(run, peer).endswith(b"\x90\x03\x00\x01\x00")
        run.lose(peer) if number % 2 else run.write(peer, b"\xe0\x00")


def test_more_clients_are_served_than_machines_run_where_no_limit_is_set() -> None:
    run = broker()
    assert run.spec.wire.started_max >= run.spec.wire.connections_max
    peers = [joined(run) for _ in range(Wire().started_max + 10)]
    run.write(peers[-1], packet(0x82, b"\x00\x01" + text(b"#") + b"\x00"))
    run.write(peers[0], packet(0x30, text(b"t") + b"x"))

    assert sent(run, peers[-1]).endswith(packet(0x30, text(b"t") + b"x"))
    assert not run.dropped


# -- the other way round: a client of ours ---------------------------------------------------------------------------

HELLO = str(Path(__file__).resolve().parents[1] / "specs" / "public" / "mqtt-hello.yaml")


def test_a_client_is_proved_against_any_broker() -> None:
    assert verdict_of(HELLO).state == PROVED


@contextmanager
def amqtt_broker() -> Iterator[int]:
    """Run a broker of amqtt in a thread; yield its port."""
    brokers: Any = pytest.importorskip("amqtt.broker")
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        listens = {"default": {"type": "tcp", "bind": "127.0.0.1:0"}}
        everybody = {"amqtt.plugins.authentication.AnonymousAuthPlugin": {"allow_anonymous": True}}

        async def begin() -> Any:
            one = brokers.Broker({"listeners": listens, "plugins": everybody})
            await one.start()
            return one

        broker = asyncio.run_coroutine_threadsafe(begin(), loop).result(15)
        yield broker._servers["default"].instance.sockets[0].getsockname()[1]
        asyncio.run_coroutine_threadsafe(broker.shutdown(), loop).result(15)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def said_hello(port: int, stock: bool) -> Any:
    program = Program(load(HELLO), "client", {})
    with anyio.fail_after(20):
        ended = await join(program, {"broker": ("127.0.0.1", port)}, None, my={"name": "ann"}, stock=stock)
    assert ended.failed is None
    return ended.value


@anyio_test
async def test_a_client_of_ours_is_served_by_a_broker_of_ours(stock: bool) -> None:
    async with serving("mqtt", stock, "broker") as (port, _):
        assert await said_hello(port, stock) == "ÿann"


@anyio_test
async def test_a_client_of_ours_is_served_by_a_broker_that_others_wrote(stock: bool) -> None:
    with amqtt_broker() as port:
        assert await said_hello(port, stock) == "ÿann"
