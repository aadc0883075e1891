"""A plan fragment: nodes and memory, without provenance."""

from typing import Annotated

from pydantic import Field

from ferrum_verify.documents.fragment_node import FragmentNode
from ferrum_verify.documents.memory_plan import MemoryPlan
from ferrum_verify.documents.primitives import Identity, WireModel


class Fragment(WireModel):
    """The part of a plan that its memory derivation reads."""

    nodes: Annotated[tuple[FragmentNode, ...], Field(strict=False)]
    memory: MemoryPlan
    retained_completion_resources: Annotated[tuple[Identity, ...], Field(strict=False)] = ()
