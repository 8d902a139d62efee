// The capacity search: attainment against load, and what each load that was tried gave.

const capacitySearches = {
  rate: { load: "rate", capacity: "capacity", title: "Capacity" },
  replicas: { load: "fleet", capacity: "smallest fleet", title: "Smallest fleet" },
  trace_rate_scale: { load: "the trace's rate", capacity: "capacity", title: "Capacity" },
};

function loadText(result, load) {
  if (load === null) return missing;
  const unit = result.load_unit === "" ? "" : " " + result.load_unit;
  return number(load) + unit;
}

function probeReading(result, probe) {
  return (
    loadText(result, probe.load) +
    ": " +
    (probe.carried ? "carried" : "not carried") +
    "; attainment " +
    percent(probe.attainment_mean) +
    " on average, " +
    percent(probe.attainment_worst) +
    " at worst, TTFT p95 " +
    latency(probe.ttft_ms_p95)
  );
}

function attainmentPlot(paint, result) {
  const judged = result.probes.filter((probe) => probe.attainment_mean !== null);
  const words = capacitySearches[result.search];
  const share = (fraction) => 100 * fraction;
  const item = (probe) => ({
    x: probe.load,
    y: share(probe.attainment_worst),
    name: probeReading(result, probe),
  });
  const loads = judged.map(({ load }) => load);
  const lowest = Math.min(...judged.map((probe) => probe.attainment_worst));
  const height = 100 - share(Math.min(lowest, result.attainment_target));
  const floor = Math.max(0, 100 - 1.15 * Math.max(height, 0.1));
  const mark = (value, name, colour, depth) =>
    value === null ? [] : [{ scale: "x", value, name: name + " " + number(value), colour, depth }];
  return {
    x: {
      label: words.load + " (" + result.load_unit + ")",
      whole: result.search === "replicas",
      logarithmic: Math.max(...loads) > 8 * Math.min(...loads),
      range:
        Math.max(...loads) > 8 * Math.min(...loads)
          ? (plot, low, high) => logRange(low, high)
          : (plot, low, high) => fromZero(plot, 0, high),
    },
    y: { label: "attainment (%)", logarithmic: false, range: () => [floor, 100 + 0.04 * height] },
    bands: [
      {
        colour: paint.band,
        items: judged.map((probe) => ({
          x: probe.load,
          low: share(probe.attainment_worst),
          high: share(probe.attainment_best),
        })),
      },
    ],
    lines: [
      {
        label: "mean of the repetitions",
        colour: paint.series[0],
        items: judged.map((probe) => ({ x: probe.load, y: share(probe.attainment_mean) })),
      },
    ],
    points: [
      {
        label: "worst repetition, load carried",
        colour: paint.series[2],
        items: judged.filter(({ carried }) => carried).map(item),
      },
      {
        label: "worst repetition, load not carried",
        colour: paint.missed,
        items: judged.filter(({ carried }) => !carried).map(item),
      },
    ].filter(({ items }) => items.length > 0),
    limits: [
      {
        scale: "y",
        value: share(result.attainment_target),
        name: "target " + chosenPercent(result.attainment_target),
      },
      ...(result.verdict === "found"
        ? [
            ...mark(result.carried, words.capacity, paint.text, 0.5),
            ...mark(result.recommended, "recommended", paint.series[2], 0.75),
          ]
        : []),
    ],
  };
}

function capacityFigure(result) {
  if (result.probes.every((probe) => probe.attainment_mean === null)) return null;
  return pointsFigure(
    "Attainment against load",
    "Share of the arrivals that met the SLO, over " +
      plural(result.repetitions, "repetition") +
      " of each load; the band reaches from the worst to the best",
    320,
    (paint) => attainmentPlot(paint, result),
  );
}

function capacityCards(result) {
  const words = capacitySearches[result.search];
  const yielded = result.at_carried ?? {};
  const carried = result.carried !== null;
  const next = result.not_carried === null ? "" : "not carried: ";
  return element(
    "dl",
    { class: "cards" },
    card(
      result.verdict === "found"
        ? words.title
        : result.verdict === "not_judged"
          ? "Cannot be judged"
          : "Carried up to",
      number(result.carried),
      result.load_unit,
      next === "" ? "the highest that was tried" : next + loadText(result, result.not_carried),
    ),
    card(
      "Recommended",
      number(result.recommended),
      result.load_unit,
      chosenPercent(result.headroom) + " headroom",
    ),
    card(
      "For each accelerator",
      figure(yielded.offered_rps_per_accelerator),
      "requests/s",
      carried ? "of " + number(yielded.accelerators_mean) + ", at the load carried" : "",
    ),
    card(
      "Output",
      figure(yielded.output_tokens_per_s),
      "tokens/s",
      carried ? "at the load carried" : "",
    ),
  );
}

// What a load failed by, in words: "attainment in 3 of 5, drain in 1 of 5".
function failedBy(probe) {
  const criteria = [
    ["attainment", probe.missed_attainment],
    ["drain", probe.not_drained],
    ["unfinished requests", probe.unfinished],
    ["no request to judge", probe.not_judged],
    ["not simulated", probe.not_simulated],
  ];
  const parts = criteria
    .filter(([, count]) => count > 0)
    .map(([name, count]) => name + " in " + count + " of " + probe.repetitions);
  return [...parts, ...probe.failures].join(", ");
}

function probeTable(result) {
  const column = (name, key, text) => ({
    name,
    kind: "number",
    value: (probe) => probe[key],
    text: (probe) => text(probe[key]),
  });
  return sortableTable(
    "Loads that were tried",
    [
      column("load (" + result.load_unit + ")", "load", number),
      {
        name: "carried",
        kind: "text",
        value: (probe) => Number(probe.carried),
        text: (probe) =>
          (probe.carried ? "yes" : "no") + (probe.saturated > 0 ? " (saturated)" : ""),
      },
      {
        name: "failed by",
        kind: "text",
        value: (probe) => (failedBy(probe) === "" ? null : failedBy(probe)),
        text: failedBy,
      },
      column("attainment, mean", "attainment_mean", percent),
      column("worst", "attainment_worst", percent),
      column("best", "attainment_best", percent),
      column("deviation", "attainment_deviation", (value) =>
        value === null ? missing : figure(100 * value) + " points",
      ),
      column("TTFT p95", "ttft_ms_p95", latency),
      column("E2E p95", "e2e_ms_p95", latency),
      column("goodput (requests/s)", "goodput_rps", figure),
      column("output (tokens/s)", "output_tokens_per_s", figure),
      column("drain (s)", "drain_s", figure),
      column("allowed (s)", "drain_bound_s", figure),
      { name: "stage", kind: "text", value: (probe) => probe.stage, text: (probe) => probe.stage },
    ],
    result.probes,
    { mark: (probe) => (probe.load === result.carried ? "marked" : ""), sorted: 0 },
  );
}

function capacitySection(result) {
  return [
    capacityCards(result),
    warningBox(
      result.workload_changes.map((change) => "The workload is derived from the trace: " + change),
    ),
    element(
      "section",
      {},
      element("h2", {}, "Attainment and load"),
      capacityFigure(result),
      probeTable(result),
    ),
  ];
}
