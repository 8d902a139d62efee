// Intervals of relative change, one below the other on one axis of ratios: half as much lies as far
// to the left as twice as much lies to the right.

const changeMarks = [
  -0.9, -0.75, -0.5, -0.25, -0.1, -0.05, -0.02, -0.01, -0.005, -0.002, -0.001, 0, 0.001, 0.002,
  0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 3, 9,
];

// "+12.3 %", and "no change" for nought.
function changeText(fraction) {
  if (fraction === null || fraction === undefined) return missing;
  if (fraction === 0) return "0 %";
  const size = 100 * Math.abs(fraction);
  const digits = size < 0.1 ? 3 : size < 10 ? 2 : 1;
  return (fraction < 0 ? "−" : "+") + size.toFixed(digits) + " %";
}

// Places changes on [0 %, 100 %] of the width. What is farther than tenfold lies at the edge.
class ChangeAxis {
  constructor(changes) {
    const known = changes.filter((change) => change !== null && change !== undefined);
    const farthest = Math.max(0.0005, ...known.map((change) => Math.abs(ChangeAxis.ratio(change))));
    this.reach = 1.08 * farthest;
    this.marks = this.fewMarks();
  }
  static ratio(change) {
    return Math.log(Math.min(10, Math.max(0.1, 1 + change)));
  }
  place(change) {
    return 50 + (50 * ChangeAxis.ratio(change)) / this.reach;
  }
  // Those that stand a fifth of the width apart, outwards from nought.
  fewMarks() {
    const marks = [0];
    for (const side of [1, -1]) {
      let last = 50;
      const outward = changeMarks
        .filter((mark) => mark * side > 0)
        .sort((a, b) => Math.abs(a) - Math.abs(b));
      for (const mark of outward.filter((one) => this.place(one) > 4 && this.place(one) < 96)) {
        if (Math.abs(this.place(mark) - last) < 17) continue;
        last = this.place(mark);
        marks.push(mark);
      }
    }
    return marks;
  }
  grid() {
    return this.marks.map((mark) =>
      drawing("line", {
        x1: this.place(mark) + "%",
        x2: this.place(mark) + "%",
        y1: "0",
        y2: "100%",
        class: mark === 0 ? "nought" : "grid",
      }),
    );
  }
}

function axisDrawing(axis) {
  const shown = (mark) => (mark > 0 ? "+" : mark < 0 ? "−" : "") + number(100 * Math.abs(mark));
  return drawing(
    "svg",
    { class: "interval", "aria-hidden": "true" },
    ...axis.marks.map((mark) =>
      drawing(
        "text",
        { x: axis.place(mark) + "%", y: "17", "text-anchor": "middle" },
        mark === 0 ? "0 %" : shown(mark),
      ),
    ),
  );
}

// A line from `low` to `high` with a dot at `middle`; `look` is the class that gives its colour.
function intervalDrawing(axis, { low, middle, high }, look) {
  const at = (change) => axis.place(change) + "%";
  const spread =
    low === null
      ? null
      : drawing("line", { x1: at(low), x2: at(high), y1: "13", y2: "13", class: "spread" });
  const dot = middle === null ? null : drawing("circle", { cx: at(middle), cy: "13", r: "4.5" });
  const text =
    middle === null
      ? "no relative change"
      : changeText(middle) +
        (low === null ? "" : ", " + changeText(low) + " to " + changeText(high));
  return drawing(
    "svg",
    { class: "interval " + look, role: "img", "aria-label": text },
    ...axis.grid(),
    spread,
    dot,
  );
}

// `rows`: {name, note, change: {low, middle, high}, verdict, look}.
function intervalTable(caption, note, rows) {
  const axis = new ChangeAxis(rows.flatMap(({ change }) => Object.values(change)));
  const line = ({ name, change, verdict, look }) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, name),
      element("td", { class: "number" }, changeText(change.middle)),
      element("td", { class: "drawn" }, intervalDrawing(axis, change, look)),
      element("td", { class: "verdict-word " + look }, verdict),
    );
  const heads = [
    element("th", { scope: "col" }, "metric"),
    element("th", { scope: "col", class: "number" }, "change"),
    element("th", { scope: "col", class: "drawn" }, axisDrawing(axis)),
    element("th", { scope: "col" }, "treatment is"),
  ];
  return drawnTable(caption, note, heads, rows.map(line));
}

// A table with drawings in it, under a title that does not scroll with it.
function drawnTable(caption, note, heads, lines) {
  return element(
    "figure",
    { class: "panel drawn-table" },
    element("figcaption", {}, element("h3", {}, caption), element("p", { class: "quiet" }, note)),
    element(
      "div",
      { class: "scroller", tabindex: "0", role: "region", "aria-label": caption },
      element(
        "table",
        { class: "figures intervals", "aria-label": caption },
        element("thead", {}, element("tr", {}, ...heads)),
        element("tbody", {}, ...lines),
      ),
    ),
  );
}
