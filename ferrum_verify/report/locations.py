"""Files, lines and columns of findings, as reports for other tools name them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from ferrum_verify.findings.wording import printable
from ferrum_verify.reading.positions import regions_of_file

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from ferrum_verify.reading.positions import Region
    from ferrum_verify.report.model import DocumentReport


def file_name(path: Path) -> str:
    """The file's name from the root of the repository, with slashes.

    The root is what the CI service says it is (``GITHUB_WORKSPACE``), else the working
    directory; a file outside of it keeps its absolute path.
    """
    absolute = os.path.abspath(path)
    for root in (os.environ.get("GITHUB_WORKSPACE"), os.getcwd()):
        if root and absolute.startswith(os.path.join(os.path.abspath(root), "")):
            return Path(os.path.relpath(absolute, root)).as_posix()
    return Path(absolute).as_posix()


def regions_of(
    documents: Sequence[DocumentReport], pointers: Sequence[Collection[str]] | None = None
) -> list[Mapping[str, Region]]:
    """For each document the regions of JSON pointers in its files: its findings', unless given.

    Each file is read once. A pointer is left out where nobody can see a line: in standard
    input, in archives, and in what a Python caller handed over.
    """
    if pointers is None:
        pointers = [{finding.location for finding in each.findings} for each in documents]
    origins = [
        {place: document.origin(place) for place in places}
        for document, places in zip(documents, pointers, strict=True)
    ]
    wanted: dict[Path | None, dict[int, set[str]]] = {}
    for each in origins:
        for path, line, place in each.values():
            wanted.setdefault(path, {}).setdefault(line, set()).add(place)
    found = {path: regions_of_file(path, lines) for path, lines in wanted.items()}
    return [
        {
            place: region
            for place, (path, line, inside) in each.items()
            if (region := found[path].get((line, inside))) is not None
        }
        for each in origins
    ]


def place_texts(documents: Sequence[DocumentReport]) -> list[dict[str, str]]:
    """For each document its findings' locations as ``file:line:column``, where a file has them."""
    texts = []
    for document, regions in zip(documents, regions_of(documents), strict=True):
        texts.append(
            {
                place: f"{printable(file_name(path))}:{region.line}:{region.column}"
                for place, region in regions.items()
                if (path := document.origin(place).path) is not None
            }
        )
    return texts
