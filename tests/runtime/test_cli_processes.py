"""The command as processes: a server and its clients in terminals of their own, signals, and a person at a pipe."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.parts import by_default

ROOT = Path(__file__).resolve().parent.parent.parent
RANDOM = ("--player", "random", "--player", "random")  # the others, where it does not matter how they play
SECONDS = 60.0  # Until a test gives up; each takes about two.
Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start ``accord`` with some words; whatever still runs at the end of the test is killed."""
    running: list[subprocess.Popen[str]] = []

    def run(*words: str, stdin: str = "") -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "runtime", *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT), "XDG_STATE_HOME": str(tmp_path / "state")},
            # A shell that starts tests in the background would have them ignore Ctrl-C.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )
        running.append(process)
        assert process.stdin is not None
        process.stdin.write(stdin)
        process.stdin.flush()
        return process

    yield run
    for process in running:
        if process.poll() is None:
            process.kill()
        process.communicate()


def ended(process: subprocess.Popen[str]) -> tuple[int, list[Any], str]:
    """Wait for a process; return its exit code, the JSON lines it wrote, and its standard error."""
    out, err = process.communicate(timeout=SECONDS)
    assert "Traceback" not in err
    return process.returncode, [json.loads(line) for line in out.splitlines()], err


def listening(process: subprocess.Popen[str]) -> Any:
    assert process.stdout is not None
    return json.loads(process.stdout.readline())


@pytest.mark.parametrize("backend", by_default(["asyncio", "trio"], ["asyncio"]))
def test_a_server_and_three_clients_play_in_processes_of_their_own(backend: str, start: Start) -> None:
    server = start("serve", "tsuro", "--port", "0", "--json", "--set", "seats=3..3", "--backend", backend)
    facts = listening(server)
    assert facts["spec"] == "tsuro"
    address = facts["listening"]
    assert address == f"127.0.0.1:{facts['port']}"
    clients = [
        start("join", "tsuro", address, "--name", name, "--player", "random", "--json")
        for name in ("ann", "bob", "cleo")
    ]

    code, lines, _ = ended(server)

    assert code == 0
    ranking = lines[-1]["result"]["ranking"]
    assert sorted(name for group in ranking for name in group) == ["ann", "bob", "cleo"]
    for client in clients:
        code, lines, _ = ended(client)
        assert code == 0
        assert lines[-1]["result"]["winners"] == ranking
        assert start("replay", lines[-1]["journal"]).wait(SECONDS) == 0
    assert start("replay", facts["journal"]).wait(SECONDS) == 0


def test_a_fourth_and_fifth_may_join_and_a_sixth_is_refused_at_once(start: Start) -> None:
    # The fifth seat ends the window; silence keeps the game from being over before the sixth comes.
    server = start("serve", "tsuro", "--json", "--set", "wait=1 h", "--set", "reply=10 s")
    address = listening(server)["listening"]
    port = int(address.rpartition(":")[2])
    peers = [socket.create_connection(("127.0.0.1", port), timeout=SECONDS) for _ in range(5)]
    try:
        for number, peer in enumerate(peers):
            peer.sendall(b'"p%d"\n' % number)
        streams = [peer.makefile("r") for peer in peers]
        assert sorted(json.loads(stream.readline()) for stream in streams) == ["black", "blue", "green", "red", "white"]
        assert [json.loads(stream.readline()) for stream in streams] == ["started"] * 5
        for stream in streams:
            stream.close()

        code, lines, err = ended(start("join", "tsuro", address, "--json"))

        assert (code, lines[-1]["turned_away"]) == (1, True)
        assert "ERROR" not in err, "it is told once"
    finally:
        for peer in peers:
            peer.close()
    code, lines, _ = ended(server)
    assert code == 0
    assert len(lines[-1]["result"]["cheaters"]) == 5


@pytest.mark.matrix("backend", "which", strength=1)
@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@pytest.mark.parametrize("which", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_server_cleanly(which: signal.Signals, backend: str, start: Start, tmp_path: Path) -> None:
    server = start("serve", "tsuro", "--json", "--backend", backend)
    facts = listening(server)
    with socket.create_connection(("127.0.0.1", facts["port"]), timeout=SECONDS) as peer:
        peer.sendall(b'"ann"\n')
        assert peer.recv(100) == b'"white"\n'
        server.send_signal(which)

        assert peer.recv(100) == b"", "its peers are told"
    code, lines, err = ended(server)

    assert code == 130
    assert [(line["result"], line["failed"]) for line in lines] == [(None, "it was stopped before its end")]
    where = "main in start_up, hears <peer 0 'ann'>"
    assert lines[0]["stopped"] == {"connections": 1, "ended": 0, "running": 1, "waited_for": where}
    assert lines[0]["journal"] == facts["journal"]
    assert err.endswith(f"journal {facts['journal']}\ninterrupted\n")
    assert json.loads(Path(facts["journal"]).read_text().splitlines()[-1])["end"] is True
    assert start("replay", facts["journal"]).wait(SECONDS) == 0


@pytest.mark.parametrize("backend", by_default(["asyncio", "trio"], ["trio"]))
def test_a_server_with_a_session_for_each_says_how_many_there_were(backend: str, start: Start) -> None:
    server = start("serve", "smtp", "--port", "0", "--no-journal", "--backend", backend)
    assert server.stderr is not None
    port = int(server.stderr.readline().partition(", seed")[0].rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), timeout=SECONDS) as peer, peer.makefile("rw") as stream:
        assert stream.readline().startswith("220 ")
        stream.write("QUIT\r\n")
        stream.flush()
        assert stream.readline().startswith("221 ")
        assert stream.readline() == ""
    with socket.create_connection(("127.0.0.1", port), timeout=SECONDS) as peer:
        assert peer.recv(100).startswith(b"220 ")
        server.send_signal(signal.SIGINT)
        out, _ = server.communicate(timeout=SECONDS)

    assert server.returncode == 130
    assert out.splitlines()[-1] == (
        "it was stopped before its end: 2 connections had come; sessions that had ended: 1, that still ran: 1, waiting "
        "for main in fresh (1)"
    )


def test_a_journal_that_has_reached_its_limit_is_told_of_and_the_server_goes_on(start: Start) -> None:
    server = start("serve", "smtp", "--port", "0", "--json", "--journal-limit", "1")
    facts = listening(server)
    with (
        socket.create_connection(("127.0.0.1", facts["port"]), timeout=SECONDS) as peer,
        peer.makefile("rwb") as stream,
    ):
        assert stream.readline().startswith(b"220 ")
        for _ in range(16):
            stream.write(b"NOOP\r\n" * 1000)
            stream.flush()
            for _ in range(1000):
                assert stream.readline().startswith(b"250 ")
    server.send_signal(signal.SIGINT)
    code, _, err = ended(server)

    assert code == 130
    limit = "its limit of 1 MiB is reached; the run goes on, and a greater --journal-limit keeps more"
    assert [line for line in err.splitlines() if limit in line] == [
        f"WARNING: the journal ends here: {facts['journal']}: {limit}"
    ]
    assert (1 << 20) - 50_000 < Path(facts["journal"]).stat().st_size <= 1 << 20
    assert start("replay", facts["journal"]).wait(SECONDS) == 3


def test_it_says_where_most_sessions_stand(start: Start) -> None:
    server = start("serve", "smtp", "--port", "0", "--json", "--no-journal")
    port = listening(server)["port"]
    helo, mail = b"HELO a\r\n", b"HELO a\r\nMAIL FROM:<a@b.c>\r\n"
    said = [b"", b"", b"", helo, helo, mail, mail + b"RCPT TO:<b@b.c>\r\nDATA\r\n"]
    peers = [socket.create_connection(("127.0.0.1", port), timeout=SECONDS) for _ in said]
    for peer, words in zip(peers, said, strict=True):
        peer.sendall(words)
        heard = b""
        while heard.count(b"\r\n") <= words.count(b"\r\n"):
            heard += peer.recv(1000)
    server.send_signal(signal.SIGINT)

    _, lines, _ = ended(server)

    for peer in peers:
        peer.close()
    stopped = lines[-1]["stopped"]
    assert stopped["running"] == 7
    assert stopped["waited_for"] == "main in fresh (3); main in ready (2); main in addressed (1); others (1)"


def test_a_strategy_that_thinks_for_ever_does_not_keep_the_process(start: Start, tmp_path: Path) -> None:
    (tmp_path / "thinker.py").write_text(
        "import threading\n"
        "class Thinker:\n"
        "    def __init__(self, name, seed): pass\n"
        "    def initial(self, board, hand, token): threading.Event().wait()\n"
    )
    words = ("play", "tsuro", "-q", "--json", "--set", "think=500 ms")

    code, lines, _ = ended(start(*words, "--player", "python:thinker:Thinker", *RANDOM))

    assert code == 0
    assert lines[0]["result"]["cheaters"] == ["player1"]


def test_a_program_of_any_kind_plays(start: Start, tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(
        "import json, sys\n"
        "sys.path.insert(0, sys.argv[1])\n"
        "from rules.players.tsuro import PLAYERS\n"
        "player = PLAYERS['second']('bot', 1)\n"
        "deep = lambda value: tuple(map(deep, value)) if isinstance(value, list) else value\n"
        "for line in sys.stdin:\n"
        "    line = json.loads(line)\n"
        "    if 'ask' in line:\n"
        "        name, fields = getattr(player, line['ask'])(*map(deep, line['arguments'].values()))\n"
        "        print(json.dumps({'message': name, 'holes': fields}), flush=True)\n"
    )
    bot = f"exec:{sys.executable} bot.py {ROOT}"

    _, with_program, _ = ended(start("play", "tsuro", "-q", "--json", "--seed", "1", "--player", bot, *RANDOM))
    _, without, _ = ended(start("play", "tsuro", "-q", "--json", "--seed", "1", "--player", "second", *RANDOM))

    assert with_program[0]["result"] == without[0]["result"]


def test_a_person_plays_by_picking_numbers(start: Start) -> None:
    words = ("play", "tsuro", "--json", "--seed", "1", "--player", "human", *RANDOM)

    code, lines, err = ended(start(*words, stdin="pages\n" + "1\n" * 60))

    assert code == 0
    assert lines[0]["players"][0]["failed"] is None
    assert "player1" not in lines[0]["result"]["cheaters"]
    assert "the token is white" in err
    assert "    1  0,0 from port A: tile 1 as dealt" in err


def test_a_person_who_leaves_the_terminal_is_ejected_and_the_game_goes_on(start: Start) -> None:
    process = start("play", "tsuro", "--json", "-q", "--seed", "1", "--player", "human", *RANDOM, stdin="1\n")

    code, lines, _ = ended(process)

    assert code == 0
    assert lines[0]["result"]["cheaters"] == ["player1"]
    assert "input has ended" in lines[0]["players"][0]["failed"]


def test_who_stops_reading_the_output_causes_no_complaint(start: Start) -> None:
    process = start("list")
    assert process.stdout is not None
    process.stdout.close()

    assert process.wait(SECONDS) == 141
    assert process.stderr is not None
    assert process.stderr.read() == ""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no disk here that is always full")
@pytest.mark.parametrize("words", by_default(["list", "list --json", "--help"], ["list"]))
def test_output_that_cannot_be_written_is_one_sentence(words: str) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "runtime", *words.split()],
            cwd=ROOT,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=SECONDS,
        )

    assert done.returncode == 1
    assert done.stderr == "accord: standard output cannot be written: no space left on device\n"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no disk here that is always full")
@pytest.mark.parametrize("more", by_default(["", "--log info", "--json", "--log debug --json"], ["--log info"]))
def test_a_game_whose_log_cannot_be_written_is_played_and_tells_of_it_where_people_read(more: str) -> None:
    words = "play sticks --seed 1 --no-journal --player random --player random"
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "runtime", *words.split(), *more.split()],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=full,
            text=True,
            timeout=SECONDS,
        )

    assert done.returncode == 0
    if "--json" in more:  # where a program reads, nothing else is written
        assert json.loads(done.stdout)["failed"] is None
    else:
        last = done.stdout.splitlines()[-1]
        assert re.fullmatch(
            r"accord: standard error could not be written: no space left on device "
            r"\(\d+ lines of log and progress are missing\)",
            last,
        )
        assert done.stdout.splitlines()[1].startswith("result: ")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no disk here that is always full")
def test_a_command_that_is_misread_has_its_exit_code_even_where_nothing_can_be_said() -> None:
    with open("/dev/full", "w") as full:
        words = [sys.executable, "-m", "runtime", "nonsense"]
        done = subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=full, text=True, timeout=SECONDS)

    assert (done.returncode, done.stdout) == (2, "")


def test_a_person_is_not_kept_at_a_question_of_a_game_that_is_over(start: Start) -> None:
    with socket.create_server(("127.0.0.1", 0)) as door:
        address = f"127.0.0.1:{door.getsockname()[1]}"
        client = start("join", "tsuro", address, "--player", "human", "--json")
        peer, _ = door.accept()
        with peer:
            assert peer.recv(100) == b'"player"\n'
            tile = [["A", "B"], ["C", "D"], ["E", "F"], ["G", "H"]]
            request = [[[[None] * 10] * 10, []], [tile] * 3]
            peer.sendall(b'"white"\n"started"\n' + json.dumps(request).encode() + b"\n")
            assert client.stderr is not None
            asked = ""
            while "player, initial" not in asked:
                asked += (letter := client.stderr.read(1))
                assert letter, f"it ended without a question: {asked}"

    code, lines, _ = ended(client)

    assert code == 1
    assert "the connection is closed, so no answer can be sent" in lines[-1]["failed"]
    assert start("replay", lines[-1]["journal"]).wait(SECONDS) == 0


@pytest.mark.skipif(os.name != "posix", reason="streams are closed so by a POSIX shell")
@pytest.mark.matrix("words", "output", "code", strength=1)
@pytest.mark.parametrize("words", ["list", "--help", "explain A103", "show sticks --json"])
@pytest.mark.parametrize(("output", "code"), [("2>&-", 0), (">&-", 141), (">&- 2>&-", 141), ("| true", 141)])
def test_a_result_that_nobody_reads_is_told_by_the_exit_code_and_by_no_complaint(
    output: str, code: int, words: str
) -> None:
    # What a pipe's reader leaves behind, the shell would not tell; so a pipe is read by one that has ended.
    pipe = "import os,sys; r, w = os.pipe(); os.close(r); os.dup2(w, 1); os.execv(sys.executable, sys.argv[1:])"
    command = f"{sys.executable} -m runtime {words}"
    shell = f"exec {sys.executable} -c '{pipe}' {command}" if output == "| true" else f"exec {command} {output}"
    done = subprocess.run(["sh", "-c", shell], cwd=ROOT, capture_output=True, text=True, timeout=SECONDS)

    assert (done.returncode, done.stderr) == (code, "")
    assert bool(done.stdout) == (code == 0)


@pytest.mark.skipif(os.name != "posix", reason="streams are closed so by a POSIX shell")
@pytest.mark.parametrize("closed", by_default([">&-", "2>&-", ">&- 2>&-"], [">&- 2>&-"]))
def test_closed_streams_keep_a_fault_what_it_is(closed: str) -> None:
    shell = f"exec {sys.executable} -m runtime pley {closed}"
    done = subprocess.run(["sh", "-c", shell], cwd=ROOT, capture_output=True, text=True, timeout=SECONDS)

    assert (done.returncode, done.stdout) == (2, "")
    assert "Unknown command" in done.stderr if closed == ">&-" else done.stderr == ""


def test_the_help_imports_no_command() -> None:
    code = (
        "import sys\n"
        "from runtime.cli import main\n"
        "main(['--help'])\n"
        "heavy = ('anyio', 'transitions', 'msgspec', 'yaml', 'graphviz', 'jsonschema_rs', 'machines')\n"
        "sys.exit(', '.join(name for name in heavy if name in sys.modules) or 0)\n"
    )

    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=SECONDS)

    assert (done.returncode, done.stderr) == (0, "")


def test_the_module_of_the_command_line_runs_as_the_command_does() -> None:
    words = [sys.executable, "-m", "runtime.cli", "--version"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS, check=True)
    assert re.fullmatch(r"\d+\.\d+\.\d+\n", done.stdout)
