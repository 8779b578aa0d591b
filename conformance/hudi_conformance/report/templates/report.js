"use strict";
(() => {
  const form = document.querySelector(".filter");
  const fields = form.elements;
  const tables = [...document.querySelectorAll("details.table")].map((table) => ({
    table,
    heading: "",
    cases: [...table.querySelectorAll(".case")].map((line) => ({ line, text: null })),
  }));
  let clause = "";

  // Text is gathered on the first search only: a page of thousands of cases opens at once.
  const gather = () => {
    for (const entry of tables) {
      const head = entry.table.querySelector("summary").textContent;
      const tags = entry.table.querySelector(".features");
      entry.heading = (head + " " + (tags ? tags.textContent : "")).toLowerCase();
      for (const item of entry.cases) item.text = (entry.heading + " " + item.line.id + " " + item.line.textContent).toLowerCase();
    }
  };

  const accepts = (item, wanted) => {
    const data = item.line.dataset;
    if (wanted.area && data.area !== wanted.area) return false;
    if (wanted.clause && !data.clauses.split(" ").includes(wanted.clause)) return false;
    if (wanted.implementation || wanted.verdict) {
      const found = data.keys.split("\n").some((key) => {
        const cut = key.lastIndexOf(":");
        return (!wanted.implementation || key.slice(0, cut) === wanted.implementation) && (!wanted.verdict || key.slice(cut + 1) === wanted.verdict);
      });
      if (!found) return false;
    }
    return wanted.words.every((word) => item.text.includes(word));
  };

  const apply = (unfold) => {
    const wanted = {
      words: fields.text.value.toLowerCase().split(/\s+/).filter(Boolean),
      implementation: fields.implementation.value,
      verdict: fields.verdict.value,
      area: fields.area.value,
      version: fields.version.value,
      clause,
    };
    if (wanted.words.length && tables.length && tables[0].heading === "") gather();
    let shownCases = 0;
    let allCases = 0;
    const shown = [];
    for (const entry of tables) {
      const fits = !wanted.version || entry.table.dataset.version === wanted.version;
      let count = 0;
      for (const item of entry.cases) {
        const visible = fits && accepts(item, wanted);
        item.line.hidden = !visible;
        if (visible) count += 1;
      }
      allCases += entry.cases.length;
      shownCases += count;
      entry.table.hidden = count === 0;
      if (count) shown.push(entry.table);
    }
    const narrowed = shownCases !== allCases;
    if (unfold && narrowed) for (const table of shown.slice(0, 12)) table.open = true;
    form.querySelector("output").textContent =
      `${shownCases} of ${allCases} cases in ${shown.length} of ${tables.length} tables` + (clause ? `, clause ${clause}` : "");
  };

  form.addEventListener("input", () => apply(false));
  form.addEventListener("change", () => apply(true));
  form.addEventListener("submit", (event) => { event.preventDefault(); apply(true); });
  form.addEventListener("reset", () => { clause = ""; setTimeout(() => apply(false)); });

  document.querySelector(".matrix").addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    if (button.classList.contains("unfold")) {
      const body = button.closest("tbody").nextElementSibling;
      body.hidden = !body.hidden;
      button.setAttribute("aria-expanded", String(!body.hidden));
      return;
    }
    form.reset();
    const named = button.dataset.area;
    const isClause = button.closest("tbody.clauses") !== null;
    setTimeout(() => {
      clause = isClause ? named : "";
      fields.area.value = isClause ? "" : named;
      fields.implementation.value = button.dataset.implementation;
      apply(true);
      form.scrollIntoView();
    });
  });

  // A link may lead into something folded: open what is around it.
  const reveal = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    target.hidden = false;
    for (let around = target; around; around = around.parentElement) {
      if (around.tagName === "DETAILS") around.open = true;
      if (around.tagName === "DETAILS" || around.tagName === "TBODY") around.hidden = false;
      if (around.tagName === "TBODY" && around.classList.contains("clauses"))
        around.previousElementSibling.querySelector(".unfold").setAttribute("aria-expanded", "true");
    }
    target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  apply(false);
  if (location.hash.length > 1) reveal();
})();
