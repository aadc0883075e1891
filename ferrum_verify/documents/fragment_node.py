"""Nodes as a plan fragment or a planning problem states them.

Apart from the nodes of full plans, which have many more members and take longer to load.
"""

from typing import Annotated

from pydantic import ConfigDict, Field

from ferrum_verify.documents.primitives import Identity, WireModel


class FragmentNode(WireModel):
    """A node as a fragment or a planning problem states it; other members are not read.

    ``reads`` and ``writes`` name resources that the node touches; None where it does not say.
    """

    model_config = ConfigDict(extra="ignore")

    id: Identity
    dependencies: Annotated[tuple[Identity, ...], Field(strict=False)]
    resources: Annotated[tuple[Identity, ...], Field(strict=False)]
    binding_resource: Identity | None = None
    reads: Annotated[tuple[Identity, ...], Field(strict=False)] | None = None
    writes: Annotated[tuple[Identity, ...], Field(strict=False)] | None = None
