// Sweeps over agent sessions: p95 turn TTFT against what each point takes, or what is left of the
// attainment when memory is short.

const sweeps = {
  ttl_sweep: { point: "TTL", frontier: true, title: "What each time to live takes and gives" },
  affinity_sweep: { point: "router", frontier: true, title: "What locality gives and costs" },
  memory_stress: { point: "budget", frontier: false, title: "What is left when memory is short" },
  host_sweep: { point: "idle KV", frontier: true, title: "What each strategy takes and gives" },
};

const sweepShares = [
  { metric: "turn_attainment", label: "turns within the SLO", colour: 0 },
  { metric: "session_attainment", label: "sessions complete in time", colour: 1 },
  { metric: "history_hit_rate", label: "history found", colour: 2 },
];

function losesSome(point) {
  return (meanOf(point, "turns_failed") ?? 0) > 0 || (point.sessions_incomplete ?? 0) > 0;
}

function sweepReading(result, point) {
  const kv = metricNamed("kv_gb_mean");
  const failed = meanOf(point, "turns_failed") ?? 0;
  return (
    point.name +
    ": turn TTFT p95 " +
    latency(meanOf(point, "turn_ttft_ms_p95")) +
    ", " +
    withUnit(kv) +
    " " +
    figure(meanOf(point, "kv_gb_mean")) +
    ", history found " +
    percent(meanOf(point, "history_hit_rate")) +
    (losesSome(point)
      ? "; " +
        number(failed) +
        " turns failed, " +
        number(point.sessions_incomplete) +
        " sessions incomplete"
      : "")
  );
}

function sweepFrontierPlot(paint, result, points) {
  const metric = metricNamed(result.against);
  const share = result.against === "history_hit_rate";
  const latencies = points.map((one) => meanOf(one, "turn_ttft_ms_p95") ?? 0);
  const unit = latencyUnit(Math.max(...latencies));
  const least = Math.min(...latencies.filter((ms) => ms > 0));
  const item = (one) => {
    const x = meanOf(one, result.against);
    const ttft = meanOf(one, "turn_ttft_ms_p95");
    return {
      x: x === null || !share ? x : 100 * x,
      y: ttft === null ? null : ttft * unit.perMs,
      name: sweepReading(result, one),
    };
  };
  const on = points
    .filter((one) => one.on_frontier)
    .map(item)
    .sort((a, b) => a.x - b.x);
  const off = points.filter((one) => one.is_choice && !one.on_frontier);
  const beaten = off.filter((one) => !losesSome(one)).map(item);
  const lossy = off.filter(losesSome).map(item);
  const other = points.filter((one) => !one.is_choice).map(item);
  const limit = result.slo.ttft_ms;
  return {
    x: {
      label: share ? metric.label + " (%)" : withUnit(metric),
      logarithmic: false,
      range: share
        ? (plot, low, high) => [Math.max(0, low - 2), Math.min(100, high + 2)]
        : (plot, low, high) => fromZero(plot, 0, high),
    },
    y: {
      label: "turn TTFT p95 (" + unit.name + ")",
      logarithmic: Math.max(...latencies) > 20 * least,
      ...(Math.max(...latencies) > 20 * least
        ? {}
        : { range: (plot, low, high) => fromZero(plot, 0, high) }),
    },
    points: [
      { label: "beaten by another", colour: paint.point, size: 7, items: beaten },
      { label: "beaten, and turns failed", colour: paint.missed, size: 7, items: lossy },
      { label: "with another bandwidth", colour: paint.series[1], size: 7, items: other },
      { label: "frontier", colour: paint.series[2], size: 10, items: on },
    ].filter(({ items }) => items.length > 0),
    lines: [{ label: "", colour: paint.series[2], items: on.map(({ x, y }) => ({ x, y })) }],
    bands: [],
    limits:
      limit === null
        ? []
        : [{ scale: "y", value: limit * unit.perMs, name: "target " + target(limit) }],
  };
}

function budgetPlot(paint, result, points) {
  const shares = sweepShares
    .map(({ metric, label, colour }) => ({
      label,
      colour: paint.series[colour],
      items: points
        .filter((one) => meanOf(one, metric) !== null && one.value !== null)
        .map((one) => ({
          x: one.value,
          y: 100 * meanOf(one, metric),
          name: label + ", " + percent(meanOf(one, metric)) + "; " + sweepReading(result, one),
        })),
    }))
    .filter(({ items }) => items.length > 0);
  return {
    x: {
      label: "KV cache, multiples of the peak without evictions",
      logarithmic: false,
      range: (plot, low, high) => fromZero(plot, 0, high),
    },
    y: { label: "%", logarithmic: false, range: () => [0, 102] },
    points: shares.map((share) => ({ ...share, size: 8 })),
    lines: shares.map(({ colour, items }) => ({
      label: "",
      colour,
      items: items.map(({ x, y }) => ({ x, y })),
    })),
    bands: [],
    limits: [{ scale: "x", value: 1, name: "peak" }],
  };
}

function sweepFigure(result, points) {
  const kind = sweeps[result.kind];
  const drawn = points.filter((one) => meanOf(one, "turn_ttft_ms_p95") !== null);
  if (drawn.length < 2) return null;
  const runs =
    "Each dot is " +
    (result.repeats === 1 ? "one run" : "the mean of " + plural(result.repeats, "repetition")) +
    ", with the same sessions for all";
  return kind.frontier
    ? pointsFigure(
        kind.title,
        runs +
          "; further down is better, and so is further " +
          (result.against === "history_hit_rate" ? "right" : "left"),
        340,
        (paint) => sweepFrontierPlot(paint, result, drawn),
      )
    : pointsFigure(kind.title, runs, 340, (paint) => budgetPlot(paint, result, drawn));
}

function sweepTable(result, points) {
  if (points.length === 0) return null;
  const kind = sweeps[result.kind];
  // What the plot is about stands first.
  const first = ["turn_ttft_ms_p95", "kv_gb_mean", "history_hit_rate"];
  const others = Object.keys(points[0].figures).filter((name) => !first.includes(name));
  const shown = [...first, ...others].filter((name) =>
    points.some((one) => meanOf(one, name) !== null),
  );
  const spread = (one, name) => {
    const sd = one.figures[name].sd;
    return sd === null || sd === 0 ? "" : " ± " + shownAs(metricNamed(name), sd);
  };
  return sortableTable(
    result.repeats === 1 ? "All points" : "Means of " + plural(result.repeats, "repetition"),
    [
      {
        name: kind.point,
        kind: "text",
        value: (one) => points.indexOf(one),
        text: (one) => one.name,
      },
      ...(kind.frontier
        ? [
            {
              name: "frontier",
              kind: "text",
              value: (one) => (one.on_frontier ? "yes" : null),
              text: (one) => (one.on_frontier ? "yes" : ""),
            },
          ]
        : []),
      {
        name: "incomplete sessions",
        kind: "number",
        value: (one) => one.sessions_incomplete,
        text: (one) => number(one.sessions_incomplete),
      },
      ...shown.map((name) => ({
        name: withUnit(metricNamed(name)),
        note: name,
        kind: "number",
        value: (one) => meanOf(one, name),
        text: (one) =>
          meanOf(one, name) === null
            ? missing
            : shownAs(metricNamed(name), meanOf(one, name)) + spread(one, name),
      })),
    ],
    points,
    { mark: (one) => (one.on_frontier ? "marked" : ""), sorted: 0 },
  );
}

// "retain up to 10 GB/s", "offload from 25 GB/s on": what the recommendation hangs on.
function bandwidthCard(result) {
  if (result.kind !== "host_sweep" || result.answers.length === 0) return null;
  const capacity = result.answers[0].capacity_gb;
  const ranges = [];
  for (const { bandwidth_gb_s: bandwidth, strategy } of result.answers.filter(
    (one) => one.capacity_gb === capacity,
  )) {
    if (ranges.at(-1)?.strategy !== strategy) ranges.push({ strategy, first: bandwidth });
    ranges.at(-1).last = bandwidth;
  }
  const words = ranges.map(
    ({ strategy, first, last }) =>
      strategy + " at " + number(first) + (first === last ? "" : " to " + number(last)) + " GB/s",
  );
  return card(
    "Bandwidth of host memory",
    number(result.configured_bandwidth_gb_s),
    "GB/s",
    "as configured; the answer with " + number(capacity) + " GB: " + words.join(", "),
  );
}

function sweepCards(result) {
  const named = (title, index, absent) => {
    if (index === null) return card(title, missing, "", absent);
    const point = result.points[index];
    return card(
      title,
      point.name,
      "",
      "turn TTFT p95 " +
        latency(meanOf(point, "turn_ttft_ms_p95")) +
        ", history found " +
        percent(meanOf(point, "history_hit_rate")),
    );
  };
  const failed = result.points_not_simulated;
  return element(
    "dl",
    { class: "cards" },
    named("Recommended", result.recommended, "no point"),
    named("Least turn TTFT p95", result.least_ttft, "no turn finished"),
    result.slo.ttft_ms === null
      ? null
      : named("Within " + target(result.slo.ttft_ms), result.within_slo, "no point"),
    bandwidthCard(result),
    card(
      "Points",
      whole(result.points_simulated),
      "simulated",
      failed === 0 ? "all of them" : whole(failed) + " could not be",
    ),
  );
}

function sweepSection(result, leftOut) {
  const simulated = result.points.filter((one) => one.failure === null);
  return [
    sweepCards(result),
    warningBox(result.notes),
    element(
      "section",
      {},
      element("h2", {}, "Points"),
      leftOutNote(leftOut.points, "points", "all that are on the frontier, and every n-th"),
      sweepFigure(result, simulated),
      sweepTable(result, simulated),
      notSimulatedTable("point", result.points),
    ),
  ];
}
