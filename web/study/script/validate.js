// Validation: predictions beside measurements, never of different metrics or regimes in one figure.

const regimeOrder = ["light", "knee", "overload", "burst", "batch", "undetermined"];

// A regime has its colour on every page.
function regimeColour(paint, regime) {
  const [light, knee, batch, burst] = paint.series;
  const colours = { light, knee, overload: paint.limit, burst, batch };
  return colours[regime] ?? paint.quiet;
}

function regimesOf(cases) {
  const seen = new Set(cases.map(({ regime }) => regime));
  return [
    ...regimeOrder.filter((regime) => seen.has(regime)),
    ...[...seen].filter((regime) => !regimeOrder.includes(regime)).sort(),
  ];
}

// Metrics of which a prediction stands beside a measurement, those of most cases first.
function comparedMetrics(cases) {
  const counts = new Map();
  for (const { figures } of cases) {
    for (const { metric, predicted } of figures) {
      if (predicted !== null) counts.set(metric, (counts.get(metric) ?? 0) + 1);
    }
  }
  return [...counts].sort((a, b) => b[1] - a[1]).map(([metric]) => metric);
}

function comparedItems(cases, regime, name) {
  const metric = metricNamed(name);
  return cases
    .filter((one) => one.regime === regime)
    .flatMap((one) =>
      one.figures
        .filter((each) => each.metric === name && each.predicted !== null)
        .map((each) => ({
          x: each.measured,
          y: each.predicted,
          name:
            one.id +
            ", " +
            one.model +
            " on " +
            one.hardware +
            ", " +
            regime +
            ": measured " +
            shownAs(metric, each.measured) +
            ", predicted " +
            shownAs(metric, each.predicted) +
            (each.relative_error === null ? "" : " (" + changeText(each.relative_error) + ")"),
        })),
    );
}

function comparisonPlot(paint, cases, name) {
  const metric = metricNamed(name);
  const groups = regimesOf(cases)
    .map((regime) => ({
      label: regime,
      colour: regimeColour(paint, regime),
      size: 7,
      items: comparedItems(cases, regime, name),
    }))
    .filter(({ items }) => items.length > 0);
  const values = groups.flatMap(({ items }) => items.flatMap(({ x, y }) => [x, y]));
  const ends = [Math.min(...values.filter((value) => value > 0)), Math.max(...values)];
  const unit = metric.unit === "" ? "" : " (" + metric.unit + ")";
  const both = { logarithmic: true, range: (plot, low, high) => logRange(low, high) };
  return {
    x: { label: "measured " + metric.label + unit, ...both },
    y: { label: "predicted" + unit, ...both },
    points: groups,
    lines: [
      {
        label: "prediction = measurement",
        colour: paint.quiet,
        width: 1.2,
        dash: [5, 4],
        items: ends.map((end) => ({ x: end, y: end })),
      },
    ],
    bands: [],
    limits: [],
  };
}

function comparisonFigure(cases) {
  const metrics = comparedMetrics(cases);
  if (metrics.length === 0) return null;
  const state = { metric: metrics[0] };
  const panel = pointsFigure(
    "Predicted against measured",
    "Each dot is a case; above the line the prediction is too high. Both axes are logarithmic; " +
      "what is not above nought has no place on them",
    380,
    (paint) => comparisonPlot(paint, cases, state.metric),
  );
  const chart = charts[charts.length - 1];
  const select = element(
    "select",
    {},
    ...metrics.map((name) => element("option", { value: name }, withUnit(metricNamed(name)))),
  );
  select.addEventListener("change", () => {
    state.metric = select.value;
    drawChart(chart);
  });
  panel.insertBefore(element("label", { class: "switch" }, "metric", select), chart.holder);
  return panel;
}

function errorTable(caption, groups, parts) {
  if (groups.length === 0) return null;
  const text = (name, value) => ({ name, kind: "text", value, text: value });
  const share = (name, key, note) => ({
    name,
    note,
    kind: "number",
    value: (one) => one[key],
    text: (one) => (one[key] === null ? missing : percent(one[key])),
  });
  return sortableTable(
    caption,
    [
      ...parts.map((part) => text(part, (one) => one[part] ?? "")),
      text("metric", (one) => withUnit(metricNamed(one.metric))),
      text("regime", (one) => one.regime),
      { name: "cases", kind: "number", value: (one) => one.n, text: (one) => whole(one.n) },
      share("MAPE", "mape", "mean absolute percentage error"),
      share("median APE", "median_ape"),
      share("largest APE", "max_ape"),
      {
        name: "bias",
        note: "mean relative error: positive where predictions are too high",
        kind: "number",
        value: (one) => one.bias,
        text: (one) => changeText(one.bias),
      },
      {
        name: "within 25 %",
        note: "cases whose prediction is at most 25 % off",
        kind: "number",
        value: (one) => one.within_25_percent / one.n,
        text: (one) => whole(one.within_25_percent) + " of " + whole(one.n),
      },
    ],
    groups,
  );
}

function regimeTable(regimes) {
  const list = (items, key) => items.map((item) => item[key] + " " + item.cases).join(", ");
  return table(
    "What the regimes are made of",
    ["regime", "cases", "hardware", "models", "lengths are", "regime told by"],
    regimes.map((one) => [
      one.regime,
      whole(one.cases),
      list(one.hardware, "name"),
      list(one.models, "name"),
      list(one.lengths, "known"),
      list(one.basis, "by"),
    ]),
    [0, 2, 3, 4, 5],
  );
}

function talliesOf(result) {
  const tally = (caption, items, key, count) =>
    items.length === 0
      ? null
      : table(
          caption,
          ["", count],
          items.map((one) => [one[key], whole(one[count])]),
          [0],
        );
  return element(
    "div",
    { class: "panels" },
    tally("What was assumed", result.assumptions, "assumption", "cases"),
    tally("Figures that were not scored", result.unscored_reasons, "reason", "figures"),
  );
}

function worstTable(worst) {
  if (worst.length === 0) return null;
  return table(
    "Farthest off",
    ["case", "regime", "metric", "measured", "predicted", "relative error"],
    worst.map((one) => [
      one.id,
      one.regime,
      withUnit(metricNamed(one.metric)),
      shownAs(metricNamed(one.metric), one.measured),
      shownAs(metricNamed(one.metric), one.predicted),
      changeText(one.relative_error),
    ]),
    [0, 1, 2],
  );
}

function casesNotSimulated(result) {
  if (result.cases_not_simulated === 0) return null;
  const text = (name, key) => ({
    name,
    kind: "text",
    value: (one) => one[key],
    text: (one) => one[key],
  });
  return element(
    "section",
    {},
    element("h2", {}, "What could not be simulated"),
    table(
      "Reasons",
      ["reason", "cases", "most frequent"],
      result.not_simulated_reasons.map((one) => [
        one.reason,
        whole(one.cases),
        one.details
          .slice(0, 4)
          .map(({ detail, cases }) => detail + " " + cases)
          .join(", "),
      ]),
      [0, 2],
    ),
    sortableTable(
      plural(result.cases_not_simulated, "case"),
      [text("case", "id"), text("reason", "reason"), text("detail", "detail")],
      result.not_simulated,
    ),
  );
}

function caseTable(cases) {
  const metrics = comparedMetrics(cases).slice(0, 4);
  const found = (one, metric) => one.figures.find((each) => each.metric === metric);
  const text = (name, key) => ({
    name,
    kind: "text",
    value: (one) => one[key],
    text: (one) => one[key],
  });
  return sortableTable(
    "Cases, with the relative errors of the most frequent metrics",
    [
      text("case", "id"),
      text("hardware", "hardware"),
      text("model", "model"),
      text("regime", "regime"),
      {
        name: "load factor",
        kind: "number",
        value: (one) => one.load_factor,
        text: (one) => figure(one.load_factor),
      },
      text("lengths are", "lengths"),
      ...metrics.map((metric) => ({
        name: metricNamed(metric).label,
        kind: "number",
        value: (one) => found(one, metric)?.relative_error,
        text: (one) => changeText(found(one, metric)?.relative_error),
      })),
    ],
    cases,
  );
}

function validateSection(result, leftOut) {
  const by = (name) => result.errors.filter((group) => group.by === name);
  return [
    element(
      "section",
      {},
      element("h2", {}, "Predictions and measurements"),
      regimeTable(result.regimes),
      leftOutNote(leftOut.cases, "cases", "every n-th"),
      comparisonFigure(result.cases),
    ),
    element(
      "section",
      {},
      element("h2", {}, "How far off"),
      errorTable("Errors by metric and regime", by("regime"), []),
      folded("Errors by hardware", errorTable("Errors", by("hardware"), ["hardware"])),
      folded("Errors by model", errorTable("Errors", by("model"), ["model"])),
      folded(
        "Errors by hardware and model",
        errorTable("Errors", by("hardware_and_model"), ["hardware", "model"]),
      ),
      worstTable(result.worst),
      folded(plural(result.cases_compared, "case") + " compared", caseTable(result.cases)),
      talliesOf(result),
    ),
    casesNotSimulated(result),
  ];
}
