"""A buffer plan: what any memory planner says in few lines, of buffers in arenas and users."""

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from ferrum_verify.documents.primitives import U64, U64_MAX, Identity, WireModel

Arm = Annotated[tuple[Identity, Identity], Field(strict=False)]
"""A condition, and which of its arms."""


class Dimension(WireModel):
    """The least and the greatest value of a named dimension."""

    minimum: U64
    maximum: U64


class Affine(WireModel):
    """Bytes: a fixed part, and so many for each of a named dimension."""

    fixed: U64 = 0
    per: Annotated[dict[Identity, U64], Field(default_factory=dict)]


def _tag(value: Any) -> str | None:
    if isinstance(value, (dict, Affine)):
        return "an affine"
    return None if value is None or isinstance(value, (list, bool)) else "a number"


Bytes = Annotated[
    Annotated[U64, Tag("a number")] | Annotated[Affine, Tag("an affine")],
    Discriminator(_tag, custom_error_type="byte_amount", custom_error_message="byte_amount"),
]
"""A number of bytes, the same at every shape or growing with it."""


class Arena(WireModel):
    """Memory that offsets count in, and what every buffer's first byte is a multiple of."""

    bytes: U64
    alignment: Annotated[int, Field(ge=1, le=U64_MAX)] = 1


class Buffer(WireModel):
    """Bytes of an arena, or with ``alias_of`` another name of bytes of that buffer.

    An alias has no arena, and its offset counts from the buffer that it names. ``live_in`` is
    written before the first node, ``live_out`` read after the last one. ``label`` is free text.
    """

    id: Identity
    bytes: Bytes
    arena: Identity | None = None
    offset: Bytes | None = None
    alias_of: Identity | None = None
    live_in: bool = False
    live_out: bool = False
    label: str | None = None


class BufferNode(WireModel):
    """A node in program order: what it waits for, reads and writes, and the arms that it is in."""

    id: Identity
    reads: Annotated[tuple[Identity, ...], Field(strict=False)]
    writes: Annotated[tuple[Identity, ...], Field(strict=False)]
    dependencies: Annotated[tuple[Identity, ...], Field(strict=False)] = ()
    arms: Annotated[tuple[Arm, ...], Field(strict=False)] = ()
    label: str | None = None


class Note(WireModel):
    """What whoever wrote the plan did not understand, and of which nodes and buffers."""

    text: str
    nodes: Annotated[tuple[Identity, ...], Field(strict=False)] = ()
    buffers: Annotated[tuple[Identity, ...], Field(strict=False)] = ()


class BufferPlan(WireModel):
    """Buffers and the nodes that use them, at every shape within the dimensions' bounds."""

    schema_: Annotated[Literal["ferrum-verify/buffer-plan/v1"], Field(alias="schema")]
    arenas: dict[Identity, Arena]
    buffers: Annotated[tuple[Buffer, ...], Field(strict=False)]
    nodes: Annotated[tuple[BufferNode, ...], Field(strict=False)]
    source: str | None = None
    shape: Annotated[dict[Identity, Dimension], Field(default_factory=dict)]
    notes: Annotated[tuple[Note, ...], Field(strict=False)] = ()
