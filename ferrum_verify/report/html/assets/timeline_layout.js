// Where everything on the timeline stands: which lanes there are, and which bars they hold.

const LABELS = 244;
const AXIS = 34;
const LANE = 24;
const HEADING = 30;
const MOST_LEVELS = 3;
// What lives through the whole step, with its users marked.
const THROUGHOUT = new Set(["request", "sequence", "plan"]);

// A lane's bars [first node, last node, resources] as objects. Bars that overlap in plan order
// are put on levels below one another, so that none hides another.
function readBars(row) {
  const ends = [];
  return row.bars.map(([first, last, resources]) => {
    let level = ends.findIndex((end) => end < first);
    if (level < 0) level = ends.length < MOST_LEVELS ? ends.length : MOST_LEVELS - 1;
    ends[level] = last;
    return { first, last, resources, level, whole: THROUGHOUT.has(row.life) };
  });
}

function readLane(row, group) {
  const bars = readBars(row);
  const levels = 1 + bars.reduce((most, bar) => Math.max(most, bar.level), 0);
  return {
    kind: "bars",
    group,
    row,
    bars,
    levels,
    height: levels === 1 ? LANE : LANE + (levels - 1) * 12,
    hazards: (row.hazards ?? []).map((hazard) => placeHazard(hazard, bars)).filter(Boolean),
  };
}

// A hazard stands where its two bars meet: at the later one's beginning, or over the stretch
// where both are live in plan order too.
function placeHazard(hazard, bars) {
  const of = (resource) => bars.find((bar) => bar.resources.includes(resource));
  const left = of(hazard.left);
  const right = of(hazard.right);
  if (right) right.clash = true;
  return left && right && { ...hazard, left, right, names: [hazard.left, hazard.right] };
}

// The lanes in view order with their heights; those of closed groups are left out.
class Layout {
  constructor(plan) {
    this.plan = plan;
    this.groups = plan.groups.map((group) => {
      const heading = { kind: "group", group, open: group.open, height: HEADING };
      return { heading, lanes: group.rows.map((row) => readLane(row, group)) };
    });
    this.arrange();
  }

  arrange() {
    this.lanes = [];
    let y = 0;
    for (const { heading, lanes } of this.groups) {
      for (const lane of heading.open ? [heading, ...lanes] : [heading]) {
        lane.y = y;
        lane.number = this.lanes.length;
        y += lane.height;
        this.lanes.push(lane);
      }
    }
    this.height = y;
  }

  toggle(heading, open = !heading.open) {
    heading.open = open;
    this.arrange();
  }

  // Where a resource's bar is: its group is opened when need be.
  find(resource) {
    for (const { heading, lanes } of this.groups) {
      for (const lane of lanes) {
        const index = lane.bars.findIndex((bar) => bar.resources.includes(resource));
        if (index < 0) continue;
        if (!heading.open) this.toggle(heading, true);
        return { lane, index };
      }
    }
    return null;
  }

  findSlot(pool, slot) {
    const group = this.groups.find(({ heading }) => heading.group.index === pool);
    const lane = group?.lanes.find((each) => each.row.slot === slot);
    if (!lane) return null;
    if (!group.heading.open) this.toggle(group.heading, true);
    return { lane, index: 0 };
  }

  // Every hazard, refused ones first, as places to walk through.
  hazards() {
    const all = this.groups.flatMap(({ heading, lanes }) =>
      lanes.flatMap((lane) => lane.hazards.map((hazard) => ({ heading, lane, hazard }))),
    );
    return all.sort((a, b) => Number(b.hazard.refused) - Number(a.hazard.refused));
  }
}
