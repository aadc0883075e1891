"""Where a rule comes from: a seed with its function, or a section that a reader can open."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ferrum_verify.catalogue import catalogue, homes

if TYPE_CHECKING:
    from ferrum_verify.findings import Rule

TOP = Path(__file__).parents[2]
RULES = [rule for rule in catalogue().values() if "/contracts/" not in homes()[rule.id]]
SECTION = re.compile(r"(docs/[\w-]+\.md), «([^»]+)»")
FORMS = (
    re.compile(r"seed 00\d, `[\w:]+`( \(.+\))?"),
    re.compile(rf"{SECTION.pattern}( \(.+\))?"),
    re.compile(r"a (limit|check) of this verifier( on \w+( \w+)?)?"),
)


@pytest.mark.parametrize("rule", catalogue().values(), ids=lambda rule: rule.id)
def test_a_section_that_is_named_exists(rule: Rule) -> None:
    for page, section in SECTION.findall(rule.source):
        text = (TOP / page).read_text(encoding="utf-8")
        assert re.search(rf"^##+ {re.escape(section)}$", text, re.MULTILINE), (page, section)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_source_is_a_seed_or_a_section(rule: Rule) -> None:
    for part in rule.source.split("; "):
        assert any(form.fullmatch(part) for form in FORMS), part


def test_every_section_of_the_format_is_cited() -> None:
    headings = re.findall(r"^## (.+)$", (TOP / "docs/format.md").read_text("utf-8"), re.MULTILINE)
    cited = {section for rule in RULES for _, section in SECTION.findall(rule.source)}
    assert set(headings) <= cited
