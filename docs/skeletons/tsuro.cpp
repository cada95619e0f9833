// A player of Tsuro: `./tsuro HOST PORT` speaks the protocol itself, `./tsuro` is a bot that is asked in lines of JSON
// (accord join tsuro HOST:PORT --player exec:./tsuro). Build: g++ -std=c++17 -O2 tsuro.cpp -o tsuro.
// Put something better into `choose`.
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <vector>

struct Json {  // of JSON what is needed here: texts, whole numbers, null, lists, objects
    enum Kind { NOTHING, NUMBER, TEXT, LIST, OBJECT } kind = NOTHING;
    long number = 0;
    std::string text;
    std::vector<Json> items;
    std::map<std::string, Json> fields;
    const Json& operator[](size_t at) const { return items.at(at); }
};

class Reader {
  public:
    explicit Reader(const std::string& from) : from(from) {}
    Json value() {
        Json found;
        char next = peek();
        if (next == '"') {
            found.kind = Json::TEXT;
            found.text = string();
        } else if (next == '[' || next == '{') {
            found.kind = next == '[' ? Json::LIST : Json::OBJECT;
            at++;
            while (peek() != ']' && peek() != '}') {
                if (next == '[') {
                    found.items.push_back(value());
                } else {
                    peek();
                    std::string key = string();
                    peek();
                    at++;  // the colon
                    found.fields[key] = value();
                }
                if (peek() == ',') at++;
            }
            at++;
        } else {
            size_t begin = at;
            while (at < from.size() && std::string(",]} \r\n\t").find(from[at]) == std::string::npos) at++;
            std::string word = from.substr(begin, at - begin);
            if (word != "null" && word != "true" && word != "false") {
                found.kind = Json::NUMBER;
                found.number = static_cast<long>(std::stod(word));
            }
        }
        return found;
    }

  private:
    char peek() {
        while (at < from.size() && std::isspace(static_cast<unsigned char>(from[at]))) at++;
        return from.at(at);
    }
    std::string string() {
        std::string found;
        for (at++; from.at(at) != '"'; at++) {
            if (from[at] == '\\') at++;
            found += from.at(at);
        }
        at++;
        return found;
    }
    const std::string& from;
    size_t at = 0;
};

using Tile = std::vector<std::string>;  // four links of two ports each, like "AF"
struct Spot { char port; int x, y; };
struct Option { Tile tile; Spot spot; };
using Grid = std::vector<std::vector<std::optional<Tile>>>;

const std::string PORTS = "ABCDEFGH", ACROSS = "FEHGBADC";  // the port across the edge
const int DX[] = {0, 0, 1, 1, 0, 0, -1, -1}, DY[] = {-1, -1, 0, 0, 1, 1, 0, 0};

bool inside(int x, int y) { return x >= 0 && x < 10 && y >= 0 && y < 10; }

Spot over(char port, int x, int y) {
    size_t at = PORTS.find(port);
    return {ACROSS[at], x + DX[at], y + DY[at]};
}

Spot walk(const Grid& grid, Spot spot) {  // to an empty square, or over the board's edge
    while (inside(spot.x, spot.y) && grid[spot.x][spot.y]) {
        for (const auto& link : *grid[spot.x][spot.y]) {
            size_t end = link.find(spot.port);
            if (end != std::string::npos) {
                spot = over(link[1 - end], spot.x, spot.y);
                break;
            }
        }
    }
    return spot;
}

bool stays(Grid& grid, const Option& one) {  // whether a token that enters there stays on the board once the tile lies
    grid[one.spot.x][one.spot.y] = one.tile;
    Spot end = walk(grid, one.spot);
    grid[one.spot.x][one.spot.y].reset();
    return inside(end.x, end.y);
}

Option choose(Grid& grid, const std::vector<Spot>& spots, const std::vector<Tile>& hand) {
    std::optional<Option> any;
    for (Spot spot : spots)
        for (Tile tile : hand)
            for (int quarter = 0; quarter < 4; quarter++) {
                Option one{tile, spot};
                if (stays(grid, one)) return one;
                if (!any) any = one;
                for (auto& link : tile)
                    for (auto& port : link) port = PORTS[(PORTS.find(port) + 2) % 8];
            }
    return any.value();
}

Tile read_tile(const Json& from) {
    Tile tile;
    for (const auto& link : from.items) tile.push_back(link[0].text + link[1].text);
    return tile;
}

Grid read_grid(const Json& from) {
    Grid grid(10, std::vector<std::optional<Tile>>(10));
    for (int x = 0; x < 10; x++)
        for (int y = 0; y < 10; y++)
            if (from[x][y].kind == Json::LIST) grid[x][y] = read_tile(from[x][y]);
    return grid;
}

std::string written(const Tile& tile) {
    std::string text;
    for (const auto& link : tile)
        text += std::string(text.empty() ? "[" : ",") + "[\"" + link[0] + "\",\"" + link[1] + "\"]";
    return text + "]";
}

std::string answer(const Json& board, const Json& hand_json, const std::string& token) {
    Grid grid = read_grid(board[0]);
    std::vector<Tile> hand;
    for (const auto& tile : hand_json.items) hand.push_back(read_tile(tile));
    std::vector<Spot> spots;
    bool first = hand.size() == 3;
    for (int x = 0; first && x < 10; x++)
        for (int y = 0; y < 10; y++)
            for (char port : PORTS) {  // at the edge, with all squares beside it empty
                Spot beyond = over(port, x, y);
                bool free = !inside(beyond.x, beyond.y) && !grid[x][y];
                for (char other : PORTS) {
                    Spot beside = over(other, x, y);
                    free = free && !(inside(beside.x, beside.y) && grid[beside.x][beside.y]);
                }
                if (free) spots.push_back({port, x, y});
            }
    for (const auto& start : board[1].items)
        if (!first && start[0].text == token)
            spots.push_back(walk(grid, {start[1].text[0], int(start[2].number), int(start[3].number)}));
    Option one = choose(grid, spots, hand);
    std::string where = std::to_string(one.spot.x) + "," + std::to_string(one.spot.y) + "]";
    if (!first) return "[" + written(one.tile) + "," + where;
    return "[\"" + token + "\"," + written(one.tile) + ",\"" + one.spot.port + "\"," + where;
}

int bot() {
    for (std::string line; std::getline(std::cin, line);) {
        Json said = Reader(line).value();
        if (!said.fields.count("ask")) continue;
        auto& given = said.fields["arguments"].fields;
        const Json& hand = given.count("hand") ? given["hand"] : given["tiles"];
        std::cout << answer(given["board"], hand, given["token"].text) << std::endl;  // endl flushes
    }
    return 0;
}

bool say(int link, const std::string& text) {
    std::string line = text + "\n";
    for (size_t sent = 0; sent < line.size();) {
        ssize_t count = send(link, line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
        if (count <= 0) return false;
        sent += size_t(count);
    }
    return true;
}

int client(const char* host, const char* port) {
    addrinfo wanted{}, *found = nullptr;
    wanted.ai_socktype = SOCK_STREAM;
    if (getaddrinfo(host, port, &wanted, &found) != 0) return 1;
    int link = socket(found->ai_family, found->ai_socktype, found->ai_protocol);
    if (link < 0 || connect(link, found->ai_addr, found->ai_addrlen) != 0) return 1;
    freeaddrinfo(found);
    say(link, "\"cpp\"");
    std::string kept, token;
    bool begun = false;
    char chunk[65536];
    for (ssize_t count; (count = recv(link, chunk, sizeof chunk, 0)) > 0;) {
        kept.append(chunk, size_t(count));  // a read may bring half a message, or several
        for (size_t end; (end = kept.find('\n')) != std::string::npos; kept.erase(0, end + 1)) {
            std::string line = kept.substr(0, end);
            if (line.find_first_not_of(" \r\t") == std::string::npos) continue;
            try {
                Json said = Reader(line).value();
                if (said.items.size() == 3) return close(link);  // the end: winners, losers, board
                bool starts = said.kind == Json::TEXT && said.text == "started";
                if (token.empty() && said.kind == Json::TEXT && !starts) {
                    token = said.text;
                } else if (!token.empty() && !begun && starts) {
                    begun = true;
                } else if (!begun || said.kind != Json::LIST || !say(link, answer(said[0], said[1], token))) {
                    return 1;  // it says what nobody may say now
                }
            } catch (const std::exception&) {
                return 1;  // no JSON, or of another shape
            }
        }
    }
    return close(link);
}

int main(int count, char** words) { return count > 2 ? client(words[1], words[2]) : bot(); }
