"""Changes to a buffer plan that a planner's mistake might make."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from random import Random

Json = Any


def moved(random: Random, document: Json) -> bool:
    """A buffer lies where another one lies."""
    placed = [each for each in document["buffers"] if "alias_of" not in each]
    if len(placed) < 2:
        return False
    one, other = random.sample(placed, 2)
    one["arena"], one["offset"] = other["arena"], other["offset"]
    return True


def shifted(random: Random, document: Json) -> bool:
    """A buffer lies a little further on."""
    placed = [each for each in document["buffers"] if isinstance(each.get("offset"), int)]
    if not placed:
        return False
    random.choice(placed)["offset"] += random.choice([1, 2, 4, 64, 4096])
    return True


def read_later(random: Random, document: Json) -> bool:
    """A node reads a buffer that it did not read, so that the buffer's life is longer."""
    node = random.choice(document["nodes"])
    buffer = random.choice(document["buffers"])["id"]
    if buffer in node["reads"]:
        return False
    node["reads"].append(buffer)
    return True


def kept(random: Random, document: Json) -> bool:
    """A buffer is read after the last node."""
    buffer = random.choice(document["buffers"])
    if buffer.get("live_out"):
        return False
    buffer["live_out"] = True
    return True


def unnamed(random: Random, document: Json) -> bool:
    """An alias is no alias any more: a buffer of its own at the same place."""
    buffers = {each["id"]: each for each in document["buffers"]}
    aliases = [each for each in buffers.values() if "alias_of" in each]
    if not aliases:
        return False
    alias = random.choice(aliases)
    base = buffers[alias.pop("alias_of")]
    if "alias_of" in base:
        alias["alias_of"] = base["alias_of"]
        return True
    alias["arena"] = base["arena"]
    if isinstance(base["offset"], int) and isinstance(alias.get("offset", 0), int):
        alias["offset"] = base["offset"] + alias.get("offset", 0)
    else:
        alias["offset"] = base["offset"]
    return True


def grown(random: Random, document: Json) -> bool:
    """A buffer has more bytes."""
    buffer = random.choice(document["buffers"])
    more = random.choice([1, 2, 64, 4096]) if document["arenas"] else 1
    if isinstance(buffer["bytes"], int):
        buffer["bytes"] += more
    else:
        buffer["bytes"] = {**buffer["bytes"], "fixed": buffer["bytes"].get("fixed", 0) + more}
    return True


def swapped(random: Random, document: Json) -> bool:
    """Two nodes that stand beside each other change places, where nothing forbids it."""
    nodes = document["nodes"]
    if len(nodes) < 2:
        return False
    at = random.randrange(len(nodes) - 1)
    if nodes[at]["id"] in nodes[at + 1].get("dependencies", ()):
        return False
    nodes[at], nodes[at + 1] = nodes[at + 1], nodes[at]
    return True


def unordered(random: Random, document: Json) -> bool:
    """A node does not wait for one that it waited for."""
    waiting = [each for each in document["nodes"] if each.get("dependencies")]
    if not waiting:
        return False
    waits = random.choice(waiting)["dependencies"]
    waits.pop(random.randrange(len(waits)))
    return True


MUTATIONS = (moved, shifted, read_later, kept, unnamed, grown, swapped, unordered)
