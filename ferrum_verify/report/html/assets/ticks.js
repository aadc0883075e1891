// Rows of ticks over token counts: what BASE permits above what HEAD permits.

const TICKS = { left: 58, right: 96, row: 34, top: 16 };

class Ticks {
  constructor(root, { rows, low, high, at, prompt }) {
    Object.assign(this, { root, rows, low, high, at, prompt });
    this.bottom = TICKS.top + rows.length * TICKS.row;
    this.svg = shape("svg", {
      class: "canvas ticks",
      height: this.bottom + 42,
      role: "img",
      "aria-label": rows.map((row) => `${row.label} permits ${this.listed(row)}`).join("; "),
      onpointermove: (event) => this.hover(event),
      onpointerleave: () => tip.hide(),
    });
    root.append(...(at == null ? [] : [element("p", {}, this.sentence())]), this.svg);
    new ResizeObserver(() => this.draw()).observe(root);
  }

  listed({ permits, next }) {
    const shown = permits.slice(0, 12).map(count);
    if (permits.length > 12) shown.push("…");
    if (!shown.length) return next == null ? "none" : `none below ${count(next)}`;
    return `${shown.join(", ")} tokens`;
  }

  sentence() {
    const [yes, no] = [true, false].map((permits) => this.rows.find((row) => row.permits.includes(this.at) === permits)?.label);
    const cut = this.prompt == null ? `${plural(this.at, "token")}:` : `A prompt of ${plural(this.prompt, "token")}, cut at ${count(this.at)}:`;
    return `${cut} ${yes} permits it, and ${no} refuses it.`;
  }

  // Counts may pass 2^53: differences are taken exactly, and rounded only to draw them.
  place(tokens) {
    const part = Number(BigInt(tokens) - BigInt(this.low)) / Math.max(Number(BigInt(this.high) - BigInt(this.low)), 1);
    return TICKS.left + part * this.room;
  }

  draw() {
    this.room = this.root.clientWidth - TICKS.left - TICKS.right;
    if (this.room <= 40) return;
    const parts = this.rows.flatMap((row, index) => this.row(row, TICKS.top + index * TICKS.row, this.rows[1 - index]));
    fill(this.svg, { width: this.root.clientWidth }, []).replaceChildren(...parts, ...this.axis(), ...this.marker());
  }

  row({ label, permits, next }, top, other) {
    const line = top + TICKS.row - 8;
    const alone = new Set(permits.filter((tokens) => !other?.permits.includes(tokens)));
    return [
      shape("text", { class: "label", x: 0, y: line }, shortened(label, 7)),
      shape("path", { class: "base", d: `M${TICKS.left} ${line}h${this.room}` }),
      ...permits.flatMap((tokens) => {
        const [x, lone] = [this.place(tokens), alone.has(tokens)];
        const height = lone ? 20 : 12;
        // A head on the tick says without colour that the other one refuses this count.
        const head = lone && shape("circle", { class: "alone", cx: x, cy: line - height, r: 2.5 });
        return [shape("rect", { class: lone ? "tick alone" : "tick", "data-tokens": tokens, x: x - 1, y: line - height, width: 2, height }), head].filter(Boolean);
      }),
      permits.length === 0 && shape("text", { class: "quiet", x: TICKS.left + 8, y: line - 6 }, next == null ? "no boundary" : "none here"),
      next != null && shape("text", { class: "quiet", x: TICKS.left + this.room + 10, y: line }, `${count(next)} →`),
    ].filter(Boolean);
  }

  axis() {
    const y = this.bottom + 14;
    const permitted = this.rows.flatMap((row) => row.permits);
    const wanted = [this.at, this.low, this.high, ...permitted].filter((tokens) => tokens != null);
    const taken = [];
    const shown = [];
    for (const tokens of wanted) {
      const [x, text] = [this.place(tokens), count(tokens)];
      const half = (text.length * CHARACTER) / 2 + 6;
      if (taken.some(([from, to]) => x + half > from && x - half < to)) continue;
      taken.push([x - half, x + half]);
      shown.push(shape("text", { class: tokens === this.at ? "now" : "quiet", x, y, "text-anchor": "middle" }, text));
    }
    const words = this.at == null ? "tokens before a boundary" : this.prompt == null ? "tokens" : `tokens before the boundary, in a prompt of ${count(this.prompt)}`;
    return [...shown, shape("text", { class: "title", x: TICKS.left + this.room / 2, y: this.bottom + 34, "text-anchor": "middle" }, words)];
  }

  // The count of the counterexample, through both rows.
  marker() {
    if (this.at == null) return [];
    const x = this.place(this.at);
    return [
      shape("path", { class: "now", d: `M${x} 2V${this.bottom}` }),
      ...this.rows.map((row, index) => {
        const permits = row.permits.includes(this.at);
        const y = TICKS.top + index * TICKS.row + 12;
        return shape("g", { class: `answer ${permits ? "safe" : "unsafe"}` }, shape("circle", { cx: x, cy: y, r: 9 }), shape("text", { x, y: y + 4, "text-anchor": "middle" }, permits ? "✓" : "✗"));
      }),
    ];
  }

  hover(event) {
    if (!this.room) return;
    const x = event.clientX - this.svg.getBoundingClientRect().left;
    const counts = this.rows.flatMap((row) => row.permits);
    const far = (tokens) => Math.abs(this.place(tokens) - x);
    const nearest = counts.reduce((best, tokens) => (best == null || far(tokens) < far(best) ? tokens : best), null);
    if (nearest == null || far(nearest) > 12) return tip.hide();
    const answers = this.rows.map((row) => [row.label, row.permits.includes(nearest) ? "permits it" : "refuses it"]);
    tip.show(event, element("div", {}, element("h5", {}, plural(nearest, "token")), facts(answers)));
  }
}
