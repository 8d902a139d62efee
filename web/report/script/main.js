// Builds the page from the run that it holds.

const run = JSON.parse(document.getElementById("data").textContent);

function buildPage({ manifest, summary, series, fleet, sessions }) {
  document.title = manifest.name + " – InferScale report";
  const noOutcomes = series.cdf
    ? null
    : element(
        "p",
        { class: "notice" },
        "The run did not keep its outcomes, so there are no plots of single requests.",
      );
  document
    .getElementById("page")
    .append(
      ...[
        heading(manifest),
        verdict(summary, manifest),
        cards(summary, manifest),
        warnings(manifest),
        admissionSection(summary),
        sessionSection(sessions, summary),
        element(
          "section",
          {},
          element("h2", {}, "Figures"),
          latencyTable(summary),
          latencyNotes(summary),
          classTable(summary),
          element(
            "div",
            { class: "panels" },
            element("div", { class: "stack" }, requestTable(summary), throughputTable(summary)),
            element("div", { class: "stack" }, resourceTable(summary), confidenceTable(summary)),
          ),
          fleet ? element("div", { class: "stack" }, poolTable(summary), fleetTable(fleet)) : null,
        ),
        noOutcomes,
        series.cdf ? distributions(series, summary) : null,
        timelines(series, summary, manifest, sessions),
        series.lengths ? lengthSection(series.lengths) : null,
        configuration(manifest),
        element(
          "footer",
          { class: "quiet" },
          "InferScale " +
            manifest.inferscale +
            ", seed " +
            manifest.seed +
            ", mode " +
            manifest.mode +
            ", run folder version " +
            manifest.version +
            ".",
        ),
      ].filter((part) => part !== null),
    );
  drawAllCharts();
}

buildPage(run);
keepInStep();
