// Building elements, and how numbers and names read. Texts are set as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value != null) made.setAttribute(name, value);
  }
  made.append(...children.filter(Boolean));
  return made;
}

const element = (tag, attributes = {}, ...children) =>
  fill(document.createElement(tag), attributes, children);

const shape = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS(SVG, tag), attributes, children);

// Integers past 2^53 come as texts: BigInt takes both, and rounds neither.
const count = (number) => BigInt(number).toLocaleString("en-US");

const plural = (number, noun) => `${count(number)} ${noun}${Number(number) === 1 ? "" : "s"}`;

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

function byteCount(number) {
  let size = Number(number);
  let unit = 0;
  while (size >= 1023.5 && unit < UNITS.length - 1) {
    size /= 1024;
    unit += 1;
  }
  if (unit === 0) return `${count(number)} B`;
  return `${size.toFixed(size < 10 ? 2 : size < 100 ? 1 : 0)} ${UNITS[unit]}`;
}

const exactBytes = (number) =>
  Number(number) < 1024 ? byteCount(number) : `${byteCount(number)} (${count(number)} bytes)`;

// The end of a name tells resources of one plan apart; its beginning is mostly the same.
function shortened(name, room) {
  if (name.length <= room) return name;
  return room < 3 ? "" : `…${name.slice(name.length - room + 1)}`;
}

const clamp = (value, low, high) => Math.max(low, Math.min(high, value));

// Terms and what is said of them; a term without anything to say is left out.
function facts(pairs) {
  const list = element("dl", { class: "details" });
  for (const [term, value] of pairs) {
    if (!value) continue;
    const parts = Array.isArray(value) ? value : [value];
    list.append(element("dt", {}, term), element("dd", {}, ...parts));
  }
  return list;
}

// Patterns tell kinds of storage apart without colour. They take their colours from the style
// sheet, so they follow dark mode.
const PATTERNS = {
  step: ["M0 0", 8],
  request: ["M0 4H8", 8],
  sequence: ["M0 0H8M4 0V8", 8],
  invocation: ["M4 0V8", 8],
  binding: ["M0 0", 8],
  free: ["M0 8L8 0", 8],
  plan: ["M2 2h1v1h-1zM6 6h1v1h-1z", 8],
  clash: ["M-2 2L2 -2M0 8L8 0M6 10L10 6", 8],
};

function patterns(prefix) {
  return shape(
    "defs",
    {},
    ...Object.entries(PATTERNS).flatMap(([name, [path, size]]) =>
      ["", "-alt"].map((variant) =>
        shape(
          "pattern",
          {
            id: `${prefix}-${name}${variant}`,
            width: size,
            height: size,
            patternUnits: "userSpaceOnUse",
            class: `pattern ${name}${variant}`,
          },
          shape("rect", { width: size, height: size, class: "ground" }),
          shape("path", { d: path, class: "strokes" }),
        ),
      ),
    ),
  );
}

// One floating box for whatever the pointer is over. It stands clear of that, by `room` above and
// below, so that the neighbours stay in view; with `beside` it leaves the whole column free.
const tip = {
  box: document.getElementById("tip"),
  show(event, content, room = 14, beside = false) {
    this.box.replaceChildren(content);
    this.box.hidden = false;
    const { width, height } = this.box.getBoundingClientRect();
    const { clientX: x, clientY: y } = event;
    const over = event.target.closest?.("[data-name], [data-lane], [data-slot], [data-axis], [data-tokens]")?.getBoundingClientRect() ?? { top: y, bottom: y };
    const [below, above] = [over.bottom + room, over.top - room - height];
    let [left, top] = [x + 14, below];
    if (beside) [left, top] = [x + 30 + width > innerWidth ? x - 30 - width : x + 30, y - height / 2];
    else if (below + height > innerHeight && (above > 0 || over.top > innerHeight - over.bottom)) top = above;
    this.box.style.left = `${clamp(left, 4, Math.max(4, innerWidth - width - 4))}px`;
    this.box.style.top = `${clamp(top, 4, Math.max(4, innerHeight - height - 4))}px`;
  },
  hide() {
    this.box.hidden = true;
  },
};
