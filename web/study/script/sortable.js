// Tables that a reader sorts, of which the first rows are shown until all are asked for.

const rowsAtFirst = 25;

// `columns`: {name, value(row), text(row), kind: "number", "text" or "key", note}; without `text`
// the value is shown as a figure. Rows without a value stand last, whichever way they are sorted.
function sortableTable(
  caption,
  columns,
  rows,
  { mark = () => "", sorted = null, down = false } = {},
) {
  const state = { column: sorted, down, all: rows.length <= rowsAtFirst + 5 };
  const body = element("tbody", {});
  const heads = columns.map((column, index) => headCell(column, () => press(index)));
  const more = element("button", { type: "button", class: "more" });

  function press(index) {
    state.down = state.column === index ? !state.down : false;
    state.column = index;
    show();
  }
  function show() {
    const order = inOrder(rows, columns[state.column], state.down);
    const seen = state.all ? order : order.slice(0, rowsAtFirst);
    body.replaceChildren(...seen.map((row) => rowOf(columns, row, mark(row))));
    heads.forEach((head, index) => {
      const way = state.column !== index ? "none" : state.down ? "descending" : "ascending";
      head.setAttribute("aria-sort", way);
    });
    more.hidden = state.all;
    more.textContent = "Show all " + whole(rows.length) + " rows";
  }
  more.addEventListener("click", () => {
    state.all = true;
    show();
  });
  show();
  return element(
    "div",
    { class: "sortable" },
    element(
      "div",
      { class: "scroller", tabindex: "0", role: "region", "aria-label": caption },
      element(
        "table",
        { class: "figures" },
        element("caption", {}, element("h3", {}, caption)),
        element("thead", {}, element("tr", {}, ...heads)),
        body,
      ),
    ),
    more,
  );
}

function headCell(column, pressed) {
  const button = element("button", { type: "button" }, column.name);
  if (column.note) button.setAttribute("title", column.note);
  button.addEventListener("click", pressed);
  return element("th", { scope: "col", class: column.kind }, button);
}

function rowOf(columns, row, mark) {
  const cells = columns.map((column, index) => {
    const shown = column.text ? column.text(row) : figure(column.value(row));
    return index === 0
      ? element("th", { scope: "row", class: column.kind }, shown)
      : element("td", { class: column.kind }, shown);
  });
  return element("tr", mark === "" ? {} : { class: mark }, ...cells);
}

function inOrder(rows, column, down) {
  if (column === undefined) return rows;
  const absent = (value) => value === null || value === undefined;
  const compare = (a, b) => (typeof a === "string" ? a.localeCompare(b, "en") : a - b);
  return rows
    .map((row, index) => ({ row, index, value: column.value(row) }))
    .sort((a, b) => {
      if (absent(a.value) || absent(b.value)) {
        return Number(absent(a.value)) - Number(absent(b.value)) || a.index - b.index;
      }
      return (down ? -1 : 1) * compare(a.value, b.value) || a.index - b.index;
    })
    .map(({ row }) => row);
}
