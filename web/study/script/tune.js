// The search for a policy's parameters: who serves how well at each load, what sets the tuned
// policy apart from each control, and all that was tried.

const tuneVerdicts = {
  better: "better",
  worse: "worse",
  does_not_matter: "does not matter",
  identical: "identical",
  differs: "differs on this one workload",
  too_few: "too few seeds",
  not_comparable: "not comparable",
};

function tuneSides(result) {
  return [result.tuned, ...result.controls.map(({ side }) => side)];
}

// "limit 12"; of a side that is set anew at each load: so many words.
function tuneSetting(side) {
  if (side.parameters.length !== 1) return "its volume at each load";
  return Object.entries(side.parameters[0])
    .map(([key, value]) => key + " " + value)
    .join(", ");
}

function tuneLoadTable(result) {
  const shown = (spread) => (spread === null ? missing : figure(spread.mean));
  return table(
    metricNamed(result.metric).label + ", mean of " + plural(result.fresh_repeats, "fresh seed"),
    ["policy", "set to", ...result.loads.map(({ factor }) => number(factor) + " x"), "worst case"],
    tuneSides(result).map((side) => [
      side.policy,
      tuneSetting(side),
      ...side.at_loads.map((figures) => shown(figures[result.metric])),
      side.worst_case === null ? missing : figure(side.worst_case),
    ]),
    [1],
  );
}

function tuneControlTable(result) {
  const shown = (value) => (value === null ? missing : figure(value));
  return table(
    "Worst case of " + result.policy + " less that of each control",
    ["control", "verdict", "difference", "from", "to"],
    result.controls.map(({ side, verdict, difference, interval }) => [
      side.policy,
      tuneVerdicts[verdict],
      shown(difference),
      shown(interval === null ? null : interval.low),
      shown(interval === null ? null : interval.high),
    ]),
    [1],
  );
}

function tuneTrialTable(result) {
  const columns = result.searched.map(({ parameter }) => ({
    name: parameter,
    kind: "number",
    value: (trial) => trial.parameters[parameter],
    text: (trial) => number(trial.parameters[parameter]),
  }));
  columns.push({
    name: "worst case",
    kind: "number",
    value: (trial) => trial.worst_case,
    text: (trial) => (trial.worst_case === null ? missing : figure(trial.worst_case)),
  });
  const best = JSON.stringify(result.best.parameters);
  return sortableTable("Candidates in the search", columns, result.trials, {
    mark: (trial) => (JSON.stringify(trial.parameters) === best ? "marked" : ""),
    sorted: 0,
  });
}

function tuneSection(result, leftOut) {
  return [
    warningBox(result.notes),
    element(
      "section",
      {},
      element("h2", {}, "What was found, and the controls"),
      tuneLoadTable(result),
      tuneControlTable(result),
    ),
    element(
      "section",
      {},
      element("h2", {}, "The search"),
      tuneTrialTable(result),
      leftOutNote(leftOut.trials, "candidates", "every n-th"),
    ),
  ];
}
