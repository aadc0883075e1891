"""A schedule: what the host does in a step, on which streams, and how steps overlap."""

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from ferrum_verify.documents.primitives import U32_MAX, Access, Identity, WireModel

Count = Annotated[int, Field(ge=1, le=U32_MAX)]


class Launch(WireModel):
    """The host puts a node on a stream, and does not wait for it."""

    launch: Identity
    stream: Identity


class Record(WireModel):
    """The event stands, from now on, for all that the stream was given or made to wait for."""

    record: Identity
    stream: Identity


class Wait(WireModel):
    """What is launched on the stream from now on starts after what the event stands for."""

    wait: Identity
    stream: Identity


class OfStream(WireModel):
    """All that a stream was given, or made to wait for."""

    stream: Identity


class OfEvent(WireModel):
    """All that an event stands for."""

    event: Identity


def _by_key(error: str, *keys: str) -> Discriminator:
    """Which of these keys an object has: each form has one that no other has.

    Tags differ from keys, as pydantic names the tag among the steps to what is at fault.
    """

    def tag(value: Any) -> str | None:
        if isinstance(value, dict):
            return next((f"a {key}" for key in keys if key in value), None)
        return next((f"a {key}" for key in keys if hasattr(value, key)), None)

    return Discriminator(tag, custom_error_type=error, custom_error_message=error)


class Synchronize(WireModel):
    """The host goes on once all of it has ended."""

    synchronize: Annotated[
        Annotated[OfStream, Tag("a stream")] | Annotated[OfEvent, Tag("a event")],
        _by_key("synchronized", "stream", "event"),
    ]


class HostAccess(WireModel):
    """The host itself reads or writes a resource, and goes on when it has."""

    access: Identity
    mode: Access
    name: Identity


HostAction = Annotated[
    Annotated[Launch, Tag("a launch")]
    | Annotated[Record, Tag("a record")]
    | Annotated[Wait, Tag("a wait")]
    | Annotated[Synchronize, Tag("a synchronize")]
    | Annotated[HostAccess, Tag("a access")],
    _by_key("host_action", "launch", "record", "wait", "synchronize", "access"),
]


class Carried(WireModel):
    """The node ``to`` of a step needs what ``from`` did so many steps before."""

    from_: Annotated[Identity, Field(alias="from")]
    to: Identity
    distance: Count


class Steps(WireModel):
    """How steps follow each other.

    With ``in_flight`` the host waits for the whole of the step so many before it begins the next.
    ``buffers`` are the storages that steps take in turn, of resources that have more than one.
    """

    in_flight: Count | None = None
    carried: Annotated[tuple[Carried, ...], Field(strict=False)] = ()
    buffers: Annotated[dict[Identity, Count], Field(default_factory=dict)]


class Schedule(WireModel):
    """The host's actions of one step, in their order; without ``steps`` there is one step."""

    schema_: Annotated[Literal["ferrum-verify/schedule/v1"], Field(alias="schema")]
    host: Annotated[tuple[HostAction, ...], Field(strict=False)]
    steps: Steps | None = None
