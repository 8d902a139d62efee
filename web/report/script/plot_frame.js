// What all plots share: colours, axes, limit lines, and drawing anew when the colours change.

// A chart draws itself from `describe(colours)`, which returns {options, data} for uPlot.
const charts = [];
const timeGroup = { key: "time" };  // plots against time share one cursor and zoom together

function colours() {
  const style = getComputedStyle(document.documentElement);
  const named = (name) => style.getPropertyValue("--" + name).trim();
  return {
    text: named("text"), quiet: named("quiet"), grid: named("grid"), band: named("band"),
    series: [named("series-1"), named("series-2"), named("series-3")],
    point: named("point"), missed: named("missed"), limit: named("limit"), panel: named("panel"),
  };
}

// A figure with a title and a caption, and a plot in it once the page stands.
function plotFigure(title, caption, height, describe, single = false) {
  const holder = element("div", { class: single ? "plot single" : "plot", role: "img",
    "aria-label": title + ". " + caption });
  charts.push({ holder, height, describe, plot: null });
  return element("figure", { class: "panel" },
    element("figcaption", {}, element("h3", {}, title),
      caption === "" ? null : element("p", { class: "quiet" }, caption)),
    holder);
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

function axis(paint, label, more) {
  return {
    label, labelFont: "12px system-ui, sans-serif", labelSize: 20, labelGap: 2,
    font: "12px system-ui, sans-serif", stroke: paint.quiet,
    grid: { stroke: paint.grid, width: 1 }, ticks: { stroke: paint.grid, width: 1, size: 5 },
    values: (plot, splits) => splits.map((value) => (value === null ? "" : number(value))),
    ...more,
  };
}

// An axis of things that come whole has no halves.
const wholeSteps = [1, 2, 5].flatMap((step) => Array.from({ length: 13 }, (_, i) => step * 10 ** i))
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

const logAxis = { splits: logMarks, filter: (plot, marks) => marks };

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

// A dashed line across the plot where a limit lies, with its name; nothing when out of sight.
function drawLimit(plot, paint, scale, value, name) {
  const { left, top, width, height } = plot.bbox;
  const at = plot.valToPos(value, scale, true);
  const upright = scale === "x";
  if (upright ? at < left || at > left + width : at < top || at > top + height) return;
  const pixel = uPlot.pxRatio;
  const context = plot.ctx;
  context.save();
  context.strokeStyle = context.fillStyle = paint.limit;
  context.lineWidth = 1.5 * pixel;
  context.setLineDash([5 * pixel, 4 * pixel]);
  context.beginPath();
  context.moveTo(upright ? at : left, upright ? top : at);
  context.lineTo(upright ? at : left + width, upright ? top + height : at);
  context.stroke();
  context.font = 12 * pixel + "px system-ui, sans-serif";
  const room = context.measureText(name).width + 10 * pixel;
  if (upright) {
    const leftwards = at + room > left + width;
    context.textAlign = leftwards ? "right" : "left";
    context.fillText(name, at + (leftwards ? -5 : 5) * pixel, top + height * 0.62);
  } else {
    context.textAlign = "right";
    const below = at - top < 20 * pixel;
    context.fillText(name, left + width - 5 * pixel, at + (below ? 15 : -6) * pixel);
  }
  context.restore();
}

// A check box that says how some charts are drawn, and draws them again when it changes.
function switchBox(text, on, changed) {
  const box = element("input", { type: "checkbox" });
  box.checked = on;
  box.addEventListener("change", () => changed(box.checked));
  return element("label", { class: "switch" }, box, text);
}
