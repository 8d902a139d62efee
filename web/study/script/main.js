// Builds the page of a study from what it holds.

const kinds = {
  capacity: { question: "How much load it carries", section: capacitySection },
  explore: { question: "Which deployment is worth its accelerators", section: exploreSection },
  ab: {
    question: "Whether the treatment is better than the baseline",
    section: abSection,
    shownBelow: ["Baseline", "Treatment", "Changed"],
  },
  sensitivity: {
    question: "Whether the answer holds if the model is off",
    section: sensitivitySection,
    shownBelow: ["Baseline", "Treatment", "Changed"],
  },
  ttl_sweep: {
    question: "How long a session's idle KV cache should stay in HBM",
    section: sweepSection,
  },
  affinity_sweep: {
    question: "How much longer a turn should wait to stay where its KV cache is",
    section: sweepSection,
  },
  memory_stress: {
    question: "What agent sessions lose when KV memory is short",
    section: sweepSection,
  },
  host_sweep: {
    question: "Whether to recompute idle KV, keep it in HBM or move it to host memory",
    section: sweepSection,
  },
  tune: {
    question: "What an admission policy should be set to, whatever the load",
    section: tuneSection,
  },
  validate: { question: "How far predictions are from measurements", section: validateSection },
};

function buildStudyPage({ study, result, left_out: leftOut, runs }) {
  document.title = study.name + " – InferScale " + study.kind;
  const kind = kinds[study.kind];
  const failed = runs.failed === 0 ? "" : ", " + whole(runs.failed) + " not simulated";
  const parts = [
    headingOf(
      study.name,
      [element("span", { class: "badge kind" }, study.kind), sourceBadge(study.simulated)],
      kind.question + "; " + plural(runs.count, "run") + failed,
    ),
    openingOf(study.opening, kind.shownBelow ?? []),
    warningBox(study.warnings),
    ...kind.section(result, leftOut),
    runsSection(runs),
    planSection(study),
    element(
      "footer",
      { class: "quiet" },
      "InferScale " + study.inferscale + ", made from a study folder.",
    ),
  ];
  document.getElementById("page").append(...parts.filter((part) => part !== null));
  drawAllCharts();
}

// The verdict as the text for terminals has it: sentences, some of them under a head. Those whose
// head is `shownBelow` are left to the sections.
function openingOf(parts, shownBelow) {
  const shown = parts.filter(({ head }) => !shownBelow.includes(head));
  if (shown.length === 0) return null;
  return element(
    "div",
    { class: "opening" },
    ...shown.map(({ head, text, command }) =>
      element(
        "p",
        {},
        head === "" ? null : element("span", { class: "head" }, head),
        command ? element("code", {}, text) : text,
      ),
    ),
  );
}

function planSection(study) {
  return element(
    "section",
    {},
    element("h2", {}, "What was asked"),
    study.plan === null
      ? element("p", { class: "quiet" }, "The plan is too long for this page: see study.json.")
      : keyDetails("Plan, all keys", study.plan),
    element(
      "details",
      {},
      element("summary", {}, "The result as a terminal shows it"),
      element("div", { class: "scroller" }, element("pre", {}, study.text)),
    ),
  );
}

buildStudyPage(JSON.parse(document.getElementById("data").textContent));
keepInStep();
