"""Uses for checking counterexamples: which nodes touch a resource, read from a document's JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ferrum_verify.counterexamples.document import Document

_WORKSPACES = ("scratch_resource", "binding_resource", "persistent_resource")


def users_of(document: Document, resource: str) -> list[str]:
    """The nodes that list or bind the resource, in plan order."""
    return [node["id"] for node in document.nodes if resource in _used_by(node)]


def all_users(document: Document) -> dict[str, list[str]]:
    """For each resource that some node touches those nodes, in plan order."""
    users: dict[str, list[str]] = {}
    for node in document.nodes:
        for resource in _used_by(node):
            users.setdefault(resource, []).append(node["id"])
    return users


def _used_by(node: Mapping[str, Any]) -> set[str]:
    used = {*node["resources"], *(node.get("reads") or ()), *(node.get("writes") or ())}
    used |= {node.get(name) for name in _WORKSPACES} - {None}
    for value in node.get("values", ()):
        used |= {part["resource_id"] for part in value["storage"]["components"]}
    for effect in node.get("state_effects", ()):
        used |= set(effect["resource_ids"])
    return used


def share_an_extent(document: Document, left: Mapping[str, Any], right: Mapping[str, Any]) -> bool:
    """Whether two nodes have rows of one pool that reuse its bytes, with these resources.

    A workspace of one invocation lives while its node runs; what another node has of the same
    name is another workspace.
    """
    for pool in document.memory.get("dynamic_pools", ()):
        if pool["invocation_liveness_mode"] != "total_order_reuse":
            continue
        rows = {
            (row["node_id"], name)
            for row in pool["invocation_liveness"]
            for name in row["resource_ids"]
        }
        if all((side["node"], side["resource"]) in rows for side in (left, right)):
            return bool(left["node"] != right["node"])
    return False
