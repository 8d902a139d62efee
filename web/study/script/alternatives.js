// What a baseline and a treatment are, where they differ, and runs of theirs that failed.

function alternativesSection({ baseline, treatment, changes }) {
  const side = ({ name, file }) => name + " (" + file + ")";
  const shown = (value) => value ?? "(none)";
  return element(
    "section",
    {},
    element("h2", {}, "What is compared"),
    changes.length === 0
      ? element("p", {}, "Baseline and treatment have the same configuration.")
      : table(
          "Where they differ",
          ["key", "baseline: " + side(baseline), "treatment: " + side(treatment)],
          changes.map((one) => [one.key, shown(one.baseline), shown(one.treatment)]),
          [0, 1, 2],
        ),
  );
}

function failuresSection(failures) {
  if (failures.length === 0) return null;
  return element(
    "section",
    {},
    element("h2", {}, "What could not be simulated"),
    sortableTable(
      plural(failures.length, "run") + " without figures",
      [
        { name: "run", kind: "key", value: (one) => one.run, text: (one) => one.run },
        {
          name: "alternative",
          kind: "text",
          value: (one) => one.alternative,
          text: (one) => one.alternative,
        },
        { name: "reason", kind: "text", value: (one) => one.reason, text: (one) => one.reason },
      ],
      failures,
    ),
  );
}
