"""The HTML report as a file: whole, closed off, and true to the report."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

from ferrum_verify import audit
from ferrum_verify.catalogue import catalogue
from ferrum_verify.catalogue.samples import sample
from ferrum_verify.counterexamples import AccessCounterexample, ScheduledNode
from ferrum_verify.deriving.plans import compile_program_bindings
from ferrum_verify.findings.wording import short_pool
from ferrum_verify.reading.parse import subject_of
from ferrum_verify.report.formats import FORMATS, render
from ferrum_verify.report.html.findings import SHOWN_OF_A_RULE, Drawn, message_pieces
from ferrum_verify.report.html.page import MAXIMUM_PICTURES
from ferrum_verify.report.html.picture import names_of
from ferrum_verify.report.html.schedules import counterexample_data
from ferrum_verify.report.model import Report
from tests.examples import WITH_EXAMPLE, report_of_rule
from tests.report.pages import Page, page_of

FIXTURES = Path(__file__).parent.parent / "fixtures"
HOSTILE = "</script><script>window.broken=1</script><img src=x onerror='window.broken=1'>"


def decoder_64() -> dict[str, Any]:
    case = json.loads(gzip.decompress((FIXTURES / "decoder-64.json.gz").read_bytes()))
    return {"nodes": case["problem"]["nodes"], "memory": case["expect"]["memory"]}


def assert_closed_off(page: Page) -> None:
    assert page.unbalanced == []
    assert page.all("src") == []
    assert {str(link)[0] for link in page.all("href")} <= {"#", "d"}
    assert [link for link in page.all("href") if str(link)[0] == "d"] == ["data:,"]
    assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on")]
    (policy,) = [
        str(attributes["content"]) for _, attributes in page.tags if "http-equiv" in attributes
    ]
    digest = base64.b64encode(hashlib.sha256(page.program.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}';" in policy
    assert policy.startswith("default-src 'none';")
    targets = set(page.all("id"))
    assert {str(link)[1:] for link in page.all("href") if str(link)[0] == "#"} <= targets


@pytest.mark.parametrize("name", ["fragment", "bundle", "problem", "workspaces"])
def test_samples_are_drawn(name: str) -> None:
    page = page_of(audit(sample(name), prove=False))
    assert_closed_off(page)
    (data,) = page.data
    assert data["nodes"]
    assert "data-timeline" in {name for _, attributes in page.tags for name in attributes}


def test_it_is_one_of_the_formats() -> None:
    report = audit(sample("fragment"), prove=False)
    assert render(report, "html").startswith("<!doctype html>\n")
    assert FORMATS["html"].module == "ferrum_verify.report.html"


def test_every_finding_is_on_the_page_with_its_rule_s_documentation() -> None:
    shown = set()
    for rule in WITH_EXAMPLE:
        report = report_of_rule(rule.id)
        page = page_of(report)
        assert_closed_off(page)
        ids, text = set(page.all("id")), page.text
        letters = "".join(page.words).replace(" ", "").replace("\n", "")
        for finding in report.findings:
            shown.add(finding.rule)
            assert f"rule-{finding.rule}" in ids, finding.rule
            assert " ".join(catalogue()[finding.rule].why.split()) in text, finding.rule
            words = finding.message.replace("`", "").rstrip(".")[1:]
            assert "".join(words.split()) in letters, finding.message
    assert len(shown) > 100


def test_a_64_layer_plan_stays_below_two_megabytes() -> None:
    page = page_of(audit(decoder_64(), prove=False))
    assert_closed_off(page)
    assert len(page.html.encode()) < 2_000_000
    assert len(page.data[0]["nodes"]) == len(decoder_64()["nodes"])


def test_hostile_names_stay_text() -> None:
    document = sample("fragment")
    document["memory"][HOSTILE] = 1
    document["memory"]["dynamic_pools"][0]["pool_id"] = HOSTILE
    document["nodes"][0]["id"] = HOSTILE
    page = page_of(audit(document, prove=False))
    assert_closed_off(page)
    assert "img" not in {tag for tag, _ in page.tags}
    assert HOSTILE in page.text


def test_a_hostile_file_name_stays_text(tmp_path: Path) -> None:
    path = tmp_path / "<img src=x onerror=alert(1)>\u202e\udcff.json"
    path.write_text("[", encoding="utf-8")
    page = page_of(audit(path, prove=False))
    assert_closed_off(page)
    assert "img" not in {tag for tag, _ in page.tags}
    assert "\u202e" not in page.html
    page.html.encode()
    assert "unreadable" in page.text


def test_integers_that_javascript_would_round_are_texts() -> None:
    document = sample("fragment")
    huge = 2**63 + 1
    row = document["memory"]["dynamic_descriptors"][0]
    row["demand"] = {"fixed": {"bytes": huge}}
    row["alignment_bytes"] = 1
    row["storage"]["profile"] = {"allocator": "linear_arena", "view": "contiguous"}
    (data,) = page_of(audit(document, prove=False)).data
    assert data["resources"][0]["most"] == str(huge)


def test_of_many_documents_the_violated_are_drawn_first() -> None:
    good, bad = sample("fragment"), sample("fragment")
    bad["memory"]["static_bytes"] += 64
    documents = [audit(good, prove=False).documents[0]] * (MAXIMUM_PICTURES + 3)
    documents += audit(bad, prove=False).documents
    page = page_of(Report(execution="fenced", documents=tuple(documents)))
    assert_closed_off(page)
    drawn = [number for number, data in enumerate(page.data) if "groups" in data]
    assert len(drawn) == MAXIMUM_PICTURES
    assert len(documents) - 1 in drawn
    assert f"{len(documents)} documents" in page.text
    assert "4 of them are listed with their findings and not drawn" in page.text


def test_a_report_of_nothing_is_a_page() -> None:
    page = page_of(Report(execution="fenced", documents=()))
    assert_closed_off(page)
    assert "0 documents" in page.text


def test_many_findings_of_a_rule_are_counted_not_listed() -> None:
    document = decoder_64()
    for node in document["nodes"]:
        node["resources"] = [*node["resources"], "zz/unknown"]
    report = audit(document, prove=False)
    page = page_of(report)
    of_rule = [f for f in report.findings if f.rule == report.findings[0].rule]
    assert len(of_rule) > SHOWN_OF_A_RULE
    assert f"and {len(of_rule) - SHOWN_OF_A_RULE:,} more of {of_rule[0].rule}" in page.text


def test_frontier_is_shown_only_where_sizes_are_sound() -> None:
    document = sample("fragment")
    sound = page_of(audit(document, prove=False))
    assert sound.data[0]["frontier"]["points"]
    assert "No frontier is drawn" not in sound.text
    document["memory"]["dynamic_descriptors"][0]["alignment_bytes"] = 3
    broken = page_of(audit(document, prove=False))
    assert broken.data[0]["frontier"]["points"] == []
    assert "No frontier is drawn" in broken.text


def test_hazards_do_not_hide_the_frontier(concurrent_hazard: dict[str, Any]) -> None:
    page = page_of(audit(concurrent_hazard, execution="concurrent", prove=False))
    assert page.data[0]["frontier"]["points"]


def test_arenas_are_what_the_engine_compiles() -> None:
    document = sample("problem")
    (data,) = page_of(audit(document, prove=False)).data
    layouts = {
        layout.reusable_execution_bucket_id: layout for layout in compile_program_bindings(document)
    }
    strips = [strip for arena in data["arenas"] for strip in arena["strips"]]
    assert len(strips) == len(layouts) > 1
    names = [resource["name"] for resource in data["resources"]]
    assert sorted(
        [
            (names[resource], offset, size, alignment, data["nodes"][node]["name"])
            for node, resource, offset, size, alignment in strip["slots"]
        ]
        for strip in strips
    ) == sorted(
        [
            (
                slot.resource_id,
                slot.physical_offset_bytes,
                slot.capacity_size_bytes,
                slot.alignment_bytes,
                slot.node_id,
            )
            for slot in layout.slots
        ]
        for layout in layouts.values()
    )


def test_plain_words_stand_where_no_script_runs(concurrent_hazard: dict[str, Any]) -> None:
    page = page_of(audit(concurrent_hazard, execution="concurrent", prove=False))
    for words in ("violated", "unsafe, 3 pairs", "Sharing saves", "static allocations:"):
        assert words in page.text
    assert re.search(r"\d+(\.\d+)? [KMG]iB instead of", page.text)


def test_names_in_messages_lead_to_what_is_drawn() -> None:
    subject, _ = subject_of(sample("fragment"))
    assert subject is not None
    assert subject.memory is not None
    pool_id = subject.memory.dynamic_pools[2].pool_id
    drawn = Drawn(subject, subject.memory, names_of(subject, subject.memory), with_arenas=True)
    message = (
        f"`node/key` reads `act/key` of `{short_pool(pool_id)}`, which is `{pool_id}`, counts in "
        "`static_bytes`, and is not `value.unknown`"
    )
    pieces = [piece for piece in message_pieces(message, drawn) if piece.quoted]
    assert [piece.place.view if piece.place else None for piece in pieces] == [
        "node", "resource", "pool", "pool", "capacity", None,
    ]  # fmt: skip
    assert {piece.place.key for piece in pieces if piece.place and piece.place.view == "pool"} == {
        "2"
    }


def test_an_access_is_stepped_through_like_a_schedule() -> None:
    """A reader that has yet to start needs the bytes from the time at which they are written."""
    found = AccessCounterexample(
        nodes=(ScheduledNode("write", 1, 2), ScheduledNode("read", 2, 3)),
        resource="r",
        start=0,
        end=64,
        writer="write",
        other="read",
        mode="read",
        at=1,
        value="v",
    )
    data = counterexample_data(found, None)
    assert (data["kind"], data["at"]) == ("schedule", 1)
    assert data["left"] == {"name": "r", "use": "written by write", "who": "write"}
    assert data["words"] == "both need bytes 0 to 63, which A writes and B reads"
    assert data["right"] == {
        "name": "r",
        "use": "read by read, which needs v",
        "who": "read",
        "life": {"start": 1, "end": 3},
    }
    assert [(node["name"], node["left"], node["right"]) for node in data["nodes"]] == [
        ("write", True, False),
        ("read", False, True),
    ]
