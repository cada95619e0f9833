"""All players of the game of pairs.yaml in one process, where there is no C compiler: what bots.c does, in Python.

python -m benchmarks.bots PORT PLAYERS
"""

from __future__ import annotations

import re
import selectors
import socket
import sys

_ASKED = re.compile(rb'"game":"([^"]*)","turn":([0-9]+)')


def play(port: int, players: int) -> int:
    """Play until the server has closed every connection; return how many moves were made."""
    poll = selectors.DefaultSelector()
    for index in range(players):
        connection = socket.create_connection(("127.0.0.1", port))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        poll.register(connection, selectors.EVENT_READ, bytearray())
        connection.sendall(b'["join", "player%d"]\n' % index)
    moves = 0
    while poll.get_map():
        for key, _ in poll.select():
            peer, waiting = key.fileobj, key.data
            assert isinstance(peer, socket.socket), "only sockets are registered"
            chunk = peer.recv(65536)
            if not chunk:
                poll.unregister(peer)
                peer.close()
                continue
            waiting += chunk
            while (end := waiting.find(b"\n")) >= 0:
                asked = _ASKED.search(bytes(waiting[:end]))
                del waiting[: end + 1]
                if asked is not None:
                    turn = int(asked[2])
                    tile = (10 + turn % 4, turn % 10)
                    peer.sendall(b'["place", "%b", %d, {"tile": %d, "x": %d, "y": 4}]\n' % (asked[1], turn, *tile))
                    moves += 1
    return moves


if __name__ == "__main__":
    print(play(int(sys.argv[1]), int(sys.argv[2])))
