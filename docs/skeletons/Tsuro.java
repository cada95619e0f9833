// A player of Tsuro: `java Tsuro.java HOST PORT` speaks the protocol itself, `java Tsuro.java` is a bot that is asked in
// lines of JSON (accord join tsuro HOST:PORT --player 'exec:java Tsuro.java'). Put something better into `choose`.
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

public class Tsuro {
    static final String PORTS = "ABCDEFGH", ACROSS = "FEHGBADC";  // the port across the edge
    static final int[] DX = {0, 0, 1, 1, 0, 0, -1, -1}, DY = {-1, -1, 0, 0, 1, 1, 0, 0};

    record Spot(char port, int x, int y) {}

    record Option(List<String> tile, Spot spot) {}  // a tile is four links of two ports each, like "AF"

    static boolean inside(int x, int y) { return x >= 0 && x < 10 && y >= 0 && y < 10; }

    static Spot over(char port, int x, int y) {
        int at = PORTS.indexOf(port);
        return new Spot(ACROSS.charAt(at), x + DX[at], y + DY[at]);
    }

    static Spot walk(Map<Integer, List<String>> grid, Spot spot) {  // to an empty square, or over the board's edge
        while (inside(spot.x, spot.y) && grid.containsKey(spot.x * 10 + spot.y)) {
            for (String link : grid.get(spot.x * 10 + spot.y)) {
                int end = link.indexOf(spot.port);
                if (end >= 0) {
                    spot = over(link.charAt(1 - end), spot.x, spot.y);
                    break;
                }
            }
        }
        return spot;
    }

    static boolean stays(Map<Integer, List<String>> grid, Option one) {  // whether a token that enters there stays
        int key = one.spot.x * 10 + one.spot.y;
        grid.put(key, one.tile);
        Spot end = walk(grid, one.spot);
        grid.remove(key);
        return inside(end.x, end.y);
    }

    static Option choose(Map<Integer, List<String>> grid, List<Spot> spots, List<List<String>> hand) {
        Option any = null;
        for (Spot spot : spots) {
            for (List<String> tile : hand) {
                for (int quarter = 0; quarter < 8; quarter += 2) {
                    Option one = new Option(turned(tile, quarter), spot);
                    if (stays(grid, one)) return one;
                    if (any == null) any = one;
                }
            }
        }
        return any;
    }

    static List<String> turned(List<String> tile, int by) {
        List<String> found = new ArrayList<>();
        for (String link : tile) {
            StringBuilder turned = new StringBuilder();
            for (char port : link.toCharArray()) turned.append(PORTS.charAt((PORTS.indexOf(port) + by) % 8));
            found.add(turned.toString());
        }
        return found;
    }

    static String answer(List<?> board, List<?> tiles, String token) {
        Map<Integer, List<String>> grid = new LinkedHashMap<>();
        List<?> columns = (List<?>) board.get(0);
        for (int x = 0; x < 10; x++)
            for (int y = 0; y < 10; y++)
                if (((List<?>) columns.get(x)).get(y) instanceof List<?> tile) grid.put(x * 10 + y, read(tile));
        List<List<String>> hand = new ArrayList<>();
        for (Object tile : tiles) hand.add(read((List<?>) tile));
        boolean first = hand.size() == 3;
        List<Spot> spots = new ArrayList<>();
        for (int x = 0; first && x < 10; x++)
            for (int y = 0; y < 10; y++)
                for (char port : PORTS.toCharArray()) if (mayBegin(grid, port, x, y)) spots.add(new Spot(port, x, y));
        for (Object each : (List<?>) board.get(1)) {
            List<?> start = (List<?>) each;
            if (!first && start.get(0).equals(token))
                spots.add(walk(grid, new Spot(start.get(1).toString().charAt(0), number(start.get(2)), number(start.get(3)))));
        }
        Option one = choose(grid, spots, hand);
        List<String> links = new ArrayList<>();
        for (String link : one.tile) links.add("[\"" + link.charAt(0) + "\",\"" + link.charAt(1) + "\"]");
        String tile = "[" + String.join(",", links) + "]", where = one.spot.x + "," + one.spot.y + "]";
        return first ? "[\"" + token + "\"," + tile + ",\"" + one.spot.port + "\"," + where : "[" + tile + "," + where;
    }

    static boolean mayBegin(Map<Integer, List<String>> grid, char port, int x, int y) {  // at the edge, nothing beside it
        Spot beyond = over(port, x, y);
        boolean free = !inside(beyond.x, beyond.y) && !grid.containsKey(x * 10 + y);
        for (char other : PORTS.toCharArray()) {
            Spot beside = over(other, x, y);
            free = free && !(inside(beside.x, beside.y) && grid.containsKey(beside.x * 10 + beside.y));
        }
        return free;
    }

    static int number(Object value) { return ((Double) value).intValue(); }

    static List<String> read(List<?> tile) {
        List<String> found = new ArrayList<>();
        for (Object link : tile) found.add("" + ((List<?>) link).get(0) + ((List<?>) link).get(1));
        return found;
    }

    /** JSON as lists, maps, texts, Doubles, null; true and false are null too, as nobody needs them here. */
    static class Json {
        final String from;
        int at = 0;

        Json(String from) { this.from = from; }

        char peek() {
            while (Character.isWhitespace(from.charAt(at))) at++;
            return from.charAt(at);
        }

        Object value() {
            char next = peek();
            if (next == '"') return text();
            if (next == '[') {
                List<Object> found = new ArrayList<>();
                for (at++; peek() != ']';) {
                    found.add(value());
                    if (peek() == ',') at++;
                }
                at++;
                return found;
            }
            if (next == '{') {
                Map<String, Object> found = new LinkedHashMap<>();
                for (at++; peek() != '}';) {
                    String key = text();
                    peek();
                    at++;  // the colon
                    found.put(key, value());
                    if (peek() == ',') at++;
                }
                at++;
                return found;
            }
            int begin = at;
            while (at < from.length() && ",]} \r\t".indexOf(from.charAt(at)) < 0) at++;
            String word = from.substring(begin, at);
            return List.of("null", "true", "false").contains(word) ? null : Double.valueOf(word);
        }

        String text() {
            StringBuilder found = new StringBuilder();
            for (at++; from.charAt(at) != '"'; at++) {
                if (from.charAt(at) == '\\') at++;
                found.append(from.charAt(at));
            }
            at++;
            return found.toString();
        }
    }

    static void bot() throws IOException {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line; (line = lines.readLine()) != null;) {
            Map<?, ?> said = (Map<?, ?>) new Json(line).value();
            if (!said.containsKey("ask")) continue;
            Map<?, ?> given = (Map<?, ?>) said.get("arguments");
            Object hand = given.containsKey("hand") ? given.get("hand") : given.get("tiles");
            System.out.println(answer((List<?>) given.get("board"), (List<?>) hand, (String) given.get("token")));
            System.out.flush();
        }
    }

    static void say(OutputStream out, String text) throws IOException {
        out.write((text + "\n").getBytes(StandardCharsets.UTF_8));
        out.flush();
    }

    static void client(String host, int port) throws IOException {
        try (Socket link = new Socket(host, port)) {
            link.setTcpNoDelay(true);
            BufferedReader lines = new BufferedReader(new InputStreamReader(link.getInputStream(), StandardCharsets.UTF_8));
            say(link.getOutputStream(), "\"java\"");
            String token = null;
            boolean begun = false;
            for (String line; (line = lines.readLine()) != null;) {
                if (line.isBlank()) continue;
                Object said = new Json(line).value();
                if (said instanceof List<?> end && end.size() == 3) return;  // winners, losers, board
                if (token == null && said instanceof String text && !text.equals("started")) token = text;
                else if (token != null && !begun && "started".equals(said)) begun = true;
                else if (begun && said instanceof List<?> asked)
                    say(link.getOutputStream(), answer((List<?>) asked.get(0), (List<?>) asked.get(1), token));
                else return;  // it says what nobody may say now
            }
        }
    }

    public static void main(String[] words) throws IOException {
        try {
            if (words.length > 1) client(words[0], Integer.parseInt(words[1]));
            else bot();
        } catch (RuntimeException error) {  // no JSON, or of another shape
            System.err.println(error);
            System.exit(1);
        }
    }
}
