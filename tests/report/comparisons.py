"""A change of catalog that breaks a plan, for the reports of it."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

from ferrum_verify.catalogue.restamp import restamp
from ferrum_verify.catalogue.samples import sample
from ferrum_verify.contracts import compare_contracts

if TYPE_CHECKING:
    from ferrum_verify.report.model import Report


def breaking_comparison(*, prove: bool = False) -> Report:
    """Attention takes coarser prefixes and loses a provider; norm is only another build."""
    plan: dict[str, Any] = sample("bundle")
    head = deepcopy(plan["catalog"])
    attention = head["providers"]["operation.attention"]
    contract = attention[1]["checkpoint_capability"]["completed_boundary"]
    contract["boundaries"]["prefix"] = {"minimum_tokens": 16, "alignment": 8}
    attention[1]["accepted_weight_formats"].append("weight-format.new")
    del attention[0]
    head["providers"]["operation.norm"][0]["provider_implementation_fingerprint"] = "5" * 64
    restamp(head)
    return compare_contracts(plan["catalog"], head, [plan], prove=prove)
