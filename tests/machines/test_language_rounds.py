"""The language, shown key by key: values threaded through calls, rounds of one state, machines that roles share."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest

from machines.parser.loader import load, load_text
from machines.problems import Place, SpecError
from tests.machines.test_language_calls import served, spec
from tests.support.tiny import returned, shows, tiny

SHORT = """
              begin: {let: {best: 0}, then: rounds}
              rounds: {fold: best, run: round(players), until: best > 7, return: best}
            round(players, best):
              turns: {each: player in players, fold: best, run: turn(player), then: done}
              done: {return: best}
"""
LONG = """
              begin: {let: {best: 0}, then: rounds}
              rounds: {run: "round(players, best)", as: best, then: [{if: best > 7, return: best}, rounds]}
            round(players, best):
              turns: {each: player in players, run: "turn(player, best)", as: best, then: done}
              done: {return: best}
"""


def placeless(value: Any) -> Any:
    """Return a part of a spec without its places, to be compared with one that is written otherwise."""
    match value:
        case Place():
            return None
        case dict():
            return {key: placeless(item) for key, item in value.items()}
        case tuple() | list():
            return [placeless(item) for item in value]
        case _ if is_dataclass(value):
            named = {field.name: placeless(getattr(value, field.name)) for field in fields(value)}
            return (type(value).__name__, named)
        case _:
            return value


@shows("state.fold", "state.until")
def test_fold_and_until_are_what_one_would_write_without_them() -> None:
    # fold: NAME, and until beside run
    short, long = (tiny(spec(text, 2)).roles["server"].machines for text in (SHORT, LONG))

    assert placeless(dict(short)) == placeless(dict(long))


def test_rounds_go_on_until_the_condition_holds_and_each_call_has_the_last_value() -> None:
    server = served(SHORT, 2)
    for seat, asked, move in ((0, 0, 3), (1, 3, 5), (0, 5, 9), (1, 9, 8)):
        assert server.heard(seat) == [["ask", asked]]
        server.say(seat, ["move", move])

    assert returned(server) == 8


def test_what_is_next_behind_rounds_may_be_a_list_of_branches() -> None:
    server = served(
        """
              begin: {let: {best: 0}, then: rounds}
              rounds:
                fold: best
                run: turn(players[0])
                until: best > 7
                then: [{if: best == 8, then: eight}, more]
              eight: {return: ('eight')}
              more: {return: ('more')}
        """,
        1,
    )
    server.say(0, ["move", 8])

    assert returned(server) == "eight"


MISTAKES = [
    ("fold: best, run: round(players)", "fold: best, run: round(players, best)", "A117"),
    ("fold: best, run: round(players)", "fold: best, as: best, run: round(players)", "A121"),
    ("until: best > 7, return: best", "until: best > 7", "A123"),
    ("run: round(players), until", "send: {players: ASK(1)}, until", "A122"),
    ("fold: best, run: round(players)", "fold: best + 1, run: round(players)", "A114"),
]


@pytest.mark.parametrize(("old", "new", "code"), MISTAKES, ids=[f"{code} {new}" for _, new, code in MISTAKES])
def test_a_mistake_with_them_is_told(old: str, new: str, code: str) -> None:
    assert SHORT.count(old) == 1
    with pytest.raises(SpecError) as error:
        tiny(spec(SHORT.replace(old, new), 2))
    assert code in [problem.code for problem in error.value.problems]


SHARED = """
protocol: shared
connects: {client: [host, spare]}
messages: {client: {A: a}, "host, spare": {B: b}}
roles:
  host, spare:
    main(client): {a: {run: turn(client), return: null}}
    turn(client): {asked: {await: client, within: 5 s, receive: {A: ended}, fault: {return: 1}}, ended: {return: 2}}
  host: {early: ignore, extra: {a: {return: 1}}}
  client:
    main:
      always: {within: 5 s, fault: {return: null}}
      a: {send: {[host, spare]: A}, return: null}
"""


def test_machines_under_two_names_are_those_of_both_roles() -> None:
    shared = load_text(SHARED)

    assert list(shared.roles) == ["host", "spare", "client"]
    assert list(shared.roles["host"].machines) == ["main", "turn", "extra"]
    assert list(shared.roles["spare"].machines) == ["main", "turn"]
    assert shared.roles["host"].early == "ignore"
    assert shared.roles["spare"].early is None
    assert placeless(dict(shared.roles["host"].machines["turn"].states)) == placeless(
        dict(shared.roles["spare"].machines["turn"].states)
    )


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("host: {early: ignore, extra", "host: {early: ignore, turn", "A115"),
        ("receive: {A: ended}", "receive: {A: endet}", "A103"),
        ("host, spare:\n    main", "host, spair:\n    main", "A107"),
        ("host, spare:\n    main", "host, :\n    main", "A114"),
    ],
)
def test_a_mistake_in_what_is_shared_is_told(old: str, new: str, code: str) -> None:
    with pytest.raises(SpecError) as error:
        load_text(SHARED.replace(old, new))
    assert code in [problem.code for problem in error.value.problems]


def test_a_variant_changes_what_is_shared_in_both_or_in_one(tmp_path: Path) -> None:
    (tmp_path / "shared.yaml").write_text(SHARED)
    variant = "extends: shared\nprotocol: other\nroles:\n"
    variant += "  host, spare: {turn: {asked: {within: 6 s}}}\n  spare: {turn: {asked: {fault: {return: 3}}}}\n"
    (tmp_path / "other.yaml").write_text(variant)
    roles = load(str(tmp_path / "other.yaml")).roles
    asked = {name: roles[name].machines["turn"].states["asked"] for name in ("host", "spare")}

    assert [placeless(asked[name].within)[1]["value"] for name in asked] == [6.0, 6.0]
    fault = {name: asked[name].answers.timeout for name in asked}
    assert placeless(fault["host"]) != placeless(fault["spare"])


PATHS = SHARED.replace(
    "  host: {early: ignore, extra: {a: {return: 1}}}\n", "  host.early: ignore\n  host.extra(n, m): {a: {return: 1}}\n"
)


@shows("roles.role.machine(peer)")
def test_a_key_under_roles_may_be_a_path() -> None:
    host = load_text(PATHS).roles["host"]

    assert list(host.machines) == ["main", "turn", "extra"]
    assert (host.machines["extra"].parameters, host.early) == (("n", "m"), "ignore")


def test_what_two_paths_say_is_put_together_and_what_they_say_differently_is_told() -> None:
    both = PATHS.replace(
        "host.extra(n, m): {a: {return: 1}}", "host.extra: {a: {return: 1}}\n  host.extra.b: {return: 2}"
    )
    twice = both.replace("host.extra.b: {return: 2}", "host.extra.a.return: 2")

    assert list(load_text(both).roles["host"].machines["extra"].states) == ["a", "b"]
    with pytest.raises(SpecError, match=r"11:16: A102 the key 'return' stands twice"):
        load_text(twice)


def test_a_path_leads_a_variant_to_what_it_changes(tmp_path: Path) -> None:
    (tmp_path / "shared.yaml").write_text(SHARED)
    paths = "  host.turn.asked.fault: {return: 7}\n  client.main.always.within: 7 s\n"
    text = f"extends: shared\nprotocol: other\nroles:\n{paths}"
    roles = load_text(text, "other.yaml", folder=tmp_path).roles

    fault = roles["host"].machines["turn"].states["asked"].answers.timeout
    always = roles["client"].machines["main"].always
    assert fault is not None
    assert placeless(fault.branches[0].next)[1]["value"][1]["value"] == 7
    assert always is not None
    assert placeless(always.within)[1]["value"] == 7.0


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("host.extra(n, m)", "hots.extra(n, m)", "unknown role|no connection"),
        ("host.extra(n, m)", "host..extra(n, m)", "'' is no name"),
        ("host.extra(n, m)", "host.extra(n, m).a.b", "a state has no key 'b'"),
        ("host.early: ignore", "host.early: ignor", "did you mean 'ignore'"),
    ],
)
def test_a_mistake_in_a_path_is_told(old: str, new: str, says: str) -> None:
    with pytest.raises(SpecError, match=says):
        load_text(PATHS.replace(old, new))
