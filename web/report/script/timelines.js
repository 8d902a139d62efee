// Plots against time: the state of the replicas, rates, and each request's TTFT.

// Options of a plot over the run's whole time, in the unit that suits its length.
function timeOptions(paint, run, label, more) {
  return {
    cursor: { sync: timeGroup },
    axes: [bottomAxis(paint, "time (" + run.unit.name + ")"), leftAxis(paint, label, more.left)],
    ...more,
    scales: {
      x: { time: false, range: wholeOrZoomed(0, run.end) },
      y: { range: fromZero },
      ...more.scales,
    },
  };
}

// The time that plots show, in the unit that suits it: of agent programs only up to where nearly
// all turns had finished, when the run goes on for long after that.
function shownTime(sessions, summary) {
  const seconds = sessions && sessions.until_s ? sessions.until_s : summary.duration_s;
  const unit = timeUnit(seconds);
  return { unit, end: seconds * unit.perSecond || 1 };
}

function shownNote(sessions, summary) {
  if (!sessions || !sessions.until_s) return "";
  return (
    "; the first " +
    span(sessions.until_s) +
    " of " +
    span(summary.duration_s) +
    ", when 99 % of the turns had finished"
  );
}

function timeSeries(run) {
  return { label: "time (" + run.unit.name + ")", value: (plot, value) => figure(value) };
}

function line(paint, label, index) {
  return {
    label,
    stroke: paint.series[index],
    width: 1.6,
    points: { show: false },
    value: (plot, value) => figure(value),
  };
}

// A few readings are shown as dots too: a single one makes no line.
function fewDots(count) {
  return { points: { show: count <= 30, size: 6 } };
}

// Mean as a line; least and greatest as a band when a point stands for more than one reading.
function spreadPlot(paint, run, points, quantity, label, limit) {
  const time = points.t_s.map((t) => t * run.unit.perSecond);
  const edge = (name) => ({
    label: name,
    stroke: "transparent",
    points: { show: false },
    value: (plot, value) => figure(value),
  });
  const banded = quantity.max !== null;
  const top = quantity.max || quantity.mean;
  const highest = top.reduce((most, value) => Math.max(most, value), 0);
  const limitNear = limit !== null && limit.value <= 1.5 * highest;
  const options = timeOptions(paint, run, label, {
    left: label === "%" ? {} : { incrs: wholeSteps },
    scales: {
      y: {
        range: (plot, low, high) =>
          fromZero(plot, low, limitNear ? Math.max(high, limit.value) : high),
      },
    },
    series: banded
      ? [timeSeries(run), edge("max"), edge("min"), line(paint, "mean", 0)]
      : [timeSeries(run), { ...line(paint, label, 0), ...fewDots(time.length), fill: paint.band }],
    bands: banded ? [{ series: [1, 2], fill: paint.band }] : [],
    hooks: {
      draw: [
        (plot) => {
          if (limitNear) drawLimit(plot, paint, "y", limit.value, limit.name);
        },
      ],
    },
  });
  const data = banded ? [time, quantity.max, quantity.min, quantity.mean] : [time, quantity.mean];
  return { options, data };
}

function stateFigures(run, points, manifest, ofSessions) {
  if (points.t_s.length === 0) {
    return [element("p", { class: "quiet" }, "The run kept no readings of its state.")];
  }
  const thinned =
    points.instants_per_point === 1
      ? ""
      : "; each point stands for " +
        points.instants_per_point +
        " readings: their mean, least and greatest";
  const kept = plural(points.instants, "reading") + thinned;
  const together = points.replicas > 1 ? ", " + points.replicas + " replicas together" : "";
  const engine = (manifest.config.deployment || {}).engine || {};
  const most = engine.max_num_seqs
    ? {
        value: engine.max_num_seqs * points.replicas,
        name: "max_num_seqs " + whole(engine.max_num_seqs * points.replicas),
      }
    : null;
  const state = (title, note, quantity, label, limit) =>
    plotFigure(
      title,
      note,
      190,
      (paint) => spreadPlot(paint, run, points, quantity, label, limit),
      quantity.max === null,
    );
  const figures = [
    state(
      "Queue depth",
      "Requests that wait" + together + "; " + kept,
      points.queue,
      "requests",
      null,
    ),
    state("Running batch", "Requests in the batch" + together, points.running, "requests", most),
  ];
  if (points.kv.mean.some((value) => value !== null)) {
    figures.push(
      state(
        ofSessions ? "KV cache held by running turns" : "KV cache in use",
        (points.replicas > 1
          ? "Share of the blocks: mean over the replicas, the emptiest and the fullest"
          : "Share of the blocks") + (ofSessions ? "; idle KV is not in it" : ""),
        points.kv,
        "%",
        { value: 100, name: "full" },
      ),
    );
  }
  return figures;
}

// Steps that begin at each bin; the last value is repeated at the end of the run.
function ratesFigure(run, rates) {
  const bins = rates.arrived.length;
  if (bins === 0) return null;
  const width = rates.width_s * run.unit.perSecond;
  const edges = Array.from({ length: bins + 1 }, (_, i) => i * width);
  const steps = (values) => [...values, values[bins - 1]];
  const refusals = rates.refused.some((rate) => rate > 0);
  const deferrals = rates.deferred.some((rate) => rate > 0);
  return plotFigure(
    "Arrivals and completions",
    "Requests a second, over " + plural(bins, "bin") + " of " + span(rates.width_s) + " each",
    230,
    (paint) => {
      const step = (label, index) => ({
        ...line(paint, label, index),
        paths: uPlot.paths.stepped({ align: 1 }),
      });
      return {
        options: timeOptions(paint, run, "requests/s", {
          series: [
            timeSeries(run),
            step("arrived", 0),
            step("finished", 2),
            ...(refusals ? [step("refused", 1)] : []),
            ...(deferrals ? [step("deferred", 3)] : []),
          ],
        }),
        data: [
          edges,
          steps(rates.arrived),
          steps(rates.finished),
          ...(refusals ? [steps(rates.refused)] : []),
          ...(deferrals ? [steps(rates.deferred)] : []),
        ],
      };
    },
  );
}

// Points of requests and of the percentile lines together, in order of time.
function scatterData(run, scatter, over, unit, logarithmic) {
  const rows = [];
  scatter.t_s.forEach((t, i) => {
    const ms = scatter.ms[i] * unit.perMs;
    if (logarithmic && ms <= 0) return;
    const missed = scatter.verdict[i] === "-";
    rows.push([t * run.unit.perSecond, missed ? null : ms, missed ? ms : null, null, null]);
  });
  over.t_s.forEach((t, i) =>
    rows.push([
      t * run.unit.perSecond,
      null,
      null,
      over.p50[i] * unit.perMs,
      over.p95[i] * unit.perMs,
    ]),
  );
  rows.sort((a, b) => a[0] - b[0]);
  return [0, 1, 2, 3, 4].map((column) => rows.map((row) => row[column]));
}

function scatterOptions(paint, run, unit, limitMs, judged, group, scale) {
  const dots = (label, fill) => ({
    label,
    stroke: fill,
    paths: () => null,
    points: { show: true, size: group.count < 500 ? 6 : 4, width: 0, fill, stroke: fill },
    value: (plot, value) => figure(value),
  });
  const limit = limitMs === null ? null : limitMs * unit.perMs;
  const limitNear =
    limit !== null && limit <= (scale.logarithmic ? 30 : 1.6) * group.max * unit.perMs;
  const range = (plot, low, high) => {
    const end = limitNear ? Math.max(high, limit) : high;
    return scale.logarithmic ? logRange(low, end) : fromZero(plot, low, end);
  };
  return timeOptions(paint, run, "TTFT (" + unit.name + ")", {
    left: scale.logarithmic ? logAxis : {},
    scales: { y: { distr: scale.logarithmic ? 3 : 1, range } },
    series: [
      timeSeries(run),
      dots(judged ? "met the SLO" : "request", paint.point),
      dots("missed it", paint.missed),
      { ...line(paint, "p50", 2), spanGaps: true },
      { ...line(paint, "p95", 3), spanGaps: true },
    ].map((one, i) => (i === 2 && !judged ? { ...one, show: false } : one)),
    hooks: {
      draw: [
        (plot) => {
          if (limit !== null) drawLimit(plot, paint, "y", limit, "target " + target(limitMs));
        },
      ],
    },
  });
}

function scatterSection(run, series, summary) {
  const { scatter, ttft_over_time: over } = series;
  if (scatter.ms.length === 0) return null;
  const group = summary.ttft_ms;
  const unit = latencyUnit(group.p95 || 0);
  const scale = { logarithmic: group.max > 20 * group.p50 };
  const drawn =
    scatter.group === 1
      ? "each dot is a request"
      : whole(scatter.ms.length) +
        " of " +
        whole(scatter.candidates) +
        " requests are drawn: of every " +
        whole(scatter.group) +
        " in a row the fastest, the slowest and two more";
  const lines = over.t_s.length < 2 ? "" : "; lines: p50 and p95 of all requests over time";
  const panel = plotFigure(
    "Time to first token against arrival",
    "By arrival; " + drawn + lines,
    300,
    (paint) => ({
      options: scatterOptions(
        paint,
        run,
        unit,
        summary.slo === null ? null : summary.slo.ttft_ms,
        summary.slo !== null,
        group,
        scale,
      ),
      data: scatterData(run, scatter, over, unit, scale.logarithmic),
    }),
  );
  const chart = charts[charts.length - 1];
  panel.insertBefore(
    switchBox("logarithmic TTFT axis", scale.logarithmic, (on) => {
      scale.logarithmic = on;
      drawChart(chart);
    }),
    panel.lastChild,
  );
  return panel;
}

function timelines(series, summary, manifest, sessions) {
  const run = shownTime(sessions, summary);
  const part = shownNote(sessions, summary);
  return element(
    "section",
    {},
    element("h2", {}, "Over time"),
    element(
      "p",
      { class: "quiet hint" },
      "Drag across a plot to zoom in on a time, double-click to see all.",
      part === "" ? null : " The plots show" + part.slice(1) + ".",
    ),
    ...stateFigures(run, series.timeline, manifest, Boolean(summary.sessions)),
    series.rates ? ratesFigure(run, series.rates) : null,
    series.scatter ? scatterSection(run, series, summary) : null,
  );
}
