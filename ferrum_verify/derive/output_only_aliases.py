"""The exact aliases that output-only inputs are followed through, and which are none."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from ferrum_verify.derive.checkpoint_layout import Place, Refusal
from ferrum_verify.findings.wording import in_series
from ferrum_verify.plan.exact_aliases import alias_faults, ends_of
from ferrum_verify.plan.node_ports import bindings_by_port

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ferrum_verify.documents.node import PlanNode


def false_aliases(nodes: Sequence[PlanNode]) -> Iterator[Refusal]:
    """The refusals of exact aliases that are false or out of order, in any node.

    The engine looks at them only where a program has output-only inputs, whose way to the state
    they may be part of (docs/format.md, «Sequence checkpoints»).
    """
    for index, node in enumerate(nodes):
        if not node.exact_aliases:
            continue
        ports = bindings_by_port(node)
        for position, (left, right) in enumerate(pairwise(node.exact_aliases), start=1):
            if left.output_ordinal >= right.output_ordinal:
                yield Refusal(
                    "alias-order",
                    Place("nodes", (index, "exact_aliases", position)),
                    f"The exact aliases of node `{node.id}` do not strictly ascend by output: "
                    f"output {right.output_ordinal} stands after {left.output_ordinal}.",
                )
        for position, alias in enumerate(node.exact_aliases):
            faults = list(alias_faults(ports, alias))
            output, source = ends_of(ports, alias)
            if output is not None and source is not None and output.storage != source.storage:
                faults.append("the two are stored in different places")
            if faults:
                yield Refusal(
                    "false-alias",
                    Place("nodes", (index, "exact_aliases", position)),
                    f"Node `{node.id}` claims that `{alias.output_value_id}` is an exact alias of "
                    f"`{alias.input_value_id}`, but {in_series(faults)}.",
                )
