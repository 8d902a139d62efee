// What became of agent programs: sessions, their turns, and the KV cache that they left behind.

// The run took longer after its last session began than before. Older folders do not say.
function longTail(sessions) {
  return Boolean(sessions && sessions.times && sessions.times.after_share > 0.5);
}

// Rates and means of such a run are mostly of hours in which next to nothing happened.
function tailSentences(sessions) {
  if (!longTail(sessions)) return [];
  const { times } = sessions;
  const busy =
    times.most_turns_s === null
      ? []
      : [
          " 99 % of the turns had finished by ",
          bold(span(times.most_turns_s)),
          ", at " + figure(times.most_turns_output_tokens_per_s) + " output tokens/s until then.",
        ];
  return [
    bold(percent(times.after_share)),
    " of the run’s time lies after the last session began, with ",
    bold(figure(times.after_sessions_mean)),
    " sessions in progress on average: rates, costs and means over time are of that too.",
    ...busy,
  ];
}

function sessionSentences(sessions) {
  const { turns, slo, reuse, turn_ttft_ms: ttft } = sessions;
  const parts = [
    "Of ",
    plural(sessions.begun, "session") + " that began, ",
    bold(whole(sessions.complete)),
    " " + wasOrWere(sessions.complete) + " complete. ",
  ];
  if (turns.finished < turns.all) {
    parts.push(
      whole(turns.failed) + " of " + plural(turns.all, "turn") + " failed, ",
      whole(turns.unfinished) + " were unfinished at the end and ",
      whole(turns.unreached) + " were never reached: ",
      "latencies are of the " + whole(turns.finished) + " that finished. ",
    );
  }
  if (ttft.count > 0) {
    parts.push(
      "95 % of the finished turns saw their first token within ",
      bold(latency(ttft.p95)),
      " of being ready. ",
    );
  }
  if (slo.turn_attainment !== null) {
    parts.push(
      bold(percent(slo.turn_attainment)),
      " of all " + plural(turns.all, "turn") + " met the targets. ",
    );
  }
  if (slo.makespan_s !== null) {
    parts.push(
      bold(percent(slo.session_attainment)),
      " of the sessions were complete within " + span(slo.makespan_s) + ". ",
    );
  }
  if (reuse.history_hit_rate !== null) {
    parts.push(
      bold(percent(reuse.history_hit_rate)),
      " of what turns had computed before was found again. ",
    );
  }
  parts.push(...tailSentences(sessions));
  return element("p", { class: "verdict" }, ...parts);
}

// A population in seconds as one in milliseconds, for the rows of the latency table.
function inMilliseconds(group) {
  return Object.fromEntries(
    Object.entries(group).map(([key, value]) => [
      key,
      key === "count" || value === null ? value : value * 1000,
    ]),
  );
}

function sessionTimesTable(sessions) {
  const row = (name, group) => latencyRow(name, group, null, null, 1).slice(0, 7);
  const plain = (name, group) => [name, ...quantiles.map((key) => figure(group[key]))];
  return table(
    "Turns that finished, and complete sessions",
    ["", ...quantiles],
    [
      row("Turn TTFT", sessions.turn_ttft_ms),
      row("Turn E2E", sessions.turn_e2e_ms),
      row("Session makespan", inMilliseconds(sessions.makespan_s)),
      plain("Session stretch", sessions.stretch),
    ],
    [0],
  );
}

function sessionTimesNote() {
  return element(
    "p",
    { class: "quiet" },
    "A turn’s latencies count from when it was ready: its chain’s last answer, gap and " +
      "sub-agents over; further attempts are part of them. Stretch: the time of a session’s " +
      "turns over that of the same turns alone on a replica that has their history.",
  );
}

function sessionCountTable({ begun, complete, failed, unfinished, turns, fairness }) {
  const row = (name, n, all) => [name, whole(n), all === 0 ? missing : percent(n / all)];
  return table(
    "Sessions and turns",
    ["", "count", "share"],
    [
      row("Sessions begun", begun, begun),
      row("… complete", complete, begun),
      row("… ended by a failed turn", failed, begun),
      row("… unfinished", unfinished, begun),
      row("Turns of these", turns.all, turns.all),
      row("… finished", turns.finished, turns.all),
      row("… failed", turns.failed, turns.all),
      row("… unfinished", turns.unfinished, turns.all),
      row("… never reached", turns.unreached, turns.all),
      ["Attempts", whole(turns.attempts), ""],
      row("Starved sessions", fairness.starved, complete),
      ["Jain’s index of progress", figure(fairness.jain), ""],
      ["Longest wait of a turn", span(fairness.queue_s_max), ""],
    ],
    [0],
  );
}

function reuseTable({ reuse, kv }) {
  return table(
    "Reuse and residence of the KV cache",
    ["", "figure", "unit"],
    [
      ["History found", percent(reuse.history_hit_rate), "of its tokens"],
      ["History computed again", whole(reuse.history_recomputed_tokens), "tokens"],
      ["Prompts found", percent(reuse.prompt_hit_rate), "of their tokens"],
      ["Same replica as the turn before", percent(reuse.routing_locality), "of turns"],
      ["Lost to computing again", figure(reuse.recompute_s), "s"],
      ["Lost to transfers", figure(reuse.transfer_s), "s"],
      ["Resident in HBM", figure(kv.hbm_gb_seconds), "GB × s"],
      ["… idle", figure(kv.idle_gb_seconds), "GB × s"],
      ...("hbm_gb_seconds_a_session" in kv
        ? [
            ["Resident, a session", figure(kv.hbm_gb_seconds_a_session), "GB × s"],
            ["… idle", figure(kv.idle_gb_seconds_a_session), "GB × s"],
          ]
        : []),
      ["Resident, mean over the run", figure(kv.gb_mean), "GB of all replicas"],
      ["Resident, peak", figure(kv.gb_peak_replica), "GB of a replica"],
      ["Dropped by TTL", whole(kv.evicted.ttl_tokens), "tokens"],
      ["Dropped under pressure", whole(kv.evicted.pressure_tokens), "tokens"],
      ["Dropped at a chain’s end", whole(kv.evicted.ended_tokens), "tokens"],
    ],
    [0, 2],
  );
}

function hostTable({ host }) {
  if (host === null) return null;
  return table(
    "Host tier",
    ["", "times", "tokens", "s", "waited for, s"],
    [
      [
        "Offload",
        whole(host.offloads),
        whole(host.offloaded_tokens),
        figure(host.offload_s),
        figure(host.exposed_s),
      ],
      [
        "Restore",
        whole(host.restores),
        whole(host.restored_tokens),
        figure(host.restore_s),
        figure(host.restore_s),
      ],
      ["Dropped there", "", whole(host.evicted_tokens), "", ""],
    ],
    [0],
  );
}

function overTimeFigure(page, summary) {
  const over = page.over_time;
  const run = shownTime(page, summary);
  const { unit } = run;
  const width = over.width_s * unit.perSecond;
  const count = over.sessions.length;
  if (count === 0) return null;
  const edges = Array.from({ length: count + 1 }, (_, i) => i * width);
  const steps = (values) => [...values, values[count - 1]];
  const turns = over.turns.length > 0;
  const step = (paint, label, index) => ({
    ...line(paint, label, index),
    paths: uPlot.paths.stepped({ align: 1 }),
  });
  return plotFigure(
    "Sessions in progress",
    (turns ? "and those of their turns that wait or are served; " : "") +
      "means over " +
      span(over.width_s) +
      shownNote(page, summary),
    230,
    (paint) => ({
      options: timeOptions(paint, run, "at once", {
        series: [
          timeSeries(run),
          step(paint, "sessions", 0),
          ...(turns ? [step(paint, "turns at the engine", 1)] : []),
        ],
      }),
      data: [edges, steps(over.sessions), ...(turns ? [steps(over.turns)] : [])],
    }),
    !turns,
  );
}

// Against a turn's number in its chain.
function byTurnOptions(paint, turns, label, series, range) {
  return {
    scales: {
      x: { time: false, range: wholeOrZoomed(turns[0] - 0.5, turns[turns.length - 1] + 0.5) },
      y: { range },
    },
    axes: [
      bottomAxis(paint, "turn of its chain", { incrs: wholeSteps }),
      leftAxis(paint, label),
    ],
    series: [{ label: "turn", value: (plot, value) => whole(value) }, ...series],
  };
}

function byTurnFigures({ by_turn: by }) {
  const few = fewDots(by.turn.length);
  if (by.turn.length === 0) return [];
  const unit = latencyUnit(by.ttft_p95.reduce((most, value) => Math.max(most, value), 0));
  const scaled = (values) => values.map((ms) => ms * unit.perMs);
  const figures = [
    plotFigure("TTFT by turn", "p50 and p95 of finished turns, from ready", 230, (paint) => ({
      options: byTurnOptions(
        paint,
        by.turn,
        "TTFT (" + unit.name + ")",
        [
          { ...line(paint, "p50", 2), ...few },
          { ...line(paint, "p95", 3), ...few },
        ],
        fromZero,
      ),
      data: [by.turn, scaled(by.ttft_p50), scaled(by.ttft_p95)],
    })),
  ];
  if (by.history_percent.some((value) => value !== null)) {
    figures.push(
      plotFigure(
        "History found by turn",
        "Share of the tokens that the turn before left",
        230,
        (paint) => ({
          options: byTurnOptions(
            paint,
            by.turn,
            "found (%)",
            [{ ...line(paint, "found", 0), ...few }],
            [0, 102],
          ),
          data: [by.turn, by.history_percent],
        }),
        true,
      ),
    );
  }
  return figures;
}

function sessionPlots(page, sessions, summary) {
  const { turn_ttft_ms: ttft, makespan_s: makespan } = sessions;
  const far = (group) => group.count > 0 && group.max > 8 * group.p50;
  const scale = { logarithmic: far(ttft) };
  const ttftLimit = summary.slo === null ? null : summary.slo.ttft_ms;
  const budget = sessions.slo.makespan_s;
  return element(
    "div",
    { class: "panels" },
    cdfFigure("Turn TTFT", "TTFT from ready", page.cdf.ttft, ttft, ttftLimit, scale, "turn"),
    cdfFigure(
      "Session makespan",
      "makespan",
      page.cdf.makespan,
      inMilliseconds(makespan),
      budget === null ? null : budget * 1000,
      { logarithmic: far(makespan) },
      "session",
      "complete",
    ),
    ...byTurnFigures(page),
  );
}

function sessionSection(page, summary) {
  const { sessions } = summary;
  if (!sessions) return null;
  return element(
    "section",
    {},
    element("h2", {}, "Agent sessions"),
    sessionSentences(sessions),
    sessionTimesTable(sessions),
    sessionTimesNote(),
    element(
      "div",
      { class: "stack" },
      element(
        "div",
        { class: "panels" },
        element("div", { class: "stack" }, sessionCountTable(sessions)),
        element("div", { class: "stack" }, reuseTable(sessions), hostTable(sessions)),
      ),
      page ? sessionPlots(page, sessions, summary) : null,
      page ? overTimeFigure(page, summary) : null,
    ),
  );
}
