"""Operations, devices and engines: what a change refuses, allows and leaves open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ferrum_verify.catalogue.restamp import restamp
from ferrum_verify.catalogue.samples import sample
from ferrum_verify.contracts import compare_contracts
from tests.contracts.catalogs import kind_of
from tests.rules.edited import edited, faults

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferrum_verify.findings import Finding

Json = dict[str, Any]
REFUSED, ALLOWED, UNCLEAR = (
    "contract.operation-narrowed",
    "contract.operation-widened",
    "contract.operation-unclear",
)


def findings_of(edit: Callable[[Json], None], *, reverse: bool = False) -> list[Finding]:
    base, head = sample("catalog"), sample("catalog")
    edit(head)
    restamp(head)
    pair = (head, base) if reverse else (base, head)
    return list(compare_contracts(*pair, prove=False).findings)


def set_in(*path: str | int, to: Any) -> Callable[[Json], None]:
    def edit(document: Json) -> None:
        holder: Any = document["operations"]["operation.attention"]
        for step in path[:-1]:
            holder = holder[step]
        holder[path[-1]] = to

    return edit


CASES: list[tuple[Callable[[Json], None], set[str], set[str], str]] = [
    (set_in("version", "minor", to=3), {ALLOWED}, {REFUSED}, "version is 1.3 instead of 1.0"),
    (set_in("version", "major", to=2), {REFUSED}, {REFUSED}, "version is 2.0 instead of 1.0"),
    (set_in("inputs", to=[]), {REFUSED}, {REFUSED}, "there are 0 inputs instead of 4"),
    (set_in("inputs", 1, "access", to="read"), {REFUSED}, {REFUSED}, "access of input 1"),
    (
        set_in("outputs", 0, "alias", to={"may_alias": {"tensor_index": 0}}),
        {ALLOWED},
        {REFUSED},
        "alias policy of output 0",
    ),
    (
        set_in("outputs", 0, "alias", to={"must_alias": {"tensor_index": 0}}),
        {REFUSED},
        {REFUSED},
        "alias policy of output 0",
    ),
    (
        set_in("inputs", 0, "element_types", to=["f16", "f32"]),
        {ALLOWED},
        {REFUSED},
        "element types of input 0 now include `f16`",
    ),
    (
        set_in("inputs", 0, "element_types", to=["f16"]),
        {REFUSED, ALLOWED},
        {REFUSED, ALLOWED},
        "element types of input 0 no longer include `f32`",
    ),
    (
        set_in("inputs", 0, "layouts", to=["contiguous", {"blocked": {}}]),
        {ALLOWED},
        {REFUSED},
        "layouts of input 0 now include blocked {}",
    ),
    (
        set_in("inputs", 0, "dimensions", 1, to={"exact": 16}),
        {REFUSED},
        {REFUSED},
        "axis 1 of input 0 is exact 16 instead of exact 8",
    ),
    (
        set_in("inputs", 0, "dimensions", 1, to={"symbol": "hidden"}),
        {UNCLEAR},
        {UNCLEAR},
        "axis 1 of input 0 is symbol hidden instead of exact 8",
    ),
    (
        set_in("inputs", 0, "dimensions", to=[{"exact": 8}]),
        {REFUSED},
        {REFUSED},
        "rank of input 0 is 1 instead of 2",
    ),
    (
        set_in("attributes", "entries", "scale", to={"required": True}),
        {REFUSED},
        {UNCLEAR},
        "attribute `scale` is new and required",
    ),
    (
        set_in("attributes", "entries", "scale", to={"required": False}),
        {UNCLEAR},
        {UNCLEAR},
        "attribute `scale` is new",
    ),
    (
        set_in("attributes", "entries", "heads", to={"required": False}),
        {UNCLEAR},
        {UNCLEAR},
        "attribute `heads` is another",
    ),
    (
        set_in("resources", "minimum_value_alignment_bytes", to=64),
        {REFUSED},
        {ALLOWED},
        "at least 64 bytes instead of 16",
    ),
    (
        set_in("resources", "scratch", to="required"),
        {REFUSED},
        {ALLOWED},
        "scratch workspace is required instead of optional",
    ),
    (
        set_in("resources", "binding", to="forbidden"),
        {REFUSED},
        {REFUSED},
        "binding workspace is forbidden instead of required",
    ),
    (set_in("oracle", to="approximate"), {UNCLEAR}, {UNCLEAR}, "its oracle is another"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[3])
def test_operation(case: tuple[Callable[[Json], None], set[str], set[str], str]) -> None:
    edit, forward, backward, clause = case
    found = findings_of(edit)
    assert {kind_of(finding) for finding in found} == forward
    assert any(clause in finding.message for finding in found)
    assert {kind_of(finding) for finding in findings_of(edit, reverse=True)} == backward


def test_what_stays_open_is_undecided() -> None:
    base, head = sample("catalog"), sample("catalog")
    head["operations"]["operation.attention"]["oracle"] = "approximate"
    restamp(head)
    report = compare_contracts(base, head, prove=False)
    assert (report.verdict, report.exit_status) == ("undecided", 3)


def test_a_new_requirement_excludes_those_who_lack_it() -> None:
    requirement = set_in("provider", "required_capabilities", to=["capability.paging"])
    excluded, renamed = findings_of(requirement)
    assert excluded.rule == "contract.no-longer-selectable"
    assert excluded.message == (
        "Provider `provider.attention.contiguous` of `operation.attention` can no longer be "
        "selected: it lacks `capability.paging`, which the operation requires."
    )
    # The other attention provider has the capability, and only its operation's fingerprint differs.
    assert renamed.rule == "contract.identity-changed"
    assert "provider.attention.reference" in renamed.message
    again = findings_of(requirement, reverse=True)
    assert [kind_of(each) for each in again] == [
        "contract.selectable-again",
        "contract.identity-changed",
    ]


def test_a_profile_phase_is_only_a_name() -> None:
    found = findings_of(set_in("profile_phase", to="prefill"))
    assert {kind_of(each) for each in found} == {"contract.identity-changed"}
    assert len(found) == 2  # the two providers of the operation


def device(field: str, value: Any) -> Callable[[Json], None]:
    def edit(document: Json) -> None:
        document["device"][field] = value

    return edit


@pytest.mark.parametrize(
    ("edit", "forward", "backward"),
    [
        (
            device("total_memory_bytes", 1),
            "contract.device-memory-reduced",
            "contract.device-memory-extended",
        ),
        (device("id", "device.other.0"), "contract.device-changed", "contract.device-changed"),
        (device("ordinal", 3), "contract.identity-changed", "contract.identity-changed"),
        (device("class", "tensor"), "contract.identity-changed", "contract.identity-changed"),
        (
            device("runtime_implementation_fingerprint", "0" * 64),
            "contract.identity-changed",
            "contract.identity-changed",
        ),
    ],
)
def test_device(edit: Callable[[Json], None], forward: str, backward: str) -> None:
    assert [kind_of(each) for each in findings_of(edit)] == [forward]
    assert [kind_of(each) for each in findings_of(edit, reverse=True)] == [backward]


def test_a_profile_that_the_device_no_longer_offers() -> None:
    def edit(document: Json) -> None:
        del document["device"]["dynamic_storage_profiles"][1]

    (found,) = findings_of(edit)
    assert found.rule == "contract.storage-profile-dropped"
    assert found.message == (
        "Device `device.sample.0` no longer offers the storage profiles fixed blocks of 256 bytes, "
        "paged."
    )


def engine(field: str, value: Any) -> Callable[[Json], None]:
    def edit(document: Json) -> None:
        document["engine_providers"]["provider.engine.sample"][field] = value

    return edit


@pytest.mark.parametrize(
    ("edit", "forward", "backward"),
    [
        (engine("capabilities", []), "contract.capability-removed", "contract.capability-added"),
        (
            engine("device_id", "device.other.0"),
            "contract.no-longer-selectable",
            "contract.selectable-again",
        ),
        (
            engine("implementation_fingerprint", "0" * 64),
            "contract.identity-changed",
            "contract.identity-changed",
        ),
        (
            lambda document: document["engine_providers"].clear(),
            "contract.provider-removed",
            "contract.provider-added",
        ),
    ],
)
def test_engine_provider(edit: Callable[[Json], None], forward: str, backward: str) -> None:
    assert [kind_of(each) for each in findings_of(edit)] == [forward]
    assert [kind_of(each) for each in findings_of(edit, reverse=True)] == [backward]


def test_where_no_provider_is_left_none_is_recommended() -> None:
    (gone,) = findings_of(lambda document: document["providers"]["operation.norm"].clear())
    assert gone.message.endswith("is gone; HEAD has no other.")
    assert gone.fix == "Keep the provider until no plan selects it."
    document = edited({"/catalog/providers/operation.embed": []})
    [missing] = [e for e in faults(document) if e.rule == "contract.provider-not-offered"]
    assert missing.fix is not None
    assert missing.fix.startswith("Give the catalog a provider")


def test_a_removed_operation_takes_its_providers_along() -> None:
    def edit(document: Json) -> None:
        del document["operations"]["operation.norm"]
        del document["providers"]["operation.norm"]

    (gone,) = findings_of(edit)
    assert gone.rule == "contract.provider-removed"
    assert gone.message == (
        "HEAD does not have the operation `operation.norm` any more with its providers "
        "`provider.norm.reference`."
    )
    assert gone.location == "/operations"
    (new,) = findings_of(edit, reverse=True)
    assert (kind_of(new), new.location) == ("contract.provider-added", "/operations/operation.norm")


def test_a_removed_provider_names_those_that_are_left() -> None:
    def edit(document: Json) -> None:
        del document["providers"]["operation.attention"][0]

    (gone,) = findings_of(edit)
    assert gone.message == (
        "The provider `provider.attention.contiguous` of `operation.attention` is gone; HEAD still "
        "has `provider.attention.reference`."
    )
    assert gone.location == "/providers/operation.attention"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("version", {"major": 1, "minor": 1}),
        ("operation_fingerprint", "0" * 64),
        ("provider_implementation_fingerprint", "0" * 64),
        ("resource_estimator_id", "estimator.other"),
        ("resource_estimator_version", {"major": 2, "minor": 0}),
        ("resource_estimator_implementation_fingerprint", "0" * 64),
    ],
)
def test_identity_only(field: str, value: Any) -> None:
    base, head = sample("catalog"), sample("catalog")
    head["providers"]["operation.embed"][0][field] = value
    report = compare_contracts(base, head, prove=False)
    (found,) = report.findings
    assert (found.rule, found.severity) == ("contract.identity-changed", "note")
    assert f"only its `{field}` differs" in found.message
    assert found.location == f"/providers/operation.embed/0/{field}"
    assert (report.verdict, report.exit_status) == ("verified", 0)


def test_catalogs_that_are_only_written_differently() -> None:
    base, head = sample("catalog"), sample("catalog")
    head["providers"] = dict(reversed(head["providers"].items()))
    head["device"]["dynamic_storage_profiles"].reverse()
    (found,) = compare_contracts(base, head, prove=False).findings
    assert found.rule == "contract.identity-changed"
    assert found.location == ""


def test_of_two_providers_with_one_id_the_first_counts() -> None:
    base, head = sample("catalog"), sample("catalog")
    for document in (base, head):
        again = sample("catalog")["providers"]["operation.embed"][0]
        document["providers"]["operation.embed"].append(again)
    head["providers"]["operation.embed"][1]["capabilities"] = []
    (found,) = compare_contracts(base, head, prove=False).findings
    # The second is never read, so all that its change does is to change the fingerprint.
    assert found.rule == "contract.identity-changed"
