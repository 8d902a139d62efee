// The figures of the summary as tables, and the configuration with all its keys.

const quantiles = ["mean", "p50", "p90", "p95", "p99", "max"];

// One row: its name with the unit that suits its values, and all its figures in that unit.
function latencyRow(name, group, limit, met, counted) {
  const unit = latencyUnit(group.p95 || 0);
  const scaled = (ms, shown) => (ms === null ? missing : shown(ms * unit.perMs));
  return [
    name + " (" + unit.name + ")",
    ...quantiles.map((key) => scaled(group[key], figure)),
    scaled(limit, number),
    met === null ? missing : percent(met / counted),
  ];
}

// The requests that latency and goodput are about: all but those of the warm-up. Older folders have
// no warm-up.
function countedRequests(summary) {
  return summary.warmup ? summary.warmup.counted : summary.requests.arrived;
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
    latencyRow(name, summary[key], limit, met, countedRequests(summary));
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
    "Latency of finished requests" +
      (summary.steady === false ? ": no steady state, figures follow from the run’s length" : ""),
    heads.slice(0, shown),
    rows.map((cells) => cells.slice(0, shown)),
    [0],
  );
}

// Each class of service by its own targets; null in runs without.
function classTable({ slo_classes: classes, sessions }) {
  if (!classes) return null;
  const share = (part) => (part === null ? missing : percent(part));
  const rows = classes.map((one) => {
    const any = [one.ttft_ms, one.itl_ms, one.e2e_ms].some((limit) => limit !== null);
    return [
      one.name,
      any ? targets(one) : "none",
      whole(one.priority),
      whole(one.counted),
      whole(one.met),
      share(one.goodput),
      share(one.attainment_admitted),
      one.ttft_ms_p95 === null ? missing : latency(one.ttft_ms_p95),
      whole(one.refused),
      whole(one.deferred),
    ];
  });
  const heads = ["", "targets", "priority", sessions ? "attempts" : "requests", "met", "goodput"];
  return table(
    "Classes of service, each by its own targets",
    [...heads, "of those admitted", "TTFT p95", "refused", "deferred"],
    rows,
    [0, 1],
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
  const warmup = summary.warmup || { excluded: 0 };
  if (warmup.excluded > 0) {
    notes.push(
      plural(warmup.excluded, "request") +
        " that arrived before " +
        span(warmup.end_s) +
        " " +
        wasOrWere(warmup.excluded) +
        " left out of latency and goodput as warm-up; their gaps are part of ITL.",
    );
  }
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

// How far the figures can be trusted. Older folders do not say.
function confidenceTable({ confidence, steady }) {
  if (!confidence || steady === false) return null;
  const rows = [];
  const add = (name, key, shown) => {
    const interval = confidence[key];
    if (interval) rows.push([name, shown(interval.low), shown(interval.high)]);
  };
  add("TTFT, mean", "ttft_ms_mean", latency);
  add("TTFT, p95", "ttft_ms_p95", latency);
  add("TPOT, mean", "tpot_ms_mean", latency);
  add("E2E, mean", "e2e_ms_mean", latency);
  add("E2E, p95", "e2e_ms_p95", latency);
  add("Queue, mean", "queue_ms_mean", latency);
  add("SLO attainment", "goodput", percent);
  if (rows.length === 0) return null;
  return table(
    "Confidence intervals, " + number(100 * confidence.level) + " %",
    ["", "from", "to"],
    rows,
    [0],
  );
}

// One row a replica, or the quantiles over each pool.
function fleetTable(fleet) {
  if (!fleet) return null;
  const rows = fleet.rows.map((row) => [
    row.pool + " " + row.replica,
    span(row.up_s),
    percent(row.busy_fraction),
    whole(row.finished),
    whole(row.preemptions),
    percent(row.prefix_hit_rate),
    percent(row.kv_used_mean),
    percent(row.kv_used_peak),
    whole(row.queue_peak),
  ]);
  const heads = ["", "up", "computing", "finished", "preempted", "prefix hits"];
  return table(
    fleet.quantiles ? "Quantiles over " + plural(fleet.replicas, "replica") : "Replicas",
    [...heads, "KV mean", "KV peak", "waiting, peak"],
    rows,
    [0],
  );
}

// How evenly each pool was loaded.
function poolTable({ fleet }) {
  if (!fleet || fleet.replicas < 2) return null;
  return table(
    "Pools",
    ["", "replicas", "accelerator-hours", "computing", "busiest / mean", "most finished / mean"],
    fleet.pools.map((pool) => [
      pool.pool,
      whole(pool.replicas),
      figure(pool.accelerator_hours),
      percent(pool.busy_fraction),
      figure(pool.busy_imbalance),
      figure(pool.finished_imbalance),
    ]),
    [0],
  );
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
  if (requests.lost > 0) rows.push(row("Lost with a replica", requests.lost));
  // Older folders do not say.
  if (requests.deferred > 0) rows.push(row("Deferred, and gave up", requests.deferred));
  if (requests.abandoned > 0) rows.push(row("Left before the end", requests.abandoned));
  const counted = countedRequests(summary);
  if (counted < requests.arrived) rows.push(row("Warm-up, left out", requests.arrived - counted));
  if (slo !== null && counted > 0) {
    const whose = counted < requests.arrived ? "Met the SLO, of those that count" : "Met the SLO";
    rows.push([whose, whole(slo.met), percent(slo.met / counted)]);
  }
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
  const held = summary.sessions ? "KV cache held by running turns" : "KV cache in use";
  return table(
    "Resources",
    ["", "figure", "unit"],
    [
      [held + ", mean", percent(kv.used_fraction_mean), "of its blocks"],
      [held + ", peak", percent(kv.used_fraction_peak), "of its blocks"],
      ["Running, mean", figure(batch.running_mean), "requests"],
      ["Running, peak", whole(batch.running_peak), "requests"],
      ["Waiting, peak", whole(queue.depth_peak), "requests"],
      ["Computing", percent(summary.utilisation), "of the time"],
      ["Preemptions", whole(summary.preemptions), "times"],
      ["Computed again", whole(summary.recomputed_tokens), "tokens"],
      ...(typeof summary.prefix_hit_rate === "number"
        ? [["Found in the prefix cache", percent(summary.prefix_hit_rate), "of prompt tokens"]]
        : []),
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

function configuration(manifest) {
  return element(
    "section",
    {},
    element("h2", {}, "What was run"),
    keyDetails("Configuration, all keys", manifest.config),
    keyDetails("Derived from it", manifest.derived),
    manifest.trace ? keyDetails("Trace", manifest.trace) : null,
  );
}
