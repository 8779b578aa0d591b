"use strict";
(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const one = (selector, within = document) => within.querySelector(selector);

  // A list with a form of filters: `fits` says whether an entry stays, `after` what its groups do then.
  const filtered = (form, entries, fits, after) => {
    const output = one("output", form);
    let texts = null;
    const apply = () => {
      const wanted = Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value)]));
      const words = wanted.text.toLowerCase().split(/\s+/).filter(Boolean);
      // Text is gathered on the first search only: a page of thousands of cases opens at once.
      if (words.length && texts === null) texts = entries.map((entry) => entry.words().toLowerCase());
      let shown = 0;
      entries.forEach((entry, place) => {
        const visible = fits(entry.element, wanted) && words.every((word) => texts[place].includes(word));
        entry.element.hidden = !visible;
        if (visible) shown += 1;
      });
      output.textContent = after(shown, entries.length, wanted);
    };
    // A list of a thousand rows is laid out once for several letters.
    let waiting = 0;
    form.addEventListener("input", (event) => {
      clearTimeout(waiting);
      waiting = setTimeout(apply, event.target.type === "search" ? 90 : 0);
    });
    form.addEventListener("submit", (event) => { event.preventDefault(); clearTimeout(waiting); apply(); });
    form.addEventListener("reset", () => setTimeout(apply));
    return apply;
  };

  // The cases of the index.
  const caseForm = one("form.filter:not(.clauses)");
  if (caseForm) {
    const table = one("table.cases");
    const names = all("option", caseForm.elements.implementation).slice(1).map((option) => option.value);
    const groups = all("tbody", table);
    const entries = groups.flatMap((group) => all("tr.case", group).map((row) => ({
      element: row,
      words: () => [group.rows[0].textContent, row.textContent, row.dataset.clauses, row.dataset.features].join(" "),
    })));
    let clause = "";
    const alarming = (group) => group === "fail" || group === "error";
    const matches = (group, verdict) => group !== "none" && (!verdict || (verdict === "alarm" ? alarming(group) : group === verdict));
    const fits = (row, wanted) => {
      const data = row.dataset;
      if (wanted.area && data.area !== wanted.area) return false;
      if (wanted.version && data.version !== wanted.version) return false;
      if (wanted.feature && !data.features.split(" ").includes(wanted.feature)) return false;
      if (clause && !data.clauses.split(" ").includes(clause)) return false;
      if (!wanted.implementation && !wanted.verdict) return true;
      const verdicts = data.v.split(" ");
      return wanted.implementation
        ? matches(verdicts[names.indexOf(wanted.implementation)], wanted.verdict)
        : verdicts.some((group) => matches(group, wanted.verdict));
    };
    // The names of the implementations stay in sight, below the form.
    const place = () => table.style.setProperty("--filter", `${caseForm.offsetHeight}px`);
    addEventListener("resize", place);
    const remember = (wanted) => {
      const kept = new URLSearchParams(Object.entries({ ...wanted, clause }).filter(([, value]) => value)).toString();
      const hash = kept ? `#cases?${kept}` : "";
      if (kept || location.hash.startsWith("#cases?")) history.replaceState(null, "", hash || "#cases");
    };
    const after = (shown, whole, wanted) => {
      let tables = 0;
      for (const group of groups) {
        group.hidden = !group.querySelector("tr.case:not([hidden])");
        if (!group.hidden) tables += 1;
      }
      remember(wanted);
      return `${shown} of ${whole} cases about ${tables} of ${groups.length} tables` + (clause ? `, clause ${clause}` : "");
    };
    const apply = filtered(caseForm, entries, fits, after);
    const choose = (chosen) => {
      clause = chosen.clause || "";
      for (const name of ["text", "implementation", "verdict", "area", "feature", "version"]) caseForm.elements[name].value = chosen[name] || "";
      apply();
    };
    caseForm.addEventListener("reset", () => { clause = ""; });
    for (const matrix of all("table.matrix")) {
      matrix.addEventListener("click", (event) => {
        const button = event.target.closest("button");
        if (!button) return;
        if (button.classList.contains("unfold")) {
          const body = button.closest("tbody").nextElementSibling;
          body.hidden = !body.hidden;
          button.setAttribute("aria-expanded", String(!body.hidden));
          return;
        }
        const { implementation, area, clause: cited, feature } = button.dataset;
        const version = feature && feature.startsWith("table-version-") ? feature.slice("table-version-".length) : "";
        choose({ implementation, area, clause: cited, feature: version ? "" : feature, version });
        caseForm.scrollIntoView();
        (rows()[0] || caseForm.elements.text).focus({ preventScroll: true });
      });
    }
    const fromHash = () => {
      if (!location.hash.startsWith("#cases?")) return false;
      choose(Object.fromEntries(new URLSearchParams(location.hash.slice("#cases?".length))));
      one("#cases").scrollIntoView();
      return true;
    };
    addEventListener("hashchange", fromHash);
    if (!fromHash()) apply();
    place();
  }

  // The clauses, which a link may lead into.
  const clauseForm = one("form.clauses");
  if (clauseForm) {
    const sections = all("section.clause-area");
    const entries = all("details.clause-line").map((line) => ({ element: line, words: () => line.textContent }));
    const fits = (line, wanted) => ["area", "level", "covered"].every((name) => !wanted[name] || line.dataset[name] === wanted[name]);
    const apply = filtered(clauseForm, entries, fits, (shown, whole) => {
      for (const section of sections) section.hidden = !section.querySelector("details:not([hidden])");
      return `${shown} of ${whole} clauses`;
    });
    const reveal = () => {
      const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
      if (!target || target.tagName !== "DETAILS") return;
      if (target.hidden) clauseForm.reset();
      setTimeout(() => {
        target.open = true;
        target.scrollIntoView();
      });
    };
    addEventListener("hashchange", reveal);
    apply();
    reveal();
  }

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("button.copy");
    if (!button) return;
    try {
      await navigator.clipboard.writeText(button.dataset.copy);
      button.textContent = "Copied";
    } catch {
      // Without leave to write the clipboard the command is marked, to be copied by hand.
      getSelection().selectAllChildren(button.previousElementSibling);
    }
  });

  // What can be stepped through: cases of the index, clauses.
  const rows = () => all("tr.case:not([hidden]) th a, details.clause-line:not([hidden]) > summary").filter((row) => !row.closest("[hidden]"));
  const step = (by) => {
    const found = rows();
    const here = found.indexOf(document.activeElement);
    const next = here < 0 ? (by > 0 ? 0 : found.length - 1) : Math.min(Math.max(here + by, 0), found.length - 1);
    if (!found[next]) return;
    found[next].focus({ preventScroll: true });
    found[next].scrollIntoView({ block: "nearest", behavior: "instant" });
  };
  const follow = (relation) => {
    const link = one(`a[rel="${relation}"]`);
    if (link) link.click();
  };
  const inList = () => document.activeElement.closest("tr.case, details.clause-line") !== null;
  const beside = one('a[rel="prev"], a[rel="next"]') !== null;
  const keys = {
    "/": () => { const search = one('input[type="search"]'); if (search) { search.focus(); search.select(); } return search; },
    "?": () => { const list = one("details.keys"); if (list) { list.open = !list.open; one("summary", list).focus(); } return list; },
    j: () => (beside ? follow("next") : step(1), true),
    k: () => (beside ? follow("prev") : step(-1), true),
    ArrowDown: () => inList() && (step(1), true),
    ArrowUp: () => inList() && (step(-1), true),
    ArrowRight: () => beside && (follow("next"), true),
    ArrowLeft: () => beside && (follow("prev"), true),
    u: () => (follow("up"), true),
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const field = event.target.closest("input, select, textarea");
    if (field) {
      if (field.type !== "search" || (event.key !== "Escape" && event.key !== "Enter")) return;
      event.preventDefault();
      if (event.key === "Escape") field.value = "";
      field.form.requestSubmit();
      if (event.key === "Escape") field.blur();
      else if (rows()[0]) rows()[0].focus();
      return;
    }
    if (event.target.closest(".scroll[tabindex]") && event.key.startsWith("Arrow")) return;
    const action = keys[event.key];
    if (action && action()) event.preventDefault();
  });
})();
