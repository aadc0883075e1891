"""What the solver makes of one encoding, without a plan around it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ferrum_verify.prove.obligation import Obligation, Proved, Refuted, formula
from ferrum_verify.prove.solving import Session
from ferrum_verify.rules.proof import UNDECIDED

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferrum_verify.prove.obligation import Outcome, Statement


def outcome(encode: Callable[..., Statement], *arguments: Any) -> Outcome:
    stated = formula(encode, *arguments)
    claim = Obligation(id="c", claim="", names=(), rule=UNDECIDED, location="", formula=stated)
    return Session().decide(claim)


def holds(encode: Callable[..., Statement], *arguments: Any) -> bool:
    """Whether it is proved; whatever is not is refuted, and nothing is vacuous or open."""
    answer = outcome(encode, *arguments)
    assert isinstance(answer, Proved | Refuted), answer
    return isinstance(answer, Proved)


def shown(encode: Callable[..., Statement], *arguments: Any) -> tuple[int, ...]:
    """The values at which it is refuted."""
    answer = outcome(encode, *arguments)
    assert isinstance(answer, Refuted), answer
    return answer.values
