"use strict";
// Tables sort by a click on a heading (numbers with or without
// their interval as numbers, empty cells last) and filter by words.
for (const table of document.querySelectorAll("table")) {
  const body = table.tBodies[0];
  if (!body || !table.tHead || body.rows.length < 2) continue;
  if (table.querySelector("[rowspan], [colspan]") || table.tHead.rows.length > 1) continue;
  const rows = [...body.rows];

  const value = (row, column) => {
    const cell = row.cells[column];
    const text = cell.textContent.trim();
    const number = /^([-\u2212]?)(\d+(?:\.\d+)?)(?: \[.*\])?$/.exec(text);
    if (number) return Number(number[2]) * (number[1] ? -1 : 1);
    return text === "" ? null : text;
  };
  const compare = (a, b) => {
    if (a === null || b === null) return 0;
    if (typeof a === "number" && typeof b === "number") return a - b;
    return String(a).localeCompare(String(b), "en", { numeric: true });
  };
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const sorted = [...rows].sort((one, two) => {
        const a = value(one, column), b = value(two, column);
        return (a === null) - (b === null) || (down ? compare(b, a) : compare(a, b));
      });
      body.append(...sorted);
    });
  });

  if (rows.length < 8) continue;
  const filter = document.createElement("input");
  filter.type = "search";
  filter.placeholder = `Filter ${rows.length} rows`;
  filter.setAttribute("aria-label", "Filter the rows of the table below");
  table.before(filter);
  filter.addEventListener("input", () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
    }
  });
}
// A link to something folded away opens it.
const open = () => {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
  if (target) target.scrollIntoView();
};
addEventListener("hashchange", open);
open();
