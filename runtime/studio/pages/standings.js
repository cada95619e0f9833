"use strict";
// An event as it goes: the table, what is being played, the last results, who was at fault.
(() => {
  const $ = (id) => document.getElementById(id);
  const AGAIN = 1000; // milliseconds until a lost connection is tried again
  const made = (name, text, className) => {
    const element = document.createElement(name);
    if (text !== undefined) element.textContent = text;
    if (className) element.className = className;
    return element;
  };

  const before = new Map(); // what the rows of a table said last, by the player

  // Shows rows, the first of which is the head; those that have changed since are marked.
  function table(place, [head, ...rows]) {
    const top = made("thead");
    const line = made("tr");
    for (const text of head) {
      const cell = made(text ? "th" : "td", text);
      if (text) cell.scope = "col";
      line.append(cell);
    }
    top.append(line);
    const body = made("tbody");
    for (const row of rows) {
      const key = `${place.id} ${row[1]}`;
      const said = row.slice(2).join();
      const made_row = made("tr", undefined, before.has(key) && before.get(key) !== said ? "new" : "");
      before.set(key, said);
      row.forEach((text, at) => {
        const cell = made(at === 1 ? "th" : "td", text);
        if (at === 1) cell.scope = "row";
        made_row.append(cell);
      });
      body.append(made_row);
    }
    place.replaceChildren(top, body);
  }

  function list(place, items, none) {
    place.replaceChildren(...items.map(([name, text, link, className]) => {
      const item = made("li", undefined, className);
      const head = made(link ? "a" : "b", name);
      if (link) head.href = link;
      item.append(head, text);
      return item;
    }));
    if (!items.length) place.append(made("li", none, "none"));
  }

  function came(facts) {
    $("title").textContent = facts.name ?? "accord studio";
    $("up").textContent = `‹ ${facts.up}`;
    $("up").hidden = !facts.up;
    if (facts.failed) $("state").textContent = `the database cannot be read: ${facts.failed}`;
    if (!facts.table) return;
    document.title = `${facts.name}: standings`;
    const how = facts.over ? "the event is over" : `round ${facts.round}`;
    if (!facts.failed) $("state").textContent = `${facts.played} of ${facts.planned} matches, ${how}`;
    $("bar").max = Math.max(1, facts.planned);
    $("bar").value = facts.played;
    table($("table"), facts.table);
    $("crossed").hidden = !facts.cross.length;
    if (facts.cross.length) table($("cross"), facts.cross);
    list($("running"), facts.running.map(({ id, seats }) => [id, seats.join(", "), `run/${id}/`]), "nothing");
    $("coming").hidden = !facts.next.length;
    list($("next"), facts.next.map(({ id, seats }) => [id, seats.join(", ")]), "nothing");
    list($("results"), facts.results.map(({ id, text, run }) => [id, text, run && `run/${id}/`]), "none yet");
    const moment = ({ player, match, run }) => run && `run/${match}/#fault=${encodeURIComponent(player)}`;
    list($("faults"), facts.faults.map((one) => [one.match, `${one.player}: ${one.fault}`, moment(one), "bad"]), "none");
    document.body.dataset.ready = "1";
  }

  function connect() {
    const socket = new WebSocket(`ws://${location.host}${location.pathname}standings`);
    socket.addEventListener("message", (event) => came(JSON.parse(event.data)));
    socket.addEventListener("close", () => {
      $("state").textContent = "the studio does not answer; it is tried again";
      setTimeout(connect, AGAIN);
    });
  }
  connect();
})();
