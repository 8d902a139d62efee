// What all plots share: colours, axes, limit lines, and drawing anew when the colours change.

// A chart draws itself from `describe(colours)`, which returns {options, data} for uPlot.
const charts = [];
const timeGroup = { key: "time" }; // plots against time share one cursor and zoom together

function colours() {
  const style = getComputedStyle(document.documentElement);
  const named = (name) => style.getPropertyValue("--" + name).trim();
  return {
    text: named("text"),
    quiet: named("quiet"),
    grid: named("grid"),
    band: named("band"),
    series: [1, 2, 3, 4].map((n) => named("series-" + n)),
    point: named("point"),
    missed: named("missed"),
    limit: named("limit"),
    panel: named("panel"),
  };
}

// A figure with a title and a caption, and a plot in it once the page stands.
function plotFigure(title, caption, height, describe, single = false) {
  const holder = element("div", {
    class: single ? "plot single" : "plot",
    role: "img",
    "aria-label": title + ". " + caption,
  });
  charts.push({ holder, height, describe, plot: null });
  return element(
    "figure",
    { class: "panel" },
    element(
      "figcaption",
      {},
      element("h3", {}, title),
      caption === "" ? null : element("p", { class: "quiet" }, caption),
    ),
    holder,
  );
}

function drawChart(chart) {
  if (chart.plot !== null) chart.plot.destroy();
  const { options, data } = chart.describe(colours());
  const frame = { width: chart.holder.clientWidth, height: chart.height, legend: { live: true } };
  chart.plot = new uPlot({ ...frame, ...options }, data, chart.holder);
}

function drawAllCharts() {
  charts.forEach(drawChart);
}

function fitAllCharts() {
  for (const chart of charts) {
    const width = chart.holder.clientWidth;
    if (chart.plot !== null && width > 0 && width !== chart.plot.width) {
      chart.plot.setSize({ width, height: chart.height });
    }
  }
}

// What stands at a mark of an axis; large numbers short, for axes are narrow.
function mark(value) {
  if (value === null) return "";
  return Math.abs(value) < 100000
    ? number(value)
    : value.toLocaleString("en-US", { notation: "compact", maximumSignificantDigits: 3 });
}

function axis(paint, label, more) {
  return {
    label,
    labelFont: "12px system-ui, sans-serif",
    labelSize: 20,
    labelGap: 2,
    font: "12px system-ui, sans-serif",
    stroke: paint.quiet,
    grid: { stroke: paint.grid, width: 1 },
    ticks: { stroke: paint.grid, width: 1, size: 5 },
    values: (plot, splits) => splits.map(mark),
    ...more,
  };
}

// An axis of things that come whole has no halves.
const wholeSteps = [1, 2, 5]
  .flatMap((step) => Array.from({ length: 13 }, (_, i) => step * 10 ** i))
  .sort((a, b) => a - b);

// Left axes are equally wide, so that plots below each other line up.
function leftAxis(paint, label, more) {
  return axis(paint, label, { size: 52, ...more });
}

function bottomAxis(paint, label, more) {
  return axis(paint, label, { size: 34, space: 60, ...more });
}

// A little room around values on a logarithmic axis.
function logRange(low, high) {
  return [low / 1.12, high * 1.12];
}

// Marks of a logarithmic axis: 1, 2, 5, 10, ... where the axis spans much, else evenly spaced ones.
function logMarks(plot, index, low, high) {
  const marks = [];
  for (let decade = Math.floor(Math.log10(low)); decade <= Math.log10(high); ++decade) {
    for (const step of [1, 2, 5]) marks.push(step * Number("1e" + decade));
  }
  const seen = marks.filter((mark) => mark >= low && mark <= high);
  if (seen.length >= 4) return seen;
  const rough = (high - low) / 5;
  const size = Number("1e" + Math.floor(Math.log10(rough)));
  const step = [1, 2, 5, 10].map((n) => n * size).find((n) => n >= rough);
  const first = Math.ceil(low / step);
  return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, i) => (first + i) * step);
}

// Along the bottom only the marks that have room bear their number.
function roomyMarks(plot, marks, axisIndex) {
  if (axisIndex !== 0) return marks;
  const room = 48;
  let last = -Infinity;
  return marks.map((mark) => {
    const at = plot.valToPos(mark, "x");
    if (at - last < room) return null;
    last = at;
    return mark;
  });
}

const logAxis = { splits: logMarks, filter: roomyMarks };

// From nought to a little above the data.
function fromZero(plot, low, high) {
  return [0, high > 0 ? high * 1.06 : 1];
}

// The whole of [first, last] until someone zooms in.
function wholeOrZoomed(first, last) {
  return (plot, low, high) => {
    const data = plot.data[0];
    const zoomed = low > data[0] || high < data[data.length - 1];
    return zoomed ? [low, high] : [first, last];
  };
}

// A dashed line across the plot where a limit lies, with its name. Where the limit lies out of
// sight an arrow points to it. `depth` is where the name of an upright one stands, from the top.
function drawLimit(plot, paint, scale, value, name, { colour = paint.limit, depth = 0.62 } = {}) {
  const at = plot.valToPos(value, scale, true);
  const pixel = uPlot.pxRatio;
  const context = plot.ctx;
  context.save();
  context.strokeStyle = context.fillStyle = colour;
  context.lineWidth = 1.5 * pixel;
  context.setLineDash([5 * pixel, 4 * pixel]);
  context.font = 12 * pixel + "px system-ui, sans-serif";
  if (scale === "x") drawUpright(context, at, name, pixel, plot.bbox, depth);
  else drawLevel(context, at, name, pixel, plot.bbox);
  context.restore();
}

function stroke(context, fromX, fromY, toX, toY) {
  context.beginPath();
  context.moveTo(fromX, fromY);
  context.lineTo(toX, toY);
  context.stroke();
}

function drawUpright(context, at, name, pixel, { left, top, width, height }, depth) {
  const textY = top + height * depth;
  context.textAlign = "right";
  if (at > left + width) {
    context.fillText(name + " →", left + width - 4 * pixel, textY);
  } else if (at >= left) {
    stroke(context, at, top, at, top + height);
    const leftwards = at + context.measureText(name).width + 10 * pixel > left + width;
    if (!leftwards) context.textAlign = "left";
    context.fillText(name, at + (leftwards ? -5 : 5) * pixel, textY);
  }
}

function drawLevel(context, at, name, pixel, { left, top, width, height }) {
  const right = left + width - 5 * pixel;
  context.textAlign = "right";
  if (at < top) {
    context.fillText(name + " ↑", right, top + 13 * pixel);
  } else if (at <= top + height) {
    stroke(context, left, at, left + width, at);
    const below = at - top < 20 * pixel;
    context.fillText(name, right, at + (below ? 15 : -6) * pixel);
  }
}

// A check box that says how some charts are drawn, and draws them again when it changes.
function switchBox(text, on, changed) {
  const box = element("input", { type: "checkbox" });
  box.checked = on;
  box.addEventListener("change", () => changed(box.checked));
  return element("label", { class: "switch" }, box, text);
}
