"use strict";
// A spec while it is written: its text, what is wrong with it as one types, its pictures.
(() => {
  const { byId: $, html } = Studio;
  const REST = 120; // milliseconds after the last key before a text is looked at
  const AGAIN = 1000; // milliseconds until a lost connection is tried again
  const area = $("text");

  let socket = null;
  let seq = 0; // of the text that was sent last
  let onDisk = ""; // what the file says
  let mark = "";
  let writable = false;
  let problems = [];
  let together = null; // what is known of all roles together, of a text
  let proved = ""; // that text
  let fault = ""; // why the last text could not be looked at to the end
  let opened = false; // the file's text has come

  const send = (said) => socket.readyState === WebSocket.OPEN && socket.send(JSON.stringify(said));

  // -- the text as it is coloured ------------------------------------------------------------------------------

  const PARTS = /("(?:[^"\\]|\\.)*"?|'(?:[^']|'')*'?)|((?:^|\s)#.*$)|([\w$.-]+(?:\([^)]*\))?(?=:(?:\s|$)))/g;
  let shown = []; // the lines that are drawn

  function coloured(line) {
    const made = html("div", undefined, "code");
    let at = 0;
    for (const found of line.matchAll(PARTS)) {
      if (found.index > at) made.append(line.slice(at, found.index));
      made.append(html("span", found[0], found[1] ? "string" : found[2] ? "comment" : "key"));
      at = found.index + found[0].length;
    }
    made.append(line.slice(at));
    return made;
  }

  // Draws the lines that have changed: those between what is the same above and below.
  function draw() {
    const lines = area.value.split("\n");
    let above = 0;
    while (above < lines.length && above < shown.length && lines[above] === shown[above]) above++;
    let below = 0;
    while (below < Math.min(lines.length, shown.length) - above && lines.at(-1 - below) === shown.at(-1 - below)) below++;
    const under = $("under");
    for (let count = shown.length - above - below; count > 0; count--) under.children[above].remove();
    const next = under.children[above] ?? null;
    for (const line of lines.slice(above, lines.length - below)) under.insertBefore(coloured(line), next);
    shown = lines;
  }

  function underline() {
    for (const old of $("under").querySelectorAll("i")) old.remove();
    for (const line of $("under").querySelectorAll(".wrong")) line.classList.remove("wrong");
    for (const { file, line, column } of shownProblems()) {
      const row = file ? undefined : $("under").children[line - 1];
      if (!row) continue;
      row.classList.add("wrong");
      const word = /^[\w$.-]+/.exec(shown[line - 1].slice(column - 1))?.[0] ?? " ";
      const stroke = html("i");
      stroke.dataset.column = column;
      stroke.style.left = `${column - 1}ch`;
      stroke.style.width = `${word.length}ch`;
      row.append(stroke);
    }
  }

  function go({ line, column }) {
    const start = shown.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0) + column - 1;
    const word = /^[\w$.-]*/.exec(area.value.slice(start))[0];
    area.focus();
    area.setSelectionRange(start, start + word.length);
    ($("under").children[line - 1]?.querySelector(`i[data-column="${column}"]`) ?? $("under").children[line - 1])?.scrollIntoView({ block: "center", inline: "nearest" });
  }

  // -- what is known of it -------------------------------------------------------------------------------------

  const changed = () => opened && area.value !== onDisk;

  const proving = () => document.body.dataset.checked !== undefined;

  function told(text) {
    const found = problems.length || together?.found.length || 0;
    const counted = `${found === 1 ? "1 problem" : `${found} problems`}${problems.length ? "" : " of the roles together"}`;
    const whole = `no problems${together ? "" : " in any role alone"}; the roles together: ${together?.state ?? "still being looked at"}`;
    $("state").textContent = text ?? (fault || (found ? counted : proving() ? whole : "being looked at"));
    $("state").title = together?.summary ?? "";
    $("save").disabled = !changed() || !writable;
    document.title = `${changed() ? "• " : ""}${$("title").textContent}`;
  }

  const shownProblems = () => (problems.length ? problems : together?.found ?? []);

  function list() {
    $("problems").replaceChildren();
    for (const problem of shownProblems()) {
      const button = html("button");
      button.type = "button";
      const where = `${problem.file ? `${problem.file}:` : ""}${problem.line}:${problem.column}`;
      button.append(html("b", `${where} ${problem.code}`), ` ${problem.text}`);
      if (problem.hint) button.append(html("small", problem.hint));
      button.addEventListener("click", () => go(problem));
      const item = html("li");
      item.append(button);
      if (problem.steps?.length) {
        const run = html("details");
        run.append(html("summary", `${problem.steps.length} steps to it (${problem.sure})`), html("pre", problem.steps.map((step, at) => `${at + 1} ${step}`).join("\n")));
        item.append(run);
      }
      $("problems").append(item);
    }
    $("next").hidden = !shownProblems().length;
    underline();
  }

  function next() {
    const line = area.value.slice(0, area.selectionStart).split("\n").length;
    const own = shownProblems().filter((problem) => !problem.file);
    const found = own.find((problem) => problem.line > line) ?? own[0];
    if (found) go(found);
  }

  const pictures = new Studio.Pictures($("pictures"));
  const trial = new Trial(pictures, look);
  const versions = new Map(); // id of a picture -> the version that is shown

  async function draws(wanted, of) {
    for (const id of [...versions.keys()]) {
      if (wanted.some((picture) => picture.id === id)) continue;
      pictures.remove(id);
      versions.delete(id);
    }
    for (const picture of wanted) {
      if (versions.get(picture.id) === picture.version) continue;
      const answer = await fetch(`drawn/${picture.version}.svg`);
      if (of !== seq) return;
      if (answer.ok) {
        pictures.add(picture, await answer.text());
        versions.set(picture.id, picture.version);
      } else {
        told(`${picture.role}, ${picture.machine} is not drawn: ${(await answer.text()).trim()}`);
      }
    }
    trial.light();
    for (const { id } of wanted) if (pictures.figures.has(id)) pictures.place.append(pictures.figures.get(id)); // in the spec's order
    $("pictures").classList.remove("stale");
    $("unread").hidden = true;
    document.body.dataset.drawn = of;
  }

  function came(news) {
    if (news.text !== undefined) {
      begin(news);
    } else if (news.gone) {
      told(news.gone);
    } else if (news.saved !== undefined) {
      saved(news);
    } else if (news.seq !== seq) {
      return; // of a text that is no more
    } else if (news.problems) {
      problems = news.problems;
      if (area.value !== proved) together = null; // else only the trial has gone on
      $("pictures").classList.add("stale"); // until they are drawn: a text that cannot be read has none
      document.body.dataset.checked = seq;
      list();
      told();
      trial.stop(problems.length > 0);
    } else if (news.unread) {
      $("unread").hidden = false;
      $("unread").textContent = pictures.figures.size
        ? "as of the last text that could be read"
        : "the pictures come as soon as the text can be read: mend the problems first";
      document.body.dataset.drawn = seq;
    } else if (news.together) {
      together = news.together;
      proved = area.value;
      if (together.found.length) list();
      if (together.found.length || $("state").textContent !== "saved") told();
      document.body.dataset.proved = seq;
    } else if (news.pictures) {
      draws(news.pictures, news.seq);
    } else if (news.trial) {
      trial.came(news.trial);
      document.body.dataset.tried = seq;
    } else if (news.fault) {
      fault = news.fault;
      told();
    }
  }

  // -- keys ----------------------------------------------------------------------------------------------------

  let resting = 0;
  function look() {
    clearTimeout(resting);
    fault = "";
    send({ seq: ++seq, text: area.value.toWellFormed?.() ?? area.value, lines: trial.wanted });
  }
  area.addEventListener("input", () => {
    draw();
    told(`${$("state").textContent.replace(/ …$/, "")} …`);
    clearTimeout(resting);
    resting = setTimeout(look, REST);
  });
  area.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
    const line = area.value.slice(0, area.selectionStart).split("\n").at(-1);
    const indent = /^ */.exec(line)[0] + (/:\s*$/.test(line) ? "  " : "");
    event.preventDefault();
    document.execCommand("insertText", false, `\n${indent}`); // which can be undone
  });
  addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key === "s") save();
    else if (event.key === "F8") next();
    else return;
    event.preventDefault();
  });
  $("next").addEventListener("click", next);
  addEventListener("beforeunload", (event) => {
    if (changed()) event.preventDefault();
  });

  // -- the file ------------------------------------------------------------------------------------------------

  let saving = "";
  function save(over = mark) {
    if (!changed() || !writable) return;
    saving = area.value;
    send({ save: saving.toWellFormed?.() ?? saving, mark: over });
  }
  function saved(news) {
    $("refused").hidden = news.saved;
    if (news.saved) {
      onDisk = saving;
      mark = news.mark;
      told("saved");
      return;
    }
    $("why").textContent = `not saved: ${news.why}`;
    $("over").hidden = $("reload").hidden = !news.there;
    $("over").onclick = () => save(news.there);
    told();
  }
  $("save").addEventListener("click", () => save());
  $("reload").addEventListener("click", () => {
    opened = false;
    location.reload();
  });

  function begin(news) {
    if (!opened) {
      $("title").textContent = news.name;
      ({ mark, writable } = news);
      onDisk = area.value = news.text;
      opened = true;
      area.setSelectionRange(0, 0);
      draw();
      told();
      $("up").hidden = !news.up;
      $("save").hidden = !writable;
      $("unsaved").hidden = writable;
    }
    look();
    document.body.dataset.ready = "1";
  }

  function connect() {
    socket = new WebSocket(`ws://${location.host}${location.pathname}edit`);
    socket.addEventListener("message", (event) => came(JSON.parse(event.data)));
    socket.addEventListener("close", () => {
      told("the studio does not answer; it is tried again, and your text is still here");
      setTimeout(connect, AGAIN);
    });
  }
  connect();
})();
