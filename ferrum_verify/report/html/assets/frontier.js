// The capacity frontier: sequences against tokens, drawn by uPlot.

const FRONTIER_HEIGHT = 300;

class Frontier {
  constructor(root, { points, usable }) {
    // The chart wants its horizontal axis ascending: from many short sequences to few long ones.
    this.points = points.toReversed?.() ?? [...points].reverse();
    this.usable = usable;
    this.root = root;
    this.chart = element("div", {
      class: "chart",
      tabindex: "0",
      role: "application",
      "aria-roledescription": "chart",
      "aria-label": `Capacity frontier with ${plural(points.length, "point")}. Left and right arrow keys move along it.`,
      onkeydown: (event) => this.key(event),
    });
    this.words = element("div", { class: "panel", "aria-live": "polite" }, element("p", { class: "quiet" }, "Point at the line; by keyboard, the left and right arrow keys move along it."));
    root.append(this.chart, element("ul", { class: "legend" }, this.sample("●", "memory ends it"), this.sample("□", "a declared maximum ends it")), this.words);
    new ResizeObserver(() => this.resize()).observe(root);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.plot?.redraw(false));
  }

  sample(sign, words) {
    return element("li", {}, element("span", { class: "sign", "aria-hidden": "true" }, sign), ` ${words}`);
  }

  resize() {
    const width = this.root.clientWidth;
    if (!width) return;
    if (this.plot) this.plot.setSize({ width, height: FRONTIER_HEIGHT });
    else this.plot = new uPlot(this.options(width), this.data(), this.chart);
  }

  data() {
    const points = this.points;
    return [
      points.map((point) => Number(point.tokens)),
      points.map((point) => Number(point.sequences)),
      points.map((point) => (point.memory ? Number(point.sequences) : null)),
      points.map((point) => (point.memory ? null : Number(point.sequences))),
    ];
  }

  options(width) {
    const color = (name) => () => getComputedStyle(this.root).getPropertyValue(name).trim();
    const axis = (label) => ({
      label,
      stroke: color("--text"),
      font: "12px system-ui, sans-serif",
      labelFont: "12px system-ui, sans-serif",
      grid: { stroke: color("--line"), width: 1 },
      ticks: { stroke: color("--line"), width: 1 },
      // Powers of two alone: those between them would crowd a logarithmic axis.
      filter: (_plot, splits) => splits.map((split) => (split >= 1 && Number.isInteger(Math.log2(split)) ? split : null)),
      values: (_plot, splits) => splits.map((split) => (split == null ? "" : split.toLocaleString("en-US"))),
    });
    const between = (low, high) => [2 ** Math.floor(Math.log2(low)), 2 ** Math.ceil(Math.log2(high))];
    const along = (_plot, low, high) => between(Math.max(low, 1), Math.max(high, 2 * low));
    // One sequence stands above the lower edge, so that there is something below the line.
    const up = (_plot, _low, high) => between(0.5, Math.max(high, 2));
    const scale = { time: false, distr: 3, log: 2 };
    const marks = (style) => ({ paths: () => null, points: { show: (plot, series) => this.marks(plot, series, style) } });
    return {
      width,
      height: FRONTIER_HEIGHT,
      legend: { show: false },
      cursor: { drag: { x: false, y: false }, points: { size: 11, fill: color("--accent") } },
      scales: { x: { ...scale, range: along }, y: { ...scale, range: up } },
      axes: [axis("tokens of each sequence"), { ...axis("sequences"), size: 64 }],
      series: [
        {},
        // Up to and with a point's tokens its number of sequences fits: the step is before it.
        { stroke: color("--accent"), width: 2, fill: color("--wash"), paths: uPlot.paths.stepped({ align: -1 }), points: { show: false } },
        marks("memory"),
        marks("declared"),
      ],
      hooks: { setCursor: [(plot) => this.say(plot.cursor.idx)] },
    };
  }

  // Filled discs where memory ends it, open squares where a declared maximum does.
  marks(plot, series, style) {
    const { ctx } = plot;
    const size = 3.5 * devicePixelRatio;
    ctx.save();
    ctx.fillStyle = ctx.strokeStyle = getComputedStyle(this.root).getPropertyValue("--accent").trim();
    ctx.lineWidth = 1.5 * devicePixelRatio;
    let previous = -Infinity;
    for (const [index, y] of plot.data[series].entries()) {
      if (y == null) continue;
      const [left, top] = [plot.valToPos(plot.data[0][index], "x", true), plot.valToPos(y, "y", true)];
      if (left - previous < 3 * size) continue;
      previous = left;
      ctx.beginPath();
      if (style === "memory") {
        ctx.arc(left, top, size, 0, 2 * Math.PI);
        ctx.fill();
      } else {
        ctx.rect(left - size, top - size, 2 * size, 2 * size);
        ctx.stroke();
      }
    }
    ctx.restore();
    return false;
  }

  say(index) {
    if (index == null) return;
    this.at = index;
    const point = this.points[index];
    this.words.replaceChildren(element("h5", {}, point.words), element("p", {}, `Of ${exactBytes(this.usable)} usable. One token more for each is refused: ${point.because}.`));
  }

  key(event) {
    const last = this.points.length - 1;
    const at = this.at ?? -1;
    const moves = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: last };
    if (!(event.key in moves) || !this.plot) return;
    event.preventDefault();
    const index = clamp(moves[event.key], 0, last);
    const { plot } = this;
    plot.setCursor({ left: plot.valToPos(plot.data[0][index], "x"), top: plot.valToPos(plot.data[1][index], "y") }, false);
    this.say(index);
  }
}
