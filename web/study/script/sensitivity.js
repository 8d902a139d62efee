// The sensitivity study: how often the treatment wins when the model's times are off, and where it
// ceases to.

const winnerWords = {
  treatment: "treatment ahead",
  baseline: "baseline ahead",
  tie: "tied",
  unknown: "not known",
};

function winnerColour(paint, winner) {
  const [baseline, , treatment] = paint.series;
  return { treatment, baseline, tie: paint.quiet, unknown: paint.grid }[winner];
}

// Shares of the draws as one bar; the numbers stand beside it.
function shareBar(row, draws) {
  const parts = [
    ["treatment", row.wins],
    ["tie", row.ties],
    ["unknown", row.unknown],
    ["baseline", row.losses],
  ];
  let left = 0;
  const bars = parts.map(([winner, count]) => {
    const width = (100 * count) / draws;
    const bar = drawing("rect", {
      x: left + "%",
      y: "5",
      width: width + "%",
      height: "16",
      class: "share-" + winner,
    });
    left += width;
    return bar;
  });
  const text = parts
    .filter(([, count]) => count > 0)
    .map(([winner, count]) => winnerWords[winner] + " in " + whole(count))
    .join(", ");
  return drawing(
    "svg",
    { class: "interval", role: "img", "aria-label": text + " of " + plural(draws, "draw") },
    ...bars,
  );
}

function winsTable(result) {
  const unknown = result.metrics.some((one) => one.unknown > 0);
  const heads = [
    "treatment",
    "tied",
    "baseline",
    ...(unknown ? ["not known"] : []),
    "baseline, unscaled",
    "treatment, unscaled",
    "mean change over draws",
  ];
  const line = (row) => {
    const metric = metricNamed(row.metric);
    const figures = [
      whole(row.wins),
      whole(row.ties),
      whole(row.losses),
      ...(unknown ? [whole(row.unknown)] : []),
      shownAs(metric, row.unscaled_baseline),
      shownAs(metric, row.unscaled_treatment),
      changeText(row.relative_change_mean),
    ];
    return element(
      "tr",
      {},
      element("th", { scope: "row" }, withUnit(metric)),
      element("td", { class: "drawn" }, shareBar(row, result.draws)),
      ...figures.map((text) => element("td", { class: "number" }, text)),
    );
  };
  return drawnTable(
    "Who is ahead in " + plural(result.draws, "draw"),
    "From left: treatment ahead, tied, baseline ahead. Each draw scales the model's times within " +
      "the band, the same for both; the band is an assumption, not a measurement",
    [
      element("th", { scope: "col" }, "metric"),
      element("th", { scope: "col", class: "drawn" }, "share of draws"),
      ...heads.map((text) => element("th", { scope: "col", class: "number" }, text)),
    ],
    result.metrics.map(line),
  );
}

function drawReading(point, name) {
  const metric = metricNamed(name);
  return (
    "prefill × " +
    number(point.prefill) +
    ", decode × " +
    number(point.decode) +
    ", transfer × " +
    number(point.transfer) +
    ": " +
    metric.label +
    " " +
    shownAs(metric, point[name + "_baseline"]) +
    " and " +
    shownAs(metric, point[name + "_treatment"]) +
    (metric.unit === "" ? "" : " " + metric.unit) +
    ", " +
    winnerWords[point[name + "_winner"]]
  );
}

// The two scales that the plane of draws shows: those that act, prefill and decode first.
function planeOf(result) {
  const acting = result.scales.filter(({ acts }) => acts).map(({ scale }) => scale);
  return [acting[0] ?? "prefill", acting[1] ?? "decode"];
}

function drawsPlot(paint, result, [across, up], name) {
  const axis = (scale) => ({
    label: "time of " + scale + " ×",
    logarithmic: true,
    range: (plot, low, high) => logRange(low, high),
  });
  const group = (winner) => ({
    label: winnerWords[winner],
    colour: winnerColour(paint, winner),
    size: 8,
    items: result.draw_points
      .filter((point) => point[name + "_winner"] === winner)
      .map((point) => ({ x: point[across], y: point[up], name: drawReading(point, name) })),
  });
  return {
    x: axis(across),
    y: axis(up),
    bands: [],
    lines: [],
    points: Object.keys(winnerWords)
      .map(group)
      .filter(({ items }) => items.length > 0),
    limits: [],
  };
}

// One scale away from 1, the others at 1: both sides, and where they cross.
function scanPlot(paint, result, scale, name) {
  const points = result.scan
    .filter((point) => point.scale === scale)
    .concat([{ ...result.unscaled, scale, value: 1 }])
    .sort((a, b) => a.value - b.value);
  const metric = metricNamed(name);
  const line = (side, colour) => ({
    label: side,
    colour,
    items: points.map((point) => ({ x: point.value, y: point[name + "_" + side] })),
  });
  const dots = (side, colour) => ({
    label: "",
    colour,
    size: 5,
    items: points.map((point) => ({
      x: point.value,
      y: point[name + "_" + side],
      name: side + ", " + drawReading(point, name),
    })),
  });
  const sides = [
    ["baseline", winnerColour(paint, "baseline")],
    ["treatment", winnerColour(paint, "treatment")],
  ];
  return {
    x: {
      label: "time of " + scale + " ×",
      logarithmic: true,
      range: (plot, low, high) => logRange(low, high),
    },
    y: { label: withUnit(metric), logarithmic: false },
    bands: [],
    lines: sides.map(([side, colour]) => line(side, colour)),
    points: sides.map(([side, colour]) => dots(side, colour)),
    limits: result.flips
      .filter((flip) => flip.scale === scale && flip.metric === name)
      .map((flip) => ({
        scale: "x",
        value: flip.flips_at,
        name: "flips at " + flip.flips_at.toFixed(2),
        depth: 0.08,
      })),
  };
}

// The plots of draws and of scales, all of one metric that the reader chooses.
function scalePlots(result, leftOut) {
  const state = { metric: result.metrics[0].metric };
  const first = charts.length;
  const acting = result.scales.filter(({ acts }) => acts).map(({ scale }) => scale);
  const plane = planeOf(result);
  const panels = acting.map((scale) =>
    pointsFigure(
      "When only " + scale + " is off",
      "Both sides against the factor on the time of " + scale,
      240,
      (paint) => scanPlot(paint, result, scale, state.metric),
    ),
  );
  if (result.draw_points.length > 0) {
    panels.push(
      pointsFigure("Draws", "Each dot is a draw, coloured by who is ahead", 240, (paint) =>
        drawsPlot(paint, result, plane, state.metric),
      ),
    );
  }
  const mine = charts.slice(first);
  const select = element(
    "select",
    {},
    ...result.metrics.map(({ metric }) =>
      element("option", { value: metric }, withUnit(metricNamed(metric))),
    ),
  );
  select.addEventListener("change", () => {
    state.metric = select.value;
    mine.forEach(drawChart);
  });
  return element(
    "div",
    {},
    element("label", { class: "switch" }, "metric", select),
    leftOutNote(leftOut.draw_points, "draws", "every n-th"),
    element("div", { class: "panels" }, ...panels),
  );
}

function flipTable(result) {
  if (result.flips.length === 0) {
    return element(
      "p",
      { class: "quiet" },
      "No single scale flips a conclusion within the band, as far as it was looked.",
    );
  }
  const ahead = (winner) => (winner === "tie" ? "a tie" : winner + " ahead");
  return table(
    "Where one scale alone flips the conclusion",
    ["metric", "scale", "from", "to", "holds at", "flips at"],
    result.flips.map((flip) => [
      withUnit(metricNamed(flip.metric)),
      flip.scale,
      ahead(flip.from),
      ahead(flip.to),
      "× " + flip.holds_at.toFixed(3),
      "× " + flip.flips_at.toFixed(3),
    ]),
    [0, 1, 2, 3],
  );
}

function sloTable({ slo, draws }) {
  const row = (name, count) => [name, whole(count), percent(count / draws)];
  return table(
    "Draws in which " + chosenPercent(slo.attainment) + " of the arrivals meet the SLO",
    ["", "draws", "share"],
    [
      row("baseline", slo.baseline),
      row("treatment", slo.treatment),
      row("both", slo.both),
      row("neither", slo.neither),
      ...(slo.unknown > 0 ? [row("not known", slo.unknown)] : []),
    ],
    [0],
  );
}

function sensitivitySection(result, leftOut) {
  return [
    warningBox(result.notes),
    element(
      "section",
      {},
      element(
        "h2",
        {},
        "Treatment against baseline, with the model's times off by " +
          chosenPercent(result.band) +
          " at most",
      ),
      winsTable(result),
      element("div", { class: "stack" }, flipTable(result), sloTable(result)),
    ),
    element("section", {}, element("h2", {}, "Which scale matters"), scalePlots(result, leftOut)),
    alternativesSection(result),
    failuresSection(result.failures),
  ];
}
