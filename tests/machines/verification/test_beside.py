"""Machines side by side that have to do with one another are not said to be explored."""

from __future__ import annotations

import pytest

from machines.parser.loader import load
from machines.verification.verdict import PROVED, UNDETERMINED
from tests.machines.verification.bench import verdict_of

EXAM = """
protocol: exam
wire: {framing: lines}
connects: {pupil: school}
messages:
  pupil: {HERE: here, ANSWER: answer}
  school: {ASK: ask, CALM: calm, OVER: over}
roles:
  school:
    main:
      door: {accept: enter(peer), as: pupils, seats: 2, within: 1 min, timeout: {return: null}, then: asking}
      asking:
        let: {all_here: pupils}
        each: pupil in pupils
        parallel: 2
        run: asked(pupil, all_here)
        then: over
      over: {send: {pupils: OVER}, return: null}
    enter(peer):
      named: {await: peer, within: 5 s, receive: {HERE: {return: {}}}}
    asked(pupil, others):
      begin: {run: "deeper(pupil, others)", then: {return: null}}
    deeper(one, rest):
      asked: {send: {one: ASK}, await: one, within: 5 s, receive: {ANSWER: done}, fault: gone}
      done: {send: {one: CALM}, return: null}
      gone: {drop: one, return: null}
  pupil:
    main:
      always: {within: 1 min, closed: {return: null}}
      begin: {send: HERE, then: waiting}
      waiting: {receive: {ASK: {send: ANSWER, then: waiting}, CALM: waiting, OVER: {return: null}}}
"""


def test_who_speaks_to_its_own_peer_only_is_explored() -> None:
    assert verdict_of(EXAM, (1, 2)).state == PROVED


@pytest.mark.parametrize(
    ("right", "wrong", "told"),
    [
        ("{one: CALM}", "{rest: CALM}", "school: deeper, which runs side by side, sends to peers of others in line 25"),
        ("drop: one", "drop: 'rest[0]'", "school: deeper, which runs side by side, drops peers of others in line 26"),
    ],
)
def test_who_speaks_to_peers_of_others_is_not(right: str, wrong: str, told: str) -> None:
    assert EXAM.count(right) == 1
    verdict = verdict_of(EXAM.replace(right, wrong), (1, 2))

    assert verdict.state == UNDETERMINED
    assert told in verdict.beyond


ALWAYS = "      always: {await: pupils, receive: {SHOUT: {send: {%s: NOISE}, then: %s}}, fault: {return: null}}\n"


@pytest.mark.parametrize(
    ("to", "then", "told"),
    [
        ("pupils", "stay", ["SHOUT", "invalid"]),
        ("peer", "over", ["SHOUT", "invalid"]),
        ("peer", "stay", ["invalid"]),
    ],
)
def test_what_one_says_is_told_others_by_who_stands_behind_them_all(to: str, then: str, told: list[str]) -> None:
    text = (
        EXAM.replace(
            "then: asking}\n",
            "then: taught}\n      taught: {run: lesson(pupils), return: null}\n    lesson(pupils):\n"
            + ALWAYS % (to, then),
        )
        .replace("ANSWER: answer}", "ANSWER: answer, SHOUT: shout}")
        .replace("CALM: calm", "CALM: calm, NOISE: noise")
    )
    said = verdict_of(text, (1, 2)).beyond

    heard = [line.split("know of ")[1].split(" in line")[0] for line in said if "the always of lesson" in line]
    assert heard == told


def test_who_all_of_them_speak_to_tells_one_of_the_other() -> None:
    text = EXAM.replace("{pupil: school}", "{pupil: [school, hall]}")
    hall = "  hall:\n    main: {door: {accept: enter(peer), as: all, within: 1 min, timeout: {return: null}}}\n"
    hall += "    enter(peer): {named: {await: peer, within: 5 s, receive: {HERE: {return: {}}}}}\n"
    text = text.replace("  pupil:\n", hall + "  pupil:\n").replace(
        "begin: {send: HERE, ", "begin: {send: {school: HERE, hall: HERE}, "
    )
    text = text.replace("waiting: {receive", "waiting: {await: school, receive").replace(
        "ASK: {send: ANSWER,", "ASK: {send: {school: ANSWER},"
    )

    verdict = verdict_of(text, (1, 2))

    assert verdict.state == UNDETERMINED
    assert verdict.beyond == ("school: who is spoken to side by side, pupil, speaks to hall as well",)


@pytest.mark.parametrize("name", ["trains", "santorini-official", "santorini-rulecheck"])
def test_shipped_specs_speak_to_their_own_only(name: str) -> None:
    assert not [text for text in verdict_of(load(name), (1,)).beyond if "side by side" in text]
