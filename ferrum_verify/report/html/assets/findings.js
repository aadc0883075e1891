// The findings of a document: filtered by words and severity, grouped, and folded.

const GROUPINGS = { cause: "cause", family: "family", rule: "rule", severity: "severity", judgment: "judgment" };
const SEVERITIES = ["error", "warning", "undecided", "note"];

class Findings {
  constructor(section) {
    const lists = [...section.querySelectorAll("ul.findings")].filter((list) => !list.parentElement.closest("li"));
    this.items = lists.flatMap((list) => [...list.children]);
    this.single = this.items.filter((item) => item.classList.contains("finding"));
    if (this.single.length < 2) return;
    this.groups = element("div");
    lists[0].previousElementSibling.before(this.tools(), this.groups);
    for (const list of lists) {
      list.previousElementSibling.remove();
      list.remove();
    }
    for (const item of this.single) this.foldable(item);
    // What follows from another stands under it, in a line, until somebody asks for more.
    const following = this.single.filter((item) => "follows" in item.dataset);
    for (const item of following) this.fold(item, true);
    this.by.value = following.length ? "cause" : "family";
    this.group();
  }

  tools() {
    this.words = element("input", { type: "search", placeholder: "Filter findings", "aria-label": "Filter findings by their words", oninput: () => this.filter() });
    this.shown = element("output", { class: "quiet" });
    this.by = element("select", { "aria-label": "Group findings", onchange: () => this.group() }, ...Object.entries(GROUPINGS).map(([trait, words]) => element("option", { value: trait }, `by ${words}`)));
    this.ticks = SEVERITIES.map((severity) => {
      const number = this.single.filter((item) => item.dataset.severity === severity).length;
      const tick = element("input", { type: "checkbox", value: severity, checked: true, onchange: () => this.filter() });
      return number ? { tick, label: element("label", {}, tick, ` ${plural(number, severity).replace("undecideds", "undecided")}`) } : null;
    }).filter(Boolean);
    const fold = (words, folded) => element("button", { type: "button", onclick: () => this.single.forEach((item) => this.fold(item, folded)) }, words);
    return element("div", { class: "tools" }, this.words, ...(this.ticks.length > 1 ? this.ticks.map(({ label }) => label) : []), this.by, fold("Fold all", true), fold("Unfold all", false), this.shown);
  }

  foldable(item) {
    const button = element("button", { type: "button", class: "fold", "aria-expanded": "true", "aria-label": "Fold or unfold the finding", onclick: () => this.fold(item) });
    item.querySelector(".kind").prepend(button);
  }

  fold(item, folded = !item.classList.contains("folded")) {
    item.classList.toggle("folded", folded);
    item.querySelector(".fold").setAttribute("aria-expanded", String(!folded));
  }

  group() {
    const trait = this.by.value;
    const groups = new Map();
    for (const item of this.items) {
      const key = trait === "cause" ? this.causeOf(item) : item.dataset[trait];
      if (!groups.has(key)) groups.set(key, []);
      groups.get(key).push(item);
    }
    if (trait === "cause") for (const items of groups.values()) items.sort((a, b) => ("follows" in a.dataset) - ("follows" in b.dataset));
    const made = [...groups].map(([key, items]) => {
      const name = trait === "cause" ? this.causeWords(key, items) : key;
      const number = element("span", { class: "quiet" });
      const details = element("details", { class: "group", open: true }, element("summary", {}, element("h4", {}, name), " ", number), element("ul", { class: "findings" }, ...items));
      return { name, items, number, details };
    });
    if (trait === "severity") made.sort((a, b) => SEVERITIES.indexOf(a.name) - SEVERITIES.indexOf(b.name));
    this.made = made;
    this.groups.replaceChildren(...made.map(({ details }) => details));
    this.filter();
  }

  // The number of the cause; what neither causes nor follows stands together.
  causeOf({ dataset: { cause } }) {
    return this.single.some((item) => item.dataset.cause === cause && "follows" in item.dataset) ? cause : "alone";
  }

  causeWords(cause, [first, ...following]) {
    if (cause === "alone") return "on their own";
    return `${first.dataset.rule}, and ${plural(following.length, "finding")} that follow${following.length === 1 ? "s" : ""} from it`;
  }

  filter() {
    const words = this.words.value.trim().toLowerCase();
    const left = this.ticks.filter(({ tick }) => !tick.checked).map(({ tick }) => tick.value);
    const fits = (item) => !left.includes(item.dataset.severity) && item.textContent.toLowerCase().includes(words);
    let shown = 0;
    for (const { items, number, details } of this.made) {
      for (const item of items) item.hidden = !fits(item);
      const here = items.filter((item) => !item.hidden && item.classList.contains("finding")).length;
      details.hidden = items.every((item) => item.hidden);
      number.textContent = count(here);
      shown += here;
    }
    this.shown.value = shown === this.single.length ? plural(shown, "finding") : `${count(shown)} of ${plural(this.single.length, "finding")}`;
  }
}
