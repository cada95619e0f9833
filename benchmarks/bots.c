/* All players of the game of pairs.yaml in one process, for benchmarks: next to no time for thought.
 *
 *     bots PORT PLAYERS
 *
 * Each connects to 127.0.0.1, joins, answers each state with a move and counts moves until the server closes. They
 * connect one after another, each once the one before has sent its name. Prints how many moves were made.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define PLAYERS_MAX 1024
#define BUFFER_BYTES 8192

struct player {
    int socket, filled;
    char buffer[BUFFER_BYTES];
};

static struct player players[PLAYERS_MAX];

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static void put(int socket, const char *text, int size) {
    if (send(socket, text, size, MSG_NOSIGNAL) != size) fail("send");
}

/* Answer one line; return 1 if it was a request for a move. */
static int answer(struct player *player, const char *line, const char *end) {
    static const char game_key[] = "\"game\":\"", turn_key[] = "\"turn\":";
    const char *game = memmem(line, end - line, game_key, sizeof game_key - 1);
    const char *turn = memmem(line, end - line, turn_key, sizeof turn_key - 1);
    if (!game || !turn) return 0;
    game += sizeof game_key - 1;
    int length = (int)((const char *)memchr(game, '"', end - game) - game);
    int number = atoi(turn + sizeof turn_key - 1);
    char text[256];
    int size = snprintf(text, sizeof text, "[\"place\", \"%.*s\", %d, {\"tile\": %d, \"x\": %d, \"y\": 4}]\n",
                        length, game, number, 10 + number % 4, number % 10);
    put(player->socket, text, size);
    return 1;
}

int main(int count, char **words) {
    if (count != 3) return 2;
    int wanted = atoi(words[2]), left = wanted, epoll = epoll_create1(0);
    long moves = 0;
    if (wanted < 1 || wanted > PLAYERS_MAX) return 2;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(words[1]))};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (int i = 0; i < wanted; i++) {
        int one = 1, connected = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(connected, (struct sockaddr *)&address, sizeof address)) fail("connect");
        setsockopt(connected, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        players[i].socket = connected;
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &players[i]};
        if (epoll_ctl(epoll, EPOLL_CTL_ADD, connected, &event)) fail("epoll_ctl");
        char text[64];
        put(connected, text, snprintf(text, sizeof text, "[\"join\", \"player%d\"]\n", i));
    }
    while (left) {
        struct epoll_event events[64];
        int ready = epoll_wait(epoll, events, 64, -1);
        for (int i = 0; i < ready; i++) {
            struct player *player = events[i].data.ptr;
            int got = recv(player->socket, player->buffer + player->filled, BUFFER_BYTES - player->filled, 0);
            if (got <= 0) {
                close(player->socket);
                left--;
                continue;
            }
            player->filled += got;
            char *line = player->buffer, *limit = line + player->filled, *end;
            while ((end = memchr(line, '\n', limit - line))) {
                moves += answer(player, line, end);
                line = end + 1;
            }
            player->filled = (int)(limit - line);
            memmove(player->buffer, line, player->filled);
        }
    }
    printf("%ld\n", moves);
    return 0;
}
