// What is checked of every page, whatever it is about.

import assert from "node:assert/strict";

export const screens = {
  light: { width: 1280, height: 900, dark: false },
  dark: { width: 1280, height: 900, dark: true },
  phone: { width: 360, height: 740, dark: false },
};

// For each plot its title and how many of its pixels are neither grey nor empty.
const colouredPixels = `Array.from(document.querySelectorAll("figure:has(canvas)"), (figure) => {
  const canvas = figure.querySelector("canvas");
  const copy = document.createElement("canvas");
  copy.width = canvas.width;
  copy.height = canvas.height;
  const context = copy.getContext("2d", { willReadFrequently: true });
  context.drawImage(canvas, 0, 0);
  const { data } = context.getImageData(0, 0, copy.width, copy.height);
  let coloured = 0;
  for (let i = 0; i < data.length; i += 4) {
    const most = Math.max(data[i], data[i + 1], data[i + 2]);
    const least = Math.min(data[i], data[i + 1], data[i + 2]);
    if (data[i + 3] > 60 && most - least > 60) ++coloured;
  }
  return { title: figure.querySelector("h3").textContent, coloured };
})`;

export async function checkPlots(page, name, plots) {
  const figures = await page.evaluate(colouredPixels);
  assert.equal(figures.length, plots, "plots of " + name);
  for (const { title, coloured } of figures) {
    assert.ok(
      coloured >= 20,
      name + ": the plot '" + title + "' has " + coloured + " coloured pixels",
    );
  }
}

export async function checkLayout(page, width) {
  const wide = await page.evaluate("document.documentElement.scrollWidth");
  assert.ok(wide <= width, "the page is " + wide + " pixels wide on a screen of " + width);
}

// Nothing but the page itself was asked for, and nothing went wrong on it.
export function checkQuiet(page, address) {
  assert.deepEqual(page.problems, []);
  const fetched = page.requests.filter((url) => url !== address && !url.startsWith("data:"));
  assert.deepEqual(fetched, []);
}

export function checkClose(shown, expected, what) {
  assert.ok(
    Math.abs(shown - expected) <= 0.006 * Math.abs(expected),
    what + ": " + shown + ", not " + expected,
  );
}
