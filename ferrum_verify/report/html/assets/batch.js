// The batch that live bytes are reckoned at, set by sliders, exactly by a number, or by a bucket.

const NOTCHES = 1000n;
const BATCH = {
  sequences: ["Sequences", "sequence"],
  tokens: ["Tokens in the step", "token"],
  held: ["Tokens that each sequence holds", "token held by each"],
  pages: ["Pages", "page"],
};

// A slider has a notch for each count while those are few; of more, notches stand in equal ratios.
const countAt = (notch, most) => (most <= NOTCHES ? BigInt(notch) : BigInt(notch) === NOTCHES ? most : BigInt(Math.round(Number(most) ** (Number(notch) / Number(NOTCHES)))));
const notchOf = (number, most) => (most <= NOTCHES ? number : Math.round((Number(NOTCHES) * Math.log(Number(number))) / Math.log(Number(most))));
const within = (number, most) => (number < 1n ? 1n : number > most ? most : number);

class Batch {
  constructor({ most, buckets }, changed) {
    this.most = Object.fromEntries(Object.entries(most).map(([name, limit]) => [name, BigInt(limit)]));
    this.changed = changed;
    this.inputs = Object.keys(BATCH).filter((name) => this.most[name] > 1n).map((name) => this.input(name));
    const options = [{ label: "the largest batch", ...most }, ...buckets];
    this.preset = element("select", { "aria-label": "Batch", onchange: () => this.take(options[this.preset.value]) }, element("option", { value: "", hidden: true }, "a batch of your own"), ...options.map(({ label }, index) => element("option", { value: index }, label)));
    this.root = element("div", { class: "batch" }, element("label", { class: "batch-row" }, element("span", {}, "Batch"), this.preset), ...this.inputs.map(({ row }) => row));
    this.settle(options[0]);
    this.preset.value = "0";
  }

  input(name) {
    const [words] = BATCH[name];
    const most = this.most[name];
    const range = element("input", { type: "range", min: most > NOTCHES ? 0 : 1, max: most > NOTCHES ? NOTCHES : most, "aria-label": words, oninput: () => this.set(name, countAt(range.value, most)) });
    const exact = element("input", { type: "text", inputmode: "numeric", class: "exact", size: Math.max(...Object.values(this.most).map((limit) => count(limit).length)), "aria-label": `${words}, exactly`, onchange: () => this.set(name, BigInt(exact.value.replace(/\D/g, "") || 1)) });
    const row = element("div", { class: "batch-row", "data-count": name }, element("span", {}, words), range, exact, element("span", { class: "quiet" }, `of ${count(most)}`));
    return { name, range, exact, row };
  }

  take(named) {
    this.settle(named);
    this.changed();
  }

  // A batch that is named: what it does not say is 1, and each sequence holds what the step runs.
  settle(named) {
    for (const name of ["sequences", "tokens", "pages"]) this[name] = within(BigInt(named[name] ?? 1), this.most[name] ?? 1n);
    this.chosen = null;
    this.show();
  }

  set(name, number) {
    const value = within(number, this.most[name]);
    if (name === "held") this.chosen = value;
    else this[name] = value;
    this.preset.value = "";
    this.show();
    this.changed();
  }

  get held() {
    const { sequences, tokens, most } = this;
    return this.chosen ?? within((tokens + sequences - 1n) / sequences, most.held ?? tokens);
  }

  get words() {
    return Object.entries(BATCH).filter(([name]) => this.most[name]).map(([name, [, noun]]) => (name === "held" ? `${count(this.held)} held by each` : plural(this[name], noun))).join(", ");
  }

  show() {
    for (const { name, range, exact } of this.inputs) {
      range.value = String(notchOf(this[name], this.most[name]));
      range.setAttribute("aria-valuetext", count(this[name]));
      exact.value = count(this[name]);
    }
  }
}
