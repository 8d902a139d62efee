// Makes studies with the program and opens their pages in headless Chromium as a reader would: from
// disk, light and dark, wide and narrow, with every switch pressed and every table sorted.
//
//   node study_page_test.mjs INFERSCALE FOLDER [SCREENSHOTS]
//
// FOLDER is where studies are written. With SCREENSHOTS, a folder, each page is kept there as PNG
// and PDF. Ends with 77 where Chromium is not installed: skipped.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { Chromium, findChromium } from "./chromium.mjs";
import { checkClose, checkLayout, checkPlots, checkQuiet, screens } from "./page_checks.mjs";

const [inferscale, folder, screenshots] = process.argv.slice(2);
if (folder === undefined) {
  console.error("usage: node study_page_test.mjs INFERSCALE FOLDER [SCREENSHOTS]");
  process.exit(2);
}
if (findChromium() === undefined) {
  console.log("SKIPPED: Chromium is not installed (apt-get install chromium)");
  process.exit(77);
}

// What is asked of the program, and how many plots the page has.
const few = (requests) => ["--example", "--set", "workload.requests=" + requests];
const same = [
  ...["--set", "deployment.engine.scheduler=vllm"],
  ...["--set", "deployment.engine.max_num_batched_tokens=1024"],
];
const sweep = (name, ...more) => [
  ...["agents", name, "--example"],
  ...["--set", "workload.sessions.count=12", "--set", "workload.sessions.turns.max=20"],
  ...more,
];
const studies = {
  capacity: { command: ["capacity", ...few(1000), "--set", "repeats=3"], plots: 1 },
  fleet: { command: ["capacity", ...few(600), "--for-load", "40"], plots: 1 },
  never_passed: { command: ["capacity", ...few(40), "--set", "slo.ttft_ms=1"], plots: 1 },
  explore: { command: ["explore", ...few(300)], plots: 1 },
  failures: {
    command: [
      "explore",
      ...few(100),
      ...["--vary", "deployment.model=llama-3.1-8b,llama-3.1-70b"],
      ...["--vary", "deployment.engine.max_num_seqs=8,16,32"],
    ],
    plots: 1,
  },
  none_simulated: {
    command: ["explore", ...few(10), "--vary", "deployment.model=llama-3.1-70b"],
    plots: 0,
  },
  ab: { command: ["ab", ...few(200)], plots: 0 },
  same: { command: ["ab", ...few(50), ...same], plots: 0 },
  sensitivity: {
    command: ["sensitivity", ...few(100), "--set", "study.sensitivity.draws=30"],
    plots: 3,
  },
  validate: { command: ["validate", "--example"], plots: 1 },
  tune: {
    command: ["tune", ...few(200), "--set", "study.tune.capacity_rps=20"],
    plots: 0,
  },
  ttl_sweep: { command: sweep("ttl-sweep"), plots: 1 },
  affinity_sweep: { command: sweep("affinity-sweep", "--set", "repeats=2"), plots: 1 },
  memory_stress: { command: sweep("memory-stress"), plots: 1 },
  host_sweep: { command: sweep("host-sweep"), plots: 1 },
};

const place = (name) => join(folder, name);
const address = (name) => pathToFileURL(resolve(place(name), "report.html")).href;
const readJson = (name, file) => JSON.parse(readFileSync(join(place(name), file), "utf8"));

function makeStudies() {
  for (const [name, { command }] of Object.entries(studies)) {
    rmSync(place(name), { recursive: true, force: true });
    const made = [...command, "--out", place(name)];
    execFileSync(inferscale, made, { stdio: ["ignore", "ignore", "inherit"] });
    const first = readFileSync(join(place(name), "report.html"));
    execFileSync(inferscale, ["report", place(name)]);
    assert.ok(first.equals(readFileSync(join(place(name), "report.html"))), "not the same bytes");
  }
}

// A copy of a study with `edit(study, result)` done to its files.
function makeCopy(from, name, edit) {
  rmSync(place(name), { recursive: true, force: true });
  cpSync(place(from), place(name), { recursive: true });
  const study = readJson(name, "study.json");
  const result = readJson(name, "result.json");
  edit(study, result);
  writeFileSync(join(place(name), "study.json"), JSON.stringify(study));
  writeFileSync(join(place(name), "result.json"), JSON.stringify(result));
  execFileSync(inferscale, ["report", place(name)]);
}

const text = (page, selector) =>
  page.evaluate(`document.querySelector(${JSON.stringify(selector)}).textContent`);

// The cells of the table whose caption, or whose title above it, begins with `caption`.
const tableOf = (page, caption) =>
  page.evaluate(`(() => {
    const starts = (node) => node && node.textContent.startsWith(${JSON.stringify(caption)});
    const table = Array.from(document.querySelectorAll("table")).find((one) =>
      starts(one.caption) || starts(one.closest("figure")?.querySelector("h3")));
    if (table === undefined) return null;
    const line = (row) => Array.from(row.cells, (cell) => cell.textContent);
    return {
      heads: table.tHead ? line(table.tHead.rows[0]) : [],
      sorts: table.tHead
        ? Array.from(table.tHead.rows[0].cells, (cell) => cell.getAttribute("aria-sort"))
        : [],
      rows: Array.from(table.tBodies[0].rows, line),
    };
  })()`);

const pressHead = (page, caption, index) =>
  page.evaluate(`Array.from(document.querySelectorAll("table"))
    .find((one) => one.caption?.textContent.startsWith(${JSON.stringify(caption)}))
    .tHead.rows[0].cells[${index}].querySelector("button").click()`);

// A table that is not much longer than what is shown at first is shown whole.
const rowsAtFirst = (all) => (all <= 30 ? all : 25);

const numberIn = (cell) => Number(cell.replaceAll(",", "").replace("−", "-").split(" ")[0]);

async function cardsOf(page) {
  return page.evaluate(`Object.fromEntries(Array.from(document.querySelectorAll(".card"),
    (card) => [card.querySelector("dt").textContent, card.querySelector(".value").textContent]))`);
}

async function checkCapacity(page, name) {
  const result = readJson(name, "result.json");
  const shown = await cardsOf(page);
  if (result.verdict === "found") {
    const title = result.search === "replicas" ? "Smallest fleet" : "Capacity";
    checkClose(numberIn(shown[title]), result.carried, "capacity");
    checkClose(numberIn(shown.Recommended), result.recommended, "recommended");
  } else {
    assert.equal(shown["Carried up to"], "–");
    assert.equal(shown.Recommended, "–");
  }
  const { heads, rows } = await tableOf(page, "Loads that were tried");
  assert.equal(rows.length, result.probes.length);
  result.probes.forEach((probe, index) => {
    checkClose(numberIn(rows[index][0]), probe.load, "load");
    assert.equal(rows[index][1].split(" ")[0], probe.carried ? "yes" : "no");
    const worst = numberIn(rows[index][heads.indexOf("worst")].replace(">", "").trim());
    assert.ok(Math.abs(worst - 100 * probe.attainment_worst) <= 0.06, "attainment " + worst);
  });
}

async function checkExplore(page, name) {
  const result = readJson(name, "result.json");
  const simulated = result.candidates.filter((one) => one.failure === null);
  const failed = result.candidates.length - simulated.length;
  const listed = await tableOf(page, "Candidates that could not be simulated");
  assert.equal(listed === null ? 0 : listed.rows.length, failed);
  if (failed > 0) assert.match(listed.rows[0][1], /does not fit/);
  const caption = "Means of 3 repetitions";
  if (simulated.length === 0) return assert.equal(await tableOf(page, caption), null);
  const { heads, rows, sorts } = await tableOf(page, caption);
  assert.equal(rows.length, rowsAtFirst(simulated.length));
  assert.equal(sorts[2], "descending");
  const goodput = simulated.map((one) => one.figures.goodput_rps.mean).sort((a, b) => b - a);
  rows.forEach((row, i) => checkClose(numberIn(row[2]), goodput[i], "goodput of row " + i));
  for (const row of rows) {
    const candidate = simulated.find((one) => one.name === row[0]);
    for (const kind of ["performance", "efficiency", "cost"]) {
      assert.equal(row[1].includes(kind), candidate["on_" + kind + "_frontier"], row[0] + kind);
    }
  }
  const ttft = heads.indexOf("TTFT p95 (ms)");
  await pressHead(page, caption, ttft);
  const sorted = await tableOf(page, caption);
  assert.equal(sorted.sorts[ttft], "ascending");
  const times = sorted.rows.map((row) => numberIn(row[ttft]));
  assert.deepEqual(
    times,
    [...times].sort((a, b) => a - b),
  );
}

async function checkAb(page, name) {
  const result = readJson(name, "result.json");
  const { rows } = await tableOf(page, "Change of the mean");
  assert.equal(rows.length, result.metrics.length);
  result.metrics.forEach((row, index) => {
    assert.ok(rows[index][0].startsWith(row.label));
    assert.equal(rows[index][3], row.verdict.replaceAll("_", " "));
    if (row.delta_mean_relative !== null) {
      const change = numberIn(rows[index][1].replace("+", ""));
      assert.ok(Math.abs(change - 100 * row.delta_mean_relative) <= 0.06, rows[index][1]);
    }
  });
  // Intervals lie where their verdicts say: a decided one does not cross the line of no change.
  const drawn = await page.evaluate(`Array.from(document.querySelectorAll(".intervals tbody svg"),
    (svg) => {
      const at = (node, key) => parseFloat(node.getAttribute(key));
      const spread = svg.querySelector(".spread");
      const nought = at(svg.querySelector(".nought"), "x1");
      return spread === null ? null
        : [at(spread, "x1") - nought, at(spread, "x2") - nought];
    })`);
  result.metrics.forEach((row, index) => {
    if (drawn[index] === null) return;
    const [from, to] = drawn[index];
    const decided = !["no_difference_shown", "identical"].includes(row.verdict);
    assert.equal(from > 0 || to < 0, decided, row.metric + " " + drawn[index]);
  });
}

async function checkSensitivity(page, name) {
  const result = readJson(name, "result.json");
  const { rows } = await tableOf(page, "Who is ahead in 30 draws");
  const widths = await page.evaluate(`Array.from(document.querySelectorAll(".intervals tbody svg"),
    (svg) => Array.from(svg.querySelectorAll("rect"), (bar) => parseFloat(
      bar.getAttribute("width"))))`);
  result.metrics.forEach((row, index) => {
    assert.deepEqual(rows[index].slice(2, 5).map(Number), [row.wins, row.ties, row.losses]);
    checkClose(widths[index][0] + 1, (100 * row.wins) / 30 + 1, "bar of " + row.metric);
    assert.ok(Math.abs(widths[index].reduce((sum, width) => sum + width, 0) - 100) < 1e-6);
  });
  const flips = await tableOf(page, "Where one scale alone flips");
  assert.equal(flips === null ? 0 : flips.rows.length, result.flips.length);
}

async function checkValidate(page, name) {
  const result = readJson(name, "result.json");
  const groups = result.errors.filter((group) => group.by === "regime");
  const { heads, rows } = await tableOf(page, "Errors by metric and regime");
  assert.equal(rows.length, rowsAtFirst(groups.length));
  rows.forEach((row, index) => {
    assert.equal(row[1], groups[index].regime);
    assert.equal(Number(row[2]), groups[index].n);
    const mape = numberIn(row[heads.indexOf("MAPE")]);
    assert.ok(Math.abs(mape - 100 * groups[index].mape) <= 0.06, row.join(" "));
  });
  const listed = await tableOf(page, "1 case");
  assert.equal(listed.rows[0][0], result.not_simulated[0].id);
}

async function checkSweep(page, name) {
  const result = readJson(name, "result.json");
  const caption = result.repeats === 1 ? "All points" : "Means of 2 repetitions";
  const { heads, rows } = await tableOf(page, caption);
  assert.equal(rows.length, result.points.length);
  result.points.forEach((point, index) => {
    assert.equal(rows[index][0], point.name);
    const ttft = rows[index][heads.indexOf("turn TTFT p95 (ms)")];
    const expected = point.figures.turn_ttft_ms_p95;
    if (expected === null) assert.equal(ttft, "–", point.name);
    else checkClose(numberIn(ttft), expected.mean, "TTFT of " + point.name);
    const on = heads.indexOf("frontier");
    if (on >= 0) assert.equal(rows[index][on], point.on_frontier ? "yes" : "");
  });
  const shown = await cardsOf(page);
  const fastest = result.points[result.least_ttft];
  assert.equal(shown["Least turn TTFT p95"], fastest.name);
}

async function checkTune(page, name) {
  const result = readJson(name, "result.json");
  const { rows } = await tableOf(page, "SLO attainment, mean of");
  const sides = [result.tuned, ...result.controls.map(({ side }) => side)];
  assert.deepEqual(
    rows.map((row) => row[0]),
    sides.map((side) => side.policy),
  );
  rows.forEach((row, index) => {
    checkClose(numberIn(row.at(-1)), sides[index].worst_case, "worst case of " + row[0]);
  });
  const compared = await tableOf(page, "Worst case of queue_depth less");
  compared.rows.forEach((row, index) => {
    checkClose(numberIn(row[2]), result.controls[index].difference, "difference to " + row[0]);
  });
}

const checks = {
  capacity: checkCapacity,
  explore: checkExplore,
  ab: checkAb,
  sensitivity: checkSensitivity,
  validate: checkValidate,
  tune: checkTune,
  ttl_sweep: checkSweep,
  affinity_sweep: checkSweep,
  memory_stress: checkSweep,
  host_sweep: checkSweep,
};

// Every frontier, every metric: plots are drawn anew and hold something.
async function pressChoices(page, name) {
  const radios = await page.evaluate("document.querySelectorAll('input[type=radio]').length");
  for (let i = 0; i < radios; ++i) {
    await page.evaluate("document.querySelectorAll('input[type=radio]')[" + i + "].click()");
    await page.settled();
    await checkPlots(page, name, studies[name].plots);
  }
  const options = await page.evaluate("document.querySelector('select')?.options.length ?? 0");
  for (let i = 0; i < options; ++i) {
    await page.evaluate(`(() => {
      const select = document.querySelector("select");
      select.selectedIndex = ${i};
      select.dispatchEvent(new Event("change"));
    })()`);
    await page.settled();
    await checkPlots(page, name, studies[name].plots);
  }
}

// The dot under the pointer is named below its plot.
async function pointAtDots(page, name) {
  const named = await page.evaluate(`(() => {
    const found = new Set();
    for (const over of document.querySelectorAll(".u-over")) {
      const { left, top, width, height } = over.getBoundingClientRect();
      const reading = over.closest("figure").querySelector(".reading");
      for (let x = 8; x < width; x += 16) {
        for (let y = 8; y < height; y += 16) {
          const at = { clientX: left + x, clientY: top + y, bubbles: true };
          over.dispatchEvent(new MouseEvent("mousemove", at));
          found.add(reading.textContent);
        }
      }
    }
    return [...found];
  })()`);
  assert.ok(named.length > 1, name + ": no dot was named: " + named);
}

async function checkRuns(page, name) {
  const { rows, heads } = await tableOf(page, "Runs");
  const lines = readFileSync(join(place(name), "runs.jsonl"), "utf8")
    .trimEnd()
    .split("\n");
  assert.equal(rows.length, rowsAtFirst(lines.length));
  rows.forEach((row, index) => {
    const run = JSON.parse(lines[index]);
    const ofSessions = checks[readJson(name, "study.json").kind] === checkSweep;
    const command = ofSessions ? "agents" : "simulate";
    assert.ok(row[0].startsWith("inferscale " + command + " "), row[0]);
    assert.ok(row[0].includes(" --set seed=" + run.seed), row[0]);
    const ttft = run.figures.ttft_ms_p95;
    if (ttft !== undefined) {
      checkClose(numberIn(row[heads.indexOf("TTFT p95 (ms)")]), ttft, "TTFT of a run");
    } else {
      assert.equal(row[heads.indexOf("TTFT p95 (ms)")], "–");
    }
  });
}

async function checkPage(browser, name, screenName) {
  const screen = screens[screenName];
  const page = await browser.newPage(screen);
  await page.open(address(name));
  assert.deepEqual(page.problems, [], name);
  if (screenshots)
    writeFileSync(join(screenshots, name + "-" + screenName + ".png"), await page.screenshot());
  const { kind, name: title } = readJson(name, "study.json");
  assert.equal(await text(page, "h1"), title);
  assert.equal(await text(page, ".badge.kind"), kind);
  assert.equal(await text(page, ".badge:not(.kind)"), "simulated");
  assert.ok((await text(page, ".opening p")).length > 20, "a verdict");
  await checkPlots(page, name, studies[name].plots);
  await checkLayout(page, screen.width);
  await checks[kind](page, name);
  if (screenName === "light") {
    await checkRuns(page, name);
    await pressChoices(page, name);
    if (studies[name].plots > 0) await pointAtDots(page, name);
    const pdf = await page.pdf();
    assert.equal(pdf.subarray(0, 5).toString(), "%PDF-");
    if (screenshots) writeFileSync(join(screenshots, name + ".pdf"), pdf);
  }
  checkQuiet(page, address(name));
  await page.close();
}

// Text of a study is shown as text: no element of it, no script of it.
async function checkHostileText(browser) {
  const hostile =
    "</script><b id=\"broken\">bold</b><img src=x onerror=alert(1)> &amp; '{{data}}' <!-- ]]>";
  makeCopy("failures", "hostile", (study, result) => {
    study.name = hostile;
    study.warnings = [hostile];
    study.plan[hostile] = hostile;
    result.notes = [hostile];
    for (const candidate of result.candidates) {
      candidate.name = hostile;
      if (candidate.failure !== null) candidate.failure = hostile;
    }
  });
  const page = await browser.newPage(screens.phone);
  await page.open(address("hostile"));
  assert.equal(await text(page, "h1"), hostile);
  assert.equal(await text(page, ".notice li"), hostile);
  assert.equal(
    await page.evaluate("document.querySelectorAll('#broken, main img, main script').length"),
    0,
  );
  await checkPlots(page, "hostile", 1);
  await checkLayout(page, screens.phone.width);
  checkQuiet(page, address("hostile"));
  await page.close();
}

// What was not measured is not drawn as nought, and lists that are long are said to be shortened.
async function checkAbsentFigures(browser) {
  makeCopy("explore", "absent", (study, result) => {
    const [first] = result.candidates;
    for (const key of Object.keys(first.figures)) first.figures[key] = null;
    first.on_performance_frontier = false;
    const copy = { ...result.candidates[1], on_performance_frontier: false };
    for (let i = result.candidates.length; i < 4000; ++i) {
      result.candidates.push({ ...copy, index: i, name: "candidate " + i });
    }
    result.candidates_simulated = result.candidates.length;
  });
  const page = await browser.newPage(screens.light);
  await page.open(address("absent"));
  assert.match(await text(page, "#page"), /[\d,]+ of 4,000 candidates are on this page/);
  const { heads, rows } = await tableOf(page, "Means of 3 repetitions");
  assert.equal(rows.length, 25);
  await page.evaluate(`Array.from(document.querySelectorAll(".more"))
    .find((button) => !button.hidden).click()`);
  const all = (await tableOf(page, "Means of 3 repetitions")).rows;
  assert.ok(all.length > 100 && all.length <= 2000, String(all.length));
  assert.equal(all[all.length - 1][heads.indexOf("TTFT p95 (ms)")], "–");
  checkQuiet(page, address("absent"));
  await page.close();
}

mkdirSync(folder, { recursive: true });
if (screenshots) mkdirSync(screenshots, { recursive: true });
makeStudies();
const browser = await Chromium.start();
try {
  for (const name of Object.keys(studies)) {
    for (const screenName of Object.keys(screens)) await checkPage(browser, name, screenName);
    console.log("ok " + name);
  }
  await checkHostileText(browser);
  await checkAbsentFigures(browser);
  console.log("ok hostile text, absent figures");
} finally {
  await browser.close();
}
