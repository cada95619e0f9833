"""The player ``malformed`` sends what is no message, in every framing, whole, so that it is judged at once."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from machines.frame_parts import Bit, FrameBits, FrameByte, FrameNumber, NumberKind, Rest
from machines.model import CompositeFrame, FrameBytes, FrameLine, FrameRepeat, FrameSize, FrameUntil, Spec, Wire
from machines.parser.loader import load, rules_modules, shipped
from machines.problems import Place
from machines.wire.codec import Codec, Malformed
from machines.wire.composite_framing import PartsFramer
from machines.wire.framing import FrameError, make_framer
from runtime.players.base import RawAnswer
from runtime.players.faulty import garbled
from runtime.players.registry import open_player
from runtime.players.scripted import questions
from runtime.sessions.game_result import Participant
from runtime.sessions.match import play

HERE = Place("test.yaml", 1, 1)
SPECS = Path(__file__).resolve().parents[1] / "specs"
ALL = [*shipped(), *map(str, sorted([*SPECS.glob("*.yaml"), *SPECS.glob("public/*.yaml")]))]


def said(spec: Spec, messages: tuple[str, ...]) -> bytes:
    async def decide() -> object:
        async with open_player("malformed", spec=spec, name="ann", seed=1) as player:
            return await player.decide("move", (), messages, 1.0)

    answer = anyio.run(decide)
    assert isinstance(answer, RawAnswer)
    return answer.data


def refused(spec: Spec, messages: tuple[str, ...], data: bytes) -> bool:
    """Say whether bytes are malformed to whoever listens for these messages; they must be whole."""
    codec = Codec(spec.wire, spec.frames)
    framer = PartsFramer(spec.wire) if spec.frames else make_framer(spec.wire)
    framer.feed(data)
    try:
        frames = tuple(dict.fromkeys(spec.frames[name] for name in messages if name in spec.frames))
        raw = framer.next(frames) if isinstance(framer, PartsFramer) else framer.next()
        assert raw is not None, "nobody has to wait for more"
        codec.decode(raw)
    except (FrameError, Malformed):
        return True
    return False


@pytest.mark.parametrize("name", ALL, ids=lambda name: Path(name).stem)
def test_to_any_question_of_any_spec_it_sends_what_is_malformed(name: str) -> None:
    spec = load(name)
    asked = [names for role in spec.roles.values() for _, names in questions(spec, role)]
    taken = [names for names in asked if not refused(spec, names, said(spec, names))]

    # Where each byte is a character there is no text that is malformed: what it says is whole, and only odd.
    assert taken == [] or spec.wire.charset == "latin-1"


FRAMES: list[CompositeFrame] = [
    (FrameUntil(".", HERE),),
    (FrameBytes(5, HERE),),
    (FrameLine(None, HERE), FrameBytes(3, HERE)),
    (FrameRepeat(2, (FrameLine(None, HERE), FrameUntil("end", HERE)), HERE),),
    (FrameLine(("$", "n", ""), HERE), FrameBytes("n", HERE), FrameLine(("",), HERE)),
    (FrameLine(None, HERE), FrameLine(("END",), HERE)),
    (FrameSize(NumberKind(2), (FrameNumber(NumberKind(4), "", HERE), FrameBytes(Rest.REST, HERE)), HERE),),
    (FrameRepeat(NumberKind(1), (FrameBytes(NumberKind(0), HERE),), HERE), FrameByte(7, HERE)),
    (FrameBits((Bit(7, "x"), Bit(1, "", 1)), ("x",), HERE), FrameBytes(1, HERE)),
]


@pytest.mark.parametrize("frame", FRAMES, ids=range(len(FRAMES)))
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_what_is_sent_for_a_frame_is_whole_and_no_message(frame: CompositeFrame, end: bytes) -> None:
    wire = Wire(framing="text")
    framer = PartsFramer(wire)
    framer.feed(b"".join(garbled(frame, end)))
    try:
        raw = framer.next([frame])
    except FrameError:
        return
    assert raw is not None
    with pytest.raises(Malformed, match="not UTF-8"):
        Codec(wire, {"IT": frame}).decode(raw)


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@pytest.mark.parametrize(("name", "server", "client"), [("sticks", "host", "player"), ("tsuro", "server", "client")])
def test_a_server_sees_it_as_malformed_at_once(
    name: str, server: str, client: str, backend: str, caplog: pytest.LogCaptureFixture
) -> None:
    spec = load(name, {"reply": "30 s", "think": "500 ms", "seats": "3..3"})
    kinds = ("malformed", "random", "random")
    seats = [
        Participant(who, kind, number)
        for number, (who, kind) in enumerate(zip(("ann", "bob", "cyd"), kinds, strict=True))
    ]

    async def run() -> None:
        with anyio.fail_after(15):
            await play(spec, rules_modules(spec), seats, server=server, client=client, seed=1)

    with caplog.at_level("DEBUG", "accord.session"):
        anyio.run(run, backend=backend)

    told = [record.getMessage() for record in caplog.records]
    assert [text for text in told if text.startswith(f"{server}: ann, peer 0: malformed: ")], told
