"""Which schema version of execution plans has what: the one place that tells 5.0 from 8.1.

One set of models reads both, with every member of the later one optional. This table says which
members and words belong to 8.1 alone, so that neither version is read twice. A version between
the two follows the later one's rules as far as they can be, and is never more than undecided.
"""

from typing import Any, NamedTuple

Schema = tuple[int, int]
"""Major and minor number of a plan's schema."""

SCHEMA_5_0: Schema = (5, 0)
SCHEMA_8_1: Schema = (8, 1)

KNOWN_SCHEMAS = (SCHEMA_5_0, SCHEMA_8_1)
"""The versions whose rules this package knows."""

PLAN, CATALOG, PROGRAM, POLICY = "plan", "catalog", "program", "policy"
EACH = "*"
"""In a path: every member of the object, or every entry of the list."""


def followed(version: Schema) -> Schema:
    """The known version whose rules a plan of ``version`` is held to."""
    return SCHEMA_5_0 if version < (6, 0) else SCHEMA_8_1


class NewMember(NamedTuple):
    """A member that plans of 8.1 have and those of 5.0 refuse.

    ``holder`` is the path of the objects that have it, from the part of a bundle down. One that
    is ``nullable`` may be ``null``, which then is its default; all others are objects or lists.
    """

    holder: str
    name: str
    required: bool = False
    nullable: bool = False
    is_list: bool = False


class Word(NamedTuple):
    """A value of an enum, or the only key of an object, that one of the two versions has."""

    holder: str
    name: str | int
    text: str
    schema: Schema


class LeftOut(NamedTuple):
    """A member that 8.1 writes only where it has another value than ``default``."""

    holder: str
    name: str
    default: Any


_PAYLOAD = f"{PLAN}/payload"
_SELECTION = f"{_PAYLOAD}/nodes/*/selection"
_LAYOUT = f"{_PAYLOAD}/sequence_checkpoint_layout"

NEW_MEMBERS = (
    NewMember(_PAYLOAD, "execution_weights", required=True),
    NewMember(_PAYLOAD, "terminal_output_resources", required=True, is_list=True),
    NewMember(_PAYLOAD, "sequence_checkpoint_layout", nullable=True),
    NewMember(f"{_PAYLOAD}/nodes/*", "provider_execution_semantics", required=True),
    NewMember(f"{_PAYLOAD}/memory", "checkpoint_capacity", nullable=True),
    NewMember(CATALOG, "weight_materializers"),
    NewMember(f"{CATALOG}/providers/*/*", "execution_semantics", required=True),
    NewMember(POLICY, "attention_execution"),
    NewMember(POLICY, "execution_determinism"),
    NewMember(f"{POLICY}/memory", "checkpoint_capacity", nullable=True),
)
"""A policy's are never required: an engine may have another type of policy."""

WORDS = (
    Word(_SELECTION, "selection_reason", "deterministic_compatible", SCHEMA_5_0),
    Word(_SELECTION, "selection_reason", "canonical_compatible", SCHEMA_8_1),
    Word(
        f"{_SELECTION}/rejected_providers/*/reasons/incompatible",
        EACH,
        "insufficient_execution_determinism",
        SCHEMA_8_1,
    ),
    Word(f"{_PAYLOAD}/memory/static_allocations/*", "kind", "initialization_scratch", SCHEMA_8_1),
    *(
        Word(
            f"{CATALOG}/providers/*/*/{key}/completed_boundary/state_ports/*",
            "layout",
            "paged_key_value_block_prefix",
            SCHEMA_8_1,
        )
        for key in ("checkpoint", "checkpoint_capability")
    ),
)

LEFT_OUT = (
    LeftOut(_PAYLOAD, "sequence_checkpoint_layout", None),
    LeftOut(f"{_PAYLOAD}/memory", "checkpoint_capacity", None),
    LeftOut(f"{_PAYLOAD}/memory/dynamic_pools/*", "checkpoint_growth_ceiling_bytes", 0),
    LeftOut(f"{_PAYLOAD}/execution_weights", "approximate_quality_approval", None),
    LeftOut(f"{_PAYLOAD}/execution_weights", "static_weight_transforms", []),
    LeftOut(_LAYOUT, "completed_input_capture", "unsupported"),
    LeftOut(f"{_LAYOUT}/inputs", "output_only_inputs", []),
    LeftOut(f"{_LAYOUT}/providers/*/contract", "completed_input_capture", "unsupported"),
    LeftOut(f"{_LAYOUT}/providers/*/contract", "state_ports", []),
)
