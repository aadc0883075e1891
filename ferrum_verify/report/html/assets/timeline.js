// The timeline: scrolling, zooming, choosing by pointer or keyboard, and saying what is chosen.
//
// A choice is { lane, index } for a bar or a group's heading, with { hazard } for a place where
// two bars meet, or { node } for a column.

const LARGEST_SCALE = 96;
const MOST_USERS = 24;

const KEYS_HELP =
  "Arrow keys move between bars, Home and End go to the ends of a row, plus and minus zoom, 0 shows the whole plan, H goes to the next hazard, Enter opens or closes a group.";

class Timeline {
  constructor(root, plan, prefix) {
    this.plan = plan;
    this.layout = new Layout(plan);
    this.drawing = new Drawing(prefix, plan, this.layout);
    this.hazards = this.layout.hazards();
    this.space = element("div", { class: "space" }, this.drawing.svg);
    this.view = element(
      "div",
      {
        class: "view",
        tabindex: "0",
        role: "application",
        "aria-roledescription": "timeline",
        "aria-label": `Timeline of ${plural(plan.nodes.length, "node")}. ${KEYS_HELP}`,
        onscroll: () => this.later(),
        onkeydown: (event) => this.key(event),
        onwheel: (event) => this.wheel(event),
        onpointermove: (event) => this.hover(event),
        onpointerleave: () => tip.hide(),
        onclick: (event) => this.click(event),
      },
      this.space,
    );
    this.panel = element("div", { class: "panel", "aria-live": "polite" });
    root.append(this.tools(), this.view, this.legend(), this.panel);
    this.say(element("p", { class: "quiet" }, `Point at a bar, or choose one. ${KEYS_HELP}`));
    new ResizeObserver(() => this.resize()).observe(this.view);
  }

  tools() {
    const button = (words, label, act) => element("button", { type: "button", "aria-label": label, title: label, onclick: act }, words);
    this.search = element("input", { type: "search", placeholder: "Find a resource or node", "aria-label": "Find a resource or node; Enter goes to the next match" });
    this.found = element("output", { class: "quiet" });
    this.search.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.findNext(event.shiftKey ? -1 : 1);
    });
    const hazards = this.hazards.length
      ? button(`Next hazard (${count(this.hazards.length)})`, "Go to the next hazard", () => this.nextHazard(1))
      : null;
    return element(
      "div",
      { class: "tools" },
      button("−", "Zoom out", () => this.zoom(1 / 1.5)),
      button("+", "Zoom in", () => this.zoom(1.5)),
      button("Whole plan", "Show the whole plan", () => this.fit()),
      this.search,
      this.found,
      hazards,
    );
  }

  legend() {
    const lives = new Set(this.plan.groups.flatMap((group) => group.rows.map((row) => row.life)));
    const words = { step: "Step", request: "request", sequence: "sequence", invocation: "invocation", plan: "static" };
    const sample = (life) => {
      const box = shape("svg", { width: 26, height: 12, "aria-hidden": "true" });
      box.append(shape("rect", { width: 26, height: 12, rx: 2, fill: `url(#${this.drawing.prefix}-${life})` }));
      return element("li", {}, box, ` ${words[life]}`);
    };
    const sign = (style, text) =>
      element("li", { class: "hazard-sample" }, shape("svg", { width: 18, height: 18, class: "canvas", "aria-hidden": "true" }, shape("g", { class: `hazard ${style}` }, shape("path", { class: "sign", d: "M9 0l9 9l-9 9l-9 -9z" }), shape("text", { x: 9, y: 13.5 }, "!"))), ` ${text}`);
    const hazards = [];
    if (this.hazards.some(({ hazard }) => hazard.refused)) hazards.push(sign("refused", `hazard under ${this.plan.execution} execution`));
    if (this.hazards.some(({ hazard }) => !hazard.refused)) hazards.push(sign("", "hazard under concurrent execution only"));
    const hidden = this.plan.groups.flatMap((group) => group.rows).reduce((sum, row) => sum + (row.hidden ?? 0), 0);
    if (hidden) hazards.push(element("li", {}, `${plural(hidden, "more hazard")} not drawn`));
    return element("ul", { class: "legend" }, ...Object.keys(words).filter((life) => lives.has(life)).map(sample), ...hazards);
  }

  resize() {
    if (!this.view.clientWidth) return;
    const fitting = this.fittingScale();
    if (this.scale == null || this.scale < fitting) this.scale = fitting;
    this.sized();
  }

  fittingScale() {
    const room = this.view.clientWidth - LABELS - 24;
    return clamp(room / Math.max(this.plan.nodes.length, 1), 0.05, 48);
  }

  sized() {
    this.space.style.width = `${LABELS + this.plan.nodes.length * this.scale + 20}px`;
    this.space.style.height = `${AXIS + this.layout.height + 4}px`;
    this.view.style.height = `${Math.min(AXIS + this.layout.height + 18, Math.max(220, innerHeight * 0.66))}px`;
    this.later();
  }

  later() {
    this.pending ??= requestAnimationFrame(() => {
      this.pending = null;
      this.draw();
    });
  }

  draw() {
    const { clientWidth: width, clientHeight: height, scrollLeft: left, scrollTop: top } = this.view;
    this.drawing.draw({ width, height, left, top, scale: this.scale }, this.chosen);
    const { lane, index } = this.chosen ?? {};
    const id = lane && this.drawing.idOf(lane, index);
    if (id && document.getElementById(id)) this.view.setAttribute("aria-activedescendant", id);
    else this.view.removeAttribute("aria-activedescendant");
  }

  // The node under `anchor`, a distance from the left edge, stays where it is.
  zoom(factor, anchor = LABELS + (this.view.clientWidth - LABELS) / 2) {
    const node = (this.view.scrollLeft + anchor - LABELS) / this.scale;
    this.scale = clamp(this.scale * factor, Math.min(this.fittingScale(), 1), LARGEST_SCALE);
    this.sized();
    this.view.scrollLeft = node * this.scale + LABELS - anchor;
  }

  fit() {
    this.scale = this.fittingScale();
    this.sized();
    this.view.scrollLeft = 0;
  }

  wheel(event) {
    if (!event.ctrlKey) return;
    event.preventDefault();
    this.zoom(event.deltaY < 0 ? 1.25 : 0.8, event.clientX - this.view.getBoundingClientRect().left);
  }

  // What a drawn element stands for.
  meaning(target) {
    const drawn = target.closest("[data-lane], [data-group], [data-axis]");
    if (!drawn) return null;
    const { lane, bar, run, hazard, group } = drawn.dataset;
    if (group != null) return { lane: this.layout.lanes[group], index: 0 };
    if (lane == null) return { axis: true };
    const of = this.layout.lanes[lane];
    if (hazard != null) return this.hazardChoice(of, of.hazards[hazard]);
    return { lane: of, index: Number(bar), run: run && Number(run) };
  }

  hazardChoice(lane, hazard) {
    return { lane, index: lane.bars.indexOf(hazard.right), hazard };
  }

  nodeAt(event) {
    const x = event.clientX - this.view.getBoundingClientRect().left + this.view.scrollLeft - LABELS;
    const node = Math.floor(x / this.scale);
    return node >= 0 && node < this.plan.nodes.length ? node : null;
  }

  hover(event) {
    const choice = this.meaning(event.target);
    const node = choice?.axis ? this.nodeAt(event) : null;
    if (node != null) tip.show(event, this.describe({ node }));
    else if (choice && !choice.axis) tip.show(event, this.describe(choice, true));
    else tip.hide();
  }

  click(event) {
    const choice = this.meaning(event.target);
    if (choice?.axis) {
      const node = this.nodeAt(event);
      if (node != null) this.choose({ node });
    } else if (choice?.run) {
      this.choose(choice);
      this.zoom(6, event.clientX - this.view.getBoundingClientRect().left);
    } else if (choice) {
      this.choose(choice);
      if (choice.lane.kind === "group") this.toggle(choice.lane);
    }
  }

  toggle(heading, open) {
    this.layout.toggle(heading, open);
    this.sized();
  }

  choose(choice, { reveal = false } = {}) {
    this.chosen = choice;
    this.say(this.describe(choice));
    if (reveal) this.reveal(choice);
    this.later();
  }

  say(...content) {
    this.panel.replaceChildren(...content);
  }

  reveal({ lane, index, node }) {
    const { view } = this;
    const bar = lane?.kind === "bars" ? lane.bars[index] : null;
    const first = bar ? bar.first : node;
    if (first != null) {
      if (this.scale < 6 && view.scrollWidth <= view.clientWidth + 1) this.zoom(Math.max(1, 10 / this.scale));
      const x = first * this.scale;
      const room = view.clientWidth - LABELS;
      const end = ((bar ? bar.last : node) + 1) * this.scale;
      if (x < view.scrollLeft || end > view.scrollLeft + room) view.scrollLeft = Math.max(0, x - Math.min(room / 3, Math.max(0, room - (end - x))));
    }
    if (lane) {
      const room = view.clientHeight - AXIS - 16;
      if (lane.y < view.scrollTop) view.scrollTop = lane.y;
      else if (lane.y + lane.height > view.scrollTop + room) view.scrollTop = lane.y + lane.height - room;
    }
  }

  // Ask for a place by name, as links do: "resource:12", "node:3", "slot:1.0".
  show(view, key) {
    let choice = null;
    if (view === "node") choice = { node: Number(key) };
    if (view === "resource") choice = this.layout.find(Number(key));
    if (view === "slot") choice = this.layout.findSlot(...key.split(".").map(Number));
    if (view === "resource" && !choice) {
      this.say(element("p", {}, `No node uses ${this.plan.resources[key].name}, so it has no bar.`), this.resource(Number(key)));
      return;
    }
    if (!choice) return;
    this.sized();
    const hazard = choice.lane?.hazards?.find((each) => each.right === choice.lane.bars[choice.index]);
    this.choose(hazard ? this.hazardChoice(choice.lane, hazard) : choice, { reveal: true });
  }

  findNext(direction) {
    const wanted = this.search.value.trim().toLowerCase();
    if (!wanted) return;
    const { resources, nodes } = this.plan;
    const matches = [
      ...[...resources.keys()].filter((index) => resources[index].users.length && resources[index].name.toLowerCase().includes(wanted)).map((index) => ["resource", index]),
      ...[...nodes.keys()].filter((index) => nodes[index].name.toLowerCase().includes(wanted)).map((index) => ["node", index]),
    ];
    const same = this.match?.wanted === wanted;
    const at = same ? this.match.at + direction : direction > 0 ? 0 : -1;
    this.match = { wanted, at: matches.length ? (at + matches.length) % matches.length : 0 };
    this.found.value = matches.length ? `${count(this.match.at + 1)} of ${count(matches.length)}` : "nothing found";
    if (matches.length) this.show(matches[this.match.at][0], String(matches[this.match.at][1]));
  }

  nextHazard(direction) {
    if (!this.hazards.length) return;
    const at = this.hazards.findIndex(({ hazard }) => hazard === this.chosen?.hazard);
    const next = (at < 0 && direction < 0 ? 0 : at) + direction;
    const { heading, lane, hazard } = this.hazards.at(next % this.hazards.length);
    if (!heading.open) this.toggle(heading, true);
    this.choose(this.hazardChoice(lane, hazard), { reveal: true });
  }
}
