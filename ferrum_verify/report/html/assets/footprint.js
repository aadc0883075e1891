// Bytes over time: what is live while each node runs, at a batch that sliders set; or one pool's
// addresses, with the heights of its slots.

const FOOTPRINT_GUTTER = 128;
const FOOTPRINT_HEIGHT = 340;
const MOST_HOLDERS = 12;
const FOOTPRINT_HELP =
  "Left and right arrow keys move between nodes, P goes to the peak, W and S or plus and minus zoom, A and D go left and right, 0 shows the whole plan.";

class Footprint extends Scrolling {
  constructor(root, plan, prefix) {
    super(plan.nodes.length, FOOTPRINT_GUTTER);
    Object.assign(this, { plan, prefix });
    this.timeline = `#d${root.closest("[data-document]").dataset.document}-timeline`;
    this.hidden = new Set(["static allocations"]);
    this.content = shape("g");
    this.svg = shape("svg", { class: "canvas footprint" }, this.content);
    this.frame(this.svg, {
      "aria-roledescription": "chart",
      onkeydown: (event) => this.key(event),
      onpointermove: (event) => this.hover(event),
      onpointerleave: () => tip.hide(),
      onclick: (event) => this.click(event),
    });
    this.panel = element("div", { class: "panel", "aria-live": "polite" });
    this.facts = element("p", { class: "peak" });
    this.table = element("div", { class: "scroll" });
    this.mode = element("select", { "aria-label": "What is drawn", onchange: () => this.drawn(this.mode.value) });
    this.values = element("details", { class: "values", ontoggle: () => this.fillValues() }, element("summary", {}, "The same as a table"));
    this.batch = new Batch(plan.footprint, () => this.reckon());
    root.append(this.batch.root, element("div", { class: "tools" }, ...this.tools()), this.view, this.facts, this.table, this.panel, this.values);
    this.reckon();
    this.say(element("p", { class: "quiet" }, `Point at a node; a click lists who holds most. ${FOOTPRINT_HELP}`));
  }

  tools() {
    const button = (words, label, act) => element("button", { type: "button", "aria-label": label, title: label, onclick: act }, words);
    return [
      element("label", {}, "Draw ", this.mode),
      button("−", "Shrink the bytes over time", () => this.zoom(1 / 1.5)),
      button("+", "Magnify the bytes over time", () => this.zoom(1.5)),
      button("Whole plan", "Bytes over time of all nodes", () => this.fit()),
      button("Peak", "Go to the peak", () => this.toPeak()),
    ];
  }

  // All numbers anew, for another batch.
  reckon() {
    const live = new LiveBytes(this.plan, this.batch);
    this.live = live;
    if (live.undefinedSize != null) {
      const { name } = this.plan.resources[live.undefinedSize];
      this.facts.replaceChildren(`At ${this.batch.words} the size of `, element("code", {}, name), " is not defined, so nothing is drawn.");
      this.table.replaceChildren();
      this.content.replaceChildren();
      return undefined;
    }
    const seen = {};
    for (const pool of live.pools) {
      const turn = (seen[pool.life] = (seen[pool.life] ?? 0) + 1);
      pool.fill = `url(#${this.prefix}-${pool.life}${turn % 2 ? "" : "-alt"})`;
      pool.key = pool.name ? `pool ${pool.name}` : pool.holds;
    }
    this.modes();
    return this.summed();
  }

  modes() {
    const chosen = this.mode.value;
    const pools = this.live.pools.filter((pool) => pool.name);
    this.mode.replaceChildren(element("option", { value: "" }, "live bytes of all pools"), ...pools.map(({ key, holds }) => element("option", { value: key }, `addresses of ${key}, ${holds}`)));
    this.mode.value = pools.some(({ key }) => key === chosen) ? chosen : "";
  }

  // What is drawn: all pools that are ticked, or one by its addresses.
  drawn(key) {
    this.mode.value = key;
    this.summed();
  }

  get shown() {
    if (this.mode.value) return this.live.pools.filter(({ key }) => key === this.mode.value);
    return this.live.pools.filter(({ holds }) => !this.hidden.has(holds));
  }

  summed() {
    this.all = this.live.together(this.shown);
    this.summary();
    this.fillValues();
    if (this.node != null) this.choose(this.node);
    this.view.setAttribute("aria-label", `Bytes over time of ${plural(this.plan.nodes.length, "node")}, ${byteCount(this.all.peak)} at the peak. ${FOOTPRINT_HELP}`);
    this.sized();
  }

  heights() {
    return { content: FOOTPRINT_HEIGHT, view: FOOTPRINT_HEIGHT + 16 };
  }

  say(...content) {
    this.panel.replaceChildren(...content);
  }

  choose(node) {
    this.node = node;
    this.say(this.holders(node));
    this.later();
  }

  click(event) {
    const node = this.live.undefinedSize == null ? this.nodeAt(event) : null;
    if (node == null) return;
    // Near the peak the peak is meant.
    const near = Math.abs(node - this.all.node) * this.scale < 6;
    this.choose(near ? this.all.node : node);
  }

  toPeak() {
    if (this.live.undefinedSize != null) return;
    this.reveal(this.all.node);
    this.choose(this.all.node);
  }

  reveal(node) {
    const x = node * this.scale;
    const room = this.view.clientWidth - this.gutter - 20;
    if (x < this.view.scrollLeft || x > this.view.scrollLeft + room) this.view.scrollLeft = Math.max(0, x - room / 2);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || this.live.undefinedSize != null) return;
    const last = this.plan.nodes.length - 1;
    const moves = { ArrowRight: (this.node ?? -1) + 1, ArrowLeft: (this.node ?? 1) - 1, Home: 0, End: last };
    const acts = { p: () => this.toPeak(), "+": () => this.zoom(1.5), "=": () => this.zoom(1.5), "-": () => this.zoom(1 / 1.5), 0: () => this.fit() };
    if (!Object.hasOwn(moves, event.key) && !Object.hasOwn(acts, event.key)) return;
    event.preventDefault();
    if (Object.hasOwn(acts, event.key)) return void acts[event.key]();
    const node = clamp(moves[event.key], 0, last);
    this.reveal(node);
    this.choose(node);
  }

  hover(event) {
    const node = event.buttons || this.live.undefinedSize != null ? null : this.nodeAt(event);
    if (node == null) return tip.hide();
    return tip.show(event, this.describe(node, event.target), 0, true);
  }
}
