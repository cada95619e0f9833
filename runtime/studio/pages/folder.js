"use strict";
// A folder: its runs, those that go on among them, its events, its specs. It is looked into again while the page is seen.
(() => {
  const $ = (id) => document.getElementById(id);
  const AGAIN = 2000; // milliseconds until the folder is looked into again
  const SHOWN = 300; // of each kind at a time; words narrow them
  const made = (name, text) => {
    const element = document.createElement(name);
    if (text !== undefined) element.textContent = text;
    return element;
  };
  let files = [];
  let drawn = "";

  function link({ kind, key, name }) {
    const found = made("a", name.replace(/(.)\/journal\.jsonl$/, "$1")); // the folder of a match says which it is
    found.href = `${kind}/${key}/`;
    return found;
  }
  function ago(seconds) {
    const past = Math.max(0, Date.now() / 1000 - seconds);
    if (past < 90) return "just now";
    if (past < 5400) return `${Math.round(past / 60)} minutes ago`;
    return new Date(seconds * 1000).toLocaleString();
  }
  function run(one) {
    const row = made("tr");
    if (one.state === "going on") row.className = "live";
    const head = made("th");
    head.scope = "row";
    head.append(link(one));
    row.append(head, ...[one.title, one.about, one.state, ago(one.changed)].map((text) => made("td", text)));
    return row;
  }
  function item(one) {
    const entry = made("li");
    entry.append(link(one), made("small", one.title));
    return entry;
  }

  function show() {
    const words = $("words").value.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = ({ name, title, about, state }) => words.every((word) => `${name} ${title} ${about} ${state}`.toLowerCase().includes(word));
    const found = files.filter(fits);
    const now = JSON.stringify([found, Math.floor(Date.now() / 30000)]);
    if (now === drawn) return; // what is focused stays
    drawn = now;
    const focused = document.activeElement?.getAttribute("href");
    const of = (kind) => found.filter((one) => one.kind === kind).slice(0, SHOWN);
    for (const [id, those, place, write] of [["events", of("event"), "ul", item], ["runs", of("run"), "tbody", run], ["specs", of("spec"), "ul", item]]) {
      $(id).hidden = !those.length;
      $(id).querySelector(place).replaceChildren(...those.map(write));
    }
    if (focused) document.querySelector(`a[href="${focused}"]`)?.focus();
    const count = (kind, one, more) => {
      const all = found.filter((file) => file.kind === kind).length;
      return all ? `${all} ${all === 1 ? one : more}${all > SHOWN ? `, the last ${SHOWN} are listed` : ""}` : "";
    };
    const told = [count("event", "event", "events"), count("run", "run", "runs"), count("spec", "spec", "specs")].filter(Boolean).join(", ");
    $("state").textContent = told || (files.length ? "nothing has these words" : "no journal, event or spec is here; accord play keeps journals in a folder with --journal FOLDER");
  }

  async function look() {
    if (!document.hidden) {
      try {
        const answer = await fetch("list.json");
        if (!answer.ok) throw new Error(String(answer.status));
        const told = await answer.json();
        files = told.files;
        $("title").textContent = document.title = told.folder || "accord studio";
        show();
        document.body.dataset.ready = "1";
      } catch {
        $("state").textContent = "the studio does not answer; it is tried again";
        drawn = "";
      }
    }
    setTimeout(look, AGAIN);
  }
  $("words").addEventListener("input", show);
  look();
})();
