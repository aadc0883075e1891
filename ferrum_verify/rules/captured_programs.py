"""Captured programs: the shapes that reusable execution captures, and the passes it takes."""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate
from typing import TYPE_CHECKING

from ferrum_verify.documents.reusable import UniformDecode
from ferrum_verify.findings import DELETE, Example, Finding, Rule, Swap

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ferrum_verify.documents.reusable import Capacity, CapturedProgram, ProgramPolicy

POLICY = "docs/format.md, «Reusable execution»"


def _program_key(program: CapturedProgram) -> tuple[str, int, tuple[int, ...]]:
    return (program.class_id, *_shape_key(program))


def _shape_key(program: CapturedProgram) -> tuple[int, tuple[int, ...]]:
    shape = program.shape
    if isinstance(shape, UniformDecode):
        return 0, (
            shape.request_capacity,
            shape.token_capacity,
            shape.query_tokens_per_sequence,
        )
    return 1, (shape.tokens_processed, shape.token_capacity, shape.total_prompt_tokens)


def _describe(program: CapturedProgram) -> str:
    shape = program.shape
    if isinstance(shape, UniformDecode):
        return (
            f"the decode program of class `{program.class_id}` for {shape.request_capacity:,} "
            f"requests of {shape.query_tokens_per_sequence:,} tokens"
        )
    return (
        f"the prefill program of class `{program.class_id}` for {shape.token_capacity:,} tokens "
        f"from {shape.tokens_processed:,} of {shape.total_prompt_tokens:,}"
    )


PROGRAM_COUNT = Rule(
    id="reusable.program-count",
    summary="A program policy has 1 to 256 programs.",
    why="The engine refuses others.",
    fix="Leave programs out, or leave the policy out.",
    source=POLICY,
    example=Example("problem", {"/reusable_execution_policy/program_policy/programs": []}),
)
PROGRAM_ORDER = Rule(
    id="reusable.program-order",
    summary="Programs ascend by class, decode before prefill, then by their shape.",
    why="The runtime looks programs up in this order, and the policy is hashed in it.",
    fix="Sort the programs and remove repeated ones.",
    source=POLICY,
    example=Example(
        "problem",
        {
            "/reusable_execution_policy/program_policy/programs/0": Swap(
                "/reusable_execution_policy/program_policy/programs/1"
            )
        },
    ),
)
PROGRAM_CLASS = Rule(
    id="reusable.program-class",
    summary="A program's shape belongs to one class.",
    why="Of two classes with the same shape it is open which program runs a batch.",
    fix="Remove the shape from one of the classes.",
    source=POLICY,
    example=Example(
        "problem",
        {
            "/reusable_execution_policy/program_policy/programs/3": {
                "class_id": "class/prefill",
                "shape": {
                    "topology": "uniform_decode",
                    "request_capacity": 1,
                    "token_capacity": 1,
                    "query_tokens_per_sequence": 1,
                },
            },
            "/reusable_execution_policy/program_policy/programs/2": Swap(
                "/reusable_execution_policy/program_policy/programs/3"
            ),
        },
    ),
)
PROGRAM_BUCKET = Rule(
    id="reusable.program-bucket",
    summary="Every program has a bucket of its class that covers its shape.",
    why="A program without a bucket has no workspace to run in.",
    fix="Add a bucket to the class, or enlarge its last one.",
    source=POLICY,
    example=Example(
        "problem",
        {
            "/reusable_execution_policy/program_policy/programs/3/shape/token_capacity": 65,
            "/reusable_execution_policy/program_policy/programs/3/shape/total_prompt_tokens": 129,
            "/reusable_execution_policy/program_policy/programs/2/shape/total_prompt_tokens": 129,
        },
    ),
)
PROGRAM_PASSES = Rule(
    id="reusable.program-passes",
    summary="Start-up programs have at least one pass of each sort; on-demand ones 1, 1 and 0.",
    why="A program that was not warmed up, captured and validated at start-up cannot be sealed.",
    fix="Set warm-up, capture and replay-validation passes accordingly.",
    source=POLICY,
    example=Example("problem", {"/reusable_execution_policy/program_policy/warmup_passes": 0}),
)


def check_programs(
    policy: ProgramPolicy, capacities: Mapping[str, Sequence[Capacity]], location: str
) -> Iterator[Finding]:
    """The rules of a program policy; ``capacities`` are those of each class's buckets."""
    passes = (policy.warmup_passes, policy.capture_passes, policy.replay_validation_passes)
    sealed = policy.catalog_lifetime == "startup_sealed"
    if (sealed and not all(passes)) or (not sealed and passes != (1, 1, 0)):
        yield PROGRAM_PASSES.finding(
            f"a {policy.catalog_lifetime} catalog has {passes[0]:,} warm-up, {passes[1]:,} "
            f"capture and {passes[2]:,} replay-validation passes",
            location,
        )
    programs = policy.programs
    if not 1 <= len(programs) <= 256:
        yield PROGRAM_COUNT.finding(
            f"the program policy has {len(programs):,} programs, not 1 to 256",
            f"{location}/programs",
        )
    keys = {_program_key(program) for program in programs}
    covered = {class_id: _Covered(held) for class_id, held in capacities.items()}
    class_of: dict[tuple[int, tuple[int, ...]], str] = {}
    for index, program in enumerate(programs):
        here = f"{location}/programs/{index}"
        if index and _program_key(programs[index - 1]) >= _program_key(program):
            yield PROGRAM_ORDER.finding(
                f"{_describe(program)} does not ascend past the one before", here
            )
        owner = class_of.setdefault(_shape_key(program), program.class_id)
        if owner != program.class_id:
            yield PROGRAM_CLASS.finding(
                f"{_describe(program)} has the shape of one of class `{owner}`", here
            )
        yield from _check_shape(program, keys, here)
        shape = program.shape
        requests = shape.request_capacity if isinstance(shape, UniformDecode) else 1
        if not covered.get(program.class_id, _NOTHING).holds(requests, shape.token_capacity):
            yield PROGRAM_BUCKET.finding(
                f"no bucket of class `{program.class_id}` covers {_describe(program)}", here
            )


class _Covered:
    """What the buckets of a class hold: by sequences, the most tokens of so many or more."""

    def __init__(self, capacities: Sequence[Capacity]) -> None:
        ascending = sorted((each.maximum_sequences, each.maximum_tokens) for each in capacities)
        self._sequences = [sequences for sequences, _ in ascending]
        tokens = accumulate((tokens for _, tokens in reversed(ascending)), max)
        self._tokens = [*tokens][::-1]

    def holds(self, sequences: int, tokens: int) -> bool:
        """Whether some bucket has room for a batch."""
        at = bisect_left(self._sequences, sequences)
        return at < len(self._tokens) and self._tokens[at] >= tokens


_NOTHING = _Covered(())

PROGRAM_SHAPE = Rule(
    id="reusable.program-shape",
    summary="A program's shape is consistent in itself.",
    why="A capture for a shape that no batch can have is never replayed.",
    fix="Decode: token capacity is requests times query tokens. Prefill: processed tokens and "
    "token capacity stay within the prompt. All counts but the processed tokens are positive.",
    source=POLICY,
    example=Example(
        "problem", {"/reusable_execution_policy/program_policy/programs/1/shape/token_capacity": 3}
    ),
)
PROGRAM_PREDECESSOR = Rule(
    id="reusable.program-predecessor",
    summary="A prefill that starts past token 0 has the program that gets it there.",
    why="Its start is never reached by captured programs alone.",
    fix="Add the prefill of the same class and prompt from 0 to where this one starts.",
    source=POLICY,
    example=Example("problem", {"/reusable_execution_policy/program_policy/programs/2": DELETE}),
)


def _check_shape(
    program: CapturedProgram, keys: set[tuple[str, int, tuple[int, ...]]], location: str
) -> Iterator[Finding]:
    shape = program.shape
    if isinstance(shape, UniformDecode):
        product = shape.request_capacity * shape.query_tokens_per_sequence
        if not product or product != shape.token_capacity:
            yield PROGRAM_SHAPE.finding(
                f"{_describe(program)} has a token capacity of {shape.token_capacity:,}, not the "
                f"product {product:,}",
                f"{location}/shape/token_capacity",
                expected=product,
                actual=shape.token_capacity,
            )
        return
    end = shape.tokens_processed + shape.token_capacity
    if not shape.token_capacity or end > shape.total_prompt_tokens:
        yield PROGRAM_SHAPE.finding(
            f"{_describe(program)} has no tokens, or ends past its prompt", f"{location}/shape"
        )
    start = shape.tokens_processed
    predecessor = (program.class_id, 1, (0, start, shape.total_prompt_tokens))
    if start and predecessor not in keys:
        yield PROGRAM_PREDECESSOR.finding(
            f"{_describe(program)} has no program that processes its first {start:,} tokens",
            location,
        )
