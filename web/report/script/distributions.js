// Cumulative distributions of the latencies.

// Points at nought have no place on a logarithmic axis.
function cdfData(cdf, unit, logarithmic) {
  const values = [];
  const shares = [];
  cdf.ms.forEach((ms, i) => {
    if (logarithmic && ms <= 0) return;
    if (values.length === 0) {
      values.push(ms * unit.perMs);
      shares.push(i === 0 ? 0 : cdf.percent[i - 1]);
    }
    values.push(ms * unit.perMs);
    shares.push(cdf.percent[i]);
  });
  return [values, shares];
}

// Dots where the summary's percentiles lie on the curve. Their names stand where no curve is: above
// it to the left, or below it to the right.
function drawQuantiles(plot, paint, group, unit) {
  const pixel = uPlot.pxRatio;
  const context = plot.ctx;
  const { left, width } = plot.bbox;
  context.save();
  context.font = 12 * pixel + "px system-ui, sans-serif";
  context.textBaseline = "middle";
  for (const [key, share, sideways, down] of [
    ["p50", 50, 1, 4],
    ["p95", 95, -1, -2],
    ["p99", 99, 1, 14],
  ]) {
    const x = plot.valToPos(group[key] * unit.perMs, "x", true);
    const y = plot.valToPos(share, "y", true);
    if (!(x >= left && x <= left + width)) continue;
    context.fillStyle = paint.series[0];
    context.beginPath();
    context.arc(x, y, 3.5 * pixel, 0, 2 * Math.PI);
    context.fill();
    context.textAlign = sideways < 0 ? "right" : "left";
    context.fillStyle = paint.text;
    context.fillText(key, x + sideways * 7 * pixel, y + down * pixel);
  }
  context.restore();
}

function cdfOptions(paint, title, group, unit, limitMs, logarithmic, what) {
  const limit = limitMs === null ? null : limitMs * unit.perMs;
  const near = limit !== null && limit <= (logarithmic ? 30 : 1.6) * group.max * unit.perMs;
  const range = (plot, low, high) => {
    const data = plot.data[0];
    const whole = low <= data[0] && high >= data[data.length - 1];
    const end = near && whole ? Math.max(high, limit) : high;
    if (!whole) return [low, high];
    return logarithmic ? logRange(low, end) : [0, end * 1.04 || 1];
  };
  return {
    scales: { x: { time: false, distr: logarithmic ? 3 : 1, range }, y: { range: [0, 102] } },
    axes: [
      bottomAxis(paint, title + " (" + unit.name + ")", logarithmic ? logAxis : {}),
      leftAxis(paint, what + "s at most (%)"),
    ],
    series: [
      { label: unit.name, value: (plot, value) => figure(value) },
      {
        label: "% at most",
        stroke: paint.series[0],
        width: 1.8,
        points: { show: false },
        paths: uPlot.paths.stepped({ align: 1 }),
        value: (plot, value) => figure(value),
      },
    ],
    hooks: {
      draw: [
        (plot) => {
          if (limit !== null) drawLimit(plot, paint, "x", limit, "target " + target(limitMs));
          drawQuantiles(plot, paint, group, unit);
        },
      ],
    },
  };
}

// The distribution is of all `what`s that `ended` so.
function cdfFigure(title, name, cdf, group, limitMs, scale, what = "request", ended = "finished") {
  const unit = latencyUnit(group.p95);
  const caption =
    ["p50", "p95", "p99"].map((key) => key + " " + latency(group[key])).join(", ") +
    "; " +
    plural(cdf.count, ended + " " + what);
  if (cdf.count === 0) return null;
  return plotFigure(
    title,
    caption,
    250,
    (paint) => ({
      options: cdfOptions(paint, name, group, unit, limitMs, scale.logarithmic, what),
      data: cdfData(cdf, unit, scale.logarithmic),
    }),
    true,
  );
}

function distributions(series, summary) {
  const { ttft_ms: ttft, tpot_ms: tpot, e2e_ms: e2e, itl_ms_max: stall, slo } = summary;
  if (ttft.count === 0) return null;
  // A long tail presses a linear axis flat.
  const scale = { logarithmic: Math.max(ttft.max / ttft.p50, e2e.max / e2e.p50) > 8 };
  const first = charts.length;
  const limit = (key) => (slo === null ? null : slo[key]);
  const every = slo !== null && slo.itl_rule === "max";
  const panels = element(
    "div",
    { class: "panels" },
    cdfFigure("Time to first token", "TTFT", series.cdf.ttft, ttft, limit("ttft_ms"), scale),
    cdfFigure("End to end", "E2E", series.cdf.e2e, e2e, limit("e2e_ms"), scale),
    cdfFigure("Time per output token", "TPOT", series.cdf.tpot, tpot, null, scale),
    cdfFigure(
      "Longest gap between tokens",
      "longest gap",
      series.cdf.itl_max,
      stall,
      every ? limit("itl_ms") : null,
      scale,
    ),
  );
  const mine = charts.slice(first);
  return element(
    "section",
    {},
    element("h2", {}, "How latencies are distributed"),
    switchBox("logarithmic latency axes", scale.logarithmic, (on) => {
      scale.logarithmic = on;
      mine.forEach(drawChart);
    }),
    panels,
  );
}
