// Puts everything in its place: each document is drawn when it is first opened.

class DocumentPage {
  constructor(root) {
    this.root = root;
    this.draws = [];
    this.prefix = `p${root.dataset.document}`;
    const open = () => root.open && this.build();
    root.addEventListener("toggle", open);
    root.addEventListener("click", (event) => this.follow(event));
    open();
  }

  build() {
    if (this.built) return;
    this.built = true;
    const { root, prefix } = this;
    const plan = JSON.parse(root.querySelector("[data-plan]").textContent);
    const place = (name, draw) => {
      const spot = root.querySelector(`[data-${name}]`);
      if (spot) this[name] = draw(spot);
    };
    if (plan.groups) place("timeline", (spot) => new Timeline(spot, plan, prefix));
    place("footprint", (spot) => new Footprint(spot, plan, prefix));
    place("arenas", (spot) => new Arenas(spot, plan, prefix));
    place("checkpoints", (spot) => new Ticks(spot, plan.checkpoints));
    place("frontier", (spot) => new Frontier(spot, plan.frontier));
    const findings = root.querySelector("[id$='-findings']");
    if (findings) new Findings(findings);
    for (const details of root.querySelectorAll("[data-counterexample]")) this.counterexample(details, plan.counterexamples);
  }

  counterexample(details, all) {
    const number = details.dataset.counterexample;
    const open = () => {
      if (!details.open || details.dataset.done) return;
      details.dataset.done = "true";
      drawCounterexample(details.querySelector("[data-drawn]"), all[number], `${this.prefix}-c${number}`);
    };
    details.addEventListener("toggle", open);
    this.draws.push(open);
    open();
  }

  // A link to a place in the picture shows that place.
  follow(event) {
    const link = event.target.closest("[data-show]");
    if (!link) return;
    event.preventDefault();
    const [view, key] = link.dataset.show.split(":");
    const section = this.root.querySelector(link.getAttribute("href"));
    section?.scrollIntoView({ block: "start" });
    if (view === "pool") this.flash(this.root.querySelector(`${link.getAttribute("href").replace(/pools$/, "pool")}-${key}`));
    else if (view === "bucket") this.arenas?.show(key);
    else if (view === "capacity") this.flash(section);
    else {
      this.timeline?.show(view, key);
      this.timeline?.view.focus({ preventScroll: true });
    }
  }

  flash(target) {
    if (!target) return;
    target.scrollIntoView({ block: "nearest" });
    target.focus({ preventScroll: true });
  }
}

const pages = [...document.querySelectorAll("[data-document]")].map((root) => new DocumentPage(root));

// A link to a rule, a finding, or a document of the overview, opens what it leads to.
function openTarget() {
  if (!location.hash) return;
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  target.hidden = false;
  const inside = target.tagName === "DETAILS" ? target : target.querySelector(".counterexample") ?? target;
  for (let details = inside.closest("details"); details; details = details.parentElement.closest("details")) details.open = true;
}
addEventListener("hashchange", openTarget);
openTarget();

// Paper cannot be clicked: what is printed has its counterexamples open, and closes them again.
let opened = [];
addEventListener("beforeprint", () => {
  opened = [...document.querySelectorAll(".document, .counterexample, .group")].filter((details) => !details.open);
  for (const details of opened) details.open = true;
  for (const page of pages) {
    page.build();
    for (const draw of page.draws) draw();
  }
});
addEventListener("afterprint", () => {
  for (const details of opened) details.open = false;
  opened = [];
});
