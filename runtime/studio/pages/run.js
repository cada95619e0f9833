"use strict";
// Draws a run: its messages as a sequence diagram, its states as lights in the pictures, its board.
// What it shows is in the page itself, if the page was saved, or is fetched from where the page came from.
(async () => {
  const $ = (id) => document.getElementById(id);
  const SVG = "http://www.w3.org/2000/svg";
  const ROW = 26;
  const REST = 30; // milliseconds on a step before its board and details are fetched
  const embedded = $("embedded") ? JSON.parse($("embedded").textContent) : null;
  const fetched = async (path) => {
    const answer = await fetch(path);
    if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
    return answer;
  };
  const facts = embedded ? embedded.facts : await (await fetched("/run.json")).json();
  const { rows, table, pictures, tones } = facts; // rows and table grow while the run goes on
  let { parties } = facts;
  const [SECONDS, KIND, PARTY, STAND, ARROWS, UNSURE, BOARD, SAID] = [0, 1, 2, 3, 4, 5, 6, 7];
  const toneName = Object.fromEntries(Object.entries(tones).map(([name, number]) => [number, name]));
  let nameOf = new Map();

  function element(name, attributes, text) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    return made;
  }
  const html = (name, text) => {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    return made;
  };

  document.title = `${facts.protocol}: a run`;
  $("title").textContent = facts.protocol;
  function about(state) {
    $("about").textContent = `${facts.role}, seed ${facts.seed}, ${rows.length} steps${state ? `; ${state}` : ""}`;
  }

  // -- pictures ------------------------------------------------------------------------------------------------

  const figures = new Map();
  const marks = new Map(); // id of an element -> the element
  const owner = new Map(); // id of an element -> the figure that it is in
  for (const picture of pictures) {
    const text = embedded ? embedded.pictures[picture.id] : await (await fetched(`/picture/${picture.id}.svg`)).text();
    const parsed = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
    const drawn = document.importNode(parsed, true);
    drawn.setAttribute("role", "img");
    drawn.setAttribute("aria-label", `states of ${picture.role}, ${picture.machine}`);
    for (const link of drawn.querySelectorAll("a")) link.removeAttributeNS("http://www.w3.org/1999/xlink", "href");
    const figure = html("figure");
    figure.append(drawn);
    $("pictures").append(figure);
    figures.set(picture.id, figure);
    for (const one of drawn.querySelectorAll("[id]")) {
      marks.set(one.id, one);
      owner.set(one.id, figure);
    }
  }

  // -- messages ------------------------------------------------------------------------------------------------

  let peers = [];
  let lives = [];
  const place = (id) => 10 + (lives.indexOf(id) + 0.5) * (88 / lives.length);

  function meet(those) {
    parties = those;
    nameOf = new Map(parties.map((party) => [party.id, party.name]));
    const roots = parties.filter((party) => !party.id.includes("p"));
    peers = parties.filter((party) => party.id.includes("p"));
    const half = Math.ceil(peers.length / 2);
    lives = [...peers.slice(0, half), ...roots, ...peers.slice(half)].map((party) => party.id);
    $("heads").replaceChildren();
    for (const id of lives) {
      const head = html("span", nameOf.get(id));
      head.style.left = `${place(id)}%`;
      head.title = nameOf.get(id);
      $("heads").append(head);
    }
    $("who").replaceChildren($("who").firstElementChild);
    for (const party of peers) {
      const option = html("option", party.name);
      option.value = party.id;
      $("who").append(option);
    }
    $("who").value = filter;
    $("who").parentElement.hidden = !peers.length;
  }

  let list = []; // [step, line] of all that is shown
  let at = 0;
  let filter = "";
  let high = 600;
  const drawnRows = new Map();
  const violations = [];

  // Lists the rows from one on, below those that are listed; what is drawn stays as it is.
  function listOn(from) {
    for (let step = from; step < rows.length; step++) {
      for (const line of rows[step][SAID]) if (!filter || line[0] === filter || line[1] === filter) list.push([step, line]);
    }
    $("tall").style.height = `${list.length * ROW}px`;
    paint();
  }

  function listed() {
    list = [];
    drawnRows.clear();
    $("tall").replaceChildren();
    listOn(0);
  }

  function count(from) {
    for (let step = from; step < rows.length; step++) {
      if (rows[step][SAID].some((line) => line[3] === tones.violation)) violations.push(step);
    }
    $("violation").disabled = !violations.length;
    $("violation").textContent = violations.length ? `next violation (${violations.length})` : "no violation";
    $("slider").max = Math.max(1, rows.length);
  }

  function rowOf(index) {
    const [step, [from, to, text, tone]] = list[index];
    const row = html("div");
    row.className = `row ${toneName[tone]}`;
    row.style.top = `${index * ROW}px`;
    row.dataset.step = step;
    row.id = `row${index}`;
    row.setAttribute("role", "option");
    row.setAttribute("aria-posinset", index + 1);
    const seconds = rows[step][SECONDS].toFixed(2);
    row.setAttribute(
      "aria-label",
      `${seconds} seconds: ${text}, ${to ? `${nameOf.get(from)} to ${nameOf.get(to)}` : nameOf.get(from)}`,
    );
    const chart = element("svg", { "aria-hidden": "true" });
    for (const id of lives) chart.append(element("line", { class: "life", x1: `${place(id)}%`, x2: `${place(id)}%`, y1: 0, y2: ROW }));
    chart.append(element("text", { class: "time", x: 4, y: 16 }, seconds));
    const start = place(from);
    const end = to ? place(to) : start;
    if (to) {
      chart.append(element("line", { class: "arrow", x1: `${start}%`, x2: `${end}%`, y1: 20, y2: 20 }));
      const tip = element("svg", { x: `${end}%`, y: 20, overflow: "visible" });
      tip.append(element("path", { class: "tip", d: end > start ? "M0 0l-7-3.5v7z" : "M0 0l7-3.5v7z" }));
      chart.append(tip);
    }
    const middle = Math.min(85, Math.max(22, (start + end) / 2));
    chart.append(element("text", { x: `${middle}%`, y: to ? 15 : 18 }, text.length > 44 ? `${text.slice(0, 43)}…` : text));
    row.append(chart);
    return row;
  }

  function paint(all = false) {
    const first = all ? 0 : Math.max(0, Math.floor($("list").scrollTop / ROW) - 10);
    const end = all ? list.length : Math.min(list.length, Math.ceil(($("list").scrollTop + high) / ROW) + 10);
    for (const [index, row] of drawnRows) {
      if (index < first || index >= end) {
        row.remove();
        drawnRows.delete(index);
      }
    }
    for (let index = first; index < end; index++) {
      let row = drawnRows.get(index);
      if (!row) {
        row = rowOf(index);
        drawnRows.set(index, row);
        $("tall").append(row);
      }
      const step = list[index][0];
      row.classList.toggle("now", step === at);
      row.classList.toggle("after", step > at);
      row.setAttribute("aria-selected", String(step === at));
      row.setAttribute("aria-setsize", list.length);
    }
  }
  new ResizeObserver((entries) => {
    high = entries[0].contentRect.height;
    requestAnimationFrame(() => paint());
  }).observe($("list"));
  $("list").addEventListener("scroll", () => requestAnimationFrame(() => paint()), { passive: true });
  $("list").addEventListener("click", (event) => {
    const row = event.target.closest(".row");
    if (row) go(Number(row.dataset.step), false);
  });
  addEventListener("beforeprint", () => paint(true));
  addEventListener("afterprint", () => paint());

  // -- a step --------------------------------------------------------------------------------------------------

  let lit = []; // what has to be put out again
  let resting = 0;

  function frame(mark, unsure) {
    const box = mark.getBBox();
    if (!box.width && !box.height) return null;
    const drawn = element("rect", {
      class: unsure ? "here unsure" : "here", x: box.x - 3, y: box.y - 3, width: box.width + 6, height: box.height + 6, rx: 6,
    });
    mark.append(drawn);
    lit.push(() => drawn.remove());
    return box;
  }

  function light(row) {
    for (const out of lit) out();
    lit = [];
    const seen = new Set();
    const standing = new Map(); // id of a box -> the peers that stand there
    for (const [party, index] of row[STAND]) {
      if (filter && party.includes("p") && party !== filter) continue;
      for (const id of table[index]) {
        if (!standing.has(id)) standing.set(id, []);
        standing.get(id).push(party);
        seen.add(owner.get(id));
      }
    }
    for (const id of table[row[ARROWS]]) if (owner.has(id)) seen.add(owner.get(id));
    for (const figure of figures.values()) figure.hidden = !$("every").checked && !seen.has(figure);
    for (const [id, those] of standing) {
      const mark = marks.get(id);
      if (!mark) continue;
      const unsure = those.every((party) => row[UNSURE].includes(party));
      const box = frame(mark, unsure);
      if (!box) continue;
      those.filter((party) => party.includes("p")).slice(0, 8).forEach((party, number) => {
        const doubtful = row[UNSURE].includes(party) ? " unsure" : "";
        const token = element("g", {});
        const x = box.x + box.width - 6 - number * 17;
        token.append(element("title", {}, nameOf.get(party)));
        token.append(element("circle", { class: `token${doubtful}`, cx: x, cy: box.y - 1, r: 8 }));
        token.append(element("text", { class: `letter${doubtful}`, x, y: box.y + 2 }, peers.findIndex((one) => one.id === party) + 1));
        mark.append(token);
        lit.push(() => token.remove());
      });
    }
    for (const id of table[row[ARROWS]]) {
      for (const part of ["", "_1", "_2"]) {
        const mark = marks.get(id + part);
        if (!mark) continue;
        mark.classList.add("gone");
        lit.push(() => mark.classList.remove("gone"));
      }
    }
  }

  async function rest(step) {
    const board = rows[step][BOARD];
    $("boardnone").hidden = board >= 0;
    if (board >= 0) {
      const text = embedded ? embedded.boards[board] : null;
      $("board").src = !embedded ? `/board/${board}.svg` : text ? `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}` : "";
      $("board").alt = `the board at step ${step + 1}`;
      $("board").hidden = false;
    } else {
      $("board").hidden = true;
    }
    const told = embedded ? embedded.details[step] : await (await fetched(`/step/${step}`)).json();
    if (step !== at) return;
    $("detail").replaceChildren();
    for (const one of told) {
      if (one.branch) {
        $("detail").append(html("pre", one.branch));
        continue;
      }
      const from = nameOf.get(one.from) ?? one.from;
      $("detail").append(html("h2", one.to ? `${from} → ${nameOf.get(one.to) ?? one.to}: ${one.text}` : `${from}: ${one.text}`));
      if (one.fields && Object.keys(one.fields).length) {
        const lines = Object.entries(one.fields).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
        $("detail").append(html("pre", lines.join("\n")));
      }
      if (one.raw) $("detail").append(html("pre", one.raw));
    }
    if (!told.length) $("detail").append(html("h2", `${rows[step][KIND]}: nothing was said`));
  }

  function go(step, follow = true) {
    if (!rows.length) return;
    at = Math.max(0, Math.min(rows.length - 1, step));
    const row = rows[at];
    light(row);
    $("slider").value = at + 1;
    $("slider").setAttribute("aria-valuetext", `step ${at + 1} of ${rows.length}`);
    told();
    let low = 0;
    for (let end = list.length; low < end; ) {
      const middle = (low + end) >> 1;
      if (list[middle][0] < at) low = middle + 1;
      else end = middle;
    }
    const index = Math.min(low, list.length - 1);
    if (follow) $("list").scrollTop = index * ROW - high / 2;
    paint();
    if (index >= 0) $("list").setAttribute("aria-activedescendant", `row${index}`);
    clearTimeout(resting);
    resting = setTimeout(() => rest(at), REST);
    history.replaceState(null, "", `#step=${at + 1}${filter ? `&player=${filter}` : ""}`);
  }

  function told() {
    $("where").textContent = `step ${at + 1} of ${rows.length}, ${rows[at][SECONDS].toFixed(2)} s`;
    const more = Math.max(0, rows.length - 1 - at);
    $("more").hidden = !live || !more;
    $("more").textContent = `${more} new`;
  }

  // -- what comes while the run goes on ------------------------------------------------------------------------

  const AGAIN = 1000; // milliseconds until a lost connection is tried again
  let live = !embedded && !facts.complete && !facts.failed;

  function came(news) {
    const from = rows.length;
    const follows = at >= from - 1;
    table.push(...news.table);
    rows.push(...news.rows);
    if (news.boards) document.querySelector("main").classList.remove("boardless");
    if (news.parties.length !== parties.length || news.parties.some((one) => nameOf.get(one.id) !== one.name)) {
      meet(news.parties);
      listed();
    } else {
      listOn(from);
    }
    count(from);
    live = !news.complete && !news.failed;
    about(live ? "live" : news.failed);
    if (follows && rows.length > from) go(rows.length - 1);
    else if (rows.length) told();
  }

  function listen() {
    const socket = new WebSocket(`ws://${location.host}/live?row=${rows.length}&entry=${table.length}`);
    socket.addEventListener("message", (event) => came(JSON.parse(event.data)));
    socket.addEventListener("close", () => {
      if (!live) return;
      about("the studio does not answer; it is tried again");
      setTimeout(listen, AGAIN);
    });
  }

  // -- controls ------------------------------------------------------------------------------------------------

  let playing = 0;
  function play(wanted = !playing) {
    clearInterval(playing);
    playing = wanted ? setInterval(() => (at >= rows.length - 1 ? play(false) : go(at + 1)), 300) : 0;
    $("play").setAttribute("aria-pressed", String(Boolean(playing)));
    $("play").setAttribute("aria-label", playing ? "pause" : "play");
    $("playing").setAttribute("d", playing ? "M3 2h4v12H3zM9 2h4v12H9z" : "M4 2l9 6-9 6z");
  }
  const violation = () => {
    if (violations.length) go(violations.find((step) => step > at) ?? violations[0]);
  };
  $("more").addEventListener("click", () => go(rows.length - 1));
  $("slider").addEventListener("input", () => go(Number($("slider").value) - 1));
  $("first").addEventListener("click", () => go(0));
  $("back").addEventListener("click", () => go(at - 1));
  $("on").addEventListener("click", () => go(at + 1));
  $("last").addEventListener("click", () => go(rows.length - 1));
  $("play").addEventListener("click", () => play());
  $("violation").addEventListener("click", violation);
  $("every").addEventListener("change", () => go(at));
  $("who").addEventListener("change", () => {
    filter = $("who").value;
    listed();
    go(at);
  });
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target.matches("input, select, textarea")) return;
    const steps = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1, PageUp: -20, PageDown: 20 }[event.key];
    if (steps) go(at + steps);
    else if (event.key === "Home") go(0);
    else if (event.key === "End") go(rows.length - 1);
    else if (event.key === "v") violation();
    else if (event.key === " " && !event.target.matches("button")) play();
    else return;
    event.preventDefault();
  });
  function linked() {
    const wanted = new URLSearchParams(location.hash.slice(1));
    filter = nameOf.has(wanted.get("player")) ? wanted.get("player") : "";
    $("who").value = filter;
    listed();
    go((Number(wanted.get("step")) || (live ? rows.length : 1)) - 1);
  }
  addEventListener("hashchange", linked);
  if (!facts.boards) document.querySelector("main").classList.add("boardless");
  about(live ? "live" : facts.failed ?? (facts.complete ? "" : "the journal has no end"));
  meet(parties);
  count(0);
  linked();
  if (live) listen();
  document.body.dataset.ready = "1";
})().catch((error) => {
  document.getElementById("about").textContent = `the run cannot be shown: ${error.message}`;
});
