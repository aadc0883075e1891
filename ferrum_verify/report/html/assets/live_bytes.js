// Live bytes of a batch, reckoned exactly: all sizes are BigInt, as u64 passes 2^53.

const U64_MAX = 2n ** 64n - 1n;
const COUNTS = ["sequences", "tokens", "pages"];

const zeros = (length) => new Array(length).fill(0n);
const total = (numbers) => numbers.reduce((sum, number) => sum + number, 0n);
const greatest = (numbers) => numbers.reduce((most, number) => (number > most ? number : most), 0n);

// The least multiple of a power of two; null where the unit is none, or the result passes u64.
function alignUp(size, unit) {
  if (unit < 1n || unit & (unit - 1n)) return null;
  const aligned = (size + unit - 1n) & -unit;
  return aligned > U64_MAX ? null : aligned;
}

// The bytes of one claim at a shape; null where its demand has none there.
function claimBytes({ fixed, parts, steps, alignment, block }, at) {
  let size = null;
  if (steps) {
    const step = steps.find((limits) => COUNTS.every((each, index) => at[each] <= BigInt(limits[index])));
    size = step ? BigInt(step[3]) : null;
  } else if (parts.every(([counted, , most]) => at[counted] <= BigInt(most))) {
    size = parts.reduce((sum, [counted, each]) => sum + BigInt(each) * at[counted], BigInt(fixed));
  }
  if (size == null || size < 1n || size > U64_MAX) return null;
  const aligned = alignUp(size, BigInt(alignment));
  return aligned == null ? null : alignUp(aligned, BigInt(block));
}

class LiveBytes {
  constructor(plan, batch) {
    this.plan = plan;
    this.length = plan.nodes.length;
    const { claims, claimOf, kept, pools } = plan.footprint;
    this.kept = new Set(kept);
    this.own = new Set(pools.flatMap((pool) => pool.own));
    this.batch = batch;
    const own = { ...batch, sequences: 1n, tokens: batch.held };
    const ofStep = claims.map((claim) => claimBytes(claim, batch));
    const ofEach = claims.map((claim) => claimBytes(claim, own));
    this.sizes = plan.resources.map((resource, index) => {
      const claim = claimOf[index];
      if (claim == null) return BigInt(resource.most);
      if (!this.own.has(index)) return ofStep[claim];
      return ofEach[claim] == null ? null : ofEach[claim] * batch.sequences;
    });
    // A row that no pool holds takes nothing, however it is sized.
    const pooled = pools.flatMap(({ slots, rows, own: ownOf }) => [...slots.flat(), ...rows.flatMap(([, each]) => each), ...ownOf]);
    this.undefinedSize = pooled.find((resource) => this.sizes[resource] == null) ?? null;
    if (this.undefinedSize != null) return;
    // What changes stands on top of what does not, and the more on the less.
    const rank = ({ live, peak }) => (live.every((bytes) => bytes === peak) ? 1 : 0);
    const made = pools.map((pool) => this.pool(pool)).filter((pool) => pool.apart);
    this.pools = [...made.sort((a, b) => rank(a) - rank(b) || Number(a.peak - b.peak)), this.statics()].filter((pool) => pool.apart);
  }

  size(resources) {
    return total(resources.map((resource) => this.sizes[resource]));
  }

  // A pool as bands of addresses, one above the other: { label, base, height, life, bars }, with a
  // bar { first, last, bytes, resources } for whatever holds bytes of it in turn.
  pool({ name, holds, slots, rows, turns, own }) {
    const bands = slots.map((slot, index) => ({ label: `slot ${index}`, life: "step", bars: slot.map((resource) => this.bar(resource)) }));
    const invocations = rows.map(([node, resources]) => ({ first: node, last: node, bytes: this.size(resources), resources }));
    if (turns && rows.length) bands.push({ label: "extent", life: "invocation", bars: invocations });
    else bands.push(...invocations.map((bar) => ({ label: "own extent", life: "invocation", bars: [bar] })));
    bands.push(...own.map((resource) => ({ label: "own", life: this.plan.resources[resource].life, bars: [this.whole(resource)] })));
    const apart = this.size([...new Set([...slots.flat(), ...rows.flatMap(([, resources]) => resources), ...own])]);
    return this.reckoned({ name, holds, bands, apart });
  }

  statics() {
    const fixed = [...this.plan.resources.keys()].filter((index) => this.plan.footprint.claimOf[index] == null);
    const bands = fixed.map((resource) => ({ label: "static", life: "plan", bars: [this.whole(resource)] }));
    return this.reckoned({ name: null, holds: "static allocations", bands, apart: this.size(fixed) });
  }

  bar(resource) {
    const { users } = this.plan.resources[resource];
    const [first, last] = users.length ? [users[0], this.kept.has(resource) ? this.length - 1 : users.at(-1)] : [0, -1];
    return { first, last, bytes: this.sizes[resource], resources: [resource] };
  }

  whole(resource) {
    return { first: 0, last: this.length - 1, bytes: this.sizes[resource], resources: [resource] };
  }

  // With where each band begins, the bytes that are live while each node runs, and their peak.
  reckoned(pool) {
    const changes = zeros(this.length + 1);
    let held = 0n;
    for (const band of pool.bands) {
      band.base = held;
      band.height = greatest(band.bars.map((bar) => bar.bytes));
      held += band.height;
      for (const { first, last, bytes } of band.bars) {
        if (last < first) continue;
        changes[first] += bytes;
        changes[last + 1] -= bytes;
      }
    }
    let sum = 0n;
    const live = changes.slice(0, -1).map((change) => (sum += change));
    const widest = pool.bands.map((band) => band.life).find((life) => life !== "plan") ?? "plan";
    return { ...pool, held, live, peak: greatest(live), life: widest };
  }

  // The bytes of some pools while each node runs, and the first node at which they are most.
  together(pools) {
    const live = zeros(this.length);
    for (const pool of pools) for (const [node, bytes] of pool.live.entries()) live[node] += bytes;
    const peak = greatest(live);
    return { live, peak, node: live.indexOf(peak), held: total(pools.map((pool) => pool.held)), apart: total(pools.map((pool) => pool.apart)) };
  }

  // Who holds bytes of some pools while a node runs, the largest first.
  holders(pools, node) {
    const bars = pools.flatMap((pool) => pool.bands.flatMap((band) => band.bars.filter(({ first, last }) => first <= node && node <= last)));
    const found = bars.flatMap(({ resources }) => resources).map((resource) => ({ resource, bytes: this.sizes[resource] }));
    return found.sort((a, b) => (a.bytes < b.bytes ? 1 : a.bytes > b.bytes ? -1 : a.resource - b.resource));
  }
}
