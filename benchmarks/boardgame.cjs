// The game of pairs.yaml on boardgame.io: its server, and its players. Needs `npm install boardgame.io socket.io-client`.
//
//     node boardgame.cjs server TURNS           prints its port, serves until it is killed
//     node boardgame.cjs player SEAT PORT PAIRS one seat of so many matches, with boardgame.io's own client
//     node boardgame.cjs bare PORT PAIRS        both seats of so many matches, on socket.io-client: no state of their own
//
// Players end when all their matches are over.
"use strict";

const GAME = "game-0f8fad5b-d9cb-469f-a165-70867728950e";
const BOARD = [...Array(6).keys()].map((row) => [...Array(6).keys()].map((column) => 10 + row + column));
const NEWS =
  "the last tile was laid by the other player, who has the longer road now: ten squares of it, two of them twice; " +
  "it is your turn, and there are as many tiles left as the two of you have laid so far, so think well";

function game(turns) {
  return {
    name: "pairs",
    setup: () => ({ game: GAME, turn: 0, board: BOARD, news: NEWS, x: 0, y: 0 }),
    disableUndo: true,
    turn: { minMoves: 1, maxMoves: 1 },
    moves: {
      place: ({ G }, turn, tile, x, y) => {
        if (turn !== G.turn || tile < 10 || tile > 13 || x < 0 || x > 9 || y < 0 || y > 9) return "INVALID_MOVE";
        Object.assign(G, { turn: turn + 1, x, y });
      },
    },
    endIf: ({ G }) => (G.turn >= turns ? { played: G.turn } : undefined),
  };
}

const move = (turn) => [turn, 10 + (turn % 4), turn % 10, 4];

async function serve(turns) {
  const { Server, Origins } = require("boardgame.io/server");
  const server = Server({ games: [game(turns)], origins: [Origins.LOCALHOST] });
  const { appServer } = await server.run({ port: 0 });
  console.log(JSON.stringify({ port: appServer.address().port }));
}

function countdown(left) {
  return () => {
    if (--left === 0) process.exit(0);
  };
}

function play(seat, port, pairs) {
  const { Client } = require("boardgame.io/client");
  const { SocketIO } = require("boardgame.io/multiplayer");
  const over = countdown(pairs);
  for (let pair = 0; pair < pairs; pair++) {
    const multiplayer = SocketIO({ server: `http://127.0.0.1:${port}`, socketOpts: { transports: ["websocket"] } });
    const client = Client({ game: game(Infinity), multiplayer, playerID: seat, matchID: `pair${pair}`, debug: false });
    let moved = 0; // the turn that it moved in last, which only the server ends
    let ended = false;
    client.subscribe((state) => {
      if (state === null || ended) return;
      if (state.ctx.gameover) {
        ended = true;
        over();
      } else if (state.ctx.currentPlayer === seat && state.ctx.turn > moved) {
        moved = state.ctx.turn;
        const turn = state.G.turn;
        setImmediate(() => client.moves.place(...move(turn)));
      }
    });
    client.start();
  }
}

function playBare(port, pairs) {
  const { io } = require("socket.io-client");
  const over = countdown(2 * pairs);
  for (let number = 0; number < 2 * pairs; number++) {
    const matchID = `pair${number >> 1}`;
    const seat = String(number & 1);
    const socket = io(`http://127.0.0.1:${port}/pairs`, { transports: ["websocket"], forceNew: true });
    const told = (state) => {
      if (state.ctx.gameover) {
        socket.close();
        over();
      } else if (state.ctx.currentPlayer === seat) {
        const payload = { type: "place", args: move(state.G.turn), playerID: seat };
        socket.emit("update", { type: "MAKE_MOVE", payload }, state._stateID, matchID, seat);
      }
    };
    socket.on("update", (_, state) => told(state));
    socket.on("sync", (_, sync) => told(sync.state));
    socket.on("connect", () => socket.emit("sync", matchID, seat, undefined, 2));
  }
}

const [what, ...words] = process.argv.slice(2);
if (what === "server") serve(Number(words[0]));
else if (what === "player") play(words[0], Number(words[1]), Number(words[2]));
else playBare(Number(words[0]), Number(words[1]));
