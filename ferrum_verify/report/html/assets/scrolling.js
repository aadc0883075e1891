// What is drawn along the plan scrolls and zooms as in Perfetto: drag it, drag with Shift to zoom
// to a stretch, turn the wheel with Ctrl; W and S zoom at the pointer, A and D go left and right.

const LARGEST_SCALE = 96;
const DRAG = 4;

// A gutter for labels at the left, narrower where the window is.
const gutterOf = (width, widest) => Math.round(clamp(width * 0.3, Math.min(widest, 84), widest));

// Who draws extends this, and has `draw()`, and `heights()` with those of content and window.
class Scrolling {
  constructor(columns, widest) {
    this.columns = Math.max(columns, 1);
    this.widest = widest;
  }

  // The window on the drawing; `attributes` are the element's own.
  frame(svg, attributes) {
    this.stretch = element("div", { class: "stretch", hidden: true });
    this.space = element("div", { class: "space" }, svg, this.stretch);
    this.view = element(
      "div",
      {
        class: "view",
        tabindex: "0",
        role: "application",
        onscroll: () => this.later(),
        onwheel: (event) => this.wheel(event),
        onpointerdown: (event) => this.press(event),
        onpointerenter: () => (Scrolling.under = this),
        ...attributes,
      },
      this.space,
    );
    // Before any click of the drawing's own: the end of a drag is none.
    this.view.addEventListener("click", (event) => this.dragged && event.stopImmediatePropagation(), { capture: true });
    this.view.addEventListener("pointermove", (event) => (this.pointer = this.along(event)));
    this.view.addEventListener("pointerleave", () => {
      this.pointer = null;
      if (Scrolling.under === this) Scrolling.under = null;
    });
    Scrolling.views.set(this.view, this);
    new ResizeObserver(() => this.resize()).observe(this.view);
  }

  get gutter() {
    return gutterOf(this.view.clientWidth, this.widest);
  }

  resize() {
    if (!this.view.clientWidth) return;
    const fitting = this.fittingScale();
    if (this.scale == null || this.scale < fitting) this.scale = fitting;
    this.sized();
  }

  fittingScale() {
    return clamp((this.view.clientWidth - this.gutter - 24) / this.columns, 0.05, 48);
  }

  sized() {
    if (this.scale == null) return;
    const { content, view } = this.heights();
    this.space.style.width = `${this.gutter + this.columns * this.scale + 20}px`;
    this.space.style.height = `${content}px`;
    this.view.style.height = `${view}px`;
    this.later();
  }

  later() {
    this.pending ??= requestAnimationFrame(() => {
      this.pending = null;
      if (this.scale != null) this.draw();
    });
  }

  // The window as a drawing needs it, in pixels and pixels for each node.
  get window() {
    const { clientWidth: width, clientHeight: height, scrollLeft: left, scrollTop: top } = this.view;
    return { width, height, left, top, scale: this.scale, gutter: this.gutter };
  }

  // How far an event is from the left edge of the window.
  along(event) {
    return event.clientX - this.view.getBoundingClientRect().left;
  }

  nodeAt(event) {
    const node = Math.floor((this.along(event) + this.view.scrollLeft - this.gutter) / this.scale);
    return node >= 0 && node < this.columns ? node : null;
  }

  // The node under `anchor`, a distance from the left edge, stays where it is.
  zoom(factor, anchor = this.gutter + (this.view.clientWidth - this.gutter) / 2) {
    const node = (this.view.scrollLeft + anchor - this.gutter) / this.scale;
    this.scale = clamp(this.scale * factor, Math.min(this.fittingScale(), 1), LARGEST_SCALE);
    this.sized();
    this.view.scrollLeft = node * this.scale + this.gutter - anchor;
  }

  fit() {
    this.scale = this.fittingScale();
    this.sized();
    this.view.scrollLeft = 0;
  }

  // Zooms so that the nodes from `first` to `last` fill the window.
  fill(first, last) {
    const room = this.view.clientWidth - this.gutter;
    this.scale = clamp(room / Math.max(last - first, 1), Math.min(this.fittingScale(), 1), LARGEST_SCALE);
    this.sized();
    this.view.scrollLeft = first * this.scale;
  }

  wheel(event) {
    if (!event.ctrlKey) return;
    event.preventDefault();
    this.zoom(event.deltaY < 0 ? 1.25 : 0.8, this.along(event));
  }

  // A finger scrolls by itself; a mouse drags.
  press(event) {
    this.dragged = false;
    if (event.pointerType !== "mouse" || event.button !== 0) return;
    const from = { x: event.clientX, y: event.clientY, left: this.view.scrollLeft, top: this.view.scrollTop, at: this.along(event) };
    const move = (moved) => {
      if (!this.dragged && Math.hypot(moved.clientX - from.x, moved.clientY - from.y) < DRAG) return;
      this.dragged = true;
      tip.hide();
      if (event.shiftKey) return this.mark(from.at, this.along(moved));
      this.view.classList.add("dragged");
      this.view.scrollTo(from.left + from.x - moved.clientX, from.top + from.y - moved.clientY);
      return undefined;
    };
    const release = (released) => {
      removeEventListener("pointermove", move);
      removeEventListener("pointerup", release);
      removeEventListener("pointercancel", release);
      this.view.classList.remove("dragged");
      this.stretch.hidden = true;
      if (this.dragged && event.shiftKey) this.fill(...this.between(from.at, this.along(released)));
    };
    addEventListener("pointermove", move);
    addEventListener("pointerup", release);
    addEventListener("pointercancel", release);
    if (event.shiftKey) event.preventDefault(); // no text is selected
  }

  // The nodes between two distances from the left edge.
  between(...ends) {
    const { scrollLeft } = this.view;
    return ends.map((at) => clamp((at + scrollLeft - this.gutter) / this.scale, 0, this.columns)).sort((a, b) => a - b);
  }

  mark(from, to) {
    const [first, last] = this.between(from, to);
    this.stretch.hidden = false;
    this.stretch.style.left = `${this.gutter + first * this.scale}px`;
    this.stretch.style.width = `${(last - first) * this.scale}px`;
  }

  travel(key) {
    if (key === "w" || key === "s") this.zoom(key === "w" ? 1.2 : 1 / 1.2, this.pointer ?? undefined);
    else this.view.scrollBy(((key === "d" ? 1 : -1) * this.view.clientWidth) / 10, 0);
  }
}

// The keys go to the drawing that has the focus, else to the one under the pointer.
Scrolling.under = null;
Scrolling.views = new Map();
addEventListener("keydown", (event) => {
  const key = event.key.toLowerCase();
  if (event.ctrlKey || event.metaKey || event.altKey || !["w", "a", "s", "d"].includes(key)) return;
  if (event.target.closest?.("input, select, textarea")) return;
  const drawing = Scrolling.views.get(document.activeElement) ?? Scrolling.under;
  if (!drawing) return;
  event.preventDefault();
  drawing.travel(key);
});
