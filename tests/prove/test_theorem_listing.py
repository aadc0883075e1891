"""``proofs/README.md`` is what the theorems give, times excepted."""

from __future__ import annotations

from ferrum_verify.prove import theorem_listing, theorems

PAGE = (theorems.directory() / "README.md").read_text(encoding="utf-8")


def test_the_page_is_up_to_date() -> None:
    fresh = theorem_listing.render(theorems.chapters(), ())
    blank = theorem_listing.without_times
    assert blank(PAGE) == blank(fresh), "write it anew with theorem_listing.write(theorems.run())"


def test_each_theorem_has_a_row_with_a_time_and_a_section() -> None:
    for theorem in theorems.load():
        row = next(line for line in PAGE.splitlines() if line.startswith(f"| [{theorem.id}]"))
        z3_time = row.rstrip(" |").split(" | ")[-3]
        assert z3_time == "<0.1" or float(z3_time) > 0
        assert f"\n### {theorem.id}\n\n{theorem.statement}\n" in PAGE


def test_blanking_leaves_all_but_times() -> None:
    row = "| [a](#a) | theory | up to 6.5 | 4 | <0.1 | – | 12.3 |"
    assert theorem_listing.without_times(row) == "| [a](#a) | theory | up to 6.5 | 4 |  |  |  |"
