// Plots of points and lines in the plane, with the point under the pointer named below the plot.

// `describe(paint)` returns {x, y, points, lines, limits}:
//   x, y     {label, logarithmic, range, whole}: `whole` where x comes in whole numbers
//   points   [{label, colour, size, items: [{x, y, name}]}]
//   lines    [{label, colour, width, dash, items: [{x, y}]}], each in order of x
//   bands    [{colour, items: [{x, low, high}]}], likewise
//   limits   [{scale: "x" or "y", value, name, colour, depth}], see drawLimit()
// Without a label there is no key. What has no place on a logarithmic axis is left out.
function pointsFigure(title, caption, height, describe) {
  const reading = element("p", { class: "reading quiet" }, readingHint);
  const panel = plotFigure(title, caption, height, (paint) => {
    const plot = describe(paint);
    const series = seriesOf(plot);
    return {
      options: {
        ...frameOf(paint, plot),
        series: [{ label: plot.x.label }, ...series.map(({ options }) => options)],
        bands: plot.bands.map(({ colour }, index) => ({
          series: [2 * index + 1, 2 * index + 2],
          fill: colour,
        })),
        hooks: {
          draw: [
            (chart) => {
              for (const limit of plot.limits) {
                drawLimit(chart, paint, limit.scale, limit.value, limit.name, limit);
              }
            },
          ],
          setCursor: [(chart) => nameNearest(chart, series, reading)],
        },
      },
      data: columnsOf(series),
    };
  });
  panel.append(reading);
  return panel;
}

const readingHint = "Point at a dot to read it.";

// Edges of bands first, then lines, then dots, so that dots are drawn on top.
function seriesOf(plot) {
  const onAxis = (axis, value) =>
    value !== null && isFinite(value) && (!axis.logarithmic || value > 0);
  const drawable = ({ x, y }) => onAxis(plot.x, x) && onAxis(plot.y, y);
  const edge = (key, items) => ({
    items: items.map((item) => ({ x: item.x, y: item[key] })),
    options: lineSeries({ label: "", colour: "transparent" }),
  });
  return [
    ...plot.bands.flatMap(({ items }) => [edge("high", items), edge("low", items)]),
    ...plot.lines.map((line) => ({ items: line.items, options: lineSeries(line) })),
    ...plot.points.map((group) => ({ items: group.items, options: dotSeries(group) })),
  ].map((one) => ({ ...one, items: one.items.filter(drawable) }));
}

function frameOf(paint, { x, y }) {
  const range = (axis) =>
    axis.range ?? (axis.logarithmic ? (chart, low, high) => logRange(low, high) : undefined);
  const scale = (axis) => ({
    distr: axis.logarithmic ? 3 : 1,
    ...(range(axis) === undefined ? {} : { range: range(axis) }),
  });
  return {
    legend: { live: false },
    cursor: { x: false, y: false, points: { show: false }, drag: { x: true, y: true } },
    scales: { x: { time: false, ...scale(x) }, y: scale(y) },
    axes: [
      bottomAxis(paint, x.label, x.logarithmic ? logAxis : x.whole ? { incrs: wholeSteps } : {}),
      leftAxis(paint, y.label, y.logarithmic ? logAxis : {}),
    ],
  };
}

function dotSeries({ label, colour, size }) {
  return {
    label,
    stroke: colour,
    paths: () => null,
    class: label === "" ? "unnamed" : "named",
    points: { show: true, size: size || 8, width: 0, fill: colour, stroke: colour },
  };
}

function lineSeries({ label, colour, width, dash }) {
  return {
    label,
    stroke: colour,
    width: width || 1.6,
    dash,
    spanGaps: true,
    class: label === "" ? "unnamed" : "named",
    points: { show: false },
  };
}

// Rows in order of x; series that have a value at the same x share a row.
function columnsOf(series) {
  const items = series
    .flatMap(({ items: own }, index) => own.map(({ x, y }) => ({ x, y, index })))
    .sort((a, b) => a.x - b.x || a.index - b.index);
  const rows = [];
  let first = 0; // of the rows with the same x
  for (const { x, y, index } of items) {
    if (first < rows.length && rows[first].x !== x) first = rows.length;
    let at = first;
    while (at < rows.length && rows[at].values[index] !== null) ++at;
    if (at === rows.length) rows.push({ x, values: series.map(() => null) });
    rows[at].values[index] = y;
  }
  return [rows.map(({ x }) => x), ...series.map((_, i) => rows.map(({ values }) => values[i]))];
}

const nearEnough = 24; // pixels

function nameNearest(chart, series, reading) {
  const { left, top } = chart.cursor;
  let nearest = { distance: nearEnough, name: readingHint };
  series.forEach(({ items }, index) => {
    if (!chart.series[index + 1].show) return;
    for (const item of items) {
      if (item.name === undefined) continue;
      const distance = Math.hypot(
        chart.valToPos(item.x, "x") - left,
        chart.valToPos(item.y, "y") - top,
      );
      if (distance < nearest.distance) nearest = { distance, name: item.name };
    }
  });
  if (reading.textContent !== nearest.name) reading.textContent = nearest.name;
}
