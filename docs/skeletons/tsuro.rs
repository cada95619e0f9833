// A player of Tsuro: `./tsuro HOST PORT` speaks the protocol itself, `./tsuro` is a bot that is asked in lines of JSON
// (accord join tsuro HOST:PORT --player exec:./tsuro). Build: rustc --edition 2021 -O tsuro.rs -o tsuro.
// Put something better into `choose`.
use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Write};
use std::net::TcpStream;
use std::process::ExitCode;

enum Json {
    // of JSON what is needed here: texts, whole numbers, null, lists, objects
    Nothing,
    Number(i32),
    Text(String),
    List(Vec<Json>),
    Object(HashMap<String, Json>),
}

impl Json {
    fn read(line: &[u8]) -> Option<Json> {
        let mut at = 0;
        let found = value(line, &mut at)?;
        peek(line, &mut at).is_none().then_some(found)
    }
    fn items(&self) -> Option<&[Json]> {
        if let Json::List(items) = self { Some(items) } else { None }
    }
    fn text(&self) -> Option<&str> {
        if let Json::Text(text) = self { Some(text) } else { None }
    }
    fn number(&self) -> Option<i32> {
        if let Json::Number(number) = self { Some(*number) } else { None }
    }
}

fn peek(from: &[u8], at: &mut usize) -> Option<u8> {
    while from.get(*at)?.is_ascii_whitespace() {
        *at += 1;
    }
    from.get(*at).copied()
}

fn string(from: &[u8], at: &mut usize) -> Option<String> {
    let mut found = Vec::new();
    *at += 1;
    while *from.get(*at)? != b'"' {
        if from[*at] == b'\\' {
            *at += 1;
        }
        found.push(*from.get(*at)?);
        *at += 1;
    }
    *at += 1;
    String::from_utf8(found).ok()
}

fn value(from: &[u8], at: &mut usize) -> Option<Json> {
    let next = peek(from, at)?;
    if next == b'"' {
        return string(from, at).map(Json::Text);
    }
    if next == b'[' || next == b'{' {
        let (mut items, mut fields) = (Vec::new(), HashMap::new());
        *at += 1;
        while !matches!(peek(from, at)?, b']' | b'}') {
            if next == b'[' {
                items.push(value(from, at)?);
            } else {
                let key = string(from, at)?;
                peek(from, at)?;
                *at += 1; // the colon
                fields.insert(key, value(from, at)?);
            }
            if peek(from, at)? == b',' {
                *at += 1;
            }
        }
        *at += 1;
        return Some(if next == b'[' { Json::List(items) } else { Json::Object(fields) });
    }
    let begin = *at;
    while *at < from.len() && !b",]} \r\n\t".contains(&from[*at]) {
        *at += 1;
    }
    match std::str::from_utf8(&from[begin..*at]).ok()? {
        "null" | "true" | "false" => Some(Json::Nothing),
        word => word.parse::<f64>().ok().map(|number| Json::Number(number as i32)),
    }
}

type Tile = [[u8; 2]; 4]; // four links of two ports each
type Grid = Vec<Vec<Option<Tile>>>;
#[derive(Clone, Copy)]
struct Spot {
    port: u8,
    x: i32,
    y: i32,
}

const PORTS: &[u8; 8] = b"ABCDEFGH";
const ACROSS: &[u8; 8] = b"FEHGBADC"; // the port across the edge
const DX: [i32; 8] = [0, 0, 1, 1, 0, 0, -1, -1];
const DY: [i32; 8] = [-1, -1, 0, 0, 1, 1, 0, 0];

fn at(grid: &Grid, x: i32, y: i32) -> Option<&Option<Tile>> {
    grid.get(usize::try_from(x).ok()?)?.get(usize::try_from(y).ok()?) // none over the board's edge
}

fn over(spot: Spot) -> Spot {
    let port = usize::from(spot.port - b'A');
    Spot { port: ACROSS[port], x: spot.x + DX[port], y: spot.y + DY[port] }
}

fn walk(grid: &Grid, mut spot: Spot) -> Spot {
    // to an empty square, or over the board's edge
    while let Some(Some(tile)) = at(grid, spot.x, spot.y) {
        let Some(link) = tile.iter().find(|link| link.contains(&spot.port)) else { return spot };
        spot = over(Spot { port: if link[0] == spot.port { link[1] } else { link[0] }, ..spot });
    }
    spot
}

fn stays(grid: &mut Grid, tile: Tile, spot: Spot) -> bool {
    // whether a token that enters there stays on the board once the tile lies
    grid[spot.x as usize][spot.y as usize] = Some(tile);
    let end = walk(grid, spot);
    grid[spot.x as usize][spot.y as usize] = None;
    at(grid, end.x, end.y).is_some()
}

fn choose(grid: &mut Grid, spots: &[Spot], hand: &[Tile]) -> Option<(Tile, Spot)> {
    let mut any = None;
    for &spot in spots {
        for &tile in hand {
            for quarter in 0..4u8 {
                let turned = tile.map(|link| link.map(|port| PORTS[usize::from((port - b'A' + 2 * quarter) % 8)]));
                if stays(grid, turned, spot) {
                    return Some((turned, spot));
                }
                any = any.or(Some((turned, spot)));
            }
        }
    }
    any
}

fn port(from: &Json) -> Option<u8> {
    from.text()?.bytes().next().filter(|port| PORTS.contains(port))
}

fn read_tile(from: &Json) -> Option<Tile> {
    let mut tile = [[b'A'; 2]; 4];
    for (link, said) in tile.iter_mut().zip(from.items()?) {
        *link = [port(said.items()?.first()?)?, port(said.items()?.get(1)?)?];
    }
    Some(tile)
}

fn read_grid(from: &Json) -> Option<Grid> {
    let column = |said: &Json| Some(said.items()?.iter().map(read_tile).collect::<Vec<_>>());
    let grid: Grid = from.items()?.iter().map(column).collect::<Option<_>>()?;
    (grid.len() == 10 && grid.iter().all(|column| column.len() == 10)).then_some(grid)
}

fn answer(board: &Json, hand: &Json, token: &str) -> Option<String> {
    let mut grid = read_grid(board.items()?.first()?)?;
    let hand = hand.items()?.iter().map(read_tile).collect::<Option<Vec<_>>>()?;
    let first = hand.len() == 3;
    let mut spots = Vec::new();
    if first {
        // at the edge, with all squares beside it empty
        let corners = (0..10).flat_map(|x| (0..10).flat_map(move |y| PORTS.map(|port| Spot { port, x, y })));
        let lonely = |spot: Spot| {
            let beside = |side: &u8| over(Spot { port: *side, ..spot });
            let taken = |side: &u8| matches!(at(&grid, beside(side).x, beside(side).y), Some(Some(_)));
            let beyond = over(spot);
            at(&grid, beyond.x, beyond.y).is_none() && !PORTS.iter().any(taken)
        };
        spots.extend(corners.filter(|&spot| lonely(spot) && grid[spot.x as usize][spot.y as usize].is_none()));
    } else {
        for start in board.items()?.get(1)?.items()? {
            if let [of, from, x, y] = start.items()? {
                if of.text() == Some(token) {
                    spots.push(walk(&grid, Spot { port: port(from)?, x: x.number()?, y: y.number()? }));
                }
            }
        }
    }
    let (tile, spot) = choose(&mut grid, &spots, &hand)?;
    let links = tile.map(|link| format!("[\"{}\",\"{}\"]", char::from(link[0]), char::from(link[1])));
    let (tile, Spot { port, x, y }) = (links.join(","), spot);
    Some(if first {
        format!("[\"{token}\",[{tile}],\"{}\",{x},{y}]", char::from(port))
    } else {
        format!("[[{tile}],{x},{y}]")
    })
}

fn bot() -> Option<()> {
    for line in io::stdin().lines() {
        let Some(Json::Object(said)) = Json::read(line.ok()?.as_bytes()) else { continue };
        if let (Some(_), Some(Json::Object(given))) = (said.get("ask"), said.get("arguments")) {
            let hand = given.get("hand").or(given.get("tiles"))?;
            println!("{}", answer(given.get("board")?, hand, given.get("token")?.text()?)?);
            io::stdout().flush().ok()?;
        }
    }
    Some(())
}

fn client(address: &str) -> Option<()> {
    let mut link = TcpStream::connect(address).ok()?;
    link.set_nodelay(true).ok()?;
    link.write_all(b"\"rust\"\n").ok()?;
    let (mut token, mut begun) = (None, false);
    for line in BufReader::new(link.try_clone().ok()?).split(b'\n') {
        let Ok(line) = line else { return Some(()) }; // gone
        if line.trim_ascii().is_empty() {
            continue;
        }
        let said = Json::read(&line)?; // no JSON: out
        match (&said, &token) {
            (Json::List(items), _) if items.len() == 3 => return Some(()), // the end: winners, losers, board
            (Json::Text(text), None) if text != "started" => token = Some(text.clone()),
            (Json::Text(text), Some(_)) if text == "started" && !begun => begun = true,
            (Json::List(items), Some(token)) if begun && items.len() == 2 => {
                let text = answer(&items[0], &items[1], token)?;
                link.write_all((text + "\n").as_bytes()).ok()?;
            }
            _ => return None, // it says what nobody may say now
        }
    }
    Some(())
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().collect();
    let done = if words.len() > 2 { client(&format!("{}:{}", words[1], words[2])) } else { bot() };
    if done.is_some() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
