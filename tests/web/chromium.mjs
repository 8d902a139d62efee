// A headless Chromium, driven through its DevTools protocol over two pipes: nothing to install.
//
//   const browser = await Chromium.start();
//   const page = await browser.newPage({ width: 1280, height: 900, dark: false });
//   await page.open("file:///tmp/page.html");
//   await page.evaluate("document.title");
//   await browser.close();
//
// A page keeps what went wrong on it in `problems` and the address of each request in `requests`.

import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const switches = [
  "--headless",
  "--remote-debugging-pipe",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--no-sandbox", // as root, and in containers, it has no sandbox
  "--disable-dev-shm-usage",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--hide-scrollbars",
  "--force-color-profile=srgb",
];

export function findChromium() {
  const candidates = [
    process.env.CHROMIUM,
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome",
  ];
  return candidates.find((path) => path && existsSync(path));
}

export class Chromium {
  #process;
  #folder;
  #last = 0;
  #waiting = new Map();
  #pages = new Map();
  #rest = "";

  static async start() {
    const browser = new Chromium();
    browser.#launch();
    await browser.call("Browser.getVersion");
    return browser;
  }

  #launch() {
    this.#folder = mkdtempSync(join(tmpdir(), "inferscale-chromium-"));
    this.#process = spawn(findChromium(), [...switches, "--user-data-dir=" + this.#folder], {
      stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"],
      env: {
        ...process.env,
        HOME: this.#folder,
        XDG_CONFIG_HOME: this.#folder,
        XDG_CACHE_HOME: this.#folder,
      },
    });
    this.#process.on("exit", () => {
      for (const { reject } of this.#waiting.values()) reject(new Error("Chromium has ended"));
      this.#waiting.clear();
    });
    this.#process.stdio[3].on("error", () => {});
    this.#process.stdio[4].setEncoding("utf8");
    this.#process.stdio[4].on("data", (text) => this.#receive(text));
  }

  // Messages end with a NUL.
  #receive(text) {
    const messages = (this.#rest + text).split("\0");
    this.#rest = messages.pop();
    for (const message of messages) this.#handle(JSON.parse(message));
  }

  #handle({ id, sessionId, method, params, result, error }) {
    if (id === undefined) {
      this.#pages.get(sessionId)?.handle(method, params);
      return;
    }
    const { resolve, reject } = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error) reject(new Error(error.message));
    else resolve(result);
  }

  call(method, params = {}, sessionId = undefined) {
    return new Promise((resolve, reject) => {
      const id = ++this.#last;
      this.#waiting.set(id, { resolve, reject });
      this.#process.stdio[3].write(JSON.stringify({ id, method, params, sessionId }) + "\0");
    });
  }

  async newPage({ width, height, dark }) {
    const { targetId } = await this.call("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await this.call("Target.attachToTarget", { targetId, flatten: true });
    const page = new Page(this, sessionId, targetId);
    this.#pages.set(sessionId, page);
    for (const domain of ["Page", "Runtime", "Network", "Log"]) await page.call(domain + ".enable");
    await page.call("Emulation.setDeviceMetricsOverride", {
      width,
      height,
      deviceScaleFactor: 1,
      mobile: width < 600,
    });
    await page.call("Emulation.setEmulatedMedia", {
      features: [{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }],
    });
    return page;
  }

  async close() {
    const ended = new Promise((resolve) => this.#process.once("exit", resolve));
    await this.call("Browser.close").catch(() => {});
    const late = setTimeout(() => this.#process.kill("SIGKILL"), 5000);
    await ended;
    clearTimeout(late);
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}

class Page {
  problems = [];
  requests = [];
  #browser;
  #session;
  #target;
  #loaded = () => {};

  constructor(browser, session, target) {
    this.#browser = browser;
    this.#session = session;
    this.#target = target;
  }

  handle(method, params) {
    if (method === "Page.loadEventFired") this.#loaded();
    if (method === "Network.requestWillBeSent") this.requests.push(params.request.url);
    if (method === "Page.javascriptDialogOpening") this.problems.push("dialog: " + params.message);
    if (method === "Log.entryAdded")
      this.problems.push(params.entry.level + ": " + params.entry.text);
    if (method === "Runtime.consoleAPICalled") this.problems.push("console." + params.type);
    if (method === "Runtime.exceptionThrown") {
      const { text, exception } = params.exceptionDetails;
      this.problems.push("exception: " + (exception?.description || text));
    }
  }

  call(method, params) {
    return this.#browser.call(method, params, this.#session);
  }

  async open(url) {
    const loaded = new Promise((resolve) => {
      this.#loaded = resolve;
    });
    await this.call("Page.navigate", { url });
    await loaded;
    await this.settled();
  }

  // Two frames later everything that was asked for has been drawn.
  settled() {
    return this.evaluate(
      "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))",
    );
  }

  async evaluate(expression) {
    const { result, exceptionDetails } = await this.call("Runtime.evaluate", {
      expression,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails)
      throw new Error(exceptionDetails.exception?.description || exceptionDetails.text);
    return result.value;
  }

  // The whole page, however long, as PNG.
  async screenshot() {
    const { cssContentSize } = await this.call("Page.getLayoutMetrics");
    const clip = {
      x: 0,
      y: 0,
      width: cssContentSize.width,
      height: cssContentSize.height,
      scale: 1,
    };
    const { data } = await this.call("Page.captureScreenshot", {
      clip,
      captureBeyondViewport: true,
    });
    return Buffer.from(data, "base64");
  }

  async pdf() {
    const { data } = await this.call("Page.printToPDF", {
      preferCSSPageSize: true,
      printBackground: true,
    });
    return Buffer.from(data, "base64");
  }

  close() {
    return this.#browser.call("Target.closeTarget", { targetId: this.#target });
  }
}
