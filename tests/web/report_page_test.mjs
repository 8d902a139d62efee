// Opens the report pages in headless Chromium as a reader would: from disk, light and dark, wide
// and narrow, with every switch pressed.
//
//   node report_page_test.mjs FOLDER [SCREENSHOTS]
//
// FOLDER is what make_pages wrote. With SCREENSHOTS, a folder, each page is kept there as PNG and
// PDF. Ends with 77 where Chromium is not installed: skipped.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { Chromium, findChromium } from "./chromium.mjs";
import { checkClose, checkLayout, checkPlots, checkQuiet, screens } from "./page_checks.mjs";

const [folder, screenshots] = process.argv.slice(2);
if (folder === undefined) {
  console.error("usage: node report_page_test.mjs FOLDER [SCREENSHOTS]");
  process.exit(2);
}
if (findChromium() === undefined) {
  console.log("SKIPPED: Chromium is not installed (apt-get install chromium)");
  process.exit(77);
}

// How many figures with a plot each page has, and the screens it is looked at on.
const everywhere = Object.keys(screens);
const pages = {
  typical: { plots: 11, on: everywhere },
  overload: { plots: 11, on: everywhere },
  saturated: { plots: 11, on: ["light"] },
  fleet: { plots: 11, on: ["light", "phone"] },
  few_replicas: { plots: 11, on: ["light", "phone"] },
  thinned: { plots: 11, on: ["light", "phone"] },
  hostile: { plots: 11, on: ["light", "phone"] },
  no_outcomes: { plots: 3, on: ["light", "phone"] },
  no_slo: { plots: 11, on: ["light"] },
  interrupted: { plots: 11, on: ["light"] },
  one_request: { plots: 11, on: ["light"] },
  door: { plots: 11, on: everywhere },
  classes: { plots: 11, on: everywhere },
  sessions: { plots: 16, on: everywhere },
  sessions_tail: { plots: 16, on: ["light", "phone"] },
  sessions_alone: { plots: 5, on: ["light", "phone"] },
  no_sessions: { plots: 0, on: ["light", "phone"] },
  empty: { plots: 0, on: ["light", "phone"] },
};

const address = (name) => pathToFileURL(resolve(folder, name + ".html")).href;
const summaryOf = (name) => JSON.parse(readFileSync(join(folder, name, "summary.json"), "utf8"));

// The first number of a text, with its unit taken into account.
function milliseconds(text) {
  const [value, unit] = text.trim().split(/\s+/);
  return Number(value.replaceAll(",", "")) * (unit === "s" ? 1000 : 1);
}

async function checkFigures(page, name) {
  const summary = summaryOf(name);
  assert.equal(await page.evaluate("document.querySelector('.badge').textContent"), "simulated");
  const shown =
    await page.evaluate(`Object.fromEntries(Array.from(document.querySelectorAll(".card"),
    (card) => [card.querySelector("dt").textContent,
      Array.from(card.querySelector("dd").children, (part) => part.textContent).join(" ")]))`);
  assert.equal(Object.keys(shown).length, 8);
  const { slo, requests } = summary;
  for (const [card, group] of [
    ["TTFT p95", "ttft_ms"],
    ["ITL p95", "itl_ms"],
    ["E2E p95", "e2e_ms"],
  ]) {
    if (summary[group].count === 0) assert.equal(shown[card], "–");
    else checkClose(milliseconds(shown[card]), summary[group].p95, card);
  }
  if (slo !== null && requests.arrived > 0) {
    checkClose(parseFloat(shown["SLO attainment"]), 100 * slo.goodput, "attainment");
    checkClose(parseFloat(shown["Goodput"]), slo.goodput_rps, "goodput");
    const verdict = await page.evaluate("document.querySelector('.verdict').textContent");
    assert.ok(
      verdict.includes("Of the " + summary.warmup.counted.toLocaleString("en-US") + " arrival"),
      verdict,
    );
  } else {
    assert.equal(shown["SLO attainment"], "–");
  }
  const rows = await page.evaluate(
    "document.querySelectorAll('.scroller:first-of-type tbody tr').length",
  );
  assert.ok(rows >= 6, "rows of the latency table");
  const keys = await page.evaluate("document.querySelector('details').textContent");
  assert.ok(keys.includes("deployment.engine.max_num_seqs") && keys.includes("256"), keys);
}

async function pressSwitches(page, name) {
  const boxes = await page.evaluate("document.querySelectorAll('input[type=checkbox]').length");
  for (let i = 0; i < boxes; ++i) {
    await page.evaluate("document.querySelectorAll('input[type=checkbox]')[" + i + "].click()");
    await page.settled();
    await checkPlots(page, name, pages[name].plots);
  }
}

async function checkPage(browser, name, screenName) {
  const screen = screens[screenName];
  const page = await browser.newPage(screen);
  await page.open(address(name));
  assert.deepEqual(page.problems, []);
  if (screenshots)
    writeFileSync(join(screenshots, name + "-" + screenName + ".png"), await page.screenshot());
  await checkPlots(page, name, pages[name].plots);
  await checkLayout(page, screen.width);
  await checkFigures(page, name);
  if (screenName === "light") {
    const pdf = await page.pdf();
    assert.equal(pdf.subarray(0, 5).toString(), "%PDF-");
    if (screenshots) writeFileSync(join(screenshots, name + ".pdf"), pdf);
    await pressSwitches(page, name);
  }
  checkQuiet(page, address(name));
  await page.close();
}

// What a reader must know before the figures stands above them.
async function checkNotices(browser) {
  const page = await browser.newPage(screens.light);
  const text = (selector) => page.evaluate(`document.querySelector("${selector}").textContent`);
  await page.open(address("interrupted"));
  assert.equal(await text(".badge.alarm"), "interrupted: incomplete");
  assert.match(await text(".notice"), /The run was interrupted/);
  await page.open(address("no_outcomes"));
  assert.match(await text(".notice"), /did not keep its outcomes/);
  await page.open(address("thinned"));
  const captions = await text("#page");
  assert.match(captions, /each point stands for \d+ readings: their mean, least and greatest/);
  assert.match(
    captions,
    /of 45,000 requests are drawn: of every \d+ in a row the fastest, the slowest/,
  );
  await page.close();
}

// Steadiness, warm-up, intervals and replicas stand where a reader looks for the figures.
async function checkTrust(browser) {
  const page = await browser.newPage(screens.light);
  const text = (selector) => page.evaluate(`document.querySelector("${selector}").textContent`);
  const captions = () =>
    page.evaluate("Array.from(document.querySelectorAll('caption'), (c) => c.textContent)");
  const rowsBelow = (caption) =>
    page.evaluate(`Array.from(document.querySelectorAll("table"))
      .find((t) => t.caption && t.caption.textContent.startsWith("${caption}"))
      .querySelectorAll("tbody tr").length`);
  await page.open(address("saturated"));
  assert.equal(summaryOf("saturated").steady, false);
  assert.match(await text(".verdict"), /^Not a steady state: the backlog grew by [\d.]+ requests/);
  assert.match(await text(".card"), /; not steady/);
  assert.ok((await captions())[0].includes("no steady state"), String(await captions()));
  assert.ok(!(await captions()).some((caption) => caption.startsWith("Confidence")));
  await page.open(address("typical"));
  assert.equal(summaryOf("typical").steady, true);
  assert.equal((await captions())[0], "Latency of finished requests");
  const { confidence } = summaryOf("typical");
  const intervals = Object.values(confidence).filter((interval) => interval instanceof Object);
  assert.ok(intervals.length >= 3, "intervals of a typical run");
  assert.equal(await rowsBelow("Confidence intervals"), intervals.length);
  assert.ok(!(await captions()).some((caption) => /Replicas|Pools|Quantiles/.test(caption)));
  await page.open(address("few_replicas"));
  assert.equal(await rowsBelow("Replicas"), 3);
  assert.match(await text("#page"), /lost with a replica/);
  await page.open(address("fleet"));
  assert.equal(await rowsBelow("Quantiles over 40 replicas"), 8);
  assert.equal(await rowsBelow("Pools"), 2);
  assert.match(await text("#page"), /requests that arrived before 20 s were left out of latency/);
  assert.match(await text("#page"), /Found in the prefix cache/);
  await page.close();
}

// The section on admission says what the summary says: goodput first, and attainment beside it.
async function checkAdmission(browser) {
  const page = await browser.newPage(screens.light);
  const section = () =>
    page.evaluate(`(Array.from(document.querySelectorAll("section"))
      .find((s) => s.querySelector("h2")?.textContent === "Admission") ?? {}).textContent`);
  await page.open(address("door"));
  const { admission } = summaryOf("door");
  const text = await section();
  const sentence = /([\d.]+) % of all [\d,]+ requests that arrived met the targets, ([\d.]+) % of/;
  const [, goodput, attainment] = text.match(sentence);
  checkClose(Number(goodput), 100 * admission.slo.goodput, "goodput");
  checkClose(Number(attainment), 100 * admission.slo.attainment_admitted, "attainment");
  const { decisions, attempts, requests } = admission;
  assert.ok(attempts.made > requests.arrived && decisions.rejected > 0 && decisions.deferred > 0);
  assert.ok(text.includes("put off or refused in " + decisions.policy_refusals.toLocaleString()));
  assert.match(text, /queue depth reached its threshold of 32\./);
  const rows = await page.evaluate(`Array.from(document.querySelectorAll("table"))
    .find((t) => t.caption?.textContent.startsWith("Attempts that were not admitted"))
    .querySelectorAll("tbody tr").length`);
  assert.equal(rows, Object.keys(decisions.by_reason).length + 1);
  assert.match(text, /Jain’s index of 3/);
  await page.open(address("typical"));
  assert.equal(await section(), undefined);
  await page.close();
}

// A run that goes on long after its turns are done says what its rates are over, and shows the part
// in which they were at work.
async function checkLongTail(page, section) {
  await page.open(address("sessions_tail"));
  const { sessions, duration_s: duration } = summaryOf("sessions_tail");
  assert.ok(sessions.times.after_share > 0.5 && sessions.times.most_turns_s < 0.1 * duration);
  assert.match(await section(), /% of the run’s time lies after the last session began, with/);
  assert.match(await section(), /95 % of the finished turns saw their first token/);
  const text = await page.evaluate("document.getElementById('page').textContent");
  assert.match(text, /The plots show the first [\d.]+ s of [\d.]+ min, when 99 % of the turns/);
  const cards = await page.evaluate(
    "Array.from(document.querySelectorAll('.card'), (card) => card.textContent).join('|')",
  );
  assert.match(cards, /per million output tokens, over all [\d.]+ min/);
  const share = (100 * sessions.kv.tokens_peak_replica) / (27000 * 16);
  assert.ok(cards.includes(share.toFixed(1) + " % of a replica’s; "), cards);
  await page.open(address("sessions"));
  assert.doesNotMatch(await section(), /after the last session began/);
}

// The section on agent sessions says what the summary says, and what its latencies are of.
async function checkSessions(browser) {
  const page = await browser.newPage(screens.light);
  const section = () =>
    page.evaluate(`(Array.from(document.querySelectorAll("section"))
      .find((s) => s.querySelector("h2")?.textContent === "Agent sessions") ?? {}).textContent`);
  await page.open(address("sessions"));
  const { sessions } = summaryOf("sessions");
  const words = (n) => n.toLocaleString("en-US");
  assert.ok(sessions.turns.failed > 0 && sessions.host !== null);
  const text = await section();
  for (const part of [
    "Of " + words(sessions.begun) + " sessions that began, " + words(sessions.complete) + " were",
    words(sessions.turns.failed) + " of " + words(sessions.turns.all) + " turns failed",
    "latencies are of the " + words(sessions.turns.finished) + " that finished",
    "Host tier",
    "History found by turn",
    "turns that wait or are served",
  ]) {
    assert.ok(text.includes(part), part + " is not in: " + text);
  }
  await checkLongTail(page, section);
  await page.open(address("sessions_alone"));
  const alone = await section();
  assert.ok(alone.includes("Session makespan") && !alone.includes("TTFT by turn"), alone);
  assert.ok(!alone.includes("Host tier"), alone);
  await page.open(address("typical"));
  assert.equal(await section(), undefined);
  await page.close();
}

// Text of the run is shown as text: no element of it, no script of it.
async function checkHostileText(browser) {
  const page = await browser.newPage(screens.light);
  await page.open(address("hostile"));
  const manifest = JSON.parse(readFileSync(join(folder, "hostile", "manifest.json"), "utf8"));
  assert.equal(await page.evaluate("document.querySelector('h1').textContent"), manifest.name);
  assert.equal(
    await page.evaluate("document.querySelector('.notice li').textContent"),
    manifest.warnings[0],
  );
  assert.equal(
    await page.evaluate("document.querySelectorAll('#broken, main img, main script').length"),
    0,
  );
  assert.deepEqual(page.problems, []);
  await page.close();
}

// A page whose script failed, or that fetched something, must not pass for a good one.
async function checkThatFaultsAreSeen(browser) {
  const page = await browser.newPage(screens.light);
  const text = readFileSync(resolve(folder, "typical.html"), "utf8");
  const broken = resolve(folder, "broken.html");
  writeFileSync(
    broken,
    text.replace("</body>", "<img src='missing.png'><script>nothing.at.all()</script></body>"),
  );
  await page.open(pathToFileURL(broken).href);
  assert.ok(
    page.problems.some((problem) => problem.includes("nothing is not defined")),
    String(page.problems),
  );
  assert.ok(
    page.problems.some((problem) => problem.includes("missing.png")),
    String(page.problems),
  );
  await page.close();
}

if (screenshots) mkdirSync(screenshots, { recursive: true });
const browser = await Chromium.start();
try {
  for (const [name, { on }] of Object.entries(pages)) {
    for (const screenName of on) await checkPage(browser, name, screenName);
    console.log("ok " + name);
  }
  await checkNotices(browser);
  await checkTrust(browser);
  await checkAdmission(browser);
  await checkSessions(browser);
  await checkHostileText(browser);
  await checkThatFaultsAreSeen(browser);
  console.log("ok notices, trust, hostile text, faults are seen");
} finally {
  await browser.close();
}
