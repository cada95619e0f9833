"""What `accord explain` tells besides codes: the words of a verdict, and what the rules of a spec may promise."""

from __future__ import annotations

from typing import Final

from machines.verification.abstract.contracts import FORMS
from runtime.manual.verdicts import VERDICTS

_WIDTH: Final = max(len(form.written) for form in FORMS)
CONTRACTS: Final = (
    "what the rules of a spec may promise, so that a check need not take them for capable of anything",
    f"""\
A check runs no rule. It knows that a rule has no peer but those it was given: of a list of players it returns any of
them, or some, in any order. Where that is too much, what the check finds is only possible. So a module of rules may
promise more, in a table of its own, beside its functions:

    CONTRACTS = {{
        "order(players, seed)": "all of players",
        "eject(table, player)": "marks player",
        "playing(table, player)": "true only if player is unmarked",
    }}

On the left stands a rule as it is called, on the right what it promises about one of its arguments, here x:

{chr(10).join(f"    {form.written:{_WIDTH}}  {form.says}" for form in FORMS)}

A peer is marked in what a rule with `marks` returned, and in all that rules make of that. The verdict names the
contracts it rests on (`accord check SPEC --why`). Whether rules keep them is seen where they run: `runtime.testing`
has a suite that holds a module to its contracts (docs/conformance-suites.md).""",
)
TOPICS: Final = {**VERDICTS, "contracts": CONTRACTS}
