// Metrics by the names that result.json gives them (docs/metrics.md), in words and with their unit.

const metricWords = {
  ttft: "TTFT",
  tpot: "TPOT",
  itl: "ITL",
  e2e: "E2E",
  queue: "queue time",
  kv: "KV",
};

// Names that their parts do not tell.
const metricsByName = {
  goodput: { label: "SLO attainment", unit: "", show: percent },
  slo_attainment: { label: "SLO attainment", unit: "", show: percent },
  goodput_rps: { label: "goodput", unit: "requests/s" },
  goodput_rps_per_accelerator: { label: "goodput per accelerator", unit: "requests/s" },
  attainment_admitted: { label: "attainment of admitted", unit: "", show: percent },
  ttft_met: { label: "TTFT target met", unit: "", show: percent },
  itl_met: { label: "ITL target met", unit: "", show: percent },
  e2e_met: { label: "E2E target met", unit: "", show: percent },
  offered_rps: { label: "offered", unit: "requests/s" },
  finished_rps: { label: "finished", unit: "requests/s" },
  request_throughput: { label: "finished", unit: "requests/s" },
  output_tokens_per_s: { label: "output tokens", unit: "tokens/s" },
  rejected_share: { label: "attempts rejected", unit: "", show: percent },
  deferred_share: { label: "attempts deferred", unit: "", show: percent },
  prefix_hit_rate: { label: "prefix hit rate", unit: "", show: percent },
  kv_used_mean: { label: "KV use, mean", unit: "", show: percent },
  kv_used_peak: { label: "KV use, peak", unit: "", show: percent },
  utilisation: { label: "utilisation", unit: "", show: percent },
  history_hit_rate: { label: "history found", unit: "", show: percent },
  prompt_hit_rate: { label: "prompt found", unit: "", show: percent },
  routing_locality: { label: "routing locality", unit: "", show: percent },
  turn_attainment: { label: "turns within the SLO", unit: "", show: percent },
  session_attainment: { label: "sessions complete in time", unit: "", show: percent },
  kv_gb_mean: { label: "KV in HBM, mean", unit: "GB" },
  kv_gb_peak_replica: { label: "KV in HBM, peak of a replica", unit: "GB" },
  kv_tokens_peak_replica: { label: "KV in HBM, peak of a replica", unit: "tokens" },
  host_gb_peak: { label: "KV in host memory, peak", unit: "GB" },
  hbm_gb_seconds: { label: "KV in HBM", unit: "GB s" },
  history_recomputed_tokens: { label: "history recomputed", unit: "tokens" },
  evicted_ttl_tokens: { label: "evicted by TTL", unit: "tokens" },
  evicted_pressure_tokens: { label: "evicted under pressure", unit: "tokens" },
  recompute_s: { label: "time of recomputing", unit: "s" },
  transfer_s: { label: "time waited for transfers", unit: "s" },
  exposed_s: { label: "exposed offload time", unit: "s" },
  jain: { label: "Jain's index of sessions", unit: "" },
  starved: { label: "starved sessions", unit: "" },
  accelerators_mean: { label: "accelerators", unit: "" },
  cost_per_hour: { label: "cost", unit: "an hour" },
  good_requests_per_cost: { label: "good requests for a unit of cost", unit: "" },
  saturated: { label: "saturated", unit: "", show: (value) => (value ? "yes" : "no") },
};

// {label, unit, show}: "ttft_ms_p95" is TTFT p95 in ms.
function metricNamed(name) {
  const known = metricsByName[name];
  if (known) return { show: figure, ...known };
  const timed = /^(ttft|tpot|itl|e2e|queue)_ms(?:_(.+))?$/.exec(name);
  if (timed) {
    const statistic = timed[2] === undefined ? "" : " " + timed[2];
    return { label: metricWords[timed[1]] + statistic, unit: "ms", show: figure };
  }
  const ofTurns = /^turn_(ttft|e2e)_ms_(.+)$/.exec(name);
  if (ofTurns) {
    return {
      label: "turn " + metricWords[ofTurns[1]] + " " + ofTurns[2],
      unit: "ms",
      show: figure,
    };
  }
  const makespan = /^session_makespan_s_(.+)$/.exec(name);
  if (makespan) return { label: "session makespan " + makespan[1], unit: "s", show: figure };
  const seconds = /^(.+)_s$/.exec(name);
  if (seconds) return { label: seconds[1].replaceAll("_", " "), unit: "s", show: figure };
  return { label: name.replaceAll("_", " "), unit: "", show: figure };
}

// A share that somebody chose, a target or a band, is a round number.
function chosenPercent(fraction) {
  return number(100 * fraction) + " %";
}

function withUnit({ label, unit }) {
  return unit === "" ? label : label + " (" + unit + ")";
}

// A value that may be missing, in the metric's own way.
function shownAs(metric, value) {
  return value === null || value === undefined ? missing : metric.show(value);
}
