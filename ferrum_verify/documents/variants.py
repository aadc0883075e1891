"""Enums of which only some variants are known: the others are kept as they are."""

from __future__ import annotations

from typing import Any

from pydantic import ConfigDict, Discriminator, WithJsonSchema, with_config

from ferrum_verify.documents.primitives import variant_tag

WHOLE = with_config(ConfigDict(strict=True, extra="forbid"))
"""Makes a typed dictionary a variant that is read to the letter, with no key beside its own."""

ANOTHER = "another variant"
"""The tag of the variants that are not known; no identity, so none of theirs."""


def known_or_another(*known: str) -> Discriminator:
    """Tells the known variants, by their tags, from all others."""

    def variant(value: Any) -> str | None:
        tag = variant_tag(value)
        return tag if tag is None or tag in known else ANOTHER

    return Discriminator(variant)


def schema_of_others(*known: str) -> WithJsonSchema:
    """The JSON Schema of every variant but the known ones: a text, or an object with one key."""
    return WithJsonSchema(
        {
            "anyOf": [
                {"type": "string"},
                {
                    "type": "object",
                    "minProperties": 1,
                    "maxProperties": 1,
                    "not": {"anyOf": [{"required": [tag]} for tag in known]},
                },
            ]
        }
    )
