// The figures of the summary as tables, and the configuration with all its keys.

const quantiles = ["mean", "p50", "p90", "p95", "p99", "max"];

// One row: its name with the unit that suits its values, and all its figures in that unit.
function latencyRow(name, group, limit, met, requests) {
  const unit = latencyUnit(group.p95 || 0);
  const scaled = (ms, shown) => (ms === null ? missing : shown(ms * unit.perMs));
  return [
    name + " (" + unit.name + ")",
    ...quantiles.map((key) => scaled(group[key], figure)),
    scaled(limit, number),
    met === null ? missing : percent(met / requests.arrived),
  ];
}

function latencyTable(summary) {
  const slo = summary.slo || {
    ttft_ms: null,
    itl_ms: null,
    e2e_ms: null,
    ttft_met: null,
    itl_met: null,
    e2e_met: null,
  };
  const row = (name, key, limit, met) =>
    latencyRow(name, summary[key], limit, met, summary.requests);
  const rows = [
    row("TTFT", "ttft_ms", slo.ttft_ms, slo.ttft_met),
    row("ITL", "itl_ms", slo.itl_ms, slo.itl_met),
    row("E2E", "e2e_ms", slo.e2e_ms, slo.e2e_met),
    row("TPOT", "tpot_ms", null, null),
    row("Longest gap", "itl_ms_max", null, null),
    row("Queue", "queue_ms", null, null),
  ];
  const heads = ["", ...quantiles, "target", "met"];
  // Without any target the last two columns would be empty.
  const shown = summary.slo === null ? -2 : heads.length;
  return table(
    "Latency of finished requests",
    heads.slice(0, shown),
    rows.map((cells) => cells.slice(0, shown)),
    [0],
  );
}

function latencyNotes(summary) {
  const notes = [
    "TTFT, time to first token; ITL, gaps between tokens, of all requests together" +
      " (to " +
      percent(summary.itl_ms.relative_error || 0) +
      "); E2E, from arrival to last token;" +
      " TPOT, mean gap of a request; longest gap, of each request; queue, from arrival to first" +
      " step." +
      " Percentiles are nearest-rank.",
  ];
  if (summary.slo !== null) {
    notes.push(
      "“Met” is of all arrivals, so refused and unfinished requests count against it." +
        (summary.slo.itl_ms === null
          ? ""
          : summary.slo.itl_rule === "max"
            ? " ITL is met by a request when every gap of it is within the target."
            : " ITL is met by a request when the p95 of its own gaps is within the target."),
    );
  }
  return element("p", { class: "quiet" }, notes.join(" "));
}

function requestTable(summary) {
  const { requests, slo } = summary;
  const share = (n) => (requests.arrived === 0 ? missing : percent(n / requests.arrived));
  const row = (name, n) => [name, whole(n), share(n)];
  const rows = [
    row("Arrived", requests.arrived),
    row("Finished", requests.finished),
    row("Refused", requests.refused),
  ];
  for (const [reason, n] of Object.entries(requests.refused_by_reason)) {
    if (n > 0) rows.push(row("… " + reason.replaceAll("_", " "), n));
  }
  rows.push(row("Unfinished", requests.unfinished));
  if (slo !== null) rows.push(row("Met the SLO", slo.met));
  return table("Requests", ["", "count", "of arrivals"], rows, [0]);
}

function throughputTable(summary) {
  const { throughput } = summary;
  return table(
    "Throughput",
    ["", "figure", "unit"],
    [
      ["Duration", ...span(summary.duration_s).split(" ")],
      ["Offered", figure(throughput.offered_rps), "requests/s"],
      ["Finished", figure(throughput.finished_rps), "requests/s"],
      ["Output tokens", figure(throughput.output_tokens_per_s), "tokens/s"],
      ["Prompt and output tokens", figure(throughput.total_tokens_per_s), "tokens/s"],
    ],
    [0, 2],
  );
}

function resourceTable(summary) {
  const { kv, batch, queue } = summary;
  return table(
    "Resources",
    ["", "figure", "unit"],
    [
      ["KV cache in use, mean", percent(kv.used_fraction_mean), "of its blocks"],
      ["KV cache in use, peak", percent(kv.used_fraction_peak), "of its blocks"],
      ["Running, mean", figure(batch.running_mean), "requests"],
      ["Running, peak", whole(batch.running_peak), "requests"],
      ["Waiting, peak", whole(queue.depth_peak), "requests"],
      ["Computing", percent(summary.utilisation), "of the time"],
      ["Preemptions", whole(summary.preemptions), "times"],
      ["Computed again", whole(summary.recomputed_tokens), "tokens"],
      ["Accelerators", figure(summary.accelerator_hours), "hours"],
      [
        "Accelerators, for a million output tokens",
        figure(summary.accelerator_hours_per_million_output_tokens),
        "hours",
      ],
    ],
    [0, 2],
  );
}

// Every leaf of a configuration by its dotted path.
function leaves(value, path) {
  if (value === null || typeof value !== "object") return [[path, value]];
  const entries = Object.entries(value);
  if (entries.length === 0) return [[path, value]];
  if (
    Array.isArray(value) &&
    entries.every(([, item]) => item === null || typeof item !== "object")
  ) {
    return [[path, value]];
  }
  return entries.flatMap(([key, item]) => leaves(item, path === "" ? key : path + "." + key));
}

function keyTable(tree) {
  const shown = (value) => (typeof value === "string" ? value : JSON.stringify(value));
  return element(
    "table",
    { class: "figures" },
    element(
      "tbody",
      {},
      ...leaves(tree, "").map(([path, value]) =>
        element(
          "tr",
          {},
          element("td", { class: "key" }, path),
          element("td", { class: "key" }, shown(value)),
        ),
      ),
    ),
  );
}

function configuration(manifest) {
  const part = (title, tree) =>
    element("details", {}, element("summary", {}, title), element("div", {}, keyTable(tree)));
  return element(
    "section",
    {},
    element("h2", {}, "What was run"),
    part("Configuration, all keys", manifest.config),
    part("Derived from it", manifest.derived),
    manifest.trace ? part("Trace", manifest.trace) : null,
  );
}
