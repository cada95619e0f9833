"""A player of Tsuro: any legal placement, which never leaves the board if that can be helped. See docs/players.md."""

import json
import random
import sys

PORTS = "ABCDEFGH"
OVER = {"A": (0, -1, "F"), "B": (0, -1, "E"), "C": (1, 0, "H"), "D": (1, 0, "G")}  # (dx, dy, port) across the edge
OVER |= {"E": (0, 1, "B"), "F": (0, 1, "A"), "G": (-1, 0, "D"), "H": (-1, 0, "C")}
SQUARES = [(x, y) for x in range(10) for y in range(10)]


def walk(grid, port, x, y):
    """Follow the path that enters the square x,y at a port, to an empty square or over the board's edge."""
    while (x, y) in SQUARES and grid[x][y]:
        port = next(b if a == port else a for a, b in grid[x][y] if port in (a, b))
        dx, dy, port = OVER[port]
        x, y = x + dx, y + dy
    return port, x, y


def may_begin(grid, port, x, y):
    """Tell whether a port lies on the board's edge, and its square and the four beside it are empty."""
    beside = [(x, y), (x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)]
    over = (x + OVER[port][0], y + OVER[port][1])
    return over not in SQUARES and not any(grid[i][j] for i, j in beside if (i, j) in SQUARES)


def stays(grid, tile, port, x, y):
    """Tell whether a token that enters x,y at a port is still on the board when the tile lies there."""
    grid[x][y] = tile
    _, *end = walk(grid, port, x, y)
    grid[x][y] = None
    return tuple(end) in SQUARES


for line in sys.stdin:
    said = json.loads(line)
    if "player" in said:
        random.seed(said["player"])  # The same name, the same game.
    if "ask" not in said:
        continue
    (grid, starts), token = said["arguments"]["board"], said["arguments"]["token"]
    if said["ask"] == "initial":
        hand = said["arguments"]["hand"]
        places = [(port, x, y) for x, y in SQUARES for port in PORTS if may_begin(grid, port, x, y)]
    else:
        hand = said["arguments"]["tiles"]
        places = [walk(grid, *start[1:]) for start in starts if start[0] == token]
    turned = [[[PORTS[(PORTS.index(p) + 2 * q) % 8] for p in link] for link in t] for t in hand for q in range(4)]
    options = [(tile, *place) for place in places for tile in turned]
    tile, port, x, y = random.choice([option for option in options if stays(grid, *option)] or options)
    print(json.dumps([token, tile, port, x, y] if said["ask"] == "initial" else [tile, x, y]), flush=True)
