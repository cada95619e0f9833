"""A server of mail on raw sockets: ``smtp_server.py PORT [STYLE]``; a style is a way to be right or wrong."""

from __future__ import annotations

import socket
import sys
import threading
import time

RIGHT = ("plain", "trickling", "slow", "other-words", "terse")
TWICE = {"helo-twice": "HELO", "mail-twice": "MAIL FROM:", "rcpt-twice": "RCPT TO:", "noop-twice": "NOOP"}
TWICE |= {"vrfy-twice": "VRFY", "data-twice": "DATA", "rset-twice": "RSET"}
MUTE = {"helo-mute": "HELO", "mail-mute": "MAIL FROM:", "rcpt-mute": "RCPT TO:", "noop-mute": "NOOP"}
MUTE |= {"vrfy-mute": "VRFY", "data-mute": "DATA", "rset-mute": "RSET", "quit-mute": "QUIT"}
CLOSES = {"helo-closes": "HELO", "mail-closes": "MAIL FROM:", "noop-closes": "NOOP", "vrfy-closes": "VRFY"}
CLOSES |= {"rset-closes": "RSET", "quit-without-a-word": "QUIT"}
GREETINGS = {
    "code-too-small": b"99 hello\r\n",
    "code-too-large": b"620 hello\r\n",
    "no-code": b"hello\r\n",
    "no-blank": b"220hello\r\n",
    "two-greetings": b"220 hello\r\n220 hello\r\n",
    "greeting-goes-on": b"220-hello\r\n",
    "no-greeting": b"",
    "half-a-greeting": b"220 hel",
}
VERBS = ("HELO", "EHLO", "MAIL FROM:", "RCPT TO:", "DATA", "RSET", "NOOP", "VRFY", "QUIT", "AUTH", "STARTTLS")


class Mailbox:
    """One connection."""

    def __init__(self, link: socket.socket, style: str) -> None:
        self.link, self.style = link, style
        self.kept = b""
        self.greeted = self.sender = False
        self.recipients = 0

    def say(self, *lines: str) -> None:
        if self.style == "terse":
            lines = tuple(line[:4] for line in lines)
        data = "".join(f"{line}\r\n" for line in lines).encode("latin-1")
        if self.style == "slow":
            time.sleep(0.1)
        if self.style == "trickling":
            for at in range(len(data)):
                self.link.sendall(data[at : at + 1])
        else:
            self.link.sendall(data)

    def line(self) -> str | None:
        while b"\r\n" not in self.kept:
            chunk = self.link.recv(65536)
            if not chunk:
                if self.style == "hangs-on-loss":
                    time.sleep(60)
                return None
            if self.style == "no-buffer":
                return chunk.decode("latin-1").strip("\r\n")
            self.kept += chunk
        line, self.kept = self.kept.split(b"\r\n", 1)
        return line.decode("latin-1")

    def serve(self) -> None:
        style = self.style
        if style in GREETINGS:
            self.link.sendall(GREETINGS[style])
            if style == "half-a-greeting":
                return
        else:
            self.say("220 mail.example ready" if style != "other-words" else "221 good morning to you")
        if style == "leaves-at-once":
            return
        while (line := self.line()) is not None:
            verb = next((one for one in VERBS if self.is_one(line, one)), "")
            if CLOSES.get(style) == verb or (style == "other-closes" and not verb):
                return
            answers = self.answers(verb, line)
            if MUTE.get(style) == verb or (style == "other-mute" and not verb):
                continue
            self.say(*(answers * 2 if TWICE.get(style) == verb or (style == "other-twice" and not verb) else answers))
            if verb == "QUIT":
                if style == "stays-after-quit":
                    time.sleep(60)
                return
            if answers[-1].startswith("354") and not self.content():
                return

    def is_one(self, line: str, verb: str) -> bool:
        if verb in ("HELO", "EHLO", "VRFY", "AUTH"):
            return line.upper().startswith(f"{verb} ")
        if verb.endswith(":"):
            return line.upper().startswith(f"{verb}<") and ">" in line
        return line.upper() == verb

    def refused(self, said: str) -> list[str]:
        """Hear a name and password out, and refuse them."""
        mechanism, *given = said[5:].split(" ")
        wanted = {"PLAIN": 1, "LOGIN": 2}.get(mechanism.upper())
        if wanted is None or (len(given) != 1 and mechanism.upper() == "PLAIN" and given):
            return ["504 no such mechanism"]
        for _ in range(wanted - (len(given) == 1)):
            self.say("334 ")
            if self.line() == "*":
                return ["501 as you like"]
        return ["535 wrong"]

    def answers(self, verb: str, said: str = "") -> list[str]:
        style = self.style
        match verb:
            case "HELO" | "EHLO":
                self.greeted, self.sender, self.recipients = True, False, 0
                lines = (
                    ["250-mail.example", "250-AUTH PLAIN LOGIN", "250 8BITMIME"]
                    if verb == "EHLO"
                    else ["250 mail.example"]
                )
                wrong = {
                    "ehlo-goes-on": lines[:2] * 2,
                    "ehlo-turned": lines[::-1],
                    "ehlo-one-more": [*lines, "250 more"],
                }
                return wrong.get(style, lines) if verb == "EHLO" else lines
            case "MAIL FROM:" if self.greeted and not self.sender:
                self.sender = True
                return ["250 ok"]
            case "RCPT TO:" if self.sender:
                self.recipients += 1
                return ["250 ok"]
            case "DATA" if self.sender and self.recipients and style != "knows-no-data":
                return ["354 go on"]
            case "RSET":
                self.sender, self.recipients = False, 0
                return ["250 ok"]
            case "NOOP":
                return ["250 ok"]
            case "STARTTLS":
                return ["454 not here"]
            case "AUTH" if self.greeted and not self.sender:
                return self.refused(said)
            case "VRFY":
                return ["252 who knows"]
            case "QUIT":
                return ["221 bye"]
            case "":
                return ["500 what"]
            case _:
                return ["503 not now"]

    def content(self) -> bool:
        style = self.style
        while (line := self.line()) is not None:
            if style == "answers-each-line":
                self.say("250 ok")
            if line == "." or style == "takes-one-line":
                self.sender, self.recipients = False, 0
                if style == "content-closes":
                    return False
                if style != "content-mute":
                    self.say("250 taken")
                if style == "content-twice":
                    self.say("250 taken")
                return True
        return False


def main(port: int, style: str) -> None:
    with socket.create_server(("127.0.0.1", port)) as door:
        while True:
            link, _ = door.accept()
            threading.Thread(target=run, args=(link, style), daemon=True).start()


def run(link: socket.socket, style: str) -> None:
    with link:
        try:
            Mailbox(link, style).serve()
        except OSError:
            return


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "plain")
