"""Every framing of ours conforms, and each way not to conform is seen."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from machines.model import Wire
from machines.wire.framing import FrameError, Framer, LineFramer, make_framer
from runtime.testing import NonconformanceError
from runtime.testing.framing import check_framing

JSON = (b"[1]", b'{"a": "]"}', b"12", b"null", b'"x"')


@pytest.mark.parametrize(
    ("framing", "payloads", "broken"),
    [
        ("json", JSON, (b"[1]]", b"hello", b"[[[[[", b'"' + b"x" * 50)),
        ("lines", JSON, (b"x" * 50,)),
        ("text", (b"HELO a", b" ", b"QUIT"), (b"x" * 50,)),
        ("length", (b"", b"hi", b"\0\n"), (b"\0\0\1\0",)),
    ],
)
def test_every_framing_of_ours_conforms(framing: str, payloads: tuple[bytes, ...], broken: tuple[bytes, ...]) -> None:
    wire = Wire(framing=framing, message_bytes_max=40, depth_max=3)  # type: ignore[arg-type]

    check_framing(lambda: make_framer(wire), payloads, broken)


class Lines(LineFramer):
    """A framing for others to break."""

    def __init__(self) -> None:
        super().__init__(40)


class Lazy(Lines):
    def feed(self, chunk: bytes) -> None:
        super().feed(chunk.strip(b"\n") if chunk.count(b"\n") == 1 and len(chunk) == 1 else chunk)


class Greedy(Lines):
    def try_single_message(self, chunk: bytes) -> bytes | None:
        self.feed(chunk)
        return None


class Wrong(Lines):
    def try_single_message(self, chunk: bytes) -> bytes | None:
        return chunk[1:]


class Begun(Lines):
    @property
    def partial(self) -> bool:
        return True


class Forgiving(Lines):
    """Throws away what is too long, and goes on."""

    def next(self) -> bytes | None:
        try:
            return super().next()
        except FrameError:
            self.__init__()  # type: ignore[misc]
            return None


class Forgetful(Lines):
    """Raises, and then begins anew."""

    def next(self) -> bytes | None:
        try:
            return super().next()
        except FrameError:
            self.__init__()  # type: ignore[misc]
            raise


class Hoarding(Lines):
    @property
    def waiting(self) -> int:
        return super().waiting + 7


class Doubling(Lines):
    def __init__(self) -> None:
        super().__init__()
        self.last: bytes | None = None

    def next(self) -> bytes | None:
        found = super().next()
        if found is None:
            found, self.last = self.last, None
        else:
            self.last = found
        return found


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (Lazy, "came 1 messages, and not the 2 that were written"),
        (Greedy, "took the bytes in"),
        (Wrong, "try_single_message gave"),
        (Begun, "partial says that one has begun"),
        (Forgiving, "raises no FrameError"),
        (Forgetful, "once, and then no more|for other reasons"),
        (Hoarding, "took the bytes in|bytes are kept"),
        (Doubling, "came .* as message 2"),
    ],
)
def test_what_does_not_conform_is_seen(make: Callable[[], Framer], text: str) -> None:
    with pytest.raises(NonconformanceError, match=text):
        check_framing(make, (b"one", b"two"), (b"x" * 50,))


def test_one_message_is_too_few_to_tell_anything() -> None:
    with pytest.raises(NonconformanceError, match="two payloads"):
        check_framing(Lines, (b"one",))
