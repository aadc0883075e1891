// Counterexamples that are numbers: two byte ranges of one arena, or bytes against a limit. Those
// without a picture read best as the words that stand beside them anyway.

const RANGE = 24;

function overlapPicture(root, { left, right, byte, shape: at }, prefix) {
  // Positions are differences of 64-bit offsets: exact first, rounded only to draw them.
  const low = [left.start, right.start].map(BigInt).reduce((a, b) => (a < b ? a : b));
  const high = [left.end, right.end].map(BigInt).reduce((a, b) => (a > b ? a : b));
  const place = (offset, room) => (room * Number(BigInt(offset) - low)) / Math.max(Number(high - low), 1);
  const svg = shape("svg", { class: "canvas overlap", height: 2 * RANGE + 30, role: "img", "aria-label": `Both ranges hold byte ${count(byte)}` });
  const draw = () => {
    const width = root.clientWidth - 4;
    if (width <= 0) return;
    const bars = [left, right].map(({ name, start, end }, index) => {
      const from = place(start, width - 8) + 4;
      const size = Math.max(place(end, width - 8) + 4 - from, 2);
      return shape(
        "g",
        { class: "bar", "data-name": name },
        shape("rect", { x: from, y: index * RANGE + 2, width: size, height: RANGE - 4, fill: `url(#${prefix}-${index ? "invocation" : "step"})` }),
        shape("text", { x: from + 6, y: index * RANGE + 17 }, shortened(`${index ? "B" : "A"} ${name}`, Math.floor(size / CHARACTER) - 1)),
      );
    });
    const x = place(byte, width - 8) + 4;
    fill(svg, { width }, []).replaceChildren(
      patterns(prefix),
      ...bars,
      shape("path", { class: "now", d: `M${x} 0V${2 * RANGE + 10}` }),
      shape("text", { class: "now", x: clamp(x, 60, width - 60), y: 2 * RANGE + 24, "text-anchor": "middle" }, `byte ${count(byte)}`),
    );
  };
  root.append(element("p", {}, `At ${at}:`), svg);
  draw();
  new ResizeObserver(draw).observe(root);
}

function limitPicture(root, { shape: at, bytes, limit, words = ["needed", "allowed"] }) {
  if (bytes == null) return;
  const most = Math.max(Number(bytes), Number(limit), 1);
  const bar = (words, size, style) =>
    element("div", { class: "limit-row" }, element("span", {}, `${words} ${exactBytes(size)}`), element("div", { class: "meter" }, barOf(size, style)));
  const barOf = (size, style) => {
    const made = element("div", { class: style });
    made.style.width = `${(100 * Number(size)) / most}%`;
    return made;
  };
  root.append(element("p", {}, `At ${at}:`), bar(words[0], bytes, "over"), bar(words[1], limit, "shared"));
}

function drawCounterexample(root, counterexample, prefix) {
  if (counterexample.kind === "schedule") new Schedule(root, counterexample, prefix);
  else if (counterexample.kind === "overlap") overlapPicture(root, counterexample, prefix);
  else if (counterexample.kind === "span" && counterexample.rows) new Ticks(root, counterexample);
  else if (counterexample.kind === "shape") limitPicture(root, counterexample);
}
