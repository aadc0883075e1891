"""A fleet: the plans that a team has of its models, by depth, captured shapes and device."""

from __future__ import annotations

import itertools
import json
import random
from dataclasses import replace
from typing import TYPE_CHECKING

from models import families
from models.architecture import network
from models.deployment import DEPLOYMENTS, GIB
from models.dimensions import dimensions
from models.plan import plan_bundle
from models.schemas import LATEST

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LAYERS = tuple(range(1, 15))
"""Few, so that a thousand plans are half a gigabyte."""
SEQUENCES = (8, 16, 64, 256)
"""The most active sequences, up to which decode steps are captured."""
DEVICES = tuple(gib * GIB for gib in (24, 40, 48, 80, 96, 141))
MOST = 1_000


def write_fleet(folder: Path, count: int = MOST) -> list[Path]:
    """Write so many plans of a fleet to files of the folder, each named after what it is of.

    Any first few are of all families, depths, shapes and devices.
    """
    return [_write(folder, *one) for one in itertools.islice(_members(), count)]


def _members() -> Iterator[tuple[str, int, int, int]]:
    every = list(itertools.product(families(), LAYERS, SEQUENCES, DEVICES))
    random.Random(0).shuffle(every)
    yield from every[:MOST]


def _write(folder: Path, family: str, layers: int, sequences: int, device: int) -> Path:
    deployment = replace(
        DEPLOYMENTS[family], maximum_active_sequences=sequences, device_bytes=device
    )
    bundle = plan_bundle(network(dimensions(family, layers), deployment), deployment, LATEST)
    path = folder / f"{family}-{layers:02}-layers-{sequences}-sequences-{device // GIB}-gib.json"
    path.write_text(json.dumps(bundle, separators=(",", ":")), encoding="utf-8")
    return path
