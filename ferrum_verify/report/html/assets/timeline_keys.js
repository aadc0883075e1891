// The timeline by keyboard.

const MOVES = {
  ArrowRight: (timeline) => timeline.step(1),
  ArrowLeft: (timeline) => timeline.step(-1),
  ArrowDown: (timeline) => timeline.changeLane(1),
  ArrowUp: (timeline) => timeline.changeLane(-1),
  Home: (timeline) => timeline.step(-Infinity),
  End: (timeline) => timeline.step(Infinity),
  Enter: (timeline) => timeline.activate(),
  " ": (timeline) => timeline.activate(),
  "+": (timeline) => timeline.zoom(1.5),
  "=": (timeline) => timeline.zoom(1.5),
  "-": (timeline) => timeline.zoom(1 / 1.5),
  0: (timeline) => timeline.fit(),
  h: (timeline) => timeline.nextHazard(1),
  H: (timeline) => timeline.nextHazard(-1),
};

Object.assign(Timeline.prototype, {
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(MOVES, event.key)) return;
    event.preventDefault();
    MOVES[event.key](this);
  },

  // The next bar of the lane, or the next node of the axis.
  step(by) {
    const { lane, index = 0, node } = this.chosen ?? {};
    if (node != null) {
      this.choose({ node: clamp(node + by, 0, this.plan.nodes.length - 1) }, { reveal: true });
    } else if (!lane) {
      this.enter();
    } else if (lane.kind === "group") {
      if (lane.open !== by > 0) this.toggle(lane);
      this.choose({ lane, index: 0 }, { reveal: true });
    } else if (lane.bars.length) {
      this.choose({ lane, index: clamp(index + by, 0, lane.bars.length - 1) }, { reveal: true });
    }
  },

  // The lane above or below, at the bar that begins nearest; above the first one is the axis.
  changeLane(by) {
    const { lane, index, node } = this.chosen ?? {};
    if (!this.chosen) return this.enter();
    const first = lane?.kind === "bars" ? lane.bars[index]?.first ?? 0 : node ?? this.column ?? 0;
    this.column = first;
    const number = (lane ? lane.number : -1) + by;
    if (number < 0) return this.choose({ node: first }, { reveal: true });
    const next = this.layout.lanes[number];
    if (!next) return undefined;
    return this.choose({ lane: next, index: next.kind === "bars" ? nearest(next.bars, first) : 0 }, { reveal: true });
  },

  enter() {
    const lane = this.layout.lanes.find((each) => each.kind === "bars" && each.bars.length) ?? this.layout.lanes[0];
    if (lane) this.choose({ lane, index: 0 }, { reveal: true });
  },

  activate() {
    if (this.chosen?.lane?.kind === "group") this.toggle(this.chosen.lane);
    else if (!this.chosen) this.enter();
  },
});

function nearest(bars, node) {
  let best = 0;
  for (const [index, bar] of bars.entries()) {
    if (Math.abs(bar.first - node) < Math.abs(bars[best].first - node)) best = index;
  }
  return best;
}
