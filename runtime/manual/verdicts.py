"""The words of a verdict, as `accord explain` tells them."""

from __future__ import annotations

from typing import Final

from machines.verification.verdict import POSSIBLE, PROVED, REFUTED, UNDETERMINED

VERDICTS: Final = {
    PROVED: (
        "every run within the bounds was looked at, and in none of them two roles misunderstand each other",
        """\
It rests on what `accord check SPEC --why` lists for the spec: the values of its settings, the numbers of clients
that were tried, how many messages may wait for a peer, rules that never raise and keep their contracts, expressions
that have a value for the data that comes, machines side by side taken one after another, frames that come whole.
Durations are not compared: any clock may ring before any other. What was not explored makes a verdict undetermined.
Exit code 0.""",
    ),
    REFUTED: (
        "a run is known that goes wrong",
        """\
The real sessions were given the steps of its trace and did the same (confirmed by a replay), or it is said of
all runs and has no trace, as that nobody ever reads a message. Mend it, or accept it in the spec with a reason:
`accepted: {A501: why}`. Exit code 2.""",
    ),
    POSSIBLE: (
        "the exploration found a run that goes wrong, but no replay with the real sessions went the same way",
        """\
The exploration does not run rules and does not know the data: it takes both ways of a condition that it cannot
decide, and what a rule returns for any value that its contracts allow. So the run may be one that cannot happen. Or it
may be real, and the replay did not hit on the data for it, or the budget was spent before it had: the finding says
which. Look at its trace: where the spec or the rules rule it out, write a contract for the rule (`accord explain
contracts` has all of them), or accept the finding in the spec with a reason: `accepted: {A501: why}`. It does not keep
`--games` from playing. Exit code 3, as for what is undetermined.""",
    ),
    UNDETERMINED: (
        "nothing was found, but not every run could be looked at",
        """The lines `unknown:` say which bound was met, or what of the spec is not explored; `--clients`, `--queue` and
`--limit` set wider bounds. Exit code 3.""",
    ),
}
