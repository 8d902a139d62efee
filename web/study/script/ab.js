// The paired comparison: relative changes with their intervals, and all figures.

const abVerdicts = {
  better: { words: "better", look: "good" },
  worse: { words: "worse", look: "bad" },
  higher: { words: "higher", look: "other" },
  lower: { words: "lower", look: "other" },
  no_difference_shown: { words: "no difference shown", look: "open" },
  identical: { words: "identical", look: "open" },
  differs: { words: "differs on this one workload", look: "open" },
  too_few_pairs: { words: "too few pairs", look: "open" },
  not_comparable: { words: "not comparable", look: "open" },
};

function abName(row) {
  return row.label + (row.unit === "" ? "" : " (" + row.unit + ")");
}

function abIntervals(result) {
  const level = number(100 * result.interval_confidence) + " %";
  return intervalTable(
    "Change of the mean from baseline to treatment",
    "Dots: mean difference of " +
      plural(result.pairs, "pair") +
      " over the baseline's mean. " +
      "Lines: its " +
      level +
      " interval; the verdict says whether it holds nought. " +
      plural(result.judged, "metric") +
      " " +
      wasOrWere(result.judged) +
      " judged, so " +
      figure(result.expected_by_chance) +
      " verdicts by chance alone are to be expected.",
    result.metrics.map((row) => ({
      name: abName(row),
      change: {
        low: row.interval_low_relative,
        middle: row.delta_mean_relative,
        high: row.interval_high_relative,
      },
      verdict: abVerdicts[row.verdict].words,
      look: abVerdicts[row.verdict].look,
    })),
  );
}

function abTable(result) {
  const show = (row, value) => shownAs(metricNamed(row.metric), value);
  const column = (name, key) => ({
    name,
    kind: "number",
    value: (row) => row[key],
    text: (row) => figure(row[key]),
  });
  const counted = (name, key) => ({ ...column(name, key), text: (row) => whole(row[key]) });
  const ownWay = (name, key) => ({ ...column(name, key), text: (row) => show(row, row[key]) });
  const relative = (name, key) => ({ ...column(name, key), text: (row) => changeText(row[key]) });
  const columns = [
    { name: "metric", kind: "text", value: abName, text: abName },
    ownWay("baseline", "baseline_mean"),
    ownWay("treatment", "treatment_mean"),
    column("mean difference", "delta_mean"),
    column("from", "interval_low"),
    column("to", "interval_high"),
    column("median difference", "delta_median"),
    relative("change per pair", "relative_change_mean"),
    counted("won", "wins"),
    counted("tied", "ties"),
    counted("lost", "losses"),
    counted("pairs", "pairs"),
  ];
  return sortableTable("All metrics", columns, result.metrics);
}

function abSection(result) {
  return [
    warningBox(result.notes),
    element(
      "section",
      {},
      element("h2", {}, "Treatment against baseline"),
      abIntervals(result),
      abTable(result),
    ),
    alternativesSection(result),
    failuresSection(result.failures),
  ];
}
