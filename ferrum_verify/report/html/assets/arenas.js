// The map of each program-binding arena: a strip for each bucket, its slots to scale.

const STRIP = 26;

class Arenas {
  constructor(root, plan, prefix) {
    this.plan = plan;
    this.prefix = prefix;
    this.panel = element("div", { class: "panel", "aria-live": "polite" }, element("p", { class: "quiet" }, "Point at a slot; by keyboard, the arrow keys move within a strip and between strips."));
    this.common = element("input", { type: "checkbox", onchange: () => this.draw() });
    this.strips = plan.arenas.flatMap((arena) => arena.strips.map((strip) => this.strip(strip)));
    root.append(
      element("label", { class: "tools" }, this.common, " draw all buckets to one scale"),
      ...plan.arenas.flatMap((arena, index) => [
        plan.arenas.length > 1 ? element("h4", {}, `Pool ${arena.pool}`) : null,
        element("div", { class: "arena" }, ...this.strips.filter(({ data }) => plan.arenas[index].strips.includes(data)).map(({ row }) => row)),
      ]).filter(Boolean),
      this.panel,
    );
    this.most = Math.max(...this.strips.map(({ data }) => Number(data.bytes)));
    new ResizeObserver(() => this.draw()).observe(root);
    this.root = root;
  }

  strip(data) {
    const strip = { data, chosen: null };
    strip.svg = shape("svg", {
      class: "canvas strip",
      height: STRIP,
      tabindex: "0",
      role: "application",
      "aria-roledescription": "arena",
      "aria-label": `${data.label}: ${plural(data.slots.length, "slot")} in ${exactBytes(data.bytes)}`,
      onkeydown: (event) => this.key(event, strip),
      onpointermove: (event) => this.hover(event, strip),
      onpointerleave: () => tip.hide(),
      onclick: (event) => this.choose(strip, Number(event.target.closest("[data-slot]")?.dataset.slot ?? -1)),
      onfocus: () => strip.chosen ?? this.choose(strip, 0),
    });
    strip.frame = element("div", { class: "strip-frame" }, strip.svg);
    strip.row = element("div", { class: "strip-row", "data-bucket": data.bucket }, element("span", { class: "strip-label" }, data.label, element("span", { class: "quiet" }, byteCount(data.bytes))), strip.frame);
    return strip;
  }

  draw() {
    for (const strip of this.strips) {
      const room = strip.frame.clientWidth;
      if (room > 0) this.drawStrip(strip, room);
    }
  }

  drawStrip({ data, svg, chosen }, room) {
    const whole = Number(data.bytes) || 1;
    const scale = (room - 2) / (this.common.checked ? this.most : whole);
    const parts = [shape("rect", { class: "arena-edge", x: 0.5, y: 0.5, width: Math.max(whole * scale, 1), height: STRIP - 1 })];
    let previous = -Infinity;
    for (const [index, [node, , offset, size]] of data.slots.entries()) {
      const x = 1 + Number(offset) * scale;
      const width = Number(size) * scale;
      // Slots narrower than half a pixel are drawn once for each half pixel.
      if (width < 0.5 && x - previous < 0.5 && index !== chosen) continue;
      previous = x;
      const { name } = this.plan.nodes[node];
      const letters = Math.floor((width - 6) / CHARACTER);
      parts.push(
        shape(
          "g",
          { class: `bar${index === chosen ? " chosen" : ""}`, "data-slot": index, "data-name": name, role: "img", "aria-label": name },
          shape("rect", { x, y: 2, width: Math.max(width - (width > 3 ? 1 : 0.2), 0.5), height: STRIP - 4, fill: `url(#${this.prefix}-${index % 2 ? "binding-alt" : "binding"})` }),
          letters > 4 && shape("text", { x: x + 4, y: STRIP / 2 + 4 }, shortened(name, letters)),
        ),
      );
    }
    fill(svg, { width: room }, []).replaceChildren(...parts);
  }

  describe(strip, index) {
    const [node, resource, offset, size, alignment] = strip.data.slots[index];
    const end = BigInt(offset) + BigInt(size) - 1n;
    return element(
      "div",
      {},
      element("h5", {}, this.plan.nodes[node].name),
      facts([
        ["Binding", this.plan.resources[resource].name],
        ["Bytes", `${count(offset)} to ${count(end)} of ${count(strip.data.bytes)}`],
        ["Size", exactBytes(size)],
        ["Alignment", plural(alignment, "byte")],
        ["Bucket", strip.data.label],
      ]),
    );
  }

  hover(event, strip) {
    const slot = event.target.closest("[data-slot]");
    if (slot) tip.show(event, this.describe(strip, Number(slot.dataset.slot)));
    else tip.hide();
  }

  choose(strip, index) {
    if (index < 0 || !strip.data.slots.length) return;
    strip.chosen = clamp(index, 0, strip.data.slots.length - 1);
    this.panel.replaceChildren(this.describe(strip, strip.chosen));
    this.draw();
  }

  key(event, strip) {
    const last = strip.data.slots.length - 1;
    const at = strip.chosen ?? 0;
    const moves = { ArrowRight: at + 1, ArrowLeft: Math.max(at - 1, 0), Home: 0, End: last };
    if (event.key in moves) {
      event.preventDefault();
      this.choose(strip, moves[event.key]);
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const next = this.strips[this.strips.indexOf(strip) + (event.key === "ArrowDown" ? 1 : -1)];
      if (!next) return;
      next.svg.focus();
      this.choose(next, at);
    }
  }

  show(bucket) {
    const strip = this.strips.find(({ data }) => data.bucket === Number(bucket));
    strip?.svg.focus();
  }
}
