"""Where a plan's weights come from, and how loading transforms them: plan schema 8.1."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ferrum_verify.documents.execution_weights import BlockFp8ToMarlin, WeightMaterializer
from ferrum_verify.documents.plan_schema import SCHEMA_8_1
from ferrum_verify.documents.primitives import Version
from ferrum_verify.findings import DELETE, Example, Rule, pointer
from ferrum_verify.findings.wording import in_series, marked
from ferrum_verify.rules.ascending import first_fault
from ferrum_verify.rules.source_integrity import short

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ferrum_verify.documents.catalog import CapabilityCatalog
    from ferrum_verify.documents.execution_plan import PlanHeader
    from ferrum_verify.documents.execution_weights import ExecutionWeights, WeightTransform
    from ferrum_verify.findings import Finding
    from ferrum_verify.reading.document import Subject

_FORMAT = "docs/format.md, «Plan schema 8.1» (execution weights)"
_WEIGHTS = "/plan/payload/execution_weights"
IDENTITY_MATERIALIZER = "weight-materializer.identity"
IDENTITY_IMPLEMENTATION = "8b4938b533e7cdc431f40951c3a532b4426cc526a65d22fdacfd0fe5bf02caae"
MOST_MATERIALIZERS = 64
_ASSUMED = {
    IDENTITY_MATERIALIZER: WeightMaterializer(
        id=IDENTITY_MATERIALIZER,
        version=Version(major=2, minor=0),
        implementation_fingerprint=IDENTITY_IMPLEMENTATION,
        fidelity="exact",
        required_capabilities=(),
    )
}


def materializers_of(catalog: CapabilityCatalog) -> Mapping[str, WeightMaterializer]:
    """Who can make weights: of a catalog that does not say so, the identity alone."""
    stated = catalog.weight_materializers
    return _ASSUMED if stated is None else stated


def check(subject: Subject) -> Iterator[Finding]:
    """Findings of all rules of a plan's weights and of a catalog's materializers."""
    if subject.catalog is not None:
        yield from _check_catalog(subject.catalog, subject.places.catalog)
    header = subject.header
    if subject.schema != SCHEMA_8_1 or header is None or header.execution_weights is None:
        return
    weights, at = header.execution_weights, f"{subject.places.payload}/execution_weights"
    yield from _check_schema(header, weights, at)
    yield from _check_sources(weights, at)
    yield from _check_transforms(weights, at)
    yield from check_materializer(subject)


SCHEMA = Rule(
    id="value.weight-schema",
    summary="A plan's weight and quantization formats are those of its weight schema, and schema "
    "and materializer have a version.",
    why="Kernels are chosen by the plan's formats, and read what the schema says: where the two "
    "differ, a kernel reads bytes of another format.",
    fix="Take the plan's formats from its weight schema.",
    source=_FORMAT,
    judgment="safety",
    example=Example("bundle-8.1", {f"{_WEIGHTS}/schema/version/major": 0}),
)
UNREAD = Rule(
    id="value.weight-components-unread",
    summary="The components of a plan's weight schema are written in a way that is known.",
    why="Which components there are, and in which formats, decides whether each is made and "
    "whether the plan's formats are theirs. How newer engines write them is not known in public; "
    "the plan's hash covers them all the same.",
    fix="Audit the plan with a release of this tool that knows the form.",
    source=_FORMAT,
    severity="note",
    example=Example("bundle-8.1", {f"{_WEIGHTS}/schema/components/0/encoding": "packed"}),
)


def _check_schema(header: PlanHeader, weights: ExecutionWeights, at: str) -> Iterator[Finding]:
    schema = weights.schema_
    if header.weight_format != schema.format_id:
        yield SCHEMA.finding(
            f"the plan's weight format is `{header.weight_format}`, but its weight schema's "
            f"`{schema.format_id}`",
            f"{at}/schema/format_id",
            expected=schema.format_id,
            actual=header.weight_format,
        )
    formats = schema.quantization_formats
    if unread := [
        what
        for what, known in (("ids", schema.component_ids), ("quantization formats", formats))
        if known is None
    ]:
        yield UNREAD.finding(
            f"the {in_series(unread)} of the weight schema's components are written in a way "
            "that is not known, so what rests on them was not judged",
            f"{at}/schema/components",
        )
    if formats is not None and sorted(header.quantization_formats) != formats:
        yield SCHEMA.finding(
            f"the plan's quantization formats are {_listed(header.quantization_formats)}, but its "
            f"weight schema's {_listed(formats)}",
            f"{at}/schema/components",
            expected=formats,
            actual=list(header.quantization_formats),
        )
    for name, version, place in (
        ("weight schema", schema.version, "schema/version"),
        ("weight materializer", weights.materializer_version, "materializer_version"),
    ):
        if version.major < 1:
            yield SCHEMA.finding(
                f"the version of the {name} is {version.major}.{version.minor}, before 1.0",
                f"{at}/{place}",
            )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(marked(names)) or "none"


SOURCES = Rule(
    id="value.weight-sources",
    summary="Each component of a plan's weight schema is made of sources, and nothing else is.",
    why="A component without a source is never written, and a kernel reads what was there; a "
    "source of no component is loaded for nothing.",
    fix="List for every component of the schema the sources that it is made of, each once.",
    source=_FORMAT,
    judgment="safety",
    example=Example("bundle-8.1", {f"{_WEIGHTS}/component_sources/weight.norm.values": DELETE}),
)


def _check_sources(weights: ExecutionWeights, at: str) -> Iterator[Finding]:
    sources, components = weights.component_sources, weights.schema_.component_ids
    if components is not None:
        for component in sorted(components - sources.keys()):
            yield SOURCES.finding(
                f"the component `{component}` of the weight schema is made of no sources",
                f"{at}/component_sources",
            )
        for component in sorted(sources.keys() - components):
            yield SOURCES.finding(
                f"`{component}` is made of sources, but is no component of the weight schema",
                pointer(at, "component_sources", component),
            )
    for component, listed in sources.items():
        if not listed:
            yield SOURCES.finding(
                f"the component `{component}` is made of an empty list of sources",
                pointer(at, "component_sources", component),
            )
        for source, count in Counter(listed).items():
            if count > 1:
                yield SOURCES.finding(
                    f"the component `{component}` is made of `{source}` {count} times",
                    pointer(at, "component_sources", component),
                )


TRANSFORM = Rule(
    id="value.weight-transform",
    summary="A weight transform makes two components of just the two sources that they are said "
    "to be made of, and each component is made once.",
    why="Two transforms of one component overwrite each other; one that reads other sources than "
    "the plan says leaves the component's real ones unread.",
    fix="Let the engine plan the transforms of the model's files.",
    source=_FORMAT,
    judgment="safety",
    example=Example(
        "bundle-8.1",
        {f"{_WEIGHTS}/static_weight_transforms/0/matrices_per_output": 3},
        also=("static.initialization-scratch",),
    ),
)
TRANSFORM_UNKNOWN = Rule(
    id="value.weight-transform-unknown",
    summary="The kinds of a plan's weight transforms are known.",
    why="What a transform reads and writes decides whether every component is made, and made "
    "once. Of this kind that is not known in public.",
    fix="Audit the plan with a release of this tool that knows the kind.",
    source=_FORMAT,
    severity="warning",
    undecided=True,
    judgment="safety",
    example=Example(
        "bundle-8.1",
        {f"{_WEIGHTS}/static_weight_transforms/0/kind": "repack_for_mma"},
        also=("static.initialization-scratch", "static.initialization-scratch-unknown"),
    ),
)


def _check_transforms(weights: ExecutionWeights, at: str) -> Iterator[Finding]:
    transforms = weights.static_weight_transforms
    makers: dict[str, int] = {}
    for index, transform in enumerate(transforms):
        place = f"{at}/static_weight_transforms/{index}"
        if transform.kind not in ("block_fp8_to_marlin_fp8_group128", "gpt_oss_mxfp4_to_marlin"):
            yield TRANSFORM_UNKNOWN.finding(
                f"the weight transform {index} is of the kind `{transform.kind}`, which is not "
                "known",
                f"{place}/kind",
            )
            continue
        for fault in _transform_faults(weights, transform):
            yield TRANSFORM.finding(f"the weight transform {index} {fault}", place)
        for output in dict.fromkeys(transform.outputs):
            if output in makers:
                yield TRANSFORM.finding(
                    f"the weight transforms {makers[output]} and {index} both make `{output}`",
                    place,
                )
            makers.setdefault(output, index)
    for index, (before, after) in enumerate(pairwise(transforms), start=1):
        # Only within a kind is it known how transforms ascend.
        if isinstance(before, BlockFp8ToMarlin) and isinstance(after, BlockFp8ToMarlin):
            disorder = first_fault([before.key, after.key], name=lambda key: f"`{key[1]}`")
            if disorder is not None:
                yield TRANSFORM.finding(
                    f"the weight transforms do not strictly ascend: {disorder.text}",
                    f"{at}/static_weight_transforms/{index}",
                )


def _transform_faults(weights: ExecutionWeights, transform: WeightTransform) -> Iterator[str]:
    for what, ids in (("reads", transform.sources), ("makes", transform.outputs)):
        if len(ids) != 2:
            yield f"{what} {len(ids)} components, not 2"
        elif ids[0] == ids[1]:
            yield f"{what} `{ids[0]}` twice"
    components = weights.schema_.component_ids
    for output in dict.fromkeys(transform.outputs):
        made_of = weights.component_sources.get(output, ())
        if components is not None and output not in components:
            yield f"makes `{output}`, which is no component of the weight schema"
        elif not _are(transform, made_of):
            yield (
                f"makes `{output}` of {_listed(transform.sources)}, but the plan says that it is "
                f"made of {_listed(made_of)}"
            )
    if isinstance(transform.scratch_bytes, str):
        yield transform.scratch_bytes


def _are(transform: WeightTransform, listed: Sequence[str]) -> bool:
    """Whether these are the sources; in their order, where it is known which of them is first."""
    if isinstance(transform, BlockFp8ToMarlin):
        return tuple(listed) == transform.sources
    return sorted(listed) == sorted(transform.sources)


MATERIALIZER = Rule(
    id="contract.weight-materializer",
    summary="A plan's weights are made by a materializer of the catalog, in its version and build.",
    why="Another build may round or lay out weights differently, so that the plan's kernels answer "
    "with other bits, or nonsense.",
    fix="Compile the plan against a catalog that has the materializer.",
    source=_FORMAT,
    example=Example("bundle-8.1", {f"{_WEIGHTS}/materializer_version/minor": 7}),
)


IDENTITY_UNKNOWN = Rule(
    id="contract.identity-materializer-unknown",
    summary="The identity, which makes weights by copying them, has the implementation that was "
    "computed for it.",
    why="Its fingerprint was computed from public files and not yet seen in what an engine wrote. "
    "Under another one either the engine has changed or the computation is wrong; whether it still "
    "copies bytes as they are cannot be told.",
    fix="Compare the fingerprint with the one that your engine prints for its identity.",
    source=_FORMAT,
    severity="warning",
    undecided=True,
    example=Example(
        "bundle-8.1",
        {
            "/catalog/weight_materializers/weight-materializer.identity/"
            "implementation_fingerprint": "0" * 64
        },
    ),
)


def check_materializer(subject: Subject) -> Iterator[Finding]:
    """Whether the catalog has who makes a plan's weights, in the version and build of the plan."""
    header, catalog = subject.header, subject.catalog
    if header is None or header.execution_weights is None or catalog is None:
        return
    weights, at = header.execution_weights, f"{subject.places.payload}/execution_weights"
    name = weights.materializer_id
    known = materializers_of(catalog).get(name)
    if known is None:
        yield MATERIALIZER.finding(
            f"the plan's weights are made by `{name}`, which is none of the catalog's weight "
            "materializers",
            f"{at}/materializer_id",
        )
        return
    facts: tuple[tuple[str, Any, Any], ...] = (
        ("materializer_version", weights.materializer_version.to_wire(), known.version.to_wire()),
        (
            "materializer_implementation_fingerprint",
            weights.materializer_implementation_fingerprint,
            known.implementation_fingerprint,
        ),
    )
    for field, actual, expected in facts:
        if actual == expected:
            continue
        assumed = catalog.weight_materializers is None
        has = "a catalog that names none has it with" if assumed else "the catalog has"
        # Where the catalog does not say it, the build of the identity is known by computation.
        is_computed = assumed and isinstance(expected, str)
        yield (IDENTITY_UNKNOWN if is_computed else MATERIALIZER).finding(
            f"the plan's weights are made by `{name}` with `{field}` {_text(actual)}, but {has} "
            f"{_text(expected)}{', as was computed' if is_computed else ''}",
            f"{at}/{field}",
            expected=expected,
            actual=actual,
        )


def _text(value: Any) -> str:
    return short(value) if isinstance(value, str) else f"{value['major']}.{value['minor']}"


MATERIALIZERS = Rule(
    id="contract.weight-materializers",
    summary="A catalog has 1 to 64 weight materializers that the device can run, among them the "
    "identity.",
    why="The engine looks them up by id. Without the identity, weights that need no conversion "
    "cannot be loaded.",
    fix="Register the identity, and of the others those whose capabilities the device has.",
    source=_FORMAT,
    example=Example(
        "bundle-8.1",
        {
            "/catalog/weight_materializers/weight-materializer.identity/"
            "required_capabilities/-": "capability.absent"
        },
    ),
)


def _check_catalog(catalog: CapabilityCatalog, place: str) -> Iterator[Finding]:
    materializers = catalog.weight_materializers
    if materializers is None:
        return
    at = f"{place}/weight_materializers"
    if not 1 <= len(materializers) <= MOST_MATERIALIZERS:
        yield MATERIALIZERS.finding(
            f"the catalog has {len(materializers):,} weight materializers, not 1 to "
            f"{MOST_MATERIALIZERS}",
            at,
        )
    for name, each in materializers.items():
        where = pointer(at, name)
        if each.id != name:
            yield MATERIALIZERS.finding(
                f"the weight materializer `{each.id}` stands under `{name}`", f"{where}/id"
            )
        if missing := sorted({*each.required_capabilities} - {*catalog.device.capabilities}):
            yield MATERIALIZERS.finding(
                f"the weight materializer `{name}` requires {', '.join(marked(missing))}, which "
                f"device `{catalog.device.id}` lacks",
                f"{where}/required_capabilities",
            )
    identity = materializers.get(IDENTITY_MATERIALIZER)
    if identity is None:
        yield MATERIALIZERS.finding(
            f"the catalog has no weight materializer `{IDENTITY_MATERIALIZER}`", at
        )
        return
    if (identity.version.major, identity.version.minor) != (2, 0) or identity.fidelity != "exact":
        yield MATERIALIZERS.finding(
            f"the identity is of version {identity.version.major}.{identity.version.minor} and "
            f"{identity.fidelity}, not of version 2.0 and exact",
            pointer(at, IDENTITY_MATERIALIZER),
        )
    if identity.implementation_fingerprint != IDENTITY_IMPLEMENTATION:
        yield IDENTITY_UNKNOWN.finding(
            f"the identity has the implementation {short(identity.implementation_fingerprint)}, "
            f"where {short(IDENTITY_IMPLEMENTATION)} was computed",
            pointer(at, IDENTITY_MATERIALIZER, "implementation_fingerprint"),
            expected=IDENTITY_IMPLEMENTATION,
            actual=identity.implementation_fingerprint,
        )
    if identity.required_capabilities:
        yield MATERIALIZERS.finding(
            "the identity requires capabilities, and copies bytes as they are",
            pointer(at, IDENTITY_MATERIALIZER, "required_capabilities"),
        )
