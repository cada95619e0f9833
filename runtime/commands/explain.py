"""``accord explain``: the page of a code in the manual, or a line for each."""

from __future__ import annotations

from typing import Annotated, Any

from cyclopts import Parameter

from machines.manual import FRAMES, Example, Page
from machines.problems import near
from runtime.commands.exit_codes import OK, CommandError
from runtime.commands.options import Json
from runtime.manual import pages
from runtime.manual.topics import CONTRACTS, TOPICS
from runtime.manual.verdicts import VERDICTS
from runtime.process.output import put, put_json, table

Code = Annotated[
    str | None,
    Parameter(help="The code of a problem, like A302, the word of a verdict, or contracts; all of them if left out."),
]


def explain(code: Code = None, /, *, json: Json = False) -> int:
    """Say what a code means: what is wrong, why it matters, an example that has it, and the same mended.

    Without a code, all are listed with a line each. The words of a verdict, proved, refuted, possible and
    undetermined, have pages as well, and so have the contracts that rules may keep. What *proved* rests on is listed
    by `accord check SPEC --why`.
    """
    known = pages()
    if code is None:
        if json:
            codes = [{"code": page.code, "says": page.says} for page in known.values()]
            put_json(
                {
                    "codes": codes,
                    "verdicts": [{"verdict": word, "says": says} for word, (says, _) in VERDICTS.items()],
                    "topics": [{"topic": "contracts", "says": CONTRACTS[0]}],
                }
            )
        else:
            lines = [(page.code, page.says) for page in known.values()]
            for line in table([*lines, *((word, f"{says}.") for word, (says, _) in TOPICS.items())]):
                put(line)
        return OK
    word = code.lower()
    if word in TOPICS:
        says, why = TOPICS[word]
        if json:
            put_json({"verdict" if word in VERDICTS else "topic": word, "says": says, "why": why})
        else:
            for line in (f"{word}: {says}.", "", *why.splitlines()):
                put(line)
        return OK
    page = known.get(code.upper())
    if page is None:
        hint = near(code.upper(), known) or near(word, TOPICS) or "accord explain lists all of them"
        raise CommandError(f"there is no code {code!r}: {hint}")
    if json:
        put_json(_as_json(page))
        return OK
    for line in page_lines(page):
        put(line)
    return OK


def page_lines(page: Page) -> list[str]:
    """Return a page for people."""
    lines = [f"{page.code}: {page.says}", "", *page.why.splitlines()]
    for word, example in (("An example that has it", page.bad), ("The same, mended", page.mended)):
        where = f" ({FRAMES[example.frame]})" if example.frame is not None else ""
        lines += ["", f"{word}{where}:", "", *(f"    {line}".rstrip() for line in example.text.splitlines())]
    return lines


def _as_json(page: Page) -> dict[str, Any]:
    return {
        "code": page.code,
        "says": page.says,
        "why": page.why,
        "bad": _example(page.bad),
        "mended": _example(page.mended),
    }


def _example(example: Example) -> dict[str, Any]:
    return {"text": example.text, "in": example.frame, "frame": FRAMES.get(example.frame or "")}
