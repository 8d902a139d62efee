// All runs of the study: what each was, and its main figures.

function runsSection(runs) {
  if (runs.count === 0) return null;
  const metrics = runs.figures.map(metricNamed);
  const columns = [
    { name: "repeat with", kind: "key", value: (run) => run.order, text: (run) => run.repeat },
    ...metrics.map((metric, index) => ({
      name: withUnit(metric),
      kind: "number",
      value: (run) => run.figures[index],
      text: (run) => shownAs(metric, run.figures[index]),
    })),
  ];
  if (runs.failed > 0) {
    columns.push({
      name: "why there are no figures",
      kind: "text",
      value: (run) => run.failure,
      text: (run) => run.failure ?? "",
    });
  }
  const shown = runs.rows.length;
  const left =
    shown === runs.count
      ? ""
      : " The first " +
        whole(shown) +
        " are listed here" +
        (runs.failed > 0 ? ", and later ones that could not be simulated; " : "; ") +
        "runs.jsonl of the study folder holds all.";
  return element(
    "section",
    {},
    element("h2", {}, "All runs"),
    element(
      "p",
      { class: "quiet" },
      plural(runs.count, "run") +
        (runs.failed === 0 ? "" : ", of which " + whole(runs.failed) + " could not be simulated") +
        ". The command repeats a run: in the place of the scenario's name comes the file with " +
        "its configuration, and what the study itself was given with --set has to be added." +
        left,
    ),
    folded(
      plural(shown, "run") + " with figures and commands",
      sortableTable(
        "Runs",
        columns,
        runs.rows.map((run, order) => ({ ...run, order })),
      ),
    ),
  );
}
