"""Santorini for people at a terminal: the board in text, what a message shows, and the result in lines.

``board_svg`` draws the same as a picture. Messages are those of all four Santorini protocols.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from rules.santorini_board import CAP, EMPTY, SIDE, WORDS, Board, BoardError, cell_of, place_of, read_board, step_of
from rules.views.santorini_offered import offered
from rules.views.santorini_svg import LETTERS, board_svg, players_of

__all__ = ["EXPLANATION", "board_svg", "board_text", "offered", "pictured", "result_lines", "shown", "verdict"]

WORKERS = 4  # on the board of a game that has begun
EXPLANATION = """\
       0   1   2      A place is row,column: 0,0 is at the top left, north is up.
    0  0   2   1B1    A cell is its height, and the worker on it: B1 is player B's first.
    1  0   1A1 3      A turn: step to a neighbour at most one higher, then build beside it.
    2  .   4   0      Who steps up to 3 wins; who has no turn loses; 4 is closed.
"""


def board_text(board: Any, *, newest: Any = None) -> str:
    """Return the board in 7 lines and a line for each player. ``board`` is as in the messages.

    A cell is its height, a dot for 0, and the worker on it: a letter for its player, in the order of their names, and
    its number. The cell at ``newest``, a place as row and column, is in brackets.

    Raises:
        BoardError: it cannot be read as a board.
    """
    here = read_board(board)
    players = players_of(here)
    marked = cell_of(newest)
    lines = ["     " + "".join(f"{column:<5}" for column in range(SIDE)).rstrip()]
    for row in range(SIDE):
        cells = ""
        for column in range(SIDE):
            cell = SIDE * row + column
            worker = here.worker(cell)
            text = str(here.heights[cell]) if here.heights[cell] or worker else "."
            if worker is not None:
                text += f"{LETTERS[players.index(worker[:-1]) % len(LETTERS)]}{worker[-1]}"
            cells += f"[{text}]".ljust(5) if cell == marked else f" {text}".ljust(5)
        lines.append(f"  {row} {cells}".rstrip())
    for number, player in enumerate(players):
        stands = ", ".join(f"{worker[-1]} at {_at(place_of(cell))}" for worker, cell in here.own(player))
        lines.append(f"  {LETTERS[number % len(LETTERS)]} {player}: {stands}")
    return "\n".join(lines)


def shown(message: str, fields: Mapping[str, Any] | Iterable[tuple[str, Any]]) -> str | None:
    """Return what someone who watches should see of a message of any Santorini protocol, or None for nothing.

    ``fields`` are the message's, by name. A message with a board shows it; an action is one line.
    """
    fields = dict(fields)
    if "board" in fields:
        return _board_shown(message, fields)
    return _action_shown(message, fields) or _news_shown(message, fields)


def _board_shown(message: str, fields: Mapping[str, Any]) -> str:
    """Return the board of a message, and below it what is asked for."""
    due = next((fields[name] for name in ("worker", "wid") if name in fields), None)
    if due is None:
        return _drawn(fields["board"])
    verb = "build with" if message == "prompt_build" else "place"
    return f"{_drawn(fields['board'])}\n  {verb} {in_line(due)}"


def _action_shown(message: str, fields: Mapping[str, Any]) -> str | None:
    """Return what a message says that somebody does, or may do."""
    match message:
        case "placement_request" if "placed" in fields:
            stands = ", ".join(f"{in_line(worker)} at {a},{b}" for worker, a, b in fields["placed"])
            return f"placed so far: {stands or 'nobody'}"
        case "placement_request":
            return _told(fields["last"])
        case "move_build_request":
            return _told(fields["action"])
        case "wid_posn":
            return _told((fields["wid"], fields["posn"]))
        case "wid_move_build_dir":
            return _told((fields["wid"], fields["move_dir"], fields["build_dir"]))
        case "place_worker_request" | "place":
            return f"a worker is placed at {_at(fields['place'])}"
        case "check_placement":
            return f"may a worker be placed at {_at(fields['place'])}?"
        case "turn_request" | "winning_request":
            return _told((fields["worker"], fields["move"], fields.get("build")))
        case "check_turn":
            worker, move, *build = fields["turn"]
            return f"legal? {_told((worker, move, build[0] if build else None))}"
        case "turn":
            return _told((fields["worker"], (fields["ew"], fields["ns"]), (fields["build_ew"], fields["build_ns"])))
        case "winning_move":
            return _told((fields["worker"], (fields["ew"], fields["ns"]), None))
        case "place_request":
            return _asked(fields, f"{in_line(fields['wid'])} is placed at {fields['y']},{fields['x']}")
        case "move_request" | "build_request":
            verb = "moves to" if message == "move_request" else "builds on"
            source, target = f"{fields['y1']},{fields['x1']}", f"{fields['y2']},{fields['x2']}"
            return _asked(fields, f"the worker at {source} {verb} {target}")
        case "check_result" | "rulechecker_response":
            return "it is legal" if fields["ok"] else "it is not legal"
    return None


def _news_shown(message: str, fields: Mapping[str, Any]) -> str | None:
    """Return what a message says of the game: who plays, and who has won."""
    match message:
        case "give_up":
            return "gives up"
        case "new_name" | "playing_as":
            return f"you are called {in_line(fields['name'])}"
        case "internal_name":
            return f"you are called {in_line(fields['internal'])}"
        case "new_player_id":
            return f"you are called {in_line(fields['id'])}"
        case "start_game" | "opponent":
            return f"you play against {in_line(fields['opponent'])}"
        case "game_over":
            return "you have won the game" if fields["won"] else "you have lost the game"
        case "best_n_result":
            return "you have won the series" if fields["won"] else "you have not won the series"
        case "game_result":
            return {"WINNER": "you have won the game", "LOSER": "you have lost the game"}.get(
                fields["verdict"], "you are out for breaking the rules"
            )
        case "game_winner":
            return f"{in_line(fields['winner'])} has won the game"
        case "e_msg":
            return f"an error: {in_line(fields['text'])}"
        case "match_starting" | "game_starting":
            return f"{message.partition('_')[0]} {fields['x']} of {fields['n']} starts"
        case "tournament_over" | "tournament_result" | "results":
            return "\n".join(["the tournament is over", *(f"  {line}" for line in result_lines(fields))])
    return None


def pictured(state: Any, who: str, message: str, fields: Mapping[str, Any]) -> tuple[Any, Callable[[], str] | None]:
    """Return what is known after a message, and how to draw the board that it shows; None if it shows none.

    ``state`` is what this returned for the message before; ``who`` is the client that sent or got it. Where no message
    has a board, it is kept: from what clients do, each with its own workers' numbers.
    """
    if "board" in fields:
        return read_board(fields["board"]), partial(board_svg, fields["board"], turn=who)
    if message in ("wid_posn", "wid_move_build_dir"):
        kept = _done(state or EMPTY, f"{who}{fields['wid']}", fields)
        if message == "wid_posn":
            return kept, partial(board_svg, kept.wire)
        at = kept.cell(f"{who}{fields['wid']}")
        if fields["build_dir"] is None and at is not None:  # it claims to have won
            won = kept.heights[at] == CAP - 1
            return kept, partial(board_svg, kept.wire, lines=[f"{in_line(who)} has won the game"] if won else [])
        return kept, partial(board_svg, kept.wire, turn=_other(kept, who))
    winner = _winner(state, who, message, fields) if state is not None else None
    if winner is None:
        return state, None
    return state, partial(board_svg, state.wire, lines=[f"{in_line(winner)} has won the game"])


def verdict(name: str, message: str, fields: Mapping[str, Any]) -> str | None:
    """Return what a message tells a player called ``name`` of how it ended for it, None for nothing."""
    match message:
        case "game_over" | "best_n_result" | "game_result":
            return _news_shown(message, fields)
        case "game_winner":
            return f"you have {'won' if fields['winner'] == name else 'lost'} the game"
        case "tournament_over" | "tournament_result" | "results" if "won" in fields:
            return f"you have {'won' if fields['won'] else 'not won'} the tournament"
    return None


def _winner(board: Board, who: str, message: str, fields: Mapping[str, Any]) -> str | None:
    """Return who has won by a message that tells the client ``who`` of the end of a game, None if it does not say."""
    match message:
        case "game_over":
            return who if fields["won"] else _other(board, who)
        case "game_result" if fields["verdict"] in ("WINNER", "LOSER"):
            return who if fields["verdict"] == "WINNER" else _other(board, who)
        case "game_winner":
            return str(fields["winner"])
    return None


def _other(board: Board, who: str) -> str | None:
    """Return the player that ``who`` plays against, None if the board does not tell."""
    players = players_of(board)
    others = [player for player in players if player != who]
    return others[0] if len(players) == 2 and len(others) == 1 else None


def _done(board: Board, worker: str, fields: Mapping[str, Any]) -> Board:
    """Return a board after what a worker's player says it does; a further game begins with an empty one."""
    if "posn" in fields:
        cell = cell_of(fields["posn"])
        if len(board.workers) >= WORKERS or board.cell(worker) is not None:
            board = EMPTY
        return board if cell is None else Board(board.heights, (*board.workers, (worker, cell)))
    at = board.cell(worker)
    to = None if at is None else _beside(at, fields["move_dir"])
    if to is None:
        return board
    built = None if fields["build_dir"] is None else _beside(to, fields["build_dir"])
    moved = board.step(worker, to)
    return moved if built is None else moved.raised(built)


def _beside(cell: int, direction: Any) -> int | None:
    step, (row, column) = step_of(direction), place_of(cell)
    return None if step is None else cell_of((row + step[0], column + step[1]))


def result_lines(result: Any) -> list[str]:
    """Return the result of a tournament in lines: the server's table, what a client was told, or None for none.

    The server's is ``tournament.result``; a client's has ``rows`` or ``game_history``, of a game or a series each;
    one that was sent away has a text.
    """
    if isinstance(result, str):
        return [f"out: {in_line(result)}"]
    if not isinstance(result, Mapping):
        return ["no tournament"]
    lines = []
    if "players" in result:
        winners = ", ".join(map(in_line, result["winners"]))
        lines.append(f"won by {winners}" if winners else "nobody won")
        names = [in_line(player["name"]) for player in result["players"]]
        width = max([len("player"), *map(len, names)])
        lines.append(f"{'player':{width}}  series won  games won")
        order = sorted(zip(names, result["players"], strict=True), key=lambda pair: _rank(pair[1]))
        for name, player in order:
            out = "  expelled" if player["expelled"] else ""
            lines.append(f"{name:{width}}  {player['series']:>10}  {player['games']:>9}{out}")
    if "won" in result:
        lines.append("you have won the tournament" if result["won"] else "you have not won the tournament")
    for row in result.get("rows", result.get("game_history", ())):
        lines.append(_row(row))
    expelled = next((result[key] for key in ("expelled", "cheaters", "misbehaved") if key in result), ())
    if expelled:
        lines.append(f"expelled: {', '.join(map(in_line, expelled))}")
    return lines or ["no game was played"]


def _rank(player: Mapping[str, Any]) -> tuple[bool, int, int]:
    return player["expelled"], -player["series"], -player["games"]


def _row(row: Sequence[str]) -> str:
    winner, loser, *remark = row
    text = f"{in_line(winner)} beat {in_line(loser)}"
    return f"{text} ({', '.join(map(in_line, remark))})" if remark else text


def _told(told: Any) -> str:
    """Return an action in words: nothing, a placement, or a turn; directions as any protocol has them."""
    if told is None:
        return "nothing has happened yet"
    if len(told) == 2:
        return f"worker {in_line(told[0])} is placed at {_at(told[1])}"
    worker, move, build = told
    text = f"worker {in_line(worker)} moves {_way(move)}"
    return f"{text} and wins" if build is None else f"{text} and builds {_way(build)}"


def _asked(fields: Mapping[str, Any], text: str) -> str:
    return f"legal? {text}" if fields.get("check") else text


def _way(direction: Any) -> str:
    """Return a direction's word, or it as it was written if it is none."""
    step = step_of(direction)
    return WORDS.get(step, "nowhere") if step is not None else in_line(direction)


def _at(place: Sequence[int]) -> str:
    return f"{place[0]},{place[1]}"


def _drawn(board: Any) -> str:
    """Return the board in text, or why there is none: what a peer wrote must not stop who watches."""
    try:
        return board_text(board)
    except BoardError as error:
        return f"(this board cannot be drawn: {error})"


def in_line(value: Any) -> str:
    """Return a value in one line: an empty text, or one that a terminal might obey, as Python would write it."""
    text = str(value)
    return text if text and text.isprintable() else repr(value)
