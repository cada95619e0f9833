"use strict";
// Draws a run: its messages as a sequence diagram, its states as lights in the pictures, its board.
// What it shows is in the page itself, if the page was saved, or is fetched from where the page came from.
(async () => {
  const { SECONDS, KIND, STAND, ARROWS, UNSURE, BOARD, SAID, byId: $, html, fetched } = Studio;
  const REST = 30; // milliseconds on a step before its board and details are fetched
  const embedded = $("embedded") ? JSON.parse($("embedded").textContent) : null;
  const facts = embedded ? embedded.facts : await (await fetched(`run.json${location.search}`)).json();
  const { rows, table, tones } = facts; // rows and table grow while the run goes on
  let { parties } = facts;

  document.title = facts.findings ? `${facts.protocol}: what was found` : `${facts.protocol}: a run`;
  $("title").textContent = facts.protocol;
  $("up").textContent = `‹ ${facts.up}`;
  $("up").hidden = !facts.up;
  if (facts.findings) {
    facts.findings.forEach((title, number) => {
      const option = html("option", title);
      option.value = number;
      option.selected = number === facts.finding;
      $("which").append(option);
    });
    $("which").addEventListener("change", () => {
      location.href = `?trace=${$("which").value}`;
    });
    $("found").hidden = false;
  }
  function about(state) {
    if (facts.findings) {
      $("about").textContent = [`${rows.length} steps to it`, facts.hint].filter(Boolean).join("; ");
      return;
    }
    const late = live && facts.behind ? `${facts.behind} s behind` : "";
    $("about").textContent = [`${facts.role}, seed ${facts.seed}, ${rows.length} steps`, state, late].filter(Boolean).join("; ");
  }

  // -- pictures and messages -----------------------------------------------------------------------------------

  const pictures = new Studio.Pictures($("pictures"));
  for (const picture of facts.pictures) {
    const text = embedded ? embedded.pictures[picture.id] : await (await fetched(`picture/${picture.id}.svg${location.search}`)).text();
    pictures.add(picture, text);
  }

  const talk = new Studio.Talk({ heads: $("heads"), list: $("list"), tall: $("tall") }, rows, tones, (step) => go(step, false));
  talk.timed = !facts.findings; // a trace knows no time
  let at = 0;
  const violations = [];

  function meet(those) {
    parties = those;
    talk.meet(parties);
    $("who").replaceChildren($("who").firstElementChild);
    for (const party of talk.peers) {
      const option = html("option", party.name);
      option.value = party.id;
      $("who").append(option);
    }
    $("who").value = talk.filter;
    $("who").parentElement.hidden = !talk.peers.length;
  }

  function count(from) {
    for (let step = from; step < rows.length; step++) {
      if (rows[step][SAID].some((line) => line[3] === tones.violation)) violations.push(step);
    }
    wrong();
    $("slider").max = Math.max(1, rows.length);
  }

  // Shows how many violations there are to go to: those of the player whose view is shown.
  function wrong() {
    const mine = violations.filter((step) => rows[step][SAID].some((line) => line[3] === tones.violation && concerns(line[0], line[1])));
    $("violation").disabled = $("earlier").disabled = !mine.length;
    $("nth").textContent = mine.includes(at) ? `violation ${mine.indexOf(at) + 1} of ${mine.length}` : "";
    $("violation").textContent = mine.length ? `next violation (${mine.length})` : "no violation";
    return mine;
  }
  const concerns = (from, to) => !talk.filter || from === talk.filter || to === talk.filter;

  // -- a step --------------------------------------------------------------------------------------------------

  let resting = 0;
  let awaited = 0; // the step that the link names, while it has not come yet

  function light(row) {
    const numbers = talk.numbers();
    pictures.light({
      standing: row[STAND].filter(([party]) => !talk.filter || !numbers.has(party) || party === talk.filter).map(([party, index]) => [party, table[index]]),
      arrows: table[row[ARROWS]],
      unsure: row[UNSURE],
      numbers,
      all: $("every").checked,
    });
    pictures.reveal();
  }

  const WIDE = 160; // characters of a value beyond which it is folded
  function field(name, text, open = false) {
    const head = name && `${name}: `;
    if (text.length <= WIDE) return html("pre", `${head}${text}`);
    const folded = html("details");
    folded.open = open;
    folded.append(html("summary", `${head || "as it was sent: "}${text.slice(0, 40)}…`), html("pre", text));
    return folded;
  }

  async function rest(step) {
    const board = rows[step][BOARD];
    $("boardnone").hidden = board >= 0;
    if (board >= 0) {
      const text = embedded ? embedded.boards[board] : null;
      $("board").src = !embedded ? `board/${board}.svg` : text ? `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}` : "";
      $("board").alt = `the board at step ${step + 1}`;
      $("board").hidden = false;
    } else {
      $("board").hidden = true;
    }
    const told = embedded ? embedded.details[step] : await (await fetched(`step/${step}${location.search}`)).json();
    if (step !== at) return;
    $("detail").replaceChildren();
    for (const one of told) {
      if (one.branch) {
        $("detail").append(html("pre", one.branch));
        continue;
      }
      if (!concerns(one.from, one.to)) continue;
      const from = talk.nameOf.get(one.from) ?? one.from;
      $("detail").append(html("h2", one.to ? `${from} → ${talk.nameOf.get(one.to) ?? one.to}: ${one.text}` : `${from}: ${one.text}`));
      if (one.fields && Object.keys(one.fields).length) {
        for (const [name, value] of Object.entries(one.fields)) $("detail").append(field(name, JSON.stringify(value)));
      }
      if (one.raw) $("detail").append(field("", one.raw, one.wrong));
    }
    if (!told.length) $("detail").append(html("h2", `${rows[step][KIND]}: nothing was said`));
  }

  function go(step, follow = true) {
    if (step < rows.length) awaited = 0;
    if (!rows.length) return;
    at = Math.max(0, Math.min(rows.length - 1, step));
    const row = rows[at];
    light(row);
    $("slider").value = at + 1;
    $("slider").setAttribute("aria-valuetext", `step ${at + 1} of ${rows.length}`);
    told();
    talk.show(at, follow);
    clearTimeout(resting);
    resting = setTimeout(() => rest(at), REST);
    history.replaceState(null, "", `#step=${at + 1}${talk.filter ? `&player=${talk.filter}` : ""}`);
  }

  function told() {
    $("where").textContent = `step ${at + 1} of ${rows.length}${talk.timed ? `, ${rows[at][SECONDS].toFixed(2)} s` : ""}`;
    const more = Math.max(0, rows.length - 1 - at);
    $("more").hidden = !live || !more;
    $("more").textContent = `${more} new`;
    wrong();
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
    if (news.parties.length !== parties.length || news.parties.some((one) => talk.nameOf.get(one.id) !== one.name)) {
      meet(news.parties);
      talk.listAll();
    } else {
      talk.listOn(from);
    }
    count(from);
    live = !news.complete && !news.failed;
    about(live ? "live" : news.failed ?? "it is over");
    if (awaited && (rows.length >= awaited || !live)) go(awaited - 1);
    else if (follows && rows.length > from) go(rows.length - 1);
    else if (rows.length) told();
  }

  function listen() {
    const socket = new WebSocket(`ws://${location.host}${location.pathname}live?row=${rows.length}&entry=${table.length}`);
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
    const mine = wrong();
    if (mine.length) go(mine.find((step) => step > at) ?? mine[0]);
  };
  const earlier = () => {
    const mine = wrong();
    if (mine.length) go(mine.findLast((step) => step < at) ?? mine.at(-1));
  };
  $("earlier").addEventListener("click", earlier);
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
    talk.filter = $("who").value;
    talk.listAll();
    wrong();
    go(at);
  });
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target.matches("input, select, textarea")) return;
    const steps = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1, PageUp: -20, PageDown: 20 }[event.key];
    if (steps) go(at + steps);
    else if (event.key === "Home") go(0);
    else if (event.key === "End") go(rows.length - 1);
    else if (event.key === "v") violation();
    else if (event.key === "V") earlier();
    else if (event.key === " " && !event.target.matches("button")) play();
    else return;
    event.preventDefault();
  });
  // The last step in which somebody did wrong, by the name; of one whose name is not known, the last of anybody.
  function faultOf(name) {
    const who = parties.find((party) => party.name === name)?.id;
    const of = (step) => rows[step][SAID].some((line) => line[3] === tones.violation && (!who || line[0] === who));
    return (violations.findLast(of) ?? violations.at(-1) ?? rows.length - 1) + 1;
  }
  function linked() {
    const wanted = new URLSearchParams(location.hash.slice(1));
    talk.filter = talk.nameOf.has(wanted.get("player")) ? wanted.get("player") : "";
    $("who").value = talk.filter;
    talk.listAll();
    wrong();
    const step = wanted.has("fault") ? faultOf(wanted.get("fault")) : Number(wanted.get("step"));
    go((step || (live ? rows.length : 1)) - 1);
    awaited = live && step > rows.length ? step : 0;
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
