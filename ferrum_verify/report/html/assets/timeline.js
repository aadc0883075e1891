// The timeline: scrolling, zooming, choosing by pointer or keyboard, and saying what is chosen.
//
// A choice is { lane, index } for a bar or a group's heading, with { hazard } for a place where
// two bars meet, or { node } for a column.

const MOST_USERS = 24;

const KEYS_HELP =
  "Arrow keys move between bars, Home and End go to the ends of a row, W and S or plus and minus zoom, A and D go left and right, 0 shows the whole plan, H goes to the next hazard, Enter opens or closes a group.";

class Timeline extends Scrolling {
  constructor(root, plan, prefix) {
    super(plan.nodes.length, LABELS);
    this.plan = plan;
    this.layout = new Layout(plan);
    this.drawing = new Drawing(prefix, plan, this.layout);
    this.hazards = this.layout.hazards();
    this.frame(this.drawing.svg, {
      "aria-roledescription": "timeline",
      "aria-label": `Timeline of ${plural(plan.nodes.length, "node")}. ${KEYS_HELP}`,
      onkeydown: (event) => this.key(event),
      onpointermove: (event) => this.hover(event),
      onpointerleave: () => tip.hide(),
      onclick: (event) => this.click(event),
    });
    this.panel = element("div", { class: "panel", "aria-live": "polite" });
    root.append(this.tools(), this.view, this.legend(), this.panel);
    this.say(element("p", { class: "quiet" }, `Point at a bar, or choose one; drag to move, drag with Shift to zoom to a stretch. ${KEYS_HELP}`));
  }

  tools() {
    const button = (words, label, act) => element("button", { type: "button", "aria-label": label, title: label, onclick: act }, words);
    this.search = element("input", { type: "search", placeholder: "Find a resource or node", "aria-label": "Find a resource or node; Enter goes to the next match", oninput: () => this.find() });
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

  heights() {
    const content = AXIS + this.layout.height + 4;
    return { content, view: Math.min(content + 14, Math.max(220, innerHeight * 0.66)) };
  }

  draw() {
    this.drawing.draw(this.window, this.chosen, this.matches);
    const { lane, index } = this.chosen ?? {};
    const id = lane && this.drawing.idOf(lane, index);
    if (id && document.getElementById(id)) this.view.setAttribute("aria-activedescendant", id);
    else this.view.removeAttribute("aria-activedescendant");
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

  hover(event) {
    const choice = this.dragged && event.buttons ? null : this.meaning(event.target);
    const node = choice?.axis ? this.nodeAt(event) : null;
    if (node != null) tip.show(event, this.describe({ node }), LANE);
    else if (choice && !choice.axis) tip.show(event, this.describe(choice, true), LANE);
    else tip.hide();
  }

  click(event) {
    const choice = this.meaning(event.target);
    if (choice?.axis) {
      const node = this.nodeAt(event);
      if (node != null) this.choose({ node });
    } else if (choice?.run) {
      this.choose(choice);
      this.zoom(6, this.along(event));
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
    const users = bar?.whole ? this.plan.resources[bar.resources[0]].users : null;
    const first = users ? users[0] : bar ? bar.first : node;
    const last = users ? users[0] : bar ? bar.last : node;
    if (first != null) {
      if (this.scale < 6 && view.scrollWidth <= view.clientWidth + 1) this.zoom(Math.max(1, 10 / this.scale));
      const x = first * this.scale;
      const room = view.clientWidth - this.gutter;
      const end = (last + 1) * this.scale;
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

  // What matches is marked and counted while one types, and the first of it is shown.
  find() {
    const wanted = this.search.value.trim().toLowerCase();
    const { resources, nodes } = this.plan;
    const named = (list) => [...list.keys()].filter((index) => list[index].name.toLowerCase().includes(wanted));
    const found = wanted ? named(resources).filter((index) => resources[index].users.length) : [];
    this.matches = new Set(found);
    this.match = { at: 0, all: [...found.map((index) => ["resource", index]), ...(wanted ? named(nodes) : []).map((index) => ["node", index])] };
    if (wanted) this.showMatch();
    else this.found.value = "";
    this.later();
  }

  findNext(direction) {
    const all = this.match?.all ?? [];
    if (!all.length) return;
    this.match.at = (this.match.at + direction + all.length) % all.length;
    this.showMatch();
  }

  showMatch() {
    const { at, all } = this.match;
    this.found.value = all.length ? `${count(at + 1)} of ${count(all.length)}` : "nothing found";
    if (all.length) this.show(all[at][0], String(all[at][1]));
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
