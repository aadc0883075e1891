"""Recomputing the fingerprints of an edited bundle, so that only the edit is at fault.

The opposite of the integrity rules: what they check, this writes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ferrum_verify.findings import pointer
from ferrum_verify.plan.canonical import fingerprint, ordered_fingerprint

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator


def restamp(document: Any, keep: Collection[str] = ()) -> None:
    """Recompute every fingerprint of an execution plan, bundle or catalog in place.

    Those at the JSON pointers in ``keep`` stay as they are. Parts that are absent, or no
    objects, are passed over: an edit may have removed them.
    """
    for stamp in _stamps(document):
        if stamp.key in stamp.holder and f"{stamp.place}/{stamp.key}" not in keep:
            stamp.holder[stamp.key] = stamp.value


class _Stamp(NamedTuple):
    """A fingerprint that belongs into ``holder``, which stands at the pointer ``place``."""

    holder: dict[str, Any]
    place: str
    key: str
    value: str


def _stamps(document: Any) -> Iterator[_Stamp]:
    """Sources first, as the plan's hash covers their fingerprints.

    Each stamp is computed only when those before it have been written.
    """
    is_bundle = isinstance(document, dict) and "plan" in document
    plan = _member(document, "plan") if is_bundle else document
    place = "/plan" if is_bundle else ""
    payload = _member(plan, "payload")
    is_catalog = isinstance(document, dict) and "operations" in document
    catalog = document if is_catalog else _member(document, "catalog")
    policy = _member(document, "policy")
    operations = _member(catalog, "operations")
    yield _Stamp(policy, "/policy", "fingerprint", _rest(policy, "fingerprint"))
    for operation_id, providers in _member(catalog, "providers").items():
        claim = ordered_fingerprint(operations.get(operation_id))
        for index, provider in enumerate(providers):
            where = pointer("" if is_catalog else "/catalog", "providers", operation_id, index)
            yield _Stamp(provider, where, "operation_fingerprint", claim)
    for index, node in enumerate(payload.get("nodes") or ()):
        where = f"{place}/payload/nodes/{index}"
        operation = operations.get(node.get("operation_id"))
        if operation is not None:
            yield _Stamp(node, where, "operation_fingerprint", ordered_fingerprint(operation))
        estimate, key = _member(node, "provider_resources"), "estimate_fingerprint"
        yield _Stamp(estimate, f"{where}/provider_resources", key, _rest(estimate, key))
    for key, source, hashed in (
        ("program_fingerprint", "program", ordered_fingerprint),
        ("capability_catalog_fingerprint", "catalog", ordered_fingerprint),
        ("policy_fingerprint", "policy", fingerprint),
    ):
        if is_bundle and source in document:
            yield _Stamp(payload, f"{place}/payload", key, hashed(document[source]))
    digest = _rest(payload, "plan_id")
    yield _Stamp(payload, f"{place}/payload", "plan_id", f"plan/sha256/{digest}")
    if isinstance(plan, dict):
        yield _Stamp(plan, place, "plan_hash", digest)


def _rest(holder: dict[str, Any], key: str) -> str:
    return fingerprint({name: value for name, value in holder.items() if name != key})


def _member(holder: Any, key: str) -> dict[str, Any]:
    value = holder.get(key) if isinstance(holder, dict) else None
    return value if isinstance(value, dict) else {}
