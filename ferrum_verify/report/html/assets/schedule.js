// A counterexample that is a schedule, to step through: at each event, which nodes run, and
// which of the two resources that share bytes are live.

const STEP_NAMES = 250;
const STEP_ROW = 22;
const FEW_ROWS = 24;

class Schedule {
  constructor(root, schedule, prefix) {
    this.schedule = schedule;
    this.prefix = prefix;
    const times = new Set(schedule.nodes.flatMap(({ start, end }) => [start, end]).concat(schedule.at));
    this.times = [...times].sort((a, b) => a - b);
    this.left = lifeOf(schedule.nodes.filter((node) => node.left));
    // What a node has yet to read is needed before the node starts.
    this.right = schedule.right.life ?? lifeOf(schedule.nodes.filter((node) => node.right));
    this.at = this.times.indexOf(schedule.at);
    this.svg = shape("svg", { class: "canvas schedule", role: "img" });
    this.words = element("div", { class: "panel", "aria-live": "polite" });
    this.slider = element("input", { type: "range", min: 0, max: this.times.length - 1, value: this.at, "aria-label": "Time in the schedule", oninput: () => this.go(Number(this.slider.value)) });
    this.all = element("input", { type: "checkbox", onchange: () => this.draw() });
    root.append(
      element("p", { class: "sharers" }, ...sharer("A", schedule.left), element("br"), ...sharer("B", schedule.right)),
      this.tools(),
      element("div", { class: "scroll" }, this.svg),
      this.words,
    );
    root.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.draw()).observe(root);
    this.root = root;
    this.go(this.at);
  }

  tools() {
    const button = (words, label, act) => element("button", { type: "button", "aria-label": label, title: label, onclick: act }, words);
    const many = this.schedule.nodes.length > FEW_ROWS;
    return element(
      "div",
      { class: "tools" },
      button("|◀", "First event", () => this.go(0)),
      button("◀", "One event back", () => this.go(this.at - 1)),
      button("▶", "One event on", () => this.go(this.at + 1)),
      button("▶|", "Last event", () => this.go(this.times.length - 1)),
      button("To the clash", "Go to the time of the clash", () => this.go(this.times.indexOf(this.schedule.at))),
      this.slider,
      many ? element("label", {}, this.all, ` show all ${plural(this.schedule.nodes.length, "node")}`) : null,
    );
  }

  key(event) {
    if (event.target === this.slider) return;
    const moves = { ArrowLeft: this.at - 1, ArrowRight: this.at + 1, Home: 0, End: this.times.length - 1 };
    if (!(event.key in moves)) return;
    event.preventDefault();
    this.go(moves[event.key]);
  }

  go(at) {
    this.at = clamp(at, 0, this.times.length - 1);
    this.slider.value = this.at;
    const time = this.times[this.at];
    this.slider.setAttribute("aria-valuetext", `time ${count(time)}`);
    this.say(time);
    this.draw();
  }

  say(time) {
    const { nodes, left, right } = this.schedule;
    const running = nodes.filter((node) => node.start <= time && time < node.end);
    const ended = nodes.filter((node) => node.end === time);
    const live = [this.left, this.right].map((life) => life && life.start <= time && time < life.end);
    const uses = (node) => (node.left && node.right ? " (uses A and B)" : node.left ? " (uses A)" : node.right ? " (uses B)" : "");
    const list = (them) => them.map((node) => node.name + uses(node)).join(", ");
    const clash = live[0] && live[1];
    const met = this.schedule.words ?? "both are live, and hold the same bytes";
    this.words.classList.toggle("clash", clash);
    this.words.replaceChildren(
      element("h5", {}, `Time ${count(time)}${clash ? `: ${met}` : ""}`),
      facts([
        ["Ends", ended.length && list(ended)],
        ["Runs", running.length ? list(running) : "nothing"],
        ["A", `${left.who ?? left.name}: ${this.state(this.left, time)}`],
        ["B", `${right.who ?? right.name}: ${this.state(this.right, time)}`],
      ]),
    );
  }

  state(life, time) {
    const [before, during, after] = this.schedule.states ?? ["not yet live", "live", "dead"];
    if (!life) return "not used in this schedule";
    if (time < life.start) return `${before}, from time ${count(life.start)} on`;
    if (time >= life.end) return `${after} since time ${count(life.end)}`;
    return `${during} since time ${count(life.start)}, until time ${count(life.end)}`;
  }

  // Of a long schedule the nodes that use neither are only shown while they run.
  rows(time) {
    const { nodes } = this.schedule;
    if (nodes.length <= FEW_ROWS || this.all.checked) return nodes;
    return nodes.filter((node) => node.left || node.right || (node.start <= time && time < node.end));
  }

  draw() {
    const time = this.times[this.at];
    const rows = this.rows(time);
    const width = this.root.clientWidth - 4;
    if (width <= 0) return;
    const last = this.times.at(-1);
    const first = this.times[0];
    const names = gutterOf(width, STEP_NAMES);
    const scale = Math.max((width - names - 30) / Math.max(last - first, 1), 3);
    const x = (tick) => names + (tick - first) * scale;
    // Under a schedule each stream has a lane, and so has the host; else each node has one.
    const named = [...new Set(rows.map(({ name, lane }) => lane ?? name))];
    const lanes = (named.length + 0.6) * STEP_ROW + 8;
    const height = lanes + 2 * STEP_ROW + 26;
    const parts = named.map((name, index) => shape("text", { class: "name", x: 4, y: index * STEP_ROW + 18 }, shortened(name, Math.floor((names - 12) / CHARACTER)), shape("title", {}, name)));
    parts.push(...rows.map((node) => this.node(node, named.indexOf(node.lane ?? node.name) * STEP_ROW + 4, x, time)));
    parts.push(...this.life("A", this.left, lanes, x, time, "step"), ...this.life("B", this.right, lanes + STEP_ROW, x, time, "invocation"), ...this.clash(lanes, x, time));
    const now = x(time);
    parts.push(
      shape("path", { class: "now", d: `M${now} 0V${height - 18}` }),
      shape("text", { class: "now", x: clamp(now, 30, width - 30), y: height - 4, "text-anchor": "middle" }, `time ${count(time)}`),
    );
    fill(this.svg, { width: Math.max(width, x(last) + 20), height, "aria-label": this.words.textContent }, []);
    this.svg.replaceChildren(patterns(this.prefix), ...parts);
  }

  node({ name, label, lane, start, end, left, right }, y, x, time) {
    const letter = left && right ? "A B" : left ? "A" : right ? "B" : "";
    const state = time < start ? "waiting" : time < end ? "running" : "done";
    const width = Math.max(x(end) - x(start) - 1, 2);
    const words = lane ? shortened([letter, label].filter(Boolean).join(" "), Math.max(Math.floor(width / 8), 1)) : letter;
    return shape(
      "g",
      { class: `event ${state}`, "data-node": name, "data-state": state },
      shape("rect", { x: x(start), y: y + 1, width, height: STEP_ROW - 6, rx: 3, fill: left && right ? `url(#${this.prefix}-clash)` : left ? `url(#${this.prefix}-step)` : right ? `url(#${this.prefix}-invocation)` : null }),
      words && width > 14 && shape("text", { x: x(start) + width / 2, y: y + 14, "text-anchor": "middle" }, words),
      lane && shape("title", {}, name),
    );
  }

  // The life of a resource so far, and an outline of the rest.
  life(letter, life, y, x, time, pattern) {
    const parts = [shape("text", { class: "name", x: 4, y: y + 15 }, `${letter} ${this.schedule.holds ?? "holds the bytes"}`)];
    if (!life) return parts;
    parts.push(shape("rect", { class: "outline", x: x(life.start), y: y + 2, width: x(life.end) - x(life.start), height: STEP_ROW - 6 }));
    const until = Math.min(time, life.end);
    if (until > life.start) parts.push(shape("rect", { class: "held", x: x(life.start), y: y + 2, width: x(until) - x(life.start), height: STEP_ROW - 6, fill: `url(#${this.prefix}-${pattern})` }));
    return parts;
  }

  clash(y, x, time) {
    if (!this.left || !this.right) return [];
    const start = Math.max(this.left.start, this.right.start);
    const end = Math.min(this.left.end, this.right.end);
    if (start >= end || time < start) return [];
    const right = x(Math.max(Math.min(time, end), start + 0.15));
    return [
      shape("rect", { class: "together", x: x(start), y, width: right - x(start), height: 2 * STEP_ROW - 2, fill: `url(#${this.prefix}-clash)` }),
    ];
  }
}

const sharer = (letter, { name, use }) => [element("strong", {}, letter), " ", element("code", {}, name), `, ${use}`];

function lifeOf(users) {
  if (!users.length) return null;
  return { start: Math.min(...users.map(({ start }) => start)), end: Math.max(...users.map(({ end }) => end)) };
}
