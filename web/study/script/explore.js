// The design study: what each candidate gives for what it takes, and those that none other beats.

// Each frontier has its own axis to the right; upwards is always p95 TTFT.
const frontiers = [
  { name: "performance", key: "on_performance_frontier", metric: "goodput_rps" },
  { name: "efficiency", key: "on_efficiency_frontier", metric: "goodput_rps_per_accelerator" },
  { name: "cost", key: "on_cost_frontier", metric: "good_requests_per_cost" },
];

function meanOf(candidate, metric) {
  const spread = candidate.figures[metric];
  return spread === null || spread === undefined ? null : spread.mean;
}

function frontiersOf(candidate) {
  return frontiers.filter(({ key }) => candidate[key]).map(({ name }) => name);
}

function candidateReading(candidate, frontier) {
  const metric = metricNamed(frontier.metric);
  const on = frontiersOf(candidate);
  return (
    candidate.name +
    ": " +
    withUnit(metric) +
    " " +
    figure(meanOf(candidate, frontier.metric)) +
    ", TTFT p95 " +
    latency(meanOf(candidate, "ttft_ms_p95")) +
    (on.length === 0 ? "" : "; frontier of " + on.join(", ")) +
    (candidate.saturated_runs > 0 ? "; saturated" : "")
  );
}

function frontierPlot(paint, result, candidates, frontier) {
  const unit = latencyUnit(Math.max(...candidates.map((one) => meanOf(one, "ttft_ms_p95") ?? 0)));
  const item = (one) => ({
    x: meanOf(one, frontier.metric),
    y: meanOf(one, "ttft_ms_p95") === null ? null : meanOf(one, "ttft_ms_p95") * unit.perMs,
    name: candidateReading(one, frontier),
  });
  const on = candidates
    .filter((one) => one[frontier.key])
    .map(item)
    .sort((a, b) => a.x - b.x);
  const others = candidates.filter((one) => !one[frontier.key]);
  const steady = others.filter((one) => one.saturated_runs === 0).map(item);
  const saturated = others.filter((one) => one.saturated_runs > 0).map(item);
  const limit = result.slo.ttft_ms;
  return {
    x: {
      label: withUnit(metricNamed(frontier.metric)),
      logarithmic: false,
      range: (plot, low, high) => fromZero(plot, 0, high),
    },
    y: { label: "TTFT p95 (" + unit.name + ")", logarithmic: true },
    points: [
      { label: "beaten by another", colour: paint.point, size: 7, items: steady },
      { label: "beaten, and saturated", colour: paint.missed, size: 7, items: saturated },
      { label: frontier.name + " frontier", colour: paint.series[2], size: 10, items: on },
    ].filter(({ items }) => items.length > 0),
    lines: [{ label: "", colour: paint.series[2], items: on.map(({ x, y }) => ({ x, y })) }],
    bands: [],
    limits:
      limit === null
        ? []
        : [{ scale: "y", value: limit * unit.perMs, name: "target " + target(limit) }],
  };
}

// One plot, and a choice of the frontier that it shows.
function frontierFigure(result, candidates) {
  const offered = frontiers.filter(({ key, metric }) =>
    candidates.some((one) => one[key] && meanOf(one, metric) !== null),
  );
  if (offered.length === 0) return null;
  const state = { frontier: offered[0] };
  const panel = pointsFigure(
    "What each candidate gives",
    "Each dot is the mean of " +
      plural(result.repeats, "repetition") +
      " of a candidate; further right and further down is better",
    340,
    (paint) => frontierPlot(paint, result, candidates, state.frontier),
  );
  const chart = charts[charts.length - 1];
  const choice = (frontier) => {
    const button = element("input", { type: "radio", name: "frontier" });
    button.checked = frontier === state.frontier;
    button.addEventListener("change", () => {
      state.frontier = frontier;
      drawChart(chart);
    });
    const axis = metricNamed(frontier.metric).label;
    return element("label", { class: "switch" }, button, frontier.name + ": " + axis);
  };
  const choices = element(
    "fieldset",
    { class: "choices" },
    element("legend", {}, "Frontier"),
    ...offered.map(choice),
  );
  panel.insertBefore(choices, chart.holder);
  return panel;
}

// Keys of which candidates have more than one value.
function keysThatDiffer(result) {
  const text = (candidate, key) => JSON.stringify(settingOf(result, candidate, key));
  return result.keys.filter(
    (key) => new Set(result.candidates.map((candidate) => text(candidate, key))).size > 1,
  );
}

function settingOf(result, candidate, key) {
  const set = candidate.settings[key];
  return set === undefined ? result.as_configured[key] : set;
}

function settingShown(value) {
  if (value === null) return "none";
  return typeof value === "string" ? value : JSON.stringify(value);
}

function candidateColumns(result, candidates) {
  const priced = candidates.some((one) => meanOf(one, "cost_per_hour") !== null);
  const metrics = [
    "goodput_rps",
    "goodput",
    "ttft_ms_p95",
    "itl_ms_p95",
    "e2e_ms_p95",
    "accelerators_mean",
    "goodput_rps_per_accelerator",
    ...(priced ? ["cost_per_hour", "good_requests_per_cost"] : []),
  ];
  const spreadNote = "mean of the repetitions; sorted by it";
  return [
    { name: "candidate", kind: "text", value: (one) => one.name, text: (one) => one.name },
    {
      name: "frontier of",
      kind: "text",
      value: (one) => (frontiersOf(one).length === 0 ? null : frontiersOf(one).join(", ")),
      text: (one) => frontiersOf(one).join(", ") + (one.saturated_runs > 0 ? " (saturated)" : ""),
    },
    ...metrics
      .filter((name) => candidates.some((one) => meanOf(one, name) !== null))
      .map((name) => ({
        name: withUnit(metricNamed(name)),
        note: spreadNote,
        kind: "number",
        value: (one) => meanOf(one, name),
        text: (one) => shownAs(metricNamed(name), meanOf(one, name)),
      })),
    ...keysThatDiffer(result).map((key) => ({
      name: result.short_keys[result.keys.indexOf(key)],
      note: key,
      kind: "setting",
      value: (one) => {
        const value = settingOf(result, one, key);
        return typeof value === "number" ? value : settingShown(value);
      },
      text: (one) => settingShown(settingOf(result, one, key)),
    })),
  ];
}

function exploreCards(result) {
  const named = (index) => result.candidates.find((one) => one.index === index);
  const best = (title, index, metric, absent) => {
    if (index === null) return card(title, missing, "", absent);
    const candidate = named(index);
    if (candidate === undefined) return card(title, missing, "", "candidate " + index);
    const { unit, ...one } = metricNamed(metric);
    return card(title, shownAs(one, meanOf(candidate, metric)), unit, candidate.name);
  };
  return element(
    "dl",
    { class: "cards" },
    best("Most goodput", result.most_goodput, "goodput_rps", "no candidate"),
    best("Least TTFT p95", result.least_ttft, "ttft_ms_p95", "no candidate"),
    best(
      "Cheapest with " + chosenPercent(result.attainment) + " attainment",
      result.cheapest,
      result.cheapest_by,
      "no candidate reaches it",
    ),
    card(
      "Candidates",
      whole(result.candidates_simulated),
      "simulated",
      result.candidates_not_simulated === 0
        ? "all of them"
        : whole(result.candidates_not_simulated) + " could not be",
    ),
  );
}

function candidateTable(result, candidates) {
  if (candidates.length === 0) return null;
  return sortableTable(
    "Means of " + plural(result.repeats, "repetition"),
    candidateColumns(result, candidates),
    candidates,
    {
      mark: (one) => (frontiersOf(one).length > 0 ? "marked" : ""),
      sorted: 2,
      down: true,
    },
  );
}

// `kind`: what the rows are, "candidate" or "point".
function notSimulatedTable(kind, rows) {
  const failed = rows.filter((one) => one.failure !== null);
  if (failed.length === 0) return null;
  return sortableTable(
    kind[0].toUpperCase() + kind.slice(1) + "s that could not be simulated",
    [
      { name: kind, kind: "text", value: (one) => one.name, text: (one) => one.name },
      { name: "reason", kind: "text", value: (one) => one.failure, text: (one) => one.failure },
    ],
    failed,
  );
}

function exploreSection(result, leftOut) {
  const simulated = result.candidates.filter((one) => one.failure === null);
  return [
    exploreCards(result),
    warningBox(result.notes),
    element(
      "section",
      {},
      element("h2", {}, "Candidates"),
      leftOutNote(leftOut.candidates, "candidates", "all that are on a frontier, and every n-th"),
      frontierFigure(result, simulated),
      candidateTable(result, simulated),
      notSimulatedTable("candidate", result.candidates),
    ),
  ];
}
