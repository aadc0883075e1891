// What the bytes over time come to in words and tables.

Object.assign(Footprint.prototype, {
  // The peak with who makes it, and what is held for it.
  summary() {
    const { all, live, plan, batch } = this;
    const used = live.holders(this.shown, all.node).filter(({ resource }) => plan.resources[resource].users.includes(all.node));
    const makers = used.slice(0, 3).flatMap(({ resource, bytes }, index) => [index ? ", " : "", this.link(resource), ` (${byteCount(bytes)})`]);
    const statics = live.pools.find(({ name }) => !name)?.held ?? 0n;
    const whole = total(live.pools.map((pool) => pool.held));
    const usable = BigInt(plan.footprint.usable);
    this.facts.replaceChildren(
      element("strong", {}, `Peak: ${exactBytes(all.peak)} live`),
      ` at ${batch.words}, while `,
      element("code", {}, plan.nodes[all.node].name),
      ` runs, node ${count(all.node)}`,
      ...(makers.length ? [", with ", ...makers, used.length > 3 ? ` and ${plural(used.length - 3, "smaller resource")}` : ""] : []),
      `. The whole batch holds ${byteCount(whole)}${statics ? `, ${byteCount(statics)} of them static,` : ""} of ${byteCount(usable)} usable.`,
      whole > usable ? element("strong", { class: "mark unsafe" }, " It does not fit.") : "",
    );
    this.table.replaceChildren(this.pools(), element("p", { class: "quiet" }, "Fragmented is what is held and in no use at the peak: a slot is as high as its largest member, and a captured program keeps an extent of its own."));
  },

  // The pools with their bytes; it is the chart's legend too.
  pools() {
    const cell = (bytes) => element("td", { class: "number", "data-bytes": bytes, title: `${count(bytes)} bytes` }, byteCount(bytes));
    // Members of a slot that are live together make more live than there is.
    const rest = (bytes) => (bytes > 0n ? cell(bytes) : element("td", { class: `number${bytes ? " twice" : ""}`, "data-bytes": bytes }, bytes ? `${byteCount(-bytes)} held twice` : "–"));
    const cells = ({ peak, held, apart }) => [cell(peak), cell(held), cell(apart), rest(apart - held), rest(held - peak)];
    const row = (pool) => {
      const swatch = shape("svg", { width: 26, height: 12, "aria-hidden": "true" }, shape("rect", { width: 26, height: 12, rx: 2, fill: pool.fill }));
      const tick = element("input", { type: "checkbox", "aria-label": `Draw ${pool.key}`, onchange: () => this.tick(pool.holds, tick.checked) });
      tick.checked = this.shown.includes(pool);
      tick.disabled = Boolean(this.mode.value);
      return element("tr", { "data-pool": pool.name ?? "static" }, element("td", {}, element("label", {}, tick, " ", swatch, pool.name ? ` ${pool.holds} ` : ` ${pool.holds}`, pool.name && element("code", {}, pool.name))), ...cells(pool));
    };
    const heads = [
      ["Live at its peak", "The most bytes that are live at once"],
      ["Held", "What slots, extents and bytes of one's own take"],
      ["Without sharing", "What it takes where each resource has bytes of its own"],
      ["Sharing saves", "Without sharing, less what is held"],
      ["Fragmented", "Held, and in no use at the peak"],
    ];
    return element(
      "table",
      { class: "held" },
      element("thead", {}, element("tr", {}, element("th", {}, "Pool"), ...heads.map(([words, title]) => element("th", { class: "number", title }, words)))),
      element("tbody", {}, ...this.live.pools.map(row), element("tr", { class: "sum", "data-pool": "drawn" }, element("td", {}, "What is drawn, together"), ...cells(this.all))),
    );
  },

  tick(holds, drawn) {
    if (drawn) this.hidden.delete(holds);
    else this.hidden.add(holds);
    this.summed();
  },

  link(resource) {
    const { name, users } = this.plan.resources[resource];
    if (!users.length) return element("code", {}, name);
    return element("a", { class: "place", href: this.timeline, "data-show": `resource:${resource}` }, element("code", {}, name));
  },

  // The largest holders of bytes while a node runs.
  holders(node) {
    const all = this.live.holders(this.shown, node);
    const bytes = this.all.live[node];
    const item = ({ resource, bytes: size }) => element("li", { "data-resource": resource }, this.link(resource), ` ${exactBytes(size)}`, element("span", { class: "quiet" }, ` ${this.plan.resources[resource].life === "plan" ? "static" : this.plan.resources[resource].life}`));
    const rest = all.slice(MOST_HOLDERS);
    return element(
      "div",
      {},
      element("h5", {}, `${node === this.all.node ? "Peak: while" : "While"} ${this.plan.nodes[node].name} runs, node ${count(node)}: ${exactBytes(bytes)} live`),
      element("ol", { class: "holders" }, ...all.slice(0, MOST_HOLDERS).map(item)),
      rest.length ? element("p", { class: "quiet" }, `and ${plural(rest.length, "more resource")} of ${byteCount(total(rest.map((each) => each.bytes)))}`) : null,
    );
  },

  // For the box beside the pointer.
  describe(node, target) {
    const { bar, band } = target.closest?.("[data-band]")?.dataset ?? {};
    if (band != null) return this.describeBar(this.shown[0].bands[band], bar);
    const parts = this.shown.filter((pool) => pool.live[node]).map((pool) => [pool.key, byteCount(pool.live[node])]);
    return element("div", {}, element("h5", {}, this.plan.nodes[node].name), facts([["Live", exactBytes(this.all.live[node])], ...parts]));
  },

  describeBar({ label, base, height, bars }, index) {
    const bar = bars[index];
    const free = bar ? height - bar.bytes : height;
    return element(
      "div",
      {},
      element("h5", {}, bar ? bar.resources.map((each) => this.plan.resources[each].name).join(", ") : `${label}: nothing is live here`),
      facts([
        ["Bytes", bar && exactBytes(bar.bytes)],
        ["Held in", `${label}, ${exactBytes(height)} from byte ${count(base)} on`],
        ["Free above", free && bar ? exactBytes(free) : null],
      ]),
    );
  },

  // Every node with its bytes; it is long, so it is made when it is opened.
  fillValues() {
    if (!this.values.open || this.live?.undefinedSize != null) return;
    const { shown, all, plan } = this;
    const cells = (node) => [all.live, ...shown.map((pool) => pool.live)].map((live) => element("td", { class: "number" }, count(live[node])));
    const table = element(
      "table",
      {},
      element("thead", {}, element("tr", {}, element("th", {}, "Node"), ...["Live bytes", ...shown.map((pool) => pool.key)].map((words) => element("th", { class: "number" }, words)))),
      element("tbody", {}, ...plan.nodes.map(({ name }, node) => element("tr", {}, element("td", { class: "name" }, name), ...cells(node)))),
    );
    this.values.replaceChildren(this.values.firstChild, element("div", { class: "scroll tall" }, table));
  },
});
