"""A server stopped for longer than a limit: who had answered in time is in time, who had not is late."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
REPLY_SECONDS = 0.4
SPEC = """
protocol: stopped
wire: {framing: lines}
connects: {client: server}
messages: {client: {ANSWER: answer}, server: {ASK: ask, TAKEN: taken, LATE: late}}
roles:
  server:
    main(client):
      asked: {send: ASK, within: 400 ms, receive: {ANSWER: taken}, timeout: late, fault: {return: null}}
      taken: {send: TAKEN, return: null}
      late: {send: LATE, return: null}
  client:
    main:
      always: {within: 1 min, fault: {return: null}}
      begin: {receive: {ASK: {send: ANSWER, then: end}}}
      end: {receive: {TAKEN: {return: null}, LATE: {return: null}}}
"""


@pytest.mark.whole
@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="no process can be stopped here")
@pytest.mark.parametrize("answers", [True, False], ids=["answered", "silent"])
@pytest.mark.parametrize("backend", ["asyncio", "uvloop", "trio"])
def test_a_stopped_server_holds_it_against_nobody_who_had_answered(tmp_path: Path, backend: str, answers: bool) -> None:
    pytest.importorskip(backend)
    path = tmp_path / "stopped.yaml"
    path.write_text(SPEC)
    words = [sys.executable, "-m", "runtime", "serve", str(path), "--port", "0", "--json", "--no-journal"]
    with subprocess.Popen(
        [*words, "--backend", backend], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as server:
        try:
            assert server.stdout is not None
            port = json.loads(server.stdout.readline())["port"]
            with socket.create_connection(("127.0.0.1", port), timeout=60) as client, client.makefile("rb") as said:
                assert said.readline() == b'"ask"\n'
                os.kill(server.pid, signal.SIGSTOP)
                if answers:
                    client.sendall(b'"answer"\n')
                client.settimeout(2 * REPLY_SECONDS)
                with pytest.raises(TimeoutError):
                    client.recv(1)
                client.settimeout(60)
                os.kill(server.pid, signal.SIGCONT)
                assert said.readline() == (b'"taken"\n' if answers else b'"late"\n')
        finally:
            server.kill()
