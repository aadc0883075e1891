"""What catalogs of plan schema 8.1 say of replays and weights, alone and beside plans."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

import pytest

from ferrum_verify.catalogue.restamp import restamp
from ferrum_verify.catalogue.samples import sample
from ferrum_verify.contracts import check_contracts, compare_contracts
from ferrum_verify.plan.canonical import semantics_fingerprint

if TYPE_CHECKING:
    from ferrum_verify.findings import Finding

Json = dict[str, Any]
IDENTITY = "weight-materializer.identity"
PACKING = "weight-materializer.packing"


def compared(base: Json, head: Json, plans: list[Json] | None = None) -> list[Finding]:
    """What a comparison says, of catalogs and plans."""
    report = compare_contracts(base, head, plans or [], prove=False)
    return [finding for document in report.documents for finding in document.findings]


def norm(catalog: Json) -> Json:
    provider: Json = catalog["providers"]["operation.norm"][0]
    return provider


def ineligible(catalog: Json) -> Json:
    """The catalog, its norm without replays that give the bits of an eager run."""
    changed = deepcopy(catalog)
    norm(changed)["execution_semantics"] |= {
        "replay_equivalence": "ineligible",
        "contract_fingerprint": semantics_fingerprint(1, 0, replayed=False),
    }
    return changed


def test_a_catalog_alone_is_held_to_its_fingerprints() -> None:
    catalog = sample("catalog-8.1")
    norm(catalog)["execution_semantics"]["contract_fingerprint"] = "0" * 64
    catalog["weight_materializers"][PACKING]["required_capabilities"] = ["capability.absent"]
    found = {each.rule for each in check_contracts(catalog, prove=False).documents[0].findings}
    assert {"integrity.execution-semantics", "contract.weight-materializers"} <= found


def test_semantics_that_vanish_are_a_lost_replay() -> None:
    base, head = sample("catalog-8.1"), sample("catalog-8.1")
    del norm(head)["execution_semantics"]
    (lost,) = [each for each in compared(base, head) if each.severity == "error"]
    assert lost.rule == "contract.replay-lost"
    assert "is not stated and was `bitwise_eager_equivalent`" in lost.message
    assert lost.location == "/providers/operation.norm/0"
    (gained,) = [each for each in compared(head, base) if each.severity == "note"]
    assert gained.actual["aspect"] == "replay-gained"


def test_where_nothing_was_promised_nothing_is_lost() -> None:
    base = ineligible(sample("catalog-8.1"))
    head = deepcopy(base)
    del norm(head)["execution_semantics"]
    assert all("replay" not in each.rule for each in compared(base, head))


@pytest.mark.parametrize(
    ("required", "told"),
    [("bitwise_same_runtime", False), ("bitwise_same_runtime_with_replay", True), (None, True)],
)
def test_a_lost_replay_is_told_of_the_plans_that_may_need_it(
    required: str | None, told: bool
) -> None:
    bundle = sample("bundle-8.1")
    if required is None:
        del bundle["policy"]
    else:
        bundle["policy"]["execution_determinism"] = required
    restamp(bundle)
    found = compared(bundle["catalog"], ineligible(bundle["catalog"]), [bundle])
    lost = [each for each in found if each.rule == "contract.plan-replay-lost"]
    assert bool(lost) == told
    if told:
        assert "`provider.norm.reference`, which `node.norm` runs on" in lost[0].message


def test_a_catalog_without_materializers_has_the_identity() -> None:
    base, head = sample("catalog-8.1"), sample("catalog-8.1")
    del head["weight_materializers"]
    (removed,) = [each for each in compared(base, head) if each.severity == "error"]
    assert (removed.rule, removed.location) == ("contract.materializer-removed", "")
    assert PACKING in removed.message
    (new,) = [each for each in compared(head, base) if each.severity == "note"]
    assert new.location == f"/weight_materializers/{PACKING}"


def test_of_what_build_it_is_is_not_said_and_not_compared() -> None:
    base, head = sample("catalog-8.1"), sample("catalog-8.1")
    del base["weight_materializers"]
    del head["weight_materializers"][PACKING]
    head["weight_materializers"][IDENTITY]["implementation_fingerprint"] = "0" * 64
    restamp(head)
    assert [each.rule for each in compared(base, head)] == ["contract.identity-changed"]
    assert "declare the same" in compared(base, head)[0].message


def test_a_plan_whose_materializer_goes_is_refused() -> None:
    bundle = sample("bundle-8.1")
    head = deepcopy(bundle["catalog"])
    del head["weight_materializers"][PACKING]
    (refused,) = [
        each
        for each in compared(bundle["catalog"], head, [bundle])
        if each.rule == "contract.weight-materializer"
    ]
    assert refused.message.startswith("Under HEAD: ")
    assert PACKING in refused.message


def test_one_of_another_build_makes_the_plan_be_rebuilt() -> None:
    bundle = sample("bundle-8.1")
    head = deepcopy(bundle["catalog"])
    head["weight_materializers"][PACKING]["version"]["minor"] = 9
    found = compared(bundle["catalog"], head, [bundle])
    assert {each.rule for each in found} >= {"contract.identity-changed", "contract.plan-rebuild"}
    assert "contract.weight-materializer" not in {each.rule for each in found}
    (rebuild,) = [each for each in found if each.rule == "contract.plan-rebuild"]
    assert "other builds of who makes its weights" in rebuild.message


def test_a_plan_of_head_alone_is_held_to_its_materializers() -> None:
    base, bundle = sample("catalog-8.1"), sample("bundle-8.1")
    del bundle["catalog"]["weight_materializers"][PACKING]
    restamp(bundle)
    found = compared(base, bundle["catalog"], [bundle])
    assert {"contract.plan-of-head", "contract.weight-materializer"} <= {e.rule for e in found}
