"""Sound sample documents: small, hand-made, and the ground on which every rule's example stands."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

from ferrum_verify.catalogue.edits import apply_edits
from ferrum_verify.catalogue.restamp import restamp


@cache
def _text(name: str) -> str:
    return files(__package__).joinpath("documents", f"{name}.json").read_text(encoding="utf-8")


def sample(name: str) -> Any:
    """A fresh copy of a sample document, as parsed JSON.

    ``problem`` and ``fragment`` are a planning problem and the fragment that is derived from
    it, ``memory-plan`` is the fragment's memory alone; ``bundle`` is a full execution plan with
    its ``program``, ``catalog`` and ``policy``, which are also samples of their own. Its
    sequences can be checkpointed; ``workspaces`` is the same bundle with two persistent
    workspaces, of the plan and of a sequence, so that they cannot. ``bundle-8.1`` is ``bundle`` in
    that schema, with room for checkpoints and weights that are packed on loading;
    ``catalog-8.1`` is its catalog. ``schedule`` runs the fragment on two streams.
    ``buffer-plan`` is another planner's.
    """
    match name:
        case "memory-plan":
            return json.loads(_text("fragment"))["memory"]
        case "workspaces":
            document = json.loads(_text("bundle"))
            apply_edits(document, json.loads(_text("workspaces")))
            return document
        case "bundle-8.1":
            document = json.loads(_text("bundle"))
            apply_edits(document, json.loads(_text("bundle-8.1")))
            restamp(document)
            return document
        case "catalog-8.1":
            return sample("bundle-8.1")["catalog"]
        case "program" | "catalog" | "policy" | "plan":
            return json.loads(_text("bundle"))[name]
    return json.loads(_text(name))
