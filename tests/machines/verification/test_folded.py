"""What is reckoned out of known values, and is too large to be told apart, is not therefore equal to anything else."""

from __future__ import annotations

import pytest

from machines.verification.verdict import PROVED, REFUTED
from tests.machines.verification.bench import verdict_of

SHOP = """
protocol: shop
connects: {buyer: shop}
messages:
  buyer: {BUY: buy, PAY: pay}
  shop: {FREE: free, PRICE: price}
roles:
  shop:
    main(buyer):
      begin: {let: {one: "LEFT", other: "RIGHT"}, then: open}
      open:
        within: 1 min
        receive:
          BUY:
            - {if: "one == other", send: FREE, return: null}
            - {send: PRICE, then: told}
      told: {within: 1 min, receive: {DUE}}
  buyer:
    main:
      always: {closed: {return: null}}
      buying:
        send: BUY
        within: 1 min
        receive:
          FREE: {return: null}
          PRICE: {send: PAY, return: null}
"""
DUE = "PAY: {return: null}"
NEVER = "BUY: {return: null}"


def _shop(left: str, right: str, due: str) -> str:
    return SHOP.replace("LEFT", left).replace("RIGHT", right).replace("{DUE}", f"{{{due}}}")


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("40 + 2", "40 + 3"),
        ("7 * 8", "-50 - 6"),
        ("'be' + 'at'", "'be' + 'an'"),
        ("[1, 2] + [3]", "[1, 2] + [4]"),
    ],
)
def test_two_results_may_differ(left: str, right: str) -> None:
    verdict = verdict_of(_shop(left, right, NEVER), (1,))

    assert verdict.state == REFUTED
    assert any("PAY is not expected in main.told" in one.text for one in verdict.findings)
    assert verdict_of(_shop(left, right, DUE), (1,)).state == PROVED


@pytest.mark.parametrize("both", ["40 + 2", "'be' + 'at'", "[1, 2] + [3]"])
def test_what_is_reckoned_alike_in_one_step_is_equal(both: str) -> None:
    text = _shop(both, both, NEVER).replace('if: "one == other"', f'if: "{both} == {both}"')

    assert not any("PAY is not expected" in one.text for one in verdict_of(text, (1,)).findings)
