// What admission bought: goodput of all arrivals beside the attainment of those admitted, decisions
// by reason, waste, and whether the policy ever acted.

function admissionSentences({ policy, slo, attempts, requests, tokens, decisions, liveness }) {
  const parts = ["Policy ", bold(policy), ". "];
  if (slo.goodput !== null) {
    parts.push(
      bold(percent(slo.goodput)),
      " of all " + plural(slo.counted, "request") + " that arrived met the targets, ",
      bold(percent(slo.attainment_admitted)),
      " of the " + whole(slo.admitted) + " that were admitted. ",
    );
  }
  if (attempts.amplification !== null) {
    parts.push(
      plural(requests.arrived, "request") + " made " + plural(attempts.made, "attempt") + " (",
      bold(figure(attempts.amplification)),
      " each). ",
    );
  }
  if (tokens.wasted_share !== null) {
    parts.push(
      bold(percent(tokens.wasted_share)),
      " of all tokens were computed or generated for nothing. ",
    );
  }
  if (decisions !== null) parts.push(...actedSentences(decisions, liveness));
  return element("p", { class: "verdict" }, ...parts);
}

// Two facts: whether the policy acted, and whether its signal came to the threshold.
function actedSentences(decisions, { policy_acted: acted, admits_all: all, threshold, ...facts }) {
  const parts = [];
  if (all) parts.push("The policy admits everybody, by design. ");
  else if (acted === "live") {
    parts.push(
      "The policy put off or refused in ",
      bold(whole(decisions.policy_refusals)),
      " of its " + plural(decisions.policy_decisions, "enforced decision") + ". ",
    );
  } else if (acted === "inert") {
    parts.push(
      bold("The policy refused nobody"),
      " in " + plural(decisions.policy_decisions, "enforced decision") + ", ",
      "so this run does not show what it does. ",
    );
  } else parts.push(bold("No decision of the policy was enforced. "));
  if (threshold !== null) {
    const reached = {
      live: " reached",
      marginal: " came within a tenth of",
      inert: " never came near",
      unknown: " was never known beside",
    };
    parts.push(
      threshold.signal.replaceAll("_", " ") + reached[facts.signal_reached],
      " its threshold of " + number(threshold.value) + ".",
    );
  }
  return parts;
}

function reasonTable({ by_reason: reasons, ...d }) {
  const shadow = d.shadow > 0 ? ["shadow: deferred", "shadow: rejected"] : [];
  const held = d.held > 0 ? ["held"] : [];
  const columns = ["deferred", "rejected", ...held, ...shadow];
  const keys = columns.map((name) => name.replace(": ", "_"));
  const blank = (n) => (n === 0 ? "" : whole(n));
  const rows = Object.entries(reasons).map(([reason, counts]) => [
    reason.replaceAll("_", " "),
    ...keys.map((key) => blank(counts[key])),
  ]);
  const totals = { ...d, shadow_deferred: 0, shadow_rejected: 0 };
  for (const counts of Object.values(reasons)) {
    totals.shadow_deferred += counts.shadow_deferred;
    totals.shadow_rejected += counts.shadow_rejected;
  }
  rows.push(["all", ...keys.map((key) => whole(totals[key]))]);
  return table("Attempts that were not admitted at once, by reason", ["", ...columns], rows, [0]);
}

function decisionTable(d) {
  const row = (name, n) => [name, whole(n), d.presented === 0 ? missing : percent(n / d.presented)];
  const some = (name, n) => (n > 0 ? [row(name, n)] : []);
  return table(
    "Attempts at the door",
    ["", "count", "of attempts"],
    [
      row("Presented", d.presented),
      row("Admitted", d.admitted),
      row("Deferred", d.deferred),
      row("Rejected", d.rejected),
      ...some("Left while held", d.left),
      ...some("In shadow", d.shadow),
      ...some("… would have been refused", d.shadow_refusals),
      ["Decisions by the stale rule", whole(d.stale), ""],
      ["Decisions in which the policy failed", whole(d.policy_failures), ""],
    ],
    [0],
  );
}

function admissionRequestTable({ requests, slo, sessions }) {
  const rows = [
    ["Requests", whole(requests.arrived)],
    ["… gave up", whole(requests.gave_up)],
    ["… left before the end", whole(requests.left)],
    ["… went to another provider", whole(requests.elsewhere)],
  ];
  if (slo.goodput !== null) {
    rows.push(
      ["Goodput, of all that arrived", percent(slo.goodput)],
      ["Attainment, of those admitted", percent(slo.attainment_admitted)],
      ["Goodput, requests/s of arrivals", figure(slo.goodput_of_arrivals_rps)],
      ["Offered, requests/s of arrivals", figure(slo.offered_rps)],
    );
  }
  if (sessions !== null) rows.push(["Agent sessions complete", percent(sessions.completion)]);
  return table("Requests, however many attempts they took", ["", "figure"], rows, [0]);
}

function wasteTable({ tokens }) {
  const row = (name, sums) => [name, whole(sums.prompt), whole(sums.output)];
  const causes = tokens.wasted_by_cause;
  return table(
    "Tokens computed and generated",
    ["", "prompt", "output"],
    [
      row("All", tokens.worked),
      row("Useful", tokens.useful),
      row("Wasted", tokens.wasted),
      row("… answers that missed the SLO", causes.missed),
      row("… clients had gone", causes.gone),
      row("… done again, or for nobody", causes.repeated),
    ],
    [0],
  );
}

function waitTable({ defer_s: defer, hold_s: hold }) {
  const row = (name, group) => [
    name,
    whole(group.count),
    ...quantiles.map((key) => figure(group[key])),
  ];
  const rows = [];
  if (defer.count > 0) rows.push(row("Put off (s)", defer));
  if (hold.count > 0) rows.push(row("Held at the door (s)", hold));
  if (rows.length === 0) return null;
  return table("Waiting to be admitted", ["", "count", ...quantiles], rows, [0]);
}

function signalTable(signals) {
  if (signals.length === 0) return null;
  return table(
    "Signals that the policy reads, at its decisions",
    ["", "known", "min", "p50", "p95", "max", "unit"],
    signals.map((signal) => [
      signal.signal.replaceAll("_", " "),
      percent(signal.known_share),
      ...["min", "p50", "p95", "max"].map((key) => figure(signal[key])),
      signal.unit,
    ]),
    [0, 6],
  );
}

function tenantTable(fairness) {
  if (fairness === null || fairness.tenants < 2) return null;
  const rows = fairness.rows.map((row) => [
    row.tenant,
    whole(row.requests),
    percent(row.goodput),
    whole(row.served_tokens),
    latency(row.e2e_ms_p95),
  ]);
  rows.push([
    "Jain’s index of " + whole(fairness.tenants),
    "",
    figure(fairness.goodput_jain),
    figure(fairness.tokens_jain),
    figure(fairness.latency_jain),
  ]);
  const some = fairness.rows.length < fairness.tenants ? " with the most requests" : "";
  return table(
    "Tenants" + some,
    ["", "requests", "goodput", "tokens served", "E2E p95"],
    rows,
    [0],
  );
}

function admissionSection({ admission }) {
  if (!admission) return null;
  const { decisions } = admission;
  const reasons = decisions !== null && Object.keys(decisions.by_reason).length > 0;
  return element(
    "section",
    {},
    element("h2", {}, "Admission"),
    admissionSentences(admission),
    element(
      "div",
      { class: "panels" },
      element(
        "div",
        { class: "stack" },
        decisions === null ? null : decisionTable(decisions),
        reasons ? reasonTable(decisions) : null,
      ),
      element("div", { class: "stack" }, admissionRequestTable(admission), wasteTable(admission)),
    ),
    element(
      "div",
      { class: "stack" },
      decisions === null ? null : waitTable(decisions),
      signalTable(admission.signals),
      tenantTable(admission.fairness),
    ),
  );
}
