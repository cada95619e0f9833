// A player of Tsuro: `./tsuro HOST PORT` speaks the protocol itself, `./tsuro` is a bot that is asked in lines of JSON
// (accord join tsuro HOST:PORT --player exec:./tsuro). Build: go build -o tsuro tsuro.go.
// Put something better into choose.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
)

type tile [4][2]string // four links of two ports each
type grid [][]*tile    // nil where nothing lies; the outer index is x

type spot struct {
	port string
	x, y int
}

type board struct {
	grid   grid
	starts []start
}

type start struct {
	token string
	at    spot
}

const ports, across = "ABCDEFGH", "FEHGBADC" // across is the port across the edge

var dx, dy = [8]int{0, 0, 1, 1, 0, 0, -1, -1}, [8]int{-1, -1, 0, 0, 1, 1, 0, 0}

func (b *board) UnmarshalJSON(from []byte) error {
	return list(from, &b.grid, &b.starts)
}

func (s *start) UnmarshalJSON(from []byte) error {
	var x, y float64 // 3.0 is a whole number too
	err := list(from, &s.token, &s.at.port, &x, &y)
	s.at.x, s.at.y = int(x), int(y)
	return err
}

// list reads a list of so many values, of these types.
func list(from []byte, into ...any) error {
	var items []json.RawMessage
	if err := json.Unmarshal(from, &items); err != nil {
		return err
	}
	if len(items) != len(into) {
		return errors.New("another length")
	}
	for at, item := range items {
		if err := json.Unmarshal(item, into[at]); err != nil {
			return err
		}
	}
	return nil
}

func inside(at spot) bool { return at.x >= 0 && at.x < 10 && at.y >= 0 && at.y < 10 }

func over(at spot) spot {
	side := strings.Index(ports, at.port)
	return spot{across[side : side+1], at.x + dx[side], at.y + dy[side]}
}

// walk goes to an empty square, or over the board's edge.
func walk(on grid, at spot) spot {
	for inside(at) && on[at.x][at.y] != nil {
		for _, link := range on[at.x][at.y] {
			if link[0] == at.port || link[1] == at.port {
				end := link[0]
				if end == at.port {
					end = link[1]
				}
				at = over(spot{end, at.x, at.y})
				break
			}
		}
	}
	return at
}

// stays tells whether a token that enters there stays on the board once the tile lies.
func stays(on grid, one tile, at spot) bool {
	on[at.x][at.y] = &one
	end := walk(on, at)
	on[at.x][at.y] = nil
	return inside(end)
}

func turned(one tile) tile {
	for at := range one {
		for end, port := range one[at] {
			side := (strings.Index(ports, port) + 2) % 8
			one[at][end] = ports[side : side+1]
		}
	}
	return one
}

func choose(on grid, spots []spot, hand []tile) (tile, spot, error) {
	if len(spots) == 0 || len(hand) == 0 {
		return tile{}, spot{}, errors.New("there is nothing to choose")
	}
	for _, at := range spots {
		for _, one := range hand {
			for quarter := 0; quarter < 4; quarter++ {
				if stays(on, one, at) {
					return one, at, nil
				}
				one = turned(one)
			}
		}
	}
	return hand[0], spots[0], nil
}

// lonely tells whether a square is empty, and so are all beside it.
func lonely(on grid, x, y int) bool {
	for _, port := range ports {
		beside := over(spot{string(port), x, y})
		if inside(beside) && on[beside.x][beside.y] != nil {
			return false
		}
	}
	return on[x][y] == nil
}

func answer(given board, hand []tile, token string) (string, error) {
	first := len(hand) == 3
	var spots []spot
	for x := 0; first && x < 10; x++ {
		for y := 0; y < 10; y++ {
			for _, port := range ports {
				at := spot{string(port), x, y}
				if !inside(over(at)) && lonely(given.grid, x, y) {
					spots = append(spots, at)
				}
			}
		}
	}
	for _, one := range given.starts {
		if !first && one.token == token {
			spots = append(spots, walk(given.grid, one.at))
		}
	}
	one, at, err := choose(given.grid, spots, hand)
	said := []any{one, at.x, at.y}
	if first {
		said = []any{token, one, at.port, at.x, at.y}
	}
	text, _ := json.Marshal(said)
	return string(text), err
}

func bot() error {
	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return nil // all is said
		}
		var asked struct {
			Ask       string
			Arguments struct {
				Board       board
				Hand, Tiles []tile
				Token       string
			}
		}
		if err := json.Unmarshal(line, &asked); err != nil || asked.Ask == "" {
			continue
		}
		given := asked.Arguments
		text, err := answer(given.Board, append(given.Hand, given.Tiles...), given.Token)
		if err != nil {
			return err
		}
		fmt.Println(text) // is written at once
	}
}

func client(address string) error {
	link, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer link.Close()
	fmt.Fprintln(link, `"go"`)
	token, begun := "", false
	for lines := bufio.NewReader(link); ; {
		line, err := lines.ReadBytes('\n') // a read may bring half a message, or several
		if err != nil {
			return nil // gone
		}
		line = bytes.TrimSpace(line)
		var text string
		var items []json.RawMessage
		switch {
		case len(line) == 0:
		case json.Unmarshal(line, &text) == nil && text != "started" && token == "":
			token = text
		case text == "started" && token != "" && !begun:
			begun = true
		case json.Unmarshal(line, &items) == nil && len(items) == 3:
			return nil // the end: winners, losers, board
		case begun && len(items) == 2:
			var given board
			var hand []tile
			if err := list(line, &given, &hand); err != nil {
				return err
			}
			said, err := answer(given, hand, token)
			if err != nil {
				return err
			}
			fmt.Fprintln(link, said)
		default:
			return errors.New("it says what nobody may say now")
		}
	}
}

func main() {
	run := bot
	if len(os.Args) > 2 {
		run = func() error { return client(net.JoinHostPort(os.Args[1], os.Args[2])) }
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
