"""The scalar types of the wire format, and the two shapes that its objects come in.

Everything is strict: a boolean is not an integer, ``48.0`` is not 48, and a number in quotes
is no number. Objects refuse unknown and missing fields.
"""

import marshal
from collections.abc import Iterable
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    PlainValidator,
    StringConstraints,
    WithJsonSchema,
    WrapValidator,
    model_serializer,
    model_validator,
)
from pydantic_core import PydanticCustomError

U8_MAX = 2**8 - 1
U16_MAX = 2**16 - 1
U32_MAX = 2**32 - 1
U64_MAX = 2**64 - 1
U128_MAX = 2**128 - 1
I64_MAX = 2**63 - 1

U8 = Annotated[int, Field(ge=0, le=U8_MAX)]
U16 = Annotated[int, Field(ge=0, le=U16_MAX)]
U32 = Annotated[int, Field(ge=0, le=U32_MAX)]
U64 = Annotated[int, Field(ge=0, le=U64_MAX)]
I64 = Annotated[int, Field(ge=-I64_MAX - 1, le=I64_MAX)]


def _parse_u128(value: object) -> int:
    # The shortest decimal form is the only one: "007" and "+7" are other texts for 7.
    if (
        not isinstance(value, str)
        or not value.isascii()
        or not value.isdigit()
        or len(value) > 39
        or (len(value) > 1 and value[0] == "0")
    ):
        raise PydanticCustomError(
            "u128_text", "Input should be a string with an unsigned number in shortest decimal form"
        )
    number = int(value)
    if number > U128_MAX:
        raise PydanticCustomError("u128_range", "Input should be at most 2^128 - 1")
    return number


U128 = Annotated[
    int,
    PlainValidator(_parse_u128),
    PlainSerializer(str, return_type=str),
    WithJsonSchema({"type": "string", "pattern": "^(0|[1-9][0-9]{0,38})$"}),
]
"""A number below 2^128, written as a decimal string."""

IDENTITY_PATTERN = r"^[A-Za-z0-9._:/-]{1,160}$"
Identity = Annotated[str, StringConstraints(pattern=IDENTITY_PATTERN)]
"""A name of a node, resource, value, provider …: 1 to 160 bytes of ASCII."""

Fingerprint = Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")]
"""A SHA-256 in lowercase hex."""

ElementType = Literal["bool", "u8", "i8", "f16", "bf16", "u32", "i32", "f32"]
Usage = Literal["weights", "activations", "state", "persistent", "binding", "scratch", "transfer"]
Lifetime = Literal["plan", "request", "sequence", "step", "invocation"]
Initialization = Literal["none", "zero"]
Access = Literal["read", "write", "read_write"]
Role = Literal["input", "output"]

ELEMENT_BYTES: dict[str, int] = {
    "bool": 1,
    "u8": 1,
    "i8": 1,
    "f16": 2,
    "bf16": 2,
    "u32": 4,
    "i32": 4,
    "f32": 4,
}


def element_count(dimensions: Iterable[int]) -> int:
    """How many elements a shape has, and 2^64 where there are more than 64 bits count.

    Whoever has so many is refused, and the product of a million dimensions takes minutes.
    """
    total = 1
    for dimension in dimensions:
        total = min(total * dimension, U64_MAX + 1)
    return total


class WireModel(BaseModel):
    """Base of every wire object."""

    model_config = ConfigDict(
        strict=True, extra="forbid", frozen=True, defer_build=True, protected_namespaces=()
    )

    @classmethod
    def trusted(cls, **fields: Any) -> Self:
        """An instance of fields that are known to be right, all of them given.

        Derived objects are made by the thousand; checking each field anew, or filling in
        defaults as pydantic's own constructor does, takes most of the time of a derivation.
        """
        model = cls.__new__(cls)
        put = object.__setattr__
        put(model, "__dict__", fields)
        put(model, "__pydantic_fields_set__", fields.keys())
        put(model, "__pydantic_extra__", None)
        put(model, "__pydantic_private__", None)
        return model

    def changed(self, **fields: Any) -> Self:
        """The object with other values of some fields, which are known to be right."""
        return type(self).trusted(**{**self.__dict__, **fields})

    def to_wire(self) -> dict[str, Any]:
        """The object as the engine's JSON."""
        return self.model_dump(mode="json")


class Variant(WireModel):
    """An enum variant with data: on the wire a one-key object ``{tag: {...}}``."""

    tag: ClassVar[str]

    @model_validator(mode="before")
    @classmethod
    def _unwrap(cls, value: Any) -> Any:
        return value[cls.tag] if isinstance(value, dict) and cls.tag in value else value

    @model_serializer(mode="wrap")
    def _wrap(self, handler: Any) -> dict[str, Any]:
        return {self.tag: handler(self)}

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: Any) -> dict[str, Any]:
        """The wrapped form, as it stands on the wire."""
        inner = handler(core_schema)
        return {
            "type": "object",
            "properties": {cls.tag: inner},
            "required": [cls.tag],
            "additionalProperties": False,
        }


def variant_tag(value: Any) -> str | None:
    """The variant that a wire value claims to be: its text, or the only key of an object."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return next(iter(value)) if len(value) == 1 else None
    return getattr(value, "tag", None)


def shared() -> WrapValidator:
    """Read equal wire values once, and give the same object for each.

    A plan's thousand rows have a handful of demands and of storages between them, which never
    change. Without this, deriving the plan of 64 layers takes 11 times as long as reading its
    problem as JSON, and 8 times with it.
    """
    known: dict[bytes, Any] = {}

    def read(value: Any, handler: Any) -> Any:
        if type(value) is not dict:
            return handler(value)
        try:
            # As bytes, 1 is neither true nor "1". Version 2 has no references in it.
            text = marshal.dumps(value, 2)
        except ValueError:
            return handler(value)  # too deep, or something that no JSON text has
        found = known.get(text)
        if found is None:
            found = handler(value)
            if len(known) < 4096 and len(text) < 8192:
                known[text] = found
        return found

    return WrapValidator(read)


class Version(WireModel):
    """A contract version."""

    major: U16
    minor: U16

    @classmethod
    def of(cls, major: int, minor: int) -> Self:
        """The version ``major.minor``."""
        return cls(major=major, minor=minor)
