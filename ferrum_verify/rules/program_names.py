"""Contract rules of a program alone: each name means one thing, and each value comes from one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.findings import Example, Rule, pointer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence, Set

    from ferrum_verify.documents.node import PlanNode
    from ferrum_verify.documents.program import ModelProgram
    from ferrum_verify.findings import Finding

_FORMAT = "docs/format.md, «Documents» (model program)"


def check(
    program: ModelProgram, location: str, planned: Sequence[PlanNode] = ()
) -> Iterator[Finding]:
    """Findings of the names of a program that stands at the pointer ``place``.

    ``planned`` are the nodes of the plan beside it, if any. What a node reads there and not here
    is left to the rules of a plan against its program.
    """
    defined: dict[str, str] = {}
    yield from _check_sources(program, location, defined)
    yield from _check_nodes(program, location, defined)
    yield from _check_returns(program.outputs, pointer(location, "outputs"))
    yield from _check_reads(program, location, defined.keys(), planned)


def _check_sources(
    program: ModelProgram, location: str, defined: dict[str, str]
) -> Iterator[Finding]:
    for index, value_id in enumerate(program.inputs):
        yield from _define(defined, value_id, "an input", pointer(location, "inputs", index))
    states: set[str] = set()
    for index, state in enumerate(program.states):
        where = pointer(location, "states", index)
        if state.id in states:
            yield _twice("states", state.id, f"{where}/id")
            defined.setdefault(state.value_id, f"state `{state.id}`")
        else:
            yield from _define(defined, state.value_id, f"state `{state.id}`", f"{where}/value_id")
        states.add(state.id)
    weights: set[str] = set()
    for index, weight in enumerate(program.weights):
        where = pointer(location, "weights", index)
        name = weight.weight_id
        if name in weights:
            yield _twice("weights", name, f"{where}/weight_id")
            defined.setdefault(weight.value_id, f"weight `{name}`")
        else:
            yield from _define(defined, weight.value_id, f"weight `{name}`", f"{where}/value_id")
        weights.add(name)


def _check_nodes(
    program: ModelProgram, location: str, defined: dict[str, str]
) -> Iterator[Finding]:
    blocks: set[str] = set()
    nodes: set[str] = set()
    for index, block in enumerate(program.blocks):
        where = pointer(location, "blocks", index)
        repeated = block.id in blocks
        blocks.add(block.id)
        if repeated:
            yield _twice("blocks", block.id, f"{where}/id")
        for position, node in enumerate(block.nodes):
            if node.id in nodes:
                # A block that stands twice repeats its nodes, and a node its outputs.
                if not repeated:
                    yield _twice("nodes", node.id, f"{where}/nodes/{position}/id")
                for value_id in node.outputs:
                    defined.setdefault(value_id, f"an output of node `{node.id}`")
                continue
            nodes.add(node.id)
            for ordinal, value_id in enumerate(node.outputs):
                output = f"{where}/nodes/{position}/outputs/{ordinal}"
                yield from _define(defined, value_id, f"an output of node `{node.id}`", output)


UNKNOWN_VALUE = Rule(
    id="contract.program-unknown-value",
    summary="A program reads and returns only values that something in it defines.",
    why="The node would read, or the request would be answered with, bytes that nobody wrote.",
    fix="Name one of the program's inputs, states, weights or outputs of its nodes.",
    source=_FORMAT,
    example=Example("program", {"/outputs/0": "value.absent"}),
)


def _check_reads(
    program: ModelProgram, location: str, defined: Set[str], planned: Sequence[PlanNode]
) -> Iterator[Finding]:
    explained = {
        binding.value_id
        for node in planned
        for binding in node.values
        if binding.role == "output" or binding.usage in ("weights", "state")
    }
    known = defined | explained if explained else defined
    reads: dict[str, set[str]] = {}
    for plan_node in planned:
        reads[plan_node.id] = {binding.value_id for binding in plan_node.values}
    told: set[str] = set()
    for index, block in enumerate(program.blocks):
        for position, node in enumerate(block.nodes):
            for ordinal, value_id in enumerate(node.inputs):
                if value_id in known or value_id in told:
                    continue
                if value_id not in reads.get(node.id, (value_id,)):
                    continue
                told.add(value_id)
                yield UNKNOWN_VALUE.finding(
                    f"Node `{node.id}` of the program reads `{value_id}`, which nothing defines.",
                    f"{location}/blocks/{index}/nodes/{position}/inputs/{ordinal}",
                )
    for index, value_id in enumerate(program.outputs):
        if value_id not in known and value_id not in told:
            yield UNKNOWN_VALUE.finding(
                f"The program returns `{value_id}`, which nothing defines.",
                pointer(location, "outputs", index),
            )


DUPLICATE = Rule(
    id="contract.program-duplicate-name",
    summary="A program has one block, node, state, weight or value of a name.",
    why="Everything in a plan is found by these names. Of two nodes only one is planned, and of "
    "two values a node reads whichever was written last.",
    fix="Name each block, node, state and weight once, and let each value be one input, state, "
    "weight or output of one node.",
    source=_FORMAT,
    example=Example("program", {"/states/1/id": "state.cache"}),
)


def _define(defined: dict[str, str], value_id: str, by: str, location: str) -> Iterator[Finding]:
    before = defined.get(value_id)
    defined[value_id] = by
    if before is not None:
        said = f"{by} twice" if before == by else f"{before} and {by}"
        yield DUPLICATE.finding(
            f"The value `{value_id}` of the program is {said}.", location, actual=value_id
        )


def _check_returns(outputs: Sequence[str], location: str) -> Iterator[Finding]:
    seen: set[str] = set()
    for index, value_id in enumerate(outputs):
        if value_id in seen:
            yield DUPLICATE.finding(
                f"The program returns `{value_id}` twice.", f"{location}/{index}"
            )
        seen.add(value_id)


def _twice(what: str, name: str, location: str) -> Finding:
    return DUPLICATE.finding(
        f"Two {what} of the program are named `{name}`.", location, actual=name
    )
