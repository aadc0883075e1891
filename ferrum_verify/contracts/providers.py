"""The providers of two catalogs, matched by operation and provider id.

Of two with one id the engine takes the first, and so does this.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from ferrum_verify.contracts.names import code
from ferrum_verify.findings import pointer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.documents.catalog import CapabilityCatalog, Provider


class Indexed(NamedTuple):
    """A provider, and where it stands among those of its operation."""

    position: int
    provider: Provider


@dataclass(frozen=True, slots=True)
class ProviderPair:
    """A provider of one operation in BASE and in HEAD; ``place`` points at it in HEAD."""

    operation_id: str
    base: Provider
    head: Provider
    place: str

    @property
    def name(self) -> str:
        """What the provider is called in a message."""
        return f"provider {code(self.head.provider_id)} of {code(self.operation_id)}"


def providers_by_id(catalog: CapabilityCatalog, operation_id: str) -> dict[str, Indexed]:
    """The providers of an operation by id, in the catalog's order."""
    found: dict[str, Indexed] = {}
    for index, provider in enumerate(catalog.providers.get(operation_id, ())):
        found.setdefault(provider.provider_id, Indexed(index, provider))
    return found


def provider_pairs(
    base: CapabilityCatalog, head: CapabilityCatalog, place: str
) -> Iterator[ProviderPair]:
    """The providers that both catalogs have; HEAD stands at the pointer ``place``."""
    for operation_id in base.providers:
        after = providers_by_id(head, operation_id)
        for provider_id, before in providers_by_id(base, operation_id).items():
            if (now := after.get(provider_id)) is not None:
                where = pointer(place, "providers", operation_id, now.position)
                yield ProviderPair(operation_id, before.provider, now.provider, where)
