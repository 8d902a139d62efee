// Builds elements. Text is always put in as text, never as markup.

// element("td", {class: "number"}, "12"): children are elements or text, null is left out.
function element(name, attributes, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) node.setAttribute(key, value);
  for (const child of children) if (child !== null) node.append(child);
  return node;
}

// A table with a caption; the first column names the row, and the cells of those that aren't listed
// as text stand to the right.
function table(caption, heads, rows, textColumns) {
  const cell = (tag, text, column) => {
    const attributes = textColumns.includes(column) ? {} : { class: "number" };
    if (tag === "th") attributes.scope = "col";
    return element(tag, attributes, text);
  };
  const line = (texts) =>
    element(
      "tr",
      {},
      ...texts.map((text, column) =>
        column === 0 ? element("th", { scope: "row" }, text) : cell("td", text, column),
      ),
    );
  const head =
    heads.length === 0
      ? null
      : element("thead", {}, element("tr", {}, ...heads.map((text, i) => cell("th", text, i))));
  return element(
    "div",
    { class: "scroller" },
    element(
      "table",
      { class: "figures" },
      element("caption", {}, element("h3", {}, caption)),
      head,
      element("tbody", {}, ...rows.map(line)),
    ),
  );
}

// The same for drawings.
function drawing(name, attributes, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes || {})) node.setAttribute(key, value);
  for (const child of children) if (child !== null) node.append(child);
  return node;
}
