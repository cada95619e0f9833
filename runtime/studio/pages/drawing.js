"use strict";
// What the pages of the studio share: state diagrams with lights in them, and messages as a sequence diagram.
const Studio = (() => {
  const SVG = "http://www.w3.org/2000/svg";
  const [SECONDS, KIND, PARTY, STAND, ARROWS, UNSURE, BOARD, SAID] = [0, 1, 2, 3, 4, 5, 6, 7]; // of a row
  const AROUND = 10; // rows that are drawn above and below those that are seen
  const TOKENS = 8; // at one state

  const byId = (id) => document.getElementById(id);
  function element(name, attributes, text) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    return made;
  }
  function html(name, text, className) {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (className) made.className = className;
    return made;
  }
  async function fetched(path) {
    const answer = await fetch(path);
    if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
    return answer;
  }

  // The state diagrams of a spec, one figure a machine, and what is lit in them.
  class Pictures {
    constructor(place) {
      this.place = place;
      this.figures = new Map(); // id of a picture -> its figure
      this.marks = new Map(); // id of an element -> the element
      this.owner = new Map(); // id of an element -> the figure that it is in
      this.lit = []; // what has to be put out again
    }

    // Shows a picture, in the place of the one that it had before, if there was one.
    add({ id, role, machine }, text) {
      const parsed = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
      const drawn = document.importNode(parsed, true);
      drawn.setAttribute("role", "img");
      drawn.setAttribute("aria-label", `states of ${role}, ${machine}`);
      for (const link of drawn.querySelectorAll("a")) link.removeAttributeNS("http://www.w3.org/1999/xlink", "href");
      const before = this.figures.get(id);
      const figure = before ?? html("figure");
      if (before) this.forget(id);
      figure.replaceChildren(drawn);
      if (!before) this.place.append(figure);
      this.figures.set(id, figure);
      for (const one of drawn.querySelectorAll("[id]")) {
        this.marks.set(one.id, one);
        this.owner.set(one.id, figure);
      }
    }

    forget(id) {
      const figure = this.figures.get(id);
      for (const [name, owner] of this.owner) {
        if (owner !== figure) continue;
        this.owner.delete(name);
        this.marks.delete(name);
      }
    }

    remove(id) {
      this.forget(id);
      this.figures.get(id)?.remove();
      this.figures.delete(id);
    }

    out() {
      for (const out of this.lit) out();
      this.lit = [];
    }

    frame(mark, unsure) {
      const box = mark.getBBox();
      if (!box.width && !box.height) return null;
      const drawn = element("rect", {
        class: unsure ? "here unsure" : "here", x: box.x - 3, y: box.y - 3, width: box.width + 6, height: box.height + 6, rx: 6,
      });
      mark.append(drawn);
      this.lit.push(() => drawn.remove());
      return box;
    }

    // Lights where everybody stands: `standing` has pairs of a party and ids, `arrows` are those just taken, `numbers`
    // of the parties that have a token, by id, with their names. Figures in which nothing is lit are hidden, unless `all`.
    light({ standing, arrows, unsure, numbers, all }) {
      this.out();
      const seen = new Set();
      const there = new Map(); // id of a box -> the parties that stand there
      for (const [party, ids] of standing) {
        for (const id of ids) {
          if (!there.has(id)) there.set(id, []);
          there.get(id).push(party);
          seen.add(this.owner.get(id));
        }
      }
      for (const id of arrows) if (this.owner.has(id)) seen.add(this.owner.get(id));
      for (const figure of this.figures.values()) figure.hidden = !all && !seen.has(figure);
      for (const [id, those] of there) this.stand(id, those, unsure, numbers);
      for (const id of arrows) {
        for (const part of ["", "_1", "_2"]) {
          const mark = this.marks.get(id + part);
          if (!mark) continue;
          mark.classList.add("gone");
          this.lit.push(() => mark.classList.remove("gone"));
        }
      }
    }

    // Scrolls to what is lit, if nothing of it is seen.
    reveal() {
      const box = this.place.parentElement;
      const seen = box.getBoundingClientRect();
      const lit = [...this.place.querySelectorAll(".gone, .here")].map((one) => one.getBoundingClientRect()).filter((one) => one.width);
      if (!lit.length || lit.some((one) => one.top >= seen.top && one.bottom <= seen.bottom)) return;
      box.scrollTop += lit[0].top - seen.top - Math.max(20, (seen.height - lit[0].height) / 2);
    }

    stand(id, those, unsure, numbers) {
      const mark = this.marks.get(id);
      const box = mark && this.frame(mark, those.every((party) => unsure.includes(party)));
      if (!box) return;
      those.filter((party) => numbers.has(party)).slice(0, TOKENS).forEach((party, at) => {
        const doubtful = unsure.includes(party) ? " unsure" : "";
        const token = element("g", {});
        const x = box.x + box.width - 6 - at * 17;
        const [number, name] = numbers.get(party);
        token.append(element("title", {}, name));
        token.append(element("circle", { class: `token${doubtful}`, cx: x, cy: box.y - 1, r: 8 }));
        token.append(element("text", { class: `letter${doubtful}`, x, y: box.y + 2 }, number));
        mark.append(token);
        this.lit.push(() => token.remove());
      });
    }
  }

  // The messages of a run, a line each; only those that are seen are in the page. `chosen` hears of a row clicked.
  class Talk {
    static ROW = 26; // pixels
    static TIME = 44; // that the time of a row takes

    constructor({ heads, list, tall }, rows, tones, chosen) {
      Object.assign(this, { heads, box: list, tall, rows });
      this.toneName = Object.fromEntries(Object.entries(tones).map(([name, number]) => [number, name]));
      this.nameOf = new Map();
      this.peers = [];
      this.lives = [];
      this.list = []; // [step, line] of all that is shown
      this.at = 0;
      this.filter = "";
      this.high = 600;
      this.wide = 450;
      this.timed = true;
      this.drawn = new Map();
      new ResizeObserver((entries) => {
        const { height, width } = entries[0].contentRect;
        this.high = height;
        if (width && width !== this.wide) {
          this.wide = width;
          this.drawn.clear();
          this.tall.replaceChildren();
        }
        requestAnimationFrame(() => this.paint());
      }).observe(list);
      list.addEventListener("scroll", () => requestAnimationFrame(() => this.paint()), { passive: true });
      list.addEventListener("click", (event) => {
        const row = event.target.closest(".row");
        if (row) chosen(Number(row.dataset.step));
      });
      addEventListener("beforeprint", () => this.paint(true));
      addEventListener("afterprint", () => this.paint());
    }

    place(id) {
      return 10 + (this.lives.indexOf(id) + 0.5) * (88 / this.lives.length);
    }

    meet(parties) {
      this.nameOf = new Map(parties.map((party) => [party.id, party.name]));
      const roots = parties.filter((party) => party.root);
      this.peers = parties.filter((party) => !party.root);
      const half = Math.ceil(this.peers.length / 2);
      this.lives = [...this.peers.slice(0, half), ...roots, ...this.peers.slice(half)].map((party) => party.id);
      this.heads.replaceChildren();
      for (const id of this.lives) {
        const head = html("span", this.nameOf.get(id));
        head.style.left = `${this.place(id)}%`;
        head.title = this.nameOf.get(id);
        this.heads.append(head);
      }
    }

    // The numbers that the peers have in the pictures.
    numbers() {
      return new Map(this.peers.map((party, at) => [party.id, [at + 1, party.name]]));
    }

    // Lists the rows from one on, below those that are listed; what is drawn stays as it is.
    listOn(from) {
      const { rows, filter } = this;
      for (let step = from; step < rows.length; step++) {
        for (const line of rows[step][SAID]) if (!filter || line[0] === filter || line[1] === filter) this.list.push([step, line]);
      }
      this.tall.style.height = `${this.list.length * Talk.ROW}px`;
      this.paint();
    }

    listAll() {
      this.list = [];
      this.drawn.clear();
      this.tall.replaceChildren();
      this.listOn(0);
    }

    // Shows the lines of a step; scrolls to them, if it shall `follow`.
    show(step, follow) {
      this.at = step;
      let low = 0;
      for (let end = this.list.length; low < end; ) {
        const middle = (low + end) >> 1;
        if (this.list[middle][0] < step) low = middle + 1;
        else end = middle;
      }
      const index = Math.min(low, this.list.length - 1);
      if (follow) this.box.scrollTop = index * Talk.ROW - this.high / 2;
      this.active = index;
      this.paint();
    }

    rowOf(index) {
      const [step, [from, to, text, tone]] = this.list[index];
      const row = html("div");
      row.className = `row ${this.toneName[tone]}`;
      row.style.top = `${index * Talk.ROW}px`;
      row.dataset.step = step;
      row.id = `row${index}`;
      row.setAttribute("role", "option");
      row.setAttribute("aria-posinset", index + 1);
      const seconds = this.timed ? this.rows[step][SECONDS].toFixed(2) : String(step + 1);
      const who = to ? `${this.nameOf.get(from)} to ${this.nameOf.get(to)}` : this.nameOf.get(from);
      row.setAttribute("aria-label", `${seconds}${this.timed ? " seconds" : ""}: ${text}, ${who}`);
      const chart = element("svg", { "aria-hidden": "true" });
      for (const id of this.lives) {
        const x = `${this.place(id)}%`;
        chart.append(element("line", { class: "life", x1: x, x2: x, y1: 0, y2: Talk.ROW }));
      }
      chart.append(element("text", { class: "time", x: 4, y: 16 }, seconds));
      const start = this.place(from);
      const end = to ? this.place(to) : start;
      if (to) {
        chart.append(element("line", { class: "arrow", x1: `${start}%`, x2: `${end}%`, y1: 20, y2: 20 }));
        const tip = element("svg", { x: `${end}%`, y: 20, overflow: "visible" });
        tip.append(element("path", { class: "tip", d: end > start ? "M0 0l-7-3.5v7z" : "M0 0l7-3.5v7z" }));
        chart.append(tip);
      }
      // A text stays in the chart, beside the time, wherever its party stands.
      const letter = this.toneName[tone] === "violation" ? 7.2 : 6.5;
      const most = Math.max(12, Math.min(to ? 44 : 90, Math.floor((this.wide - Talk.TIME - 4) / letter)));
      const shown = text.length > most ? `${text.slice(0, most - 1)}…` : text;
      const half = (shown.length * letter) / 2;
      const middle = Math.min(this.wide - 4 - half, Math.max(Talk.TIME + half, ((start + end) / 200) * this.wide));
      chart.append(element("text", { x: `${(100 * middle) / this.wide}%`, y: to ? 15 : 18 }, shown));
      row.append(chart);
      return row;
    }

    paint(all = false) {
      const { list, drawn } = this;
      const top = this.box.scrollTop / Talk.ROW;
      const first = all ? 0 : Math.max(0, Math.floor(top) - AROUND);
      const end = all ? list.length : Math.min(list.length, Math.ceil(top + this.high / Talk.ROW) + AROUND);
      for (const [index, row] of drawn) {
        if (index < first || index >= end) {
          row.remove();
          drawn.delete(index);
        }
      }
      let above = null; // rows stand in the page in their order: it is read aloud so, and printed
      for (let index = first; index < end; index++) {
        let row = drawn.get(index);
        if (!row) {
          row = this.rowOf(index);
          drawn.set(index, row);
          if (above) above.after(row);
          else this.tall.prepend(row);
        }
        above = row;
        const step = list[index][0];
        row.classList.toggle("now", step === this.at);
        row.classList.toggle("after", step > this.at);
        row.setAttribute("aria-selected", String(step === this.at));
        row.setAttribute("aria-setsize", list.length);
      }
      // Only a row that is in the page can be pointed to: who scrolls away from it leaves it out.
      if (drawn.has(this.active)) this.box.setAttribute("aria-activedescendant", `row${this.active}`);
      else this.box.removeAttribute("aria-activedescendant");
    }
  }

  return { SECONDS, KIND, PARTY, STAND, ARROWS, UNSURE, BOARD, SAID, byId, element, html, fetched, Pictures, Talk };
})();
