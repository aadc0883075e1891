// Drawing bytes over time. Only nodes in view are drawn; where several share a pixel, the one with
// the most bytes stands for them, so that no peak is lost.

const TOP = 26;
const FLOOR = 24;

// A power of two of bytes between ticks, so that there are no more than so many.
function byteStep(most, ticks) {
  let step = 1;
  while (most / step > ticks) step *= 2;
  return step;
}

Object.assign(Footprint.prototype, {
  draw() {
    if (!this.all) return;
    this.pane = this.window;
    const { width, left, scale, gutter } = this.pane;
    this.first = Math.max(0, Math.floor(left / scale));
    this.last = Math.min(this.plan.nodes.length - 1, Math.ceil((left + width - gutter) / scale));
    this.bottom = FOOTPRINT_HEIGHT - FLOOR;
    const addresses = Boolean(this.mode.value);
    this.most = Number(addresses ? this.shown[0].held : this.all.peak) || 1;
    fill(this.svg, { width, height: FOOTPRINT_HEIGHT }, []);
    this.content.replaceChildren(
      ...(addresses ? [] : this.grid()),
      ...(addresses ? this.bands(this.shown[0]) : this.areas()),
      ...this.mark(),
      shape("rect", { class: "margin", width: gutter, height: FOOTPRINT_HEIGHT }),
      ...(addresses ? this.bandLabels(this.shown[0]) : this.levels()),
      ...this.nodeAxis(),
      ...this.peakWords(),
    );
  },

  x(node) {
    const { gutter, scale, left } = this.pane;
    return gutter + node * scale - left;
  },

  y(bytes) {
    return this.bottom - (Number(bytes) / this.most) * (this.bottom - TOP);
  },

  // The nodes in view as columns of at least a pixel: [from, to, the node that stands for them].
  columnsInView() {
    const step = Math.max(1, Math.ceil(1 / this.pane.scale));
    const columns = [];
    for (let from = this.first - (this.first % step); from <= this.last; from += step) {
      const to = Math.min(from + step, this.plan.nodes.length);
      let node = from;
      for (let next = from + 1; next < to; next += 1) if (this.all.live[next] > this.all.live[node]) node = next;
      columns.push([this.x(from), this.x(to), node]);
    }
    return columns;
  },

  areas() {
    const columns = this.columnsInView();
    if (!columns.length) return [];
    let below = columns.map(() => 0n);
    const [paths, words] = [[], []];
    for (const pool of [...this.shown].reverse()) {
      const above = columns.map(([, , node], index) => below[index] + pool.live[node]);
      const [upper, lower] = [above, below].map((edge) => edge.map((bytes) => this.y(bytes)));
      const out = columns.map(([, to], index) => `V${upper[index]}H${to}`);
      const back = columns.map(([from, to], index) => `H${to}V${lower[index]}H${from}`).reverse();
      paths.push(shape("path", { class: "area", "data-area": pool.key, d: `M${columns[0][0]} ${this.bottom}${out.join("")}V${this.bottom}${back.join("")}Z`, fill: pool.fill }));
      words.push(this.areaWords(`${pool.holds} ${byteCount(pool.peak)}`, columns, upper, lower));
      below = above;
    }
    return [...paths, ...words.filter(Boolean)];
  },

  // Words stand in an area where it leaves them room, at the first such place.
  areaWords(words, columns, upper, lower) {
    const width = words.length * CHARACTER + 8;
    for (let index = 0; index < columns.length; index += 1) {
      const x = Math.max(columns[index][0], this.pane.gutter);
      const y = (upper[index] + lower[index]) / 2 + 4;
      let end = index;
      while (end < columns.length && upper[end] < y - 10 && lower[end] > y + 3) end += 1;
      if (end > index && columns[end - 1][1] - x > width) return shape("text", { x: x + 4, y }, words);
      if (end > index) index = end - 1;
    }
    return null;
  },

  // One pool's addresses: each band as high as what it holds at most, with its bars in it.
  bands(pool) {
    const { width, gutter } = this.pane;
    const end = Math.min(this.x(this.plan.nodes.length), width);
    return pool.bands.flatMap((band, number) => {
      const [top, foot] = [this.y(band.base + band.height), this.y(band.base)];
      const ground = shape("rect", { class: "band", "data-band": number, x: gutter, y: top, width: Math.max(end - gutter, 0), height: Math.max(foot - top, 0.5), fill: `url(#${this.prefix}-free)` });
      return [ground, ...this.barsOf(band, number, foot)];
    });
  },

  *barsOf(band, number, foot) {
    let drawn = [-Infinity, 0];
    const ordered = [...band.bars.entries()].sort(([, a], [, b]) => a.first - b.first);
    for (const [order, [index, bar]] of ordered.entries()) {
      if (bar.last < this.first || bar.first > this.last) continue;
      const from = Math.max(this.x(bar.first), this.pane.gutter);
      const to = Math.min(this.x(bar.last + 1), this.pane.width + 2);
      const top = this.y(band.base + bar.bytes);
      // Of bars within one pixel only a higher one shows.
      if (to - drawn[0] < 1 && top >= drawn[1]) continue;
      drawn = [to, top];
      const name = bar.resources.map((each) => this.plan.resources[each].name).join(", ");
      const letters = Math.floor((to - from - 8) / CHARACTER);
      yield shape(
        "g",
        { class: "bar", "data-band": number, "data-bar": index, "data-name": name },
        shape("rect", { x: from, y: top, width: Math.max(to - from - (to - from > 4 ? 1 : 0), 0.5), height: Math.max(foot - top, 0.5), fill: `url(#${this.prefix}-${band.life}${order % 2 ? "-alt" : ""})` }),
        letters > 4 && foot - top > 13 && shape("text", { x: from + 4, y: (foot + top) / 2 + 4 }, shortened(name, letters)),
      );
    }
  },

  bandLabels(pool) {
    const letters = Math.floor((this.pane.gutter - 10) / CHARACTER);
    return pool.bands.flatMap((band) => {
      const [top, foot] = [this.y(band.base + band.height), this.y(band.base)];
      const words = `${band.label} ${byteCount(band.height)}`;
      return foot - top < 12 ? [] : [shape("text", { x: this.pane.gutter - 6, y: (top + foot) / 2 + 4, "text-anchor": "end" }, words.length > letters ? shortened(band.label, letters) : words)];
    });
  },

  // The chosen node and the peak.
  mark() {
    const parts = [];
    if (this.node != null) parts.push(shape("rect", { class: "column", x: this.x(this.node), y: TOP, width: Math.max(this.pane.scale, 2), height: this.bottom - TOP }));
    const x = this.x(this.all.node + 0.5);
    return [...parts, shape("path", { class: "peak-line", d: `M${x} ${TOP - 6}V${this.bottom}` })];
  },

  peakWords() {
    const { width, gutter } = this.pane;
    const x = this.x(this.all.node + 0.5);
    const words = `peak ${byteCount(this.all.peak)}`;
    const half = words.length * 4 + 4; // in the letters of the page, not the chart's
    if (x < gutter || x > width) return [];
    return [
      shape("path", { class: "peak-head", d: `M${x - 5} ${TOP - 8}h10l-5 8z` }),
      shape("text", { class: "peak-words", x: clamp(x, half, Math.max(width - half, half)), y: TOP - 13, "text-anchor": "middle" }, words),
    ];
  },

  ticksOfBytes() {
    const step = byteStep(this.most, (this.bottom - TOP) / 36);
    return Array.from({ length: Math.floor(this.most / step) + 1 }, (_, index) => index * step);
  },

  grid() {
    const { width, gutter } = this.pane;
    return this.ticksOfBytes().map((bytes) => shape("path", { class: "grid", d: `M${gutter - 4} ${this.y(bytes)}H${width}` }));
  },

  levels() {
    return this.ticksOfBytes().map((bytes) => shape("text", { class: "quiet", x: this.pane.gutter - 8, y: this.y(bytes) + 4, "text-anchor": "end" }, byteCount(Math.round(bytes))));
  },

  nodeAxis() {
    const { width, gutter, scale } = this.pane;
    const step = tickStep(scale, 64);
    const parts = [shape("path", { class: "edge", d: `M${gutter} ${TOP}V${this.bottom}H${width}` })];
    for (let node = Math.ceil(this.first / step) * step; node <= this.last; node += step) {
      const x = this.x(node);
      if (x < gutter - 1) continue;
      const words = scale >= 64 ? shortened(this.plan.nodes[node].name, Math.floor((scale - 8) / CHARACTER)) : count(node);
      parts.push(shape("path", { class: "edge", d: `M${x} ${this.bottom}v5` }), shape("text", { class: "quiet", x: x + 3, y: this.bottom + 16 }, words));
    }
    return parts;
  },
});
