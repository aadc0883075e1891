"""``python -m benchmarks``: every figure beside its limit; the exit status says if all hold.

``--only WORD`` runs the groups whose name contains the word.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from benchmarks.buffers import BUFFERS
from benchmarks.concrete import CONCRETE
from benchmarks.fleet import FLEET
from benchmarks.hostile import HOSTILE_GROUPS
from benchmarks.proofs import PROOFS
from benchmarks.slots import SLOTS

if TYPE_CHECKING:
    from benchmarks.figure import Group


def main() -> int:
    """Run the groups and print a row for each figure."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--only", default="", metavar="WORD")
    wanted: str = parser.parse_args().only
    known: tuple[Group, ...] = (
        *CONCRETE,
        *BUFFERS,
        *PROOFS,
        *SLOTS,
        *FLEET,
        *HOSTILE_GROUPS,
    )
    groups = [group for group in known if wanted in group.name]
    fell_short = False
    print(f"{'figure':<62}{'measured':>12}{'limit':>10}  holds")
    for group in groups:
        for figure in group.measure():
            fell_short |= not figure.holds
            measured = f"{figure.measured:,.2f} {figure.unit}".strip()
            limit = f"{figure.limit:,g} {figure.unit}".strip()
            verdict = "yes" if figure.holds else "NO"
            print(f"{figure.name:<62}{measured:>12}{limit:>10}  {verdict}", flush=True)
    return 1 if fell_short else 0


if __name__ == "__main__":
    sys.exit(main())
