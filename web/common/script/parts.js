// What all pages are put together from: headings, cards, warnings, configurations.

function sourceBadge(simulated) {
  return simulated
    ? element(
        "span",
        { class: "badge", title: "No engine was measured: a model gave these figures" },
        "simulated",
      )
    : element("span", { class: "badge" }, "measured");
}

function headingOf(name, badges, subject) {
  return element(
    "header",
    {},
    element("div", { class: "heading" }, element("h1", {}, name), ...badges),
    element("p", { class: "subject" }, subject),
  );
}

// Sentences as text and emphasised figures.
function bold(figure) {
  return element("strong", {}, figure);
}

function card(name, value, unit, note) {
  return element(
    "div",
    { class: "card" },
    element("dt", {}, name),
    element(
      "dd",
      {},
      element("span", { class: "value" }, value),
      unit === "" || value === missing ? null : element("span", { class: "unit" }, unit),
    ),
    element("dd", { class: "quiet" }, note),
  );
}

function warningBox(sentences) {
  if (sentences.length === 0) return null;
  return element(
    "section",
    { class: "notice", "aria-label": "Notes" },
    element("strong", {}, sentences.length === 1 ? "Note" : "Notes"),
    element("ul", {}, ...sentences.map((sentence) => element("li", {}, sentence))),
  );
}

// Every leaf of a configuration by its dotted path.
function leaves(value, path) {
  if (value === null || typeof value !== "object") return [[path, value]];
  const entries = Object.entries(value);
  if (entries.length === 0) return [[path, value]];
  if (
    Array.isArray(value) &&
    entries.every(([, item]) => item === null || typeof item !== "object")
  ) {
    return [[path, value]];
  }
  return entries.flatMap(([key, item]) => leaves(item, path === "" ? key : path + "." + key));
}

function keyTable(tree) {
  const shown = (value) => (typeof value === "string" ? value : JSON.stringify(value));
  return element(
    "table",
    { class: "figures" },
    element(
      "tbody",
      {},
      ...leaves(tree, "").map(([path, value]) =>
        element(
          "tr",
          {},
          element("td", { class: "key" }, path),
          element("td", { class: "key" }, shown(value)),
        ),
      ),
    ),
  );
}

// Behind a title that opens it; nothing of nothing.
function folded(title, content) {
  if (content === null) return null;
  return element("details", {}, element("summary", {}, title), element("div", {}, content));
}

function keyDetails(title, tree) {
  return folded(title, keyTable(tree));
}
