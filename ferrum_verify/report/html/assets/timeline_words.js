// What the timeline says of a choice: names, bytes and users.

Object.assign(Timeline.prototype, {
  // `brief` is for the box beside the pointer, which has no buttons and little room.
  describe({ lane, index, node, hazard, run }, brief = false) {
    if (hazard) return this.clash(lane, hazard, brief);
    if (node != null) return this.node(node);
    if (lane.kind === "group") return this.group(lane);
    if (run) return element("p", {}, `${plural(run, "resource")} too narrow to tell apart; zoom in to see them.`);
    const bar = lane.bars[index];
    if (!bar) return element("p", {}, `${lane.row.name ?? lane.row.label}: no node uses it.`);
    if (lane.row.life === "invocation") return this.invocation(lane, bar, brief);
    return this.resource(bar.resources[0], brief, lane);
  },

  group({ group, open }) {
    return element("p", {}, element("strong", {}, group.label), `, ${group.detail}${group.pool ? `, pool ${group.pool}` : ""}. ${open ? "Enter closes it." : "Enter opens it."}`);
  },

  resource(number, brief = false, lane = null) {
    const resource = this.plan.resources[number];
    const { users } = resource;
    const least = resource.least == null ? "cannot be evaluated" : exactBytes(resource.least);
    const sizes = resource.most === resource.least ? least : `${least} at the smallest shape, ${exactBytes(resource.most)} at the largest`;
    return element(
      "div",
      {},
      element("h5", {}, resource.name),
      facts([
        ["Bytes", sizes],
        ["Demand", !brief && resource.demand],
        ["Holds", `${resource.holds}, ${resource.life === "plan" ? "resident for the whole plan" : `one ${resource.life}`}`],
        ["Stored in", lane && !lane.row.name && `${lane.row.label}, with ${plural(lane.bars.length - 1, "other resource")}`],
        ["Live", this.lifeOf(resource)],
        [plural(users.length, "user"), this.nodeList(users, brief)],
      ]),
    );
  },

  lifeOf({ life, users, kept }) {
    if (THROUGHOUT.has(life)) return "through the whole step";
    if (!users.length) return null;
    return `from node ${count(users[0])} to ${kept ? "the end of the step, when it is read" : `node ${count(users.at(-1))}`}`;
  },

  invocation(lane, bar, brief) {
    const resources = bar.resources.map((number) => this.plan.resources[number]);
    return element(
      "div",
      {},
      element("h5", {}, `While ${this.plan.nodes[bar.first].name} runs`),
      facts([
        [plural(resources.length, "resource"), resources.flatMap((each, index) => [index ? element("br") : null, `${each.name}: ${each.most == null ? "size unknown" : `up to ${exactBytes(each.most)}`}`]).filter(Boolean)],
        ["Stored", lane.row.label],
        ["Node", this.nodeList([bar.first], brief)],
      ]),
    );
  },

  node(number) {
    const node = this.plan.nodes[number];
    const used = this.resourcesOf(number);
    return element(
      "div",
      {},
      element("h5", {}, node.name),
      facts([
        ["Place", `node ${count(number)} of ${count(this.plan.nodes.length)} in plan order`],
        ["Waits for", node.after.length ? this.nodeList(node.after, true) : "no other node"],
        [plural(used.length, "resource"), names(used.map((each) => this.plan.resources[each].name))],
      ]),
    );
  },

  clash(lane, { names: [a, b], refused, why }, brief) {
    const [leftName, rightName] = [a, b].map((each) => this.plan.resources[each].name);
    return element(
      "div",
      {},
      element("h5", {}, refused ? `Hazard under ${this.plan.execution} execution` : "Hazard under concurrent execution"),
      element("p", {}, `${lane.row.label.replace("slot", "Slot")} gives the same bytes to ${why}.`),
      facts([
        ["First", leftName],
        ["Its users", this.nodeList(this.plan.resources[a].users, brief)],
        ["Second", rightName],
        ["Its users", this.nodeList(this.plan.resources[b].users, brief)],
      ]),
    );
  },

  nodeList(nodes, brief) {
    const shown = nodes.slice(0, brief ? 6 : MOST_USERS);
    const parts = shown.flatMap((number, index) => {
      const { name } = this.plan.nodes[number];
      const part = brief ? name : element("button", { type: "button", class: "link", onclick: () => this.choose({ node: number }, { reveal: true }) }, name);
      return index ? [", ", part] : [part];
    });
    if (nodes.length > shown.length) parts.push(` and ${count(nodes.length - shown.length)} more`);
    return parts;
  },

  // Which resources a node lists, worked out once.
  resourcesOf(node) {
    if (!this.byNode) {
      this.byNode = this.plan.nodes.map(() => []);
      for (const [index, { users }] of this.plan.resources.entries()) for (const user of users) this.byNode[user].push(index);
    }
    return this.byNode[node];
  },
});

function names(list) {
  const shown = list.slice(0, 12);
  return shown.join(", ") + (list.length > shown.length ? ` and ${count(list.length - shown.length)} more` : "");
}
