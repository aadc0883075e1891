// Drawing what is in view. Whatever lies outside the window is not drawn, and bars narrower
// than a pixel are drawn as one, so that a plan of thousands of nodes stays quick.

const CHARACTER = 6.6;

// A round step between ticks that leaves each its room.
function tickStep(scale, room) {
  let step = 1;
  for (let next = 0; step * scale < room; next += 1) step = [1, 2, 5][next % 3] * 10 ** Math.floor(next / 3);
  return step;
}

class Drawing {
  constructor(prefix, plan, layout) {
    this.prefix = prefix;
    this.plan = plan;
    this.layout = layout;
    this.content = shape("g");
    this.svg = shape("svg", { class: "canvas" }, patterns(prefix), this.content);
  }

  // `matches` are the resources that a search found.
  draw(window, chosen, matches) {
    Object.assign(this, window);
    this.chosen = chosen;
    this.matches = matches;
    this.from = Math.max(0, Math.floor(this.left / this.scale) - 1);
    this.to = Math.min(this.plan.nodes.length - 1, Math.ceil((this.left + this.width) / this.scale));
    fill(this.svg, { width: this.width, height: this.height }, []);
    const parts = [];
    for (const lane of this.layout.lanes) {
      const y = AXIS + lane.y - this.top;
      if (y + lane.height < AXIS) continue;
      if (y > this.height) break;
      if (lane.kind === "group") parts.push(this.heading(lane, y));
      else parts.push(...this.bars(lane, y), this.label(lane, y));
    }
    parts.unshift(...this.columns());
    this.content.replaceChildren(...parts, this.axis());
  }

  x(node) {
    return this.gutter + node * this.scale - this.left;
  }

  idOf(lane, index) {
    return `${this.prefix}-${lane.number}-${index}`;
  }

  columns() {
    const node = this.chosen?.node;
    if (node == null) return [];
    return [
      shape("rect", {
        class: "column",
        x: this.x(node),
        y: AXIS,
        width: Math.max(this.scale, 2),
        height: Math.max(0, this.height - AXIS),
      }),
    ];
  }

  heading(lane, y) {
    const { group } = lane;
    const words = [group.label, group.detail, group.pool && `pool ${group.pool}`].filter(Boolean);
    const label = this.width < 500 ? words.filter((each) => each !== group.detail) : words;
    return shape(
      "g",
      { class: `heading${this.chosen?.lane === lane ? " chosen" : ""}`, "data-group": lane.number, id: this.idOf(lane, 0) },
      shape("rect", { x: 0, y, width: this.width, height: lane.height - 2 }),
      shape("text", { x: 8, y: y + 19 }, `${lane.open ? "▾" : "▸"} ${label.join(" · ")}`),
    );
  }

  label(lane, y) {
    const { row } = lane;
    const letters = Math.floor((this.gutter - 30) / CHARACTER);
    const words = row.name ? shortened(row.name, letters) : `${row.label} · ${plural(lane.bars.length, row.life === "invocation" ? "node" : "resource")}`;
    return shape(
      "g",
      { class: "label" },
      shape("rect", { x: 0, y, width: this.gutter - 6, height: lane.height }),
      shape("text", { x: 22, y: y + lane.height / 2 + 4 }, words.length > letters ? shortened(row.label, letters) : words),
      row.name && shape("title", {}, `${row.name} (${row.label})`),
    );
  }

  *bars(lane, y) {
    const height = (lane.height - 5) / lane.levels;
    let run = null;
    for (const [index, bar] of lane.bars.entries()) {
      if (bar.first > this.to) break;
      if (bar.last < this.from) continue;
      const x = this.x(bar.first);
      const width = (bar.last - bar.first + 1) * this.scale;
      const box = { x, y: y + 2 + bar.level * height, width, height, index, bars: 1 };
      if (width >= 2) {
        if (run) yield this.run(lane, run);
        run = null;
        yield this.bar(lane, bar, box);
      } else if (run && x - (run.x + run.width) < 1 && run.y === box.y) {
        run.width = x + width - run.x;
        run.bars += 1;
      } else {
        if (run) yield this.run(lane, run);
        run = box;
      }
    }
    if (run) yield this.run(lane, run);
    yield* this.hazards(lane, y);
  }

  run(lane, box) {
    return shape("rect", {
      class: "bar run",
      "data-run": box.bars,
      "data-lane": lane.number,
      "data-bar": box.index,
      x: box.x,
      y: box.y,
      width: Math.max(box.width, 1.5),
      height: box.height - 1,
      fill: `url(#${this.prefix}-${lane.row.life})`,
    });
  }

  bar(lane, bar, { x, y, width, height, index }) {
    const name = this.nameOf(lane, bar);
    const chosen = this.chosen?.lane === lane && (this.chosen.index === index || this.chosen.hazard?.left === bar);
    const gap = width > 4 ? 1.5 : 0.5;
    // The part that is in view, so that labels and outlines do not run away to the left.
    const start = Math.max(x, this.gutter - 8);
    const end = Math.min(x + width - gap, this.width + 8);
    const indent = bar.clash && x === start ? 14 : 5;
    const room = Math.floor((end - start - indent - 3) / CHARACTER);
    return shape(
      "g",
      {
        class: `bar${chosen ? " chosen" : ""}${this.found(bar) ? " found" : ""}`,
        id: this.idOf(lane, index),
        "data-lane": lane.number,
        "data-bar": index,
        "data-name": name,
        role: "img",
        "aria-label": name,
      },
      shape("rect", {
        x: start,
        y,
        width: Math.max(end - start, 1),
        height: height - 1,
        rx: Math.min(3, width / 4),
        fill: `url(#${this.prefix}-${lane.row.life}${index % 2 ? "-alt" : ""})`,
      }),
      (chosen || bar.whole) && this.users(bar, y, height),
      room > 4 && height > 12 && !lane.row.name && shape("text", { x: start + indent, y: y + height / 2 + 3.5 }, shortened(name, room)),
    );
  }

  found(bar) {
    return this.matches?.size && bar.resources.some((resource) => this.matches.has(resource));
  }

  // The nodes that really use the resource: between them its bytes are kept, not touched.
  users(bar, y, height) {
    const users = bar.resources.flatMap((resource) => this.plan.resources[resource].users);
    const marks = users
      .filter((user) => user >= this.from && user <= this.to)
      .map((user) => `M${this.x(user) + this.scale / 2} ${y - 2}v${height + 3}`);
    return shape("path", { class: `users${bar.whole ? " quiet" : ""}`, d: marks.join("") });
  }

  *hazards(lane, y) {
    let previous = -Infinity;
    const middle = y + lane.height / 2;
    for (const [index, hazard] of lane.hazards.entries()) {
      const { left, right, refused } = hazard;
      if (right.last < this.from || left.first > this.to) continue;
      const x = Math.max(this.x(right.first), this.gutter);
      const chosen = this.chosen?.hazard === hazard;
      if (!chosen && Math.abs(x - previous) < 5) continue;
      previous = x;
      const together = Math.min(left.last, right.last) + 1 - right.first;
      const from = this.x(left.last + 1);
      yield shape(
        "g",
        {
          class: `hazard${refused ? " refused" : ""}${chosen ? " chosen" : ""}`,
          "data-lane": lane.number,
          "data-hazard": index,
          role: "img",
          "aria-label": `hazard: ${hazard.names.map((name) => this.plan.resources[name].name).join(" and ")}`,
        },
        together > 0
          ? shape("rect", { class: "together", x: this.x(right.first), y: y + 1, width: together * this.scale, height: lane.height - 3, fill: `url(#${this.prefix}-clash)` })
          : from < x - 12 && shape("path", { class: "between", d: `M${Math.max(from, this.gutter)} ${middle}H${x}` }),
        shape("path", { class: "sign", d: `M${x} ${middle - 10}l10 10l-10 10l-10 -10z` }),
        shape("text", { x, y: middle + 4.5 }, "!"),
      );
    }
  }

  axis() {
    const { nodes } = this.plan;
    const step = tickStep(this.scale, 64);
    const named = this.scale >= 64;
    const ticks = [];
    for (let node = Math.ceil(this.from / step) * step; node <= this.to; node += step) {
      const x = this.x(node);
      if (x < this.gutter - 1) continue;
      const words = named ? shortened(nodes[node].name, Math.floor((this.scale - 8) / CHARACTER)) : count(node);
      ticks.push(
        shape("path", { d: `M${x + 0.5} ${AXIS - 8}V${AXIS}` }),
        shape("text", { x: x + 3, y: AXIS - 12 }, words),
      );
    }
    return shape(
      "g",
      { class: "axis", "data-axis": true },
      shape("rect", { x: 0, y: 0, width: this.width, height: AXIS }),
      ...ticks,
      shape("path", { class: "line", d: `M0 ${AXIS - 0.5}H${this.width}` }),
      shape("rect", { x: 0, y: 0, width: this.gutter - 6, height: AXIS - 1 }),
      shape("text", { x: 8, y: AXIS - 12 }, this.gutter < 200 ? plural(nodes.length, "node") : `${plural(nodes.length, "node")} in plan order →`),
    );
  }

  nameOf(lane, bar) {
    if (lane.row.life === "invocation") return this.plan.nodes[bar.first].name;
    return this.plan.resources[bar.resources[0]].name;
  }
}
