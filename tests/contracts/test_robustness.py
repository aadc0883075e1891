"""Arbitrary edits of catalogs, plans, programs and policies: a report or a sentence, always."""

from __future__ import annotations

from copy import deepcopy
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from ferrum_verify import DocumentError
from ferrum_verify.catalogue.restamp import restamp
from ferrum_verify.catalogue.samples import sample
from ferrum_verify.contracts import check_contracts, compare_contracts

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferrum_verify.report.model import Report

Json = Any
VALUES: list[Json] = [
    None,
    0,
    1,
    2**64 - 1,
    2**64,
    -1,
    1.5,
    "",
    "provider.x",
    "0" * 64,
    [],
    {},
    True,
    "unsupported",
    "entire_token_input",
    {"minimum_tokens": 2**63, "alignment": 2**63},
]


def places(value: Json, steps: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    found = [steps] if steps else []
    if isinstance(value, dict):
        for key, member in value.items():
            found += places(member, (*steps, key))
    elif isinstance(value, list):
        for index, member in enumerate(value):
            found += places(member, (*steps, index))
    return found


def edited(document: Json, random: Random, spots: list[tuple[str | int, ...]]) -> Json:
    copy = deepcopy(document)
    for _ in range(random.randint(1, 3)):
        *path, last = random.choice(spots)
        holder: Any = copy
        try:
            for step in path:
                holder = holder[step]
            if random.random() < 0.3:
                del holder[last]
            elif isinstance(last, int) and random.random() < 0.3:
                holder.append(deepcopy(holder[last]))
            else:
                holder[last] = random.choice(VALUES)
        except (KeyError, IndexError, TypeError):
            continue  # an edit before it took the place away
    if random.random() < 0.7:
        try:
            restamp(copy)
        except (AttributeError, KeyError, TypeError):
            return copy
    return copy


def outcome(run: Callable[[], Report]) -> str:
    """The verdict of a report, or "refused" where there is a sentence instead."""
    try:
        report = run()
    except DocumentError as error:
        sentence = str(error)
    else:
        report.to_wire()
        return report.verdict
    assert sentence
    assert "\n" not in sentence
    return "refused"


@pytest.mark.parametrize("seed", range(3))
def test_edits(seed: int) -> None:
    random = Random(seed)
    bundle = sample("bundle")
    spots = [
        spot
        for spot in places(bundle)
        if spot[0] != "plan" or random.random() < 0.2 or "provider_resources" in spot
    ]
    outcomes = set()
    for _ in range(15):
        other = edited(bundle, random, spots)
        outcomes |= {
            outcome(partial(compare_contracts, bundle, other, [bundle, other], prove=False)),
            outcome(partial(compare_contracts, other, bundle, [bundle], prove=False)),
            outcome(partial(check_contracts, other, prove=False)),
            outcome(
                partial(
                    check_contracts,
                    bundle["catalog"],
                    other,
                    bundle["policy"],
                    [other],
                    prove=False,
                )
            ),
        }
    assert {"refused", "verified", "violated"} <= outcomes


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_anything_at_all(value: Json) -> None:
    catalog = sample("catalog")
    for run in (
        partial(check_contracts, value),
        partial(compare_contracts, catalog, value),
        partial(compare_contracts, value, catalog),
        partial(compare_contracts, catalog, catalog, [value]),
        partial(check_contracts, catalog, policy=value if value is not None else {}),
    ):
        assert outcome(run) == "refused"
