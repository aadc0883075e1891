"""Rules of a plan under a changed catalog: rebuilt on HEAD, what does it lose?

An example is an edit of the sample bundle: its catalog as it was is BASE, its edited one HEAD.
The plan as it was is judged, and the edited plan is what it became when it was rebuilt.
"""

from __future__ import annotations

from typing import Any

from ferrum_verify.findings import DELETE, Example, Rule

_SOURCE = "provider contracts, «compare» with plans"
_DERIVE = f"{_SOURCE}; seed 004, `derive_sequence_checkpoint`"
_SPANS = f"{_SOURCE}; seed 004, `intersect_boundaries`"
_MEMORY = f"{_SOURCE}; seed 000, `evaluate_request_bytes_for_shape`"
_ATTENTION = "/catalog/providers/operation.attention/1"
_CONTRACT = f"{_ATTENTION}/checkpoint_capability/completed_boundary"
_PREFIX = f"{_CONTRACT}/boundaries/prefix"
_BUILD = "/catalog/providers/operation.embed/0/provider_implementation_fingerprint"
_ESTIMATOR = f"{_ATTENTION}/resource_estimator_implementation_fingerprint"
_NODE = "/plan/payload/nodes/2/provider_resources"
_ROWS = "/plan/payload/memory/dynamic_descriptors"
_ZERO = "0" * 64
_NEW_POLICY = {"/policy/version/minor": 1, "/plan/payload/policy_version/minor": 1}
"""A plan under another policy is another plan, and not what the first one became."""


def _head(edits: dict[str, Any], *also: str) -> Example:
    return Example("bundle", edits, also=also, command="contracts compare")


def _base(edits: dict[str, Any]) -> Example:
    """The other way round: the edited bundle is BASE, and the sample what it became."""
    return Example("bundle", edits, command="contracts compare", reverse=True)


CHECKPOINT_LOST = Rule(
    id="contract.plan-checkpoint-lost",
    summary="A plan that has sequence checkpoints under BASE has none under HEAD.",
    why="Every prefix that was restored is computed again, for each request.",
    fix="Undo the change of the provider that the message names, or select another provider.",
    source=_DERIVE,
    example=_head(
        {f"{_ATTENTION}/checkpoint_capability": "unsupported"}, "contract.checkpoint-removed"
    ),
)
CHECKPOINT_GAINED = Rule(
    id="contract.plan-checkpoint-gained",
    summary="A plan that has no sequence checkpoints under BASE has them under HEAD.",
    why="Rebuilt, the plan can restore prefixes.",
    fix="Rebuild the plan to use it.",
    source=_DERIVE,
    severity="note",
    example=_base({f"{_ATTENTION}/checkpoint_capability": "unsupported"}),
)
CHECKPOINT_KEPT = Rule(
    id="contract.plan-checkpoint-kept",
    summary="A plan's checkpoints, or their absence, are the same under BASE and HEAD.",
    why="Captured prefixes keep their boundaries.",
    fix="Nothing has to be done.",
    source=_DERIVE,
    severity="note",
    example=_head({_ESTIMATOR: _ZERO}),
)
CHECKPOINT_WEAKENED = Rule(
    id="contract.plan-checkpoint-weakened",
    summary="A plan's checkpoints promise less, or something else, under HEAD than under BASE.",
    why="Prefixes are still captured at the same boundaries, but what may be done with them is "
    "less, or the captured bytes mean something else.",
    fix="Undo the change of the provider that the message names.",
    source=_DERIVE,
    example=_head(
        {f"{_CONTRACT}/completed_input_capture": "unsupported"}, "contract.input-capture-lost"
    ),
)
CHECKPOINT_STRENGTHENED = Rule(
    id="contract.plan-checkpoint-strengthened",
    summary="A plan's checkpoints promise more under HEAD than under BASE.",
    why="All that could be done with a captured prefix still can be.",
    fix="Rebuild the plan to use it.",
    source=_DERIVE,
    severity="note",
    example=_base({f"{_CONTRACT}/completed_input_capture": "unsupported"}),
)
BOUNDARY_LOST = Rule(
    id="contract.plan-boundary-lost",
    summary="A plan's prompt can be cut at a boundary under BASE at which it can not under HEAD.",
    why="Prefixes that were captured there are computed again.",
    fix="Widen the constraints of the providers that the message names.",
    source=_SPANS,
    example=_head({f"{_PREFIX}/alignment": 8}, "contract.prefix-narrowed"),
)
BOUNDARY_GAINED = Rule(
    id="contract.plan-boundary-gained",
    summary="A plan's prompt can be cut at a boundary under HEAD at which it can not under BASE.",
    why="More prefixes can be reused.",
    fix="Rebuild the plan to use it.",
    source=_SPANS,
    severity="note",
    example=_base({f"{_PREFIX}/alignment": 8}),
)
BOUNDARY_UNREACHABLE = Rule(
    id="contract.plan-boundary-unreachable",
    summary="The first legal boundary lies beyond what the plan's states hold under HEAD, and "
    "within it under BASE.",
    why="The plan still claims to support checkpoints and can never take one.",
    fix="Lower the alignment or the minimum of the providers that the message names.",
    source=_SPANS,
    example=_head({f"{_PREFIX}/alignment": 512}, "contract.prefix-narrowed"),
)
CHECKPOINT_UNDECIDED = Rule(
    id="contract.plan-checkpoint-undecided",
    summary="Whether a plan keeps its checkpoints cannot be told without its program.",
    why="The program says what the states are; a plan alone does not.",
    fix="Give the plan in a bundle with its program.",
    source=_DERIVE,
    severity="warning",
    undecided=True,
    example=_base({"/program": DELETE, f"{_PREFIX}/alignment": 8}),
)
PROVIDER_REFUSED = Rule(
    id="contract.plan-provider-refused",
    summary="A plan's provider can be selected under BASE and can not under HEAD.",
    why="The plan cannot be rebuilt as it is; the engine would select another provider, or none.",
    fix="Make the provider meet what the device and the operation require, or rebuild the plan "
    "on another provider.",
    source=_SOURCE,
    example=_head(
        {"/catalog/operations/operation.attention/provider/minimum_version/minor": 1},
        "contract.no-longer-selectable",
    ),
)
FORMAT_REFUSED = Rule(
    id="contract.plan-format-refused",
    summary="A plan's weights are in a format that its provider accepts under BASE and not under "
    "HEAD.",
    why="The provider cannot read the weights.",
    fix="Keep the format, or convert the weights and rebuild the plan.",
    source=_SOURCE,
    example=_head({f"{_ATTENTION}/accepted_weight_formats": []}, "contract.format-dropped"),
)
REBUILD = Rule(
    id="contract.plan-rebuild",
    summary="A plan names builds of providers or operations that are not those of HEAD.",
    why="The engine refuses a plan of other builds than its own, so the plan must be compiled "
    "again even where nothing that is declared changes.",
    fix="Compile the plan against HEAD.",
    source=_SOURCE,
    severity="note",
    example=_head({_BUILD: _ZERO}),
)
OTHER_CATALOG = Rule(
    id="contract.plan-of-another-catalog",
    summary="A plan was compiled under a catalog that is neither BASE nor HEAD.",
    why="It is judged as if it were rebuilt on BASE, which may already differ from what runs.",
    fix="Give the plan that was compiled under BASE.",
    source=_SOURCE,
    severity="warning",
    example=_head({"/plan/payload/capability_catalog_fingerprint": _ZERO}),
)
PLAN_OF_HEAD = Rule(
    id="contract.plan-of-head",
    summary="A plan was compiled under HEAD, and its counterpart of BASE was not given.",
    why="Without a plan from before nothing can be compared.",
    fix="Give the plan that was compiled under BASE as well.",
    source=_SOURCE,
    severity="note",
    example=_head({_BUILD: _ZERO, **_NEW_POLICY}),
)
MEMORY_GREW = Rule(
    id="contract.plan-memory-growth",
    summary="A resource of a plan takes more memory under HEAD's estimates than under BASE's.",
    why="The same policy then admits fewer sequences, or none.",
    fix="Lower the estimate, or grant the plan more memory.",
    source=_MEMORY,
    severity="warning",
    example=_head(
        {
            _ESTIMATOR: _ZERO,
            f"{_NODE}/scratch/size_formula/affine/bytes_per_token": 32,
            f"{_ROWS}/2/demand/affine/bytes_per_token": 32,
        },
    ),
)
MEMORY_KEPT = Rule(
    id="contract.plan-memory-kept",
    summary="The estimates of a plan's providers are new under HEAD, and ask for no more.",
    why="What the policy admitted still fits.",
    fix="Nothing has to be done.",
    source=_MEMORY,
    severity="note",
    example=_head({_ESTIMATOR: _ZERO}),
)
MEMORY_EXCEEDED = Rule(
    id="contract.plan-memory-exceeded",
    summary="A plan fits its memory under BASE, and does not under HEAD.",
    why="The plan cannot be loaded, or loads and can run no request.",
    fix="Lower the estimates, or grant the plan more memory.",
    source="provider contracts, «compare» with plans; seed 000, "
    "`from_core_with_completion_retention`",
    judgment="safety",
    example=_head({"/catalog/device/total_memory_bytes": 65536}, "contract.device-memory-reduced"),
)
ESTIMATE_REFUSES = Rule(
    id="contract.plan-estimate-refuses",
    summary="A resource has a size under BASE at a shape at which it has none under HEAD.",
    why="A batch of that shape ran, and is refused.",
    fix="Let the provider's estimate cover the shapes that it covered before.",
    source=_MEMORY,
    example=_head(
        {
            "/catalog/providers/operation.head/0/resource_estimator_implementation_fingerprint": (
                _ZERO
            ),
            f"{_ROWS}/6/demand/bounded_shape_buckets/buckets/1/maximum_tokens": 128,
        }
    ),
)
ESTIMATES_UNKNOWN = Rule(
    id="contract.plan-estimates-unknown",
    summary="A plan's providers have other estimators in HEAD, and the rebuilt plan was not given.",
    why="An estimator says how much workspace a node takes; a catalog names it and does not hold "
    "its answers.",
    fix="Rebuild the plan on HEAD and give it as a further `--plan`.",
    source=_MEMORY,
    severity="warning",
    undecided=True,
    example=_head({_ESTIMATOR: _ZERO, **_NEW_POLICY}),
)
