// The top of the page: what ran, the verdict in words, the key figures and the warnings.

function heading(manifest) {
  const cut = manifest.complete
    ? null
    : element("span", { class: "badge alarm" }, "interrupted: incomplete");
  return headingOf(manifest.name, [sourceBadge(manifest.simulated), cut], subject(manifest));
}

// "llama-3.1-8b on h100-sxm, 1 replica, seed 42": as far as the manifest says.
function subject({ config, derived, trace, seed }) {
  const parts = [];
  if (derived.model) parts.push(derived.model + " on " + derived.hardware);
  const replicas = (config.deployment || {}).replicas;
  if (replicas) parts.push(plural(replicas, "replica"));
  if (trace) parts.push("trace " + trace.file);
  parts.push("seed " + seed);
  return parts.join(", ");
}

function targets(slo, classes) {
  if (classes) return "each request those of its class";
  const parts = [];
  if (slo.ttft_ms !== null) parts.push("TTFT ≤ " + target(slo.ttft_ms));
  if (slo.itl_ms !== null) {
    parts.push(
      (slo.itl_rule === "max" ? "every gap ≤ " : "p95 of its gaps ≤ ") + target(slo.itl_ms),
    );
  }
  if (slo.e2e_ms !== null) parts.push("E2E ≤ " + target(slo.e2e_ms));
  return parts.join(", ");
}

function latencySentences(summary) {
  const { ttft_ms: ttft, itl_ms: itl, e2e_ms: e2e } = summary;
  if (ttft.count === 0) return ["No request finished. "];
  const gaps =
    itl.count === 0
      ? []
      : ["Of the gaps between tokens, 95 % are at most ", bold(latency(itl.p95)), ". "];
  return [
    "Half of the finished requests saw their first token within ",
    bold(latency(ttft.p50)),
    ", 95 % within ",
    bold(latency(ttft.p95)),
    " and 99 % within ",
    bold(latency(ttft.p99)),
    ". ",
    ...gaps,
    "95 % of the answers were complete within ",
    bold(latency(e2e.p95)),
    ". ",
  ];
}

function goodputSentence(summary) {
  const { slo } = summary;
  if (slo === null) return ["No latency targets were set, so goodput is not judged. "];
  return [
    "Of the " + plural(countedRequests(summary), "arrival") + ", " + whole(slo.met) + " (",
    bold(percent(slo.goodput)),
    ") met the targets (" + targets(slo, summary.slo_classes) + "): a goodput of ",
    bold(figure(slo.goodput_rps) + " requests/s"),
    overAllTime(summary) + ". ",
  ];
}

// A run without a steady state has no percentiles of its own: said before any of them.
function steadySentence({ steady, backlog, sessions }) {
  if (steady !== false) return [];
  if (sessions) {
    return [
      bold("Not a steady state: "),
      "sessions in progress grew by ",
      bold(figure(backlog.growth_rps) + " sessions/s"),
      " of " + figure(backlog.arrivals_rps) + " that began, ",
      "so with more sessions latencies are longer. ",
    ];
  }
  return [
    bold("Not a steady state: "),
    "the backlog grew by ",
    bold(figure(backlog.growth_rps) + " requests/s"),
    " of " + figure(backlog.arrivals_rps) + " that arrived, so a longer run has longer latencies. ",
  ];
}

function lossSentences({ refused, unfinished, lost }) {
  const parts = [];
  if (lost > 0) parts.push(whole(lost) + " " + wasOrWere(lost) + " lost with a replica. ");
  if (refused > 0) parts.push(whole(refused) + " " + wasOrWere(refused) + " refused. ");
  if (unfinished > 0)
    parts.push(whole(unfinished) + " " + wasOrWere(unfinished) + " unfinished at the end. ");
  return parts;
}

// The most KV that was resident at once in a replica, as a share of what it has room for: "99.6 %".
// Nothing where replicas differ, or where the manifest does not say.
function residentShare({ sessions }, { derived }) {
  if (derived.groups || !(derived.kv_tokens > 0)) return null;
  return percent(sessions.kv.tokens_peak_replica / derived.kv_tokens);
}

// What running turns hold is next to nothing beside what is kept for the turns to come.
function sessionKvSentences(summary, manifest) {
  const { kv, sessions } = summary;
  const share = residentShare(summary, manifest);
  return [
    "KV that was resident, idle or of running turns, took ",
    bold(figure(sessions.kv.gb_mean) + " GB"),
    (summary.fleet && summary.fleet.replicas > 1 ? " in all replicas" : "") + " on average, ",
    bold(figure(sessions.kv.gb_peak_replica) + " GB"),
    " at the peak of a replica" + (share === null ? "" : " (" + share + " of its KV cache)"),
    ...(kv.used_fraction_mean === null
      ? []
      : [
          "; of all blocks running turns held " + percent(kv.used_fraction_mean) + " on average, ",
          percent(kv.used_fraction_peak) + " at the peak",
        ]),
    ". ",
  ];
}

function kvSentences(summary, manifest) {
  const { kv, sessions } = summary;
  if (sessions && sessions.kv.gb_mean !== null) return sessionKvSentences(summary, manifest);
  if (kv.used_fraction_mean === null) return [];
  return [
    "The KV cache was ",
    bold(percent(kv.used_fraction_mean)),
    " full on average and ",
    bold(percent(kv.used_fraction_peak)),
    " at its peak. ",
  ];
}

// What rates and costs of a run that is long over before its end are taken over.
function overAllTime(summary) {
  return longTail(summary.sessions) ? ", over all " + span(summary.duration_s) : "";
}

function usageSentences(summary, manifest) {
  const cost = summary.accelerator_hours_per_million_output_tokens;
  const parts = kvSentences(summary, manifest);
  if (cost !== null) {
    parts.push(
      "A million output tokens took ",
      bold(figure(cost) + " accelerator-hours"),
      overAllTime(summary) + ".",
    );
  }
  return parts;
}

function verdict(summary, manifest) {
  if (summary.requests.arrived === 0)
    return element("p", { class: "verdict" }, "No request arrived.");
  return element(
    "p",
    { class: "verdict" },
    ...steadySentence(summary),
    ...latencySentences(summary),
    ...goodputSentence(summary),
    ...lossSentences(summary.requests),
    ...usageSentences(summary, manifest),
  );
}

function latencyCard(name, group, quantile, others, steady) {
  if (group.count === 0) return card(name + " " + quantile, missing, "", "no request");
  const [value, unit] = latency(group[quantile]).split(" ");
  return card(
    name + " " + quantile,
    value,
    unit,
    others.map((other) => other + " " + latency(group[other])).join(", ") +
      (steady === false ? "; not steady" : ""),
  );
}

function kvCard(summary, manifest) {
  const { kv, sessions } = summary;
  if (!sessions || sessions.kv.gb_mean === null) {
    return card(
      "KV cache, peak",
      percent(kv.used_fraction_peak),
      "",
      percent(kv.used_fraction_mean) + " on average",
    );
  }
  const share = residentShare(summary, manifest);
  return card(
    "KV resident, peak",
    figure(sessions.kv.gb_peak_replica),
    "GB",
    (share === null ? "" : share + " of a replica’s; ") +
      figure(sessions.kv.gb_mean) +
      " GB on average" +
      (summary.fleet && summary.fleet.replicas > 1 ? " in all replicas" : "") +
      overAllTime(summary),
  );
}

function cards(summary, manifest) {
  const { slo, throughput, steady } = summary;
  return element(
    "dl",
    { class: "cards" },
    latencyCard("TTFT", summary.ttft_ms, "p95", ["p50", "p99"], steady),
    latencyCard("ITL", summary.itl_ms, "p95", ["p50", "p99"], steady),
    latencyCard("E2E", summary.e2e_ms, "p95", ["p50", "p99"], steady),
    slo === null
      ? card("SLO attainment", missing, "", "no targets set")
      : card(
          "SLO attainment",
          percent(slo.goodput),
          "",
          whole(slo.met) + " of " + whole(countedRequests(summary)) + " arrivals",
        ),
    slo === null
      ? card("Goodput", missing, "", "no targets set")
      : card(
          "Goodput",
          figure(slo.goodput_rps),
          "requests/s",
          "met the SLO" + overAllTime(summary) + ", " + figure(throughput.offered_rps) + " offered",
        ),
    card(
      "Throughput",
      figure(throughput.output_tokens_per_s),
      "output tokens/s",
      figure(throughput.finished_rps) + " requests/s finished" + overAllTime(summary),
    ),
    kvCard(summary, manifest),
    card(
      "Cost",
      figure(summary.accelerator_hours_per_million_output_tokens),
      "accelerator-hours",
      "per million output tokens" + overAllTime(summary),
    ),
  );
}

function warnings(manifest) {
  const sentences = manifest.warnings.slice();
  if (!manifest.complete)
    sentences.unshift("The run was interrupted: these figures are of what had finished.");
  return warningBox(sentences);
}
