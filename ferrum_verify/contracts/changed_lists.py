"""What is gone from a list that stands for a set, and what is new in it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ferrum_verify.contracts.compatible import change
from ferrum_verify.contracts.examples import ATTENTION, changed
from ferrum_verify.contracts.names import code
from ferrum_verify.findings import Rule
from ferrum_verify.plan.resource_rows import describe_profile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ferrum_verify.contracts.compatible import Aspect
    from ferrum_verify.findings import Finding

_Entry = TypeVar("_Entry")
_SOURCE = "docs/format.md, «Provider contracts»"

CAPABILITY_REMOVED = Rule(
    id="contract.capability-removed",
    summary="A provider and the device keep in HEAD each capability that they have in BASE.",
    why="A node may require the capability; its plan then has no provider any more.",
    fix="Keep the capability, or offer it as another provider.",
    source=_SOURCE,
    example=changed({f"{ATTENTION}/capabilities": ["capability.compute"]}),
)
PROFILE_DROPPED = Rule(
    id="contract.storage-profile-dropped",
    summary="Each storage profile that BASE accepts at a port, or offers on the device, HEAD does "
    "too.",
    why="A plan that stores its values in that way has no kernel that reads them, or no "
    "allocator that holds them.",
    fix="Keep the profile until no plan uses it.",
    source=_SOURCE,
    example=changed(
        {"/providers/operation.embed/0/dynamic_storage_bindings/0/storage/accepted_profiles": []}
    ),
)
FORMAT_DROPPED = Rule(
    id="contract.format-dropped",
    summary="A provider accepts in HEAD each weight and quantization format that it accepts in "
    "BASE.",
    why="The weights of a plan in that format can no longer be read.",
    fix="Keep the format, or convert the weights and rebuild the plans.",
    source=_SOURCE,
    example=changed({f"{ATTENTION}/accepted_weight_formats": []}),
)


class Entries(NamedTuple):
    """A kind of list in the words of "OWNER no longer … the …", and what its changes come to."""

    verb: str
    noun: str
    lost: Rule
    gained: Aspect
    describe: Callable[[Any], str] = code


CAPABILITIES = Entries("has", "capabilities", CAPABILITY_REMOVED, "capability-added")
ACCEPTED_PROFILES = Entries(
    "accepts", "storage profiles", PROFILE_DROPPED, "storage-profile-added", describe_profile
)
OFFERED_PROFILES = ACCEPTED_PROFILES._replace(verb="offers")
WEIGHT_FORMATS = Entries("accepts", "weight formats", FORMAT_DROPPED, "format-added")
QUANTIZATION_FORMATS = WEIGHT_FORMATS._replace(noun="quantization formats")


def list_change(
    owner: str, kind: Entries, base: Sequence[_Entry], head: Sequence[_Entry], place: str
) -> Iterator[Finding]:
    """At most one finding of what HEAD lost, and one of what it gained.

    Order and repetition are no part of what such a list says.
    """
    written: dict[str, Any] = {"expected": _wire(base), "actual": _wire(head)}
    if lost := missing_from(head, base):
        words = "; ".join(map(kind.describe, lost))
        yield kind.lost.finding(
            f"{owner} no longer {kind.verb} the {kind.noun} {words}.", place, **written
        )
    if gained := missing_from(base, head):
        words = "; ".join(map(kind.describe, gained))
        yield change(
            kind.gained, f"{owner} now {kind.verb} the {kind.noun} {words}.", place, **written
        )


def missing_from(other: Iterable[_Entry], entries: Iterable[_Entry]) -> list[_Entry]:
    """The entries that are not in the other list, each once and in their order."""
    known = set(map(_hashed, other))
    first: dict[object, _Entry] = {}
    for entry in entries:
        first.setdefault(_hashed(entry), entry)
    return [entry for key, entry in first.items() if key not in known]


def _hashed(entry: object) -> object:
    return json.dumps(entry, sort_keys=True) if isinstance(entry, dict) else entry


def _wire(entries: Iterable[Any]) -> list[Any]:
    return [entry.to_wire() if hasattr(entry, "to_wire") else entry for entry in entries]
