"""Lives of values, by definition: who needs a value's bytes, and how long."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tests.definition.plan_parts import Plan, bindings

if TYPE_CHECKING:
    from tests.definition.runs import Moment

LASTING = ("request", "sequence", "plan")


class Life(NamedTuple):
    """Who writes a value as an output, who reads it, and whether it must outlive the run.

    Values of one content hold the same: bindings of one weight do.
    """

    writers: frozenset[int]
    readers: frozenset[int]
    lasts: bool
    is_retained: bool
    content: str

    def stands(self, moment: Moment) -> bool:
        """Whether the value is in its bytes: from the start where no node outputs it."""
        return not self.writers or any(moment.has_ended(each) for each in self.writers)


def lives_of(plan: Plan) -> dict[str, Life]:
    """The life of each value. A node that writes a value in place reads it as well."""
    writers: dict[str, set[int]] = {}
    readers: dict[str, set[int]] = {}
    lasting = set()
    content: dict[str, str] = {}
    for node, binding in bindings(plan):
        value = binding["value_id"]
        writers.setdefault(value, set())
        readers.setdefault(value, set())
        weight = binding["weight"]
        content[value] = f"value {value}" if weight is None else f"weight {weight['weight_id']}"
        if binding["role"] == "output":
            writers[value].add(node)
        if binding["access"] != "write":
            readers[value].add(node)
        for component in binding["storage"]["components"]:
            row = plan.dynamic.get(component["resource_id"], {"lifetime": "plan"})
            keeps = row["lifetime"] in LASTING
            if binding["usage"] == "weights" or (binding["usage"] == "state" and keeps):
                lasting.add(value)
    retained = {each["value_id"] for each in plan.retained}
    return {
        value: Life(
            writers=frozenset(by),
            readers=frozenset(readers[value]),
            lasts=value in lasting,
            is_retained=value in retained,
            content=content[value],
        )
        for value, by in writers.items()
    }
