// Keeps the plots of a page in step with its width, its colours and paper.

// On paper the plots are dark on white and as wide as the sheet.
function turnToPaper(on) {
  document.documentElement.classList.toggle("on-paper", on);
  drawAllCharts();
}

function keepInStep() {
  new ResizeObserver(fitAllCharts).observe(document.getElementById("page"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAllCharts);
  addEventListener("beforeprint", () => turnToPaper(true));
  addEventListener("afterprint", () => turnToPaper(false));
}
