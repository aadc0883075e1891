// The capacity frontier: sequences against tokens of each, both on logarithmic scales.

const FRONTIER_HEIGHT = 320;
const MARGIN = { left: 72, right: 24, top: 14, bottom: 48 };
const POINT = 4;

// A logarithmic scale from pixel `from` to pixel `to`, between powers of two around the numbers.
class PowerScale {
  constructor(low, high, from, to) {
    this.low = Math.floor(Math.log2(low));
    this.high = Math.max(Math.ceil(Math.log2(high)), this.low + 1);
    Object.assign(this, { from, to });
  }

  at(number) {
    return this.from + ((Math.log2(number) - this.low) / (this.high - this.low)) * (this.to - this.from);
  }

  // Powers of two that stand at least `room` pixels apart.
  ticks(room) {
    const step = Math.max(1, Math.ceil(((this.high - this.low) * room) / Math.abs(this.to - this.from)));
    const ticks = [];
    for (let power = Math.max(this.low, 0); power <= this.high; power += step) ticks.push(2 ** power);
    return ticks;
  }
}

class Frontier {
  constructor(root, { points, usable }) {
    // From left to right: from many short sequences to few long ones.
    this.points = [...points].reverse().map((point) => ({ ...point, tokens: Number(point.tokens), sequences: Number(point.sequences) }));
    this.usable = usable;
    this.root = root;
    this.chart = shape("svg", {
      class: "canvas chart",
      height: FRONTIER_HEIGHT,
      tabindex: "0",
      role: "application",
      "aria-roledescription": "chart",
      "aria-label": `Capacity frontier with ${plural(points.length, "point")}. Left and right arrow keys move along it.`,
      onkeydown: (event) => this.key(event),
      onpointermove: (event) => this.hover(event),
    });
    this.words = element("div", { class: "panel", "aria-live": "polite" }, element("p", { class: "quiet" }, "Point at the line; by keyboard, the left and right arrow keys move along it."));
    root.append(this.chart, element("ul", { class: "legend" }, this.sample("●", "memory ends it"), this.sample("□", "a declared maximum ends it")), this.words);
    new ResizeObserver(() => this.draw()).observe(root);
  }

  sample(sign, words) {
    return element("li", {}, element("span", { class: "sign", "aria-hidden": "true" }, sign), ` ${words}`);
  }

  draw() {
    const width = this.root.clientWidth;
    // The words below change the height as one moves along the line; the drawing stays.
    if (width <= MARGIN.left + MARGIN.right || width === this.width) return;
    this.width = width;
    const tokens = this.points.map((point) => point.tokens);
    const sequences = this.points.map((point) => point.sequences);
    this.right = width - MARGIN.right;
    this.bottom = FRONTIER_HEIGHT - MARGIN.bottom;
    this.x = new PowerScale(Math.min(...tokens), Math.max(...tokens), MARGIN.left, this.right);
    // One sequence stands above the lower edge, so that there is something below the line.
    this.y = new PowerScale(0.5, Math.max(...sequences, 2), this.bottom, MARGIN.top);
    this.places = this.points.map((point) => [this.x.at(point.tokens), this.y.at(point.sequences)]);
    this.cursor = shape("g", { class: "cursor" });
    fill(this.chart, { width }, []).replaceChildren(...this.axes(), ...this.curve(), ...this.marks(), this.cursor);
    this.showCursor();
  }

  axes() {
    const middle = { x: (MARGIN.left + this.right) / 2, y: (MARGIN.top + this.bottom) / 2 };
    const label = (number, at) => shape("text", at, number.toLocaleString("en-US"));
    return [
      ...this.x.ticks(56).flatMap((tick) => [
        shape("path", { class: "grid", d: `M${this.x.at(tick)} ${MARGIN.top}V${this.bottom + 5}` }),
        label(tick, { x: this.x.at(tick), y: this.bottom + 18, "text-anchor": "middle" }),
      ]),
      ...this.y.ticks(20).flatMap((tick) => [
        shape("path", { class: "grid", d: `M${MARGIN.left - 5} ${this.y.at(tick)}H${this.right}` }),
        label(tick, { x: MARGIN.left - 9, y: this.y.at(tick) + 4, "text-anchor": "end" }),
      ]),
      shape("path", { class: "edge", d: `M${MARGIN.left} ${MARGIN.top}V${this.bottom}H${this.right}` }),
      shape("text", { class: "title", x: middle.x, y: FRONTIER_HEIGHT - 8, "text-anchor": "middle" }, "tokens of each sequence"),
      shape("text", { class: "title", transform: `translate(14 ${middle.y}) rotate(-90)`, "text-anchor": "middle" }, "sequences"),
    ];
  }

  curve() {
    // Up to and with a point's tokens its number of sequences fits: the step is before it.
    const steps = this.places.map(([x, y]) => `V${y}H${x}`).join("");
    const line = `M${MARGIN.left} ${this.places[0][1]}${steps}V${this.bottom}`;
    return [shape("path", { class: "under", d: `${line}H${MARGIN.left}Z` }), shape("path", { class: "line", d: line })];
  }

  // Filled discs where memory ends it, open squares where a declared maximum does; of those that
  // would cover each other, the first.
  marks() {
    let last = [-Infinity, 0];
    return this.places.map(([x, y], index) => {
      if (Math.hypot(x - last[0], y - last[1]) < 3 * POINT) return null;
      last = [x, y];
      return this.points[index].memory
        ? shape("circle", { class: "memory", cx: x, cy: y, r: POINT })
        : shape("rect", { class: "declared", x: x - POINT, y: y - POINT, width: 2 * POINT, height: 2 * POINT });
    }).filter(Boolean);
  }

  showCursor() {
    if (this.at == null) return;
    const [x, y] = this.places[this.at];
    this.cursor.replaceChildren(
      shape("path", { d: `M${MARGIN.left} ${y}H${x}V${this.bottom}` }),
      shape("circle", { cx: x, cy: y, r: 2 * POINT }),
    );
  }

  say(index) {
    this.at = index;
    const point = this.points[index];
    this.words.replaceChildren(element("h5", {}, point.words), element("p", {}, `Of ${exactBytes(this.usable)} usable. One token more for each is refused: ${point.because}.`));
    this.showCursor();
  }

  // The point nearest along the line; of several at the same tokens, the nearest in height.
  hover(event) {
    if (!this.places) return;
    const frame = this.chart.getBoundingClientRect();
    const [left, top] = [event.clientX - frame.left, event.clientY - frame.top];
    const far = ([x, y]) => [Math.abs(x - left), Math.abs(y - top)];
    const nearest = this.places.reduce((best, place, index) => {
      const [[x, y], [bestX, bestY]] = [far(place), far(this.places[best])];
      return x < bestX || (x === bestX && y < bestY) ? index : best;
    }, 0);
    if (nearest !== this.at) this.say(nearest);
  }

  key(event) {
    const last = this.points.length - 1;
    const at = this.at ?? -1;
    const moves = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: last };
    if (!(event.key in moves) || !this.places) return;
    event.preventDefault();
    this.say(clamp(moves[event.key], 0, last));
  }
}
