// Histograms of prompt and output lengths.

function lengthCaption(lengths) {
  const { first, width, counts } = lengths;
  if (lengths.min === lengths.max) return "All have " + plural(lengths.max, "token");
  let text =
    whole(lengths.min) +
    " to " +
    plural(lengths.max, "token") +
    ", in bars of " +
    plural(width, "token");
  if (lengths.open_ended) {
    text +=
      "; the last bar: " +
      plural(counts[counts.length - 1], "request") +
      " of " +
      whole(first + (counts.length - 1) * width) +
      " tokens or more";
  }
  return text;
}

// The open bar has a colour of its own: it is as wide as the others but stands for more.
function lengthPlot(paint, lengths) {
  const { first, width, counts } = lengths;
  const starts = counts.map((_, i) => first + i * width);
  const last = counts.length - 1;
  const open = (i) => lengths.open_ended && i === last;
  const bar = (label, colour) => ({
    label,
    stroke: colour,
    fill: colour,
    points: { show: false },
    paths: uPlot.paths.bars({ size: [1, Infinity], align: 1, gap: 1 }),
    value: (plot, value) => whole(value),
  });
  // A lone bar takes its width from empty neighbours.
  const data = [
    [first - width, ...starts, first + counts.length * width],
    [0, ...counts.map((n, i) => (open(i) ? 0 : n)), 0],
    [0, ...counts.map((n, i) => (open(i) ? n : 0)), 0],
  ];
  return {
    options: {
      scales: {
        x: {
          time: false,
          range: wholeOrZoomed(starts[0] - width * 0.5, first + (last + 1.5) * width),
        },
        y: { range: fromZero },
      },
      axes: [
        bottomAxis(paint, "tokens", { incrs: wholeSteps }),
        leftAxis(paint, "requests", { incrs: wholeSteps }),
      ],
      series: [
        { label: "tokens from", value: (plot, value) => whole(value) },
        bar("requests", paint.series[0]),
        { ...bar("and longer", paint.series[1]), show: lengths.open_ended },
      ],
    },
    data,
  };
}

function lengthSection(lengths) {
  if (lengths.prompt.counts.length === 0) return null;
  const panel = (title, one) =>
    plotFigure(title, lengthCaption(one), 220, (paint) => lengthPlot(paint, one), !one.open_ended);
  return element(
    "section",
    {},
    element("h2", {}, "How long prompts and answers are"),
    element(
      "div",
      { class: "panels" },
      panel("Prompt length", lengths.prompt),
      panel("Output length", lengths.output),
    ),
  );
}
