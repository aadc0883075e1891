"""JSON Schema of the report, ``ferrum-verify/report/v1``."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, get_args

from ferrum_verify.counterexamples import SIDES, Runs
from ferrum_verify.counterexamples.parties import PartyKind
from ferrum_verify.findings import Family, Judgment, Severity
from ferrum_verify.reading.document import Kind
from ferrum_verify.report.hidden import HiddenBy
from ferrum_verify.report.model import REPORT_SCHEMA, VERDICTS, Held, Obligations

_COUNT = {"type": "integer", "minimum": 0}
_TEXT = {"type": "string"}
_FLAG = {"type": "boolean"}
_POINTER = {"type": "string", "pattern": "^(/.*)?$"}


def _object(required: dict[str, Any], optional: dict[str, Any] | None = None) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": required | (optional or {}),
        "required": list(required),
        "additionalProperties": False,
    }


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


def _one_of(*values: str) -> dict[str, Any]:
    return {"enum": list(values)}


def _shape() -> dict[str, Any]:
    return _object({"sequences": _COUNT, "tokens": _COUNT, "pages": _COUNT})


def _pool_cost() -> dict[str, Any]:
    bytes_ = dict.fromkeys(("bytes", "least_bytes", "best_bytes"), _COUNT)
    return _object(
        {"pool_id": _TEXT, **bytes_, "safe": _FLAG, "proved": _FLAG}, {"shape": _shape()}
    )


def _against() -> dict[str, Any]:
    names = _list(_TEXT)
    pair = _object({"before": _COUNT, "after": _COUNT})
    change = {"before": _COUNT, "after": _COUNT}
    pool = {"pool_id": _TEXT, "holds": _TEXT, "resources": pair, "slots": pair}
    lone = _list(_object({"resource": _TEXT, "place": _TEXT}, {"bytes": _COUNT}))
    listed = {"node": _TEXT, "list": _TEXT, "added": names, "removed": names}
    moved = _object({"resource": _TEXT, "before": _TEXT, "after": _TEXT})
    return _object(
        {
            "other": _TEXT,
            "totals": _list(_object({"name": _TEXT, **change})),
            "pools": _list(_object(pool, {"held_bytes": pair})),
            "resources_added": lone,
            "resources_removed": lone,
            "resized": _list(_object({"resource": _TEXT, **change})),
            "moved": _list(moved),
            "nodes_added": names,
            "nodes_removed": names,
            "nodes_reordered": _COUNT,
        },
        {
            "batch": _object(dict.fromkeys(("sequences", "tokens", "held", "pages"), _COUNT)),
            "undefined": _TEXT,
            "nodes_compared": _FLAG,
            "node_lists": _list(_object(listed)),
            "accesses": _list(
                _object({"node": _TEXT, "name": _TEXT}, {"before": _TEXT, "after": _TEXT})
            ),
            "bounds": _list(_object({"bound": _TEXT, "of": names}, change)),
            "others": _list(_object({"member": _TEXT, "of": names})),
        },
    )


def _counterexample() -> dict[str, Any]:
    shape = _shape()
    step = {"step": _COUNT}
    run = _list(_object({"id": _TEXT, "start": _COUNT, "end": _COUNT}, {"stream": _TEXT, **step}))
    use = _object({"resource": _TEXT, "node": _TEXT}, step)
    extent = _object({"resource": _TEXT, "start": _COUNT, "end": _COUNT}, {"value": _TEXT})
    counts = _object({"minimum_tokens": _COUNT, "alignment": _COUNT})
    party = _object(
        {"by": _one_of(*get_args(PartyKind))},
        dict.fromkeys(SIDES, counts)
        | {"maximum_tokens": _COUNT}
        | dict.fromkeys(("operation", "provider", "node", "state"), _TEXT),
    )
    judges = dict.fromkeys(("permitted", "refused"), party)
    judges |= dict.fromkeys(("permitted_by", "refused_by"), _TEXT)
    named = {"type": "object", "additionalProperties": _COUNT}
    any_shape = {"anyOf": [shape, named]}
    bytes_ = _object({"start": _COUNT, "end": _COUNT})
    of_buffers = {
        "shape": named,
        "arms": {"type": "object", "additionalProperties": _TEXT},
    }
    at_shape = {"kind": {"const": "shape"}, "shape": any_shape}
    return {
        "oneOf": [
            _object(
                {
                    "kind": {"const": "schedule"},
                    "nodes": run,
                    "left": use,
                    "right": use,
                    "at": _COUNT,
                },
                {"bytes": bytes_, **of_buffers},
            ),
            _object(
                {
                    "kind": {"const": "access"},
                    "nodes": run,
                    "resource": _TEXT,
                    "bytes": bytes_,
                    "writer": _object({"node": _TEXT}, step),
                    "other": _object({"node": _TEXT, "mode": _one_of("read", "write")}, step),
                    "at": _COUNT,
                },
                {"value": _TEXT, **of_buffers},
            ),
            _object(
                {
                    "kind": {"const": "dependency"},
                    "nodes": run,
                    "node": _TEXT,
                    "dependency": _TEXT,
                },
                step | {"dependency_step": _COUNT},
            ),
            _object(
                {
                    "kind": {"const": "overlap"},
                    "shape": any_shape,
                    "left": extent,
                    "right": extent,
                    "byte": _COUNT,
                }
            ),
            _object(at_shape | {"bytes": _COUNT, "limit": _COUNT, "limit_from": _POINTER}),
            _object(at_shape | {"overflow": {"const": True}}),
            _object({"kind": {"const": "span"}, "tokens": _COUNT} | judges),
            _object(
                {"kind": {"const": "span"}}
                | dict.fromkeys(("processed", "boundary", "prompt"), _COUNT)
                | judges
            ),
        ]
    }


def report_schema() -> dict[str, Any]:
    """The schema of a whole report."""
    finding = _object(
        {
            "rule": {"type": "string", "pattern": "^[a-z]+\\.[a-z0-9-]+$"},
            "family": _one_of(*get_args(Family)),
            "judgment": _one_of(*get_args(Judgment)),
            "severity": _one_of(*get_args(Severity)),
            "message": _TEXT,
            "location": _POINTER,
        },
        {
            "expected": {},
            "actual": {},
            "fix": _TEXT,
            "cause": _COUNT,
            "counterexample": {"$ref": "#/$defs/counterexample"},
        },
    )
    why = {"hidden_by": _one_of(*get_args(HiddenBy)), "reason": _TEXT}
    hidden = {
        **finding,
        "properties": finding["properties"] | why,
        "required": [*finding["required"], *why],
    }
    slot = _object(
        {"pool_id": _TEXT, "resource_ids": _list(_TEXT)},
        {
            "in_order": _FLAG,
            "fenced": _FLAG,
            "concurrent": _FLAG,
            "hazards": _list(
                {"type": "array", "items": _TEXT, "minItems": 2, "maxItems": 2},
            ),
        },
    )
    document = _object(
        {
            "source": _TEXT,
            "verdict": _one_of(*VERDICTS),
            "findings": _list({"$ref": "#/$defs/finding"}),
            "slots": _list({"$ref": "#/$defs/slot"}),
            "timings": {
                "type": "object",
                "description": "Seconds by phase.",
                "additionalProperties": {"type": "number", "minimum": 0},
            },
        },
        {
            "hidden": _list({"$ref": "#/$defs/hidden"}),
            "kind": _one_of(*get_args(Kind), *get_args(Held)),
            "against": _against(),
            "memory": _object({"pools": _list(_pool_cost()), "shape": _shape()}),
            "key": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
            "carried": {"const": True},
            "obligations": _object(
                dict.fromkeys((each.name for each in fields(Obligations)), _COUNT)
            ),
        },
    )
    whole = _object(
        {
            "schema": {"const": REPORT_SCHEMA},
            "tool": _object({"name": {"const": "ferrum-verify"}, "version": _TEXT}),
            "execution": _one_of(*get_args(Runs)),
            "documents": _list({"$ref": "#/$defs/document"}),
            "summary": _object(dict.fromkeys(VERDICTS, _COUNT)),
        },
        {
            "judge": _one_of(*get_args(Judgment)),
            "shard": _list({"type": "integer", "minimum": 1}) | {"minItems": 2, "maxItems": 2},
            "merged": _list(_TEXT),
        },
    )
    definitions = {
        "document": document,
        "finding": finding,
        "hidden": hidden,
        "slot": slot,
        "counterexample": _counterexample(),
    }
    return {"title": REPORT_SCHEMA, **whole, "$defs": definitions}
