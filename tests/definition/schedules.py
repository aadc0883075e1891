"""Small plans under schedules, drawn at random, and what goes wrong with them in some run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ferrum_verify import derive_memory_plan
from ferrum_verify.catalogue.samples import sample
from tests.definition.schedule_runs import Task, states

if TYPE_CHECKING:
    from random import Random

Json = Any
STEPS = 2
STREAMS = ("a", "b", "c")


@dataclass
class Faults:
    """What some run does that none may do.

    ``dependencies`` are ``(node, dependency, distance)``; ``slots`` and ``accesses`` are pairs of
    names without their steps, the latter with the resource. ``inputs`` are resources that hold
    what the plan is handed.
    """

    dependencies: set[tuple[str, str, int]] = field(default_factory=set)
    slots: set[frozenset[str]] = field(default_factory=set)
    accesses: set[tuple[frozenset[str], str]] = field(default_factory=set)
    inputs: set[str] = field(default_factory=set)


def faults(plan: Json, schedule: Json) -> Faults:
    """All faults of the first two steps, by going through every run."""
    found = Faults()
    steps = STEPS if "steps" in schedule else 1
    settings = schedule.get("steps", {})
    needs = [
        ((node["id"], step), (name, step), 0)
        for node in plan["nodes"]
        for name in node["dependencies"]
        for step in range(steps)
    ] + [
        ((each["to"], step), (each["from"], step - each["distance"]), each["distance"])
        for each in settings.get("carried", ())
        for step in range(each["distance"], steps)
    ]
    touched = _touched(plan, schedule)
    known = all("reads" in node for node in plan["nodes"])
    lives: dict[tuple[str, int], set[Task]] = {}
    for name, resources in touched.items():
        for resource in resources:
            for step in range(steps):
                lives.setdefault((resource, step), set()).add((name, step))

    def one_storage(resource: str, *at: int) -> bool:
        step_resource = resource.startswith("act/")
        buffers = settings.get("buffers", {}).get(resource, 1) if step_resource else 1
        return (at[0] - at[1]) % buffers == 0

    sharing = [
        (one, other)
        for slot in _slots(plan)
        for one in lives
        for other in lives
        if one < other
        and one[0] in slot
        and other[0] in slot
        and one_storage(one[0], one[1], other[1])
        and (one[0] != other[0] or not known)
    ]
    clashing = [
        ((one, at), (other, then), resource)
        for one, modes in touched.items()
        for other, others in touched.items()
        for at in range(steps)
        for then in range(steps)
        for resource in modes.keys() & others.keys()
        if (one, at) < (other, then)
        and modes[resource]
        and others[resource]
        and "write" in (modes[resource] | others[resource])
        and one_storage(resource, at, then)
    ]
    for started, ended in states(schedule, steps):
        running = started - ended
        for node, dependency, distance in needs:
            if node in started and dependency not in ended:
                found.dependencies.add((node[0], dependency[0], distance))
        for one, other in sharing:
            if all(lives[life] & started and lives[life] - ended for life in (one, other)):
                found.slots.add(frozenset((one[0], other[0])))
        for first, then, resource in clashing:
            if first in running and then in running:
                found.accesses.add((frozenset((first[0], then[0])), resource))
    found.inputs = _inputs_lost(plan, schedule, touched, steps)
    return found


def inputs_of(plan: Json, schedule: Json) -> set[str]:
    """The activations that are read and that nobody writes: what the plan is handed."""
    if not all("reads" in node for node in plan["nodes"]):
        return set()
    touched = _touched(plan, schedule).values()
    return {
        resource
        for modes in touched
        for resource in modes
        if resource.startswith("act/")
        and all("write" not in each.get(resource, ()) for each in touched)
    }


def _inputs_lost(
    plan: Json, schedule: Json, touched: dict[str, dict[str, set[str]]], steps: int
) -> set[str]:
    """Inputs whose bytes are used for another resource after they were handed in.

    The host does that as the first thing of each step, with what it never writes by an access.
    """
    inputs = inputs_of(plan, schedule)
    buffers = schedule.get("steps", {}).get("buffers", {})
    mates = [
        (resource, mate)
        for slot in _slots(plan)
        for resource in slot
        for mate in slot
        if resource in inputs and mate != resource
    ]
    if not mates:
        return set()
    hand = {"access": "handed in", "mode": "write", "name": "hand"}
    machine = schedule | {"host": [hand, *schedule["host"]]}
    users = {
        resource: {name for name, modes in touched.items() if resource in modes}
        for pair in mates
        for resource in pair
    }
    lost = set()
    for started, ended in states(machine, steps):
        for resource, mate in mates:
            for step in range(steps):
                if ("hand", step) not in started:
                    continue
                apart = buffers.get(resource, 1)
                earlier = range(step - apart, -1, -apart)
                if any((user, at) not in ended for at in earlier for user in users[mate]) or (
                    any((user, step) in started for user in users[mate])
                    and any((user, step) not in ended for user in users[resource])
                ):
                    lost.add(resource)
    return lost


def _slots(plan: Json) -> list[list[str]]:
    return [
        slot["resource_ids"]
        for pool in plan["memory"]["dynamic_pools"]
        for slot in pool["step_resource_slots"]
    ]


def _touched(plan: Json, schedule: Json) -> dict[str, dict[str, set[str]]]:
    """For each node and access the resources that it touches, with how."""
    touched: dict[str, dict[str, set[str]]] = {}
    for node in plan["nodes"]:
        modes: dict[str, set[str]] = {resource: set() for resource in node["resources"]}
        for key, mode in (("reads", "read"), ("writes", "write")):
            for resource in node.get(key, ()):
                modes[resource].add(mode)
        touched[node["id"]] = modes
    for action in schedule["host"]:
        if "access" in action:
            touched[action["name"]] = {action["access"]: set(action["mode"].split("_"))}
    return touched


def draw(random: Random) -> tuple[Json, Json]:
    """A fragment of up to six nodes and four activations, and a schedule for it.

    A part of them is calm: nodes in a row, slots as the engine derives them, and one stream.
    """
    calm = random.random() < 0.25
    plan = _plan(random, random.randint(2, 6), calm=calm)
    return plan, _schedule(random, plan, calm=calm)


def _plan(random: Random, count: int, *, calm: bool) -> Json:
    names = [f"act/{letter}" for letter in "wxyz"[: random.randint(1, 4)]]
    known = random.random() < 0.8
    nodes: list[Json] = []
    for index in range(count):
        earlier = [node["id"] for node in nodes]
        uses = sorted({*random.sample(names, random.randint(0, min(2, len(names))))})
        if random.random() < 0.3:
            uses = sorted({*uses, "state/kept"})
        node = {
            "id": f"n{index}",
            "dependencies": earlier[-1:]
            if calm
            else sorted(random.sample(earlier, random.randint(0, min(2, index)))),
            "resources": uses,
        }
        if known:
            modes = [random.choice(("reads", "writes", "both")) for _ in uses]
            for key in ("reads", "writes"):
                node[key] = [u for u, m in zip(uses, modes, strict=True) if m in (key, "both")]
        nodes.append(node)
    for name in [*names, "state/kept"]:
        if not any(name in node["resources"] for node in nodes):
            node = random.choice(nodes)
            node["resources"] = sorted([*node["resources"], name])
            if known:
                node["writes"] = sorted([*node["writes"], name])
    if calm:
        return small_plan(nodes)
    # Slots as they come, whether or not the engine would derive them.
    slots: list[list[str]] = []
    for name in names:
        if slots and random.random() < 0.6:
            random.choice(slots).append(name)
        else:
            slots.append([name])
    return small_plan(nodes, slots)


def small_plan(nodes: Json, slots: list[list[str]] | None = None) -> Json:
    """A fragment of nodes that use activations ``act/…`` and states; the slots of the former.

    Without slots they are what the engine derives.
    """
    template = sample("problem")
    rows = {row["base_resource_id"]: row for row in template["dynamic_descriptors"]}
    names = sorted({name for node in nodes for name in node["resources"]})
    problem = template | {
        "static_allocations": [],
        "dynamic_descriptors": [
            rows["act/key" if name.startswith("act/") else "state/recurrent"]
            | {"base_resource_id": name}
            for name in names
        ],
        "nodes": nodes,
        "retained_completion_resources": [],
    }
    del problem["reusable_execution_policy"]
    memory = derive_memory_plan(problem).to_wire()
    for pool in memory["dynamic_pools"]:
        if pool["step_resource_slots"] and slots is not None:
            pool["step_resource_slots"] = [
                {
                    "kind": "dedicated" if len(ids) == 1 else "ordered_single_fence_step_wave",
                    "resource_ids": ids,
                }
                for ids in sorted(slots)
            ]
    return {"nodes": nodes, "memory": memory}


def _schedule(random: Random, plan: Json, *, calm: bool) -> Json:
    streams = STREAMS[: 1 if calm else random.randint(1, 3)]
    names = [node["id"] for node in plan["nodes"]]
    if not calm and random.random() < 0.2:
        random.shuffle(names)
    host: list[Json] = []
    for name in names:
        host += [_order(random, streams) for _ in range(random.choice((0, 0, 1, 1, 2)))]
        host.append({"launch": name, "stream": random.choice(streams)})
    if random.random() < 0.5:
        host.append(_order(random, streams))
    if random.random() < 0.3:
        rows = [row["base_resource_id"] for row in plan["memory"]["dynamic_descriptors"]]
        mode = random.choice(("read", "write", "read_write"))
        access = {"access": random.choice(rows), "mode": mode, "name": "host/x"}
        host.insert(random.randint(0, len(host)), access)
    schedule: Json = {"schema": "ferrum-verify/schedule/v1", "host": host}
    if random.random() < 0.5:
        schedule["steps"] = _steps(random, plan, names)
    return schedule


def _order(random: Random, streams: tuple[str, ...]) -> Json:
    event, stream = random.choice(("e", "f")), random.choice(streams)
    return random.choice(
        (
            {"record": event, "stream": stream},
            {"wait": event, "stream": stream},
            {"record": event, "stream": stream},
            {"wait": event, "stream": stream},
            {"synchronize": {"stream": stream}},
            {"synchronize": {"event": event}},
        )
    )


def _steps(random: Random, plan: Json, names: list[str]) -> Json:
    steps: Json = {}
    if random.random() < 0.8:
        steps["in_flight"] = random.randint(1, 2)
    if random.random() < 0.4:
        pair = random.choice(names), random.choice(names)
        steps["carried"] = [{"from": pair[0], "to": pair[1], "distance": 1}]
    buffers: dict[str, int] = {}
    for slot in _slots(plan):
        if random.random() < 0.3:
            buffers |= dict.fromkeys(slot, 2)
    if buffers:
        steps["buffers"] = buffers
    return steps
