"""A frame that is read up to a mark takes all that comes, so another message that may come there is told."""

from __future__ import annotations

from machines.verification.verdict import PROVED, UNDETERMINED
from tests.machines.verification.bench import verdict_of

LETTERS = """
protocol: letters
wire: {framing: text}
connects: {writer: post}
messages:
  writer: {WRITE: write, LETTER: $letter string, STOP: stop}
  post: {GO: go, TAKEN: taken, END: end}
frames:
  LETTER: [{until: "."}]
roles:
  post:
    main(writer):
      always: {within: 1 min, receive: {STOP: {send: END, return: null}}, fault: {return: null}}
      ready: {receive: {WRITE: {send: GO, then: letter}}}
      letter: {receive: {LETTER: {send: TAKEN, then: ready}}}
  writer:
    main:
      always: {within: never, closed: {return: null}}
      begin: {send: WRITE, then: granted}
      granted: {receive: {GO: {send: LETTER('hello'), then: told}}}
      told: {receive: {TAKEN: {send: STOP, then: told}, END: {return: null}}}
"""


def test_a_frame_that_comes_alone_is_right() -> None:
    assert verdict_of(LETTERS, (1,)).state == PROVED
    assert verdict_of("smtp", (1,)).state == PROVED


def test_a_message_that_a_frame_would_take_is_told() -> None:
    verdict = verdict_of(LETTERS.replace("GO: {send: LETTER('hello')", "GO: {send: STOP"), (1,))

    assert verdict.state == UNDETERMINED
    assert verdict.beyond == ("post: LETTER is read up to its mark in main.letter, and takes STOP if that comes first",)
