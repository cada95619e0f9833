// A player of Tsuro: `node tsuro.js HOST PORT` speaks the protocol itself, `node tsuro.js` is a bot that is asked in lines
// of JSON (accord join tsuro HOST:PORT --player 'exec:node tsuro.js'). Put something better into `choose`.
'use strict';

const PORTS = 'ABCDEFGH';
const OVER = { A: [0, -1, 'F'], B: [0, -1, 'E'], C: [1, 0, 'H'], D: [1, 0, 'G'],
               E: [0, 1, 'B'], F: [0, 1, 'A'], G: [-1, 0, 'D'], H: [-1, 0, 'C'] };  // dx, dy, port across the edge

const inside = (x, y) => x >= 0 && x < 10 && y >= 0 && y < 10;
const tileAt = (grid, x, y) => (inside(x, y) ? grid[x][y] : null);

function walk(grid, port, x, y) {  // to an empty square, or over the board's edge
  for (let tile; (tile = tileAt(grid, x, y));) {
    const link = tile.find(ends => ends.includes(port));
    const [dx, dy, across] = OVER[link[0] === port ? link[1] : link[0]];
    [port, x, y] = [across, x + dx, y + dy];
  }
  return [port, x, y];
}

function stays(grid, tile, port, x, y) {  // whether a token that enters there is still on the board once the tile lies
  grid[x][y] = tile;
  const end = walk(grid, port, x, y);
  grid[x][y] = null;
  return inside(end[1], end[2]);
}

const turns = tile => [0, 2, 4, 6].map(by => tile.map(link => link.map(p => PORTS[(PORTS.indexOf(p) + by) % 8])));

function mayBegin(grid, port, x, y) {  // at the edge, with all squares beside it empty
  const [dx, dy] = OVER[port];
  const beside = [[x, y], [x - 1, y], [x + 1, y], [x, y - 1], [x, y + 1]];
  return !inside(x + dx, y + dy) && beside.every(([i, j]) => !tileAt(grid, i, j));
}

function choose(grid, places, tiles) {  // [tile, port, x, y]; all in `options` that keep the token on the board are legal
  const options = places.flatMap(([port, x, y]) => tiles.flatMap(turns).map(tile => [tile, port, x, y]));
  return options.find(([tile, port, x, y]) => stays(grid, tile, port, x, y)) || options[0];
}

function initial([grid], hand, token) {
  const places = [];
  for (let x = 0; x < 10; x++)
    for (let y = 0; y < 10; y++)
      for (const port of PORTS) if (mayBegin(grid, port, x, y)) places.push([port, x, y]);
  return [token, ...choose(grid, places, hand)];
}

function intermediate([grid, starts], hand, token) {
  const start = starts.find(one => one[0] === token);
  const [tile, , x, y] = choose(grid, [walk(grid, ...start.slice(1))], hand);
  return [tile, x, y];
}

function parsed(line) {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;  // no JSON
  }
}

function eachLine(stream, take) {  // a read may bring half a message, or several
  let kept = '';
  stream.setEncoding('utf8');
  stream.on('data', text => {
    const lines = (kept + text).split('\n');
    kept = lines.pop();
    for (const line of lines) if (line.trim()) take(parsed(line));
  });
}

if (process.argv.length > 3) {
  const link = require('net').createConnection({ host: process.argv[2], port: +process.argv[3], noDelay: true });
  const say = value => link.write(JSON.stringify(value) + '\n');
  const leave = () => link.destroy();  // it says what nobody may say now: so does not go on with it
  let token = null, begun = false;
  link.on('connect', () => say('js'));
  link.on('error', () => process.exit(1));
  link.on('end', () => link.end());
  eachLine(link, said => {
    if (Array.isArray(said) && said.length === 3) link.end();  // the end: winners, losers, board
    else if (token === null && typeof said === 'string' && said !== 'started') token = said;
    else if (token !== null && !begun && said === 'started') begun = true;
    else if (!begun || !Array.isArray(said)) leave();
    else say(said[1].length === 3 ? initial(said[0], said[1], token) : intermediate(said[0], said[1], token));
  });
} else {
  eachLine(process.stdin, said => {
    if (!('ask' in said)) return;
    const { board, token, hand, tiles } = said.arguments;
    const answer = said.ask === 'initial' ? initial(board, hand, token) : intermediate(board, tiles, token);
    process.stdout.write(JSON.stringify(answer) + '\n');
  });
}
