"use strict";
// A trial of the spec: who is there and what they may do, as buttons; what was said; lights in the pictures.
// It is a script of lines; `look` has the text looked at, and the `wanted` lines done again.
class Trial {
  constructor(pictures, look) {
    const { byId: $ } = Studio;
    Object.assign(this, { pictures, look, facts: null, wanted: [], chosen: false, at: -1, narrowed: false, rows: [], ids: new Map() });
    this.talk = null;
    $("waiting").addEventListener("submit", (event) => {
      event.preventDefault();
      const seconds = $("seconds").value.trim();
      this.choose([seconds ? `wait ${seconds}` : "wait"]);
    });
    $("seconds").addEventListener("input", () => this.clock());
    $("undo").addEventListener("click", () => this.undo());
    $("again").addEventListener("click", () => this.again([]));
    $("rule").addEventListener("submit", (event) => {
      event.preventDefault();
      this.say($("says").value);
    });
    for (const word of ["true", "false"]) $(word).addEventListener("click", () => this.say(word));
    $("only").addEventListener("change", () => {
      this.narrowed = true;
      this.light();
    });
    $("list").addEventListener("keydown", (event) => {
      const by = { ArrowUp: -1, ArrowDown: 1, Home: -Infinity, End: Infinity }[event.key];
      if (by === undefined) return;
      event.preventDefault();
      let to = this.at + by;
      while (this.rows[to] && !this.rows[to][Studio.SAID].length) to += by; // a step in which nothing was said has no line
      if (Number.isFinite(by) && !this.rows[to]) return;
      this.go(to);
    });
  }

  // -- what is chosen --------------------------------------------------------------------------------------------

  again(lines) {
    this.wanted = lines;
    this.chosen = true;
    this.look();
  }

  choose(more) {
    this.again([...this.facts.lines, ...more]);
  }

  undo() {
    const { lines, rule } = this.facts;
    let end = lines.length;
    if (!rule) {
      while (end > 0 && lines[end - 1].startsWith("rule ")) end--;
      end = Math.max(0, end - 1);
    }
    this.again(lines.slice(0, end));
  }

  say(value) {
    const { rule, ruleName } = this.facts;
    if (rule) this.choose([...rule.lines, `rule ${ruleName} = ${value}`]);
  }

  // A value as a line has it: JSON stands as it is, any other text becomes JSON.
  static written(text) {
    try {
      JSON.parse(text);
      return text;
    } catch {
      return JSON.stringify(text);
    }
  }

  // -- what came of it -------------------------------------------------------------------------------------------

  // While the spec has problems, what was tried stays as it is, pale.
  stop(stopped) {
    const { byId: $ } = Studio;
    $("trial").classList.toggle("stale", stopped);
    $("trial").classList.toggle("untried", !this.facts);
    if (stopped) $("now").textContent = `${this.facts ? "as of the last text without problems; " : ""}waits until the spec has no problems`;
    for (const one of $("trial").querySelectorAll("button, input, select")) one.disabled = stopped;
  }

  came(facts) {
    const { byId: $ } = Studio;
    const before = this.rows.length;
    const follows = this.at < 0 || this.at >= before - 1 || this.chosen;
    this.facts = facts;
    if (!facts.stopped || this.chosen) this.wanted = facts.stopped || facts.rule ? facts.lines : [...facts.lines];
    const left = facts.left > 1 ? ` (${facts.left} lines are left out)` : "";
    $("stopped").hidden = !facts.stopped;
    $("stopped").textContent = facts.stopped ? `${this.chosen ? "" : "since the spec has changed: "}${facts.stopped}${this.chosen ? "" : left}` : "";
    this.chosen = false;
    this.asks(facts.rule);
    if (!this.narrowed) $("only").checked = facts.choices > 0; // until somebody says otherwise
    if (!facts.rows) return;
    $("now").textContent = `at ${Number(facts.now.toFixed(3))} s, ${facts.choices} ${facts.choices === 1 ? "choice" : "choices"}`;
    $("undo").disabled = !facts.choices && !facts.rule;
    $("again").disabled = !facts.choices;
    this.clock();
    $("wait").disabled = !facts.offers.some((offer) => offer.words === "wait");
    $("script").textContent = facts.lines.join("\n");
    this.rows.splice(0, before, ...facts.rows);
    this.talk ??= new Studio.Talk({ heads: $("heads"), list: $("list"), tall: $("tall") }, this.rows, facts.tones, (step) => this.go(step, false));
    this.talk.meet(facts.parties);
    this.talk.listAll();
    this.people();
    this.go(follows ? Infinity : this.at);
  }

  // Says on the button how long it waits, unless a person says it.
  clock() {
    const { byId: $ } = Studio;
    const due = this.facts?.wait ?? null;
    $("wait").textContent = due === null || $("seconds").value.trim() ? "wait" : `wait ${Number(due.toFixed(3))} s`;
  }

  asks(rule) {
    const { byId: $ } = Studio;
    $("rule").hidden = !rule;
    if (!rule) return;
    $("call").textContent = `what does ${rule.call} say?`;
    $("says").value = "";
    $("says").hidden = $("say").hidden = rule.boolean;
    $("true").hidden = $("false").hidden = !rule.boolean;
    (rule.boolean ? $("true") : $("says")).focus();
  }

  go(step, follow = true) {
    const { byId: $ } = Studio;
    this.at = Math.max(0, Math.min(this.rows.length - 1, step));
    if (!this.rows.length) this.at = -1;
    else this.talk.show(this.at, follow);
    const detail = this.facts.details[this.at]?.filter(Boolean).join("\n") ?? "";
    $("detail").hidden = !detail;
    $("detail").textContent = detail;
    this.light();
  }

  light() {
    const { STAND, ARROWS, byId: $ } = Studio;
    const row = this.rows[this.at];
    if (!row) {
      this.pictures.light({ standing: [], arrows: [], unsure: [], numbers: new Map(), all: true });
      return;
    }
    const { table } = this.facts;
    this.pictures.light({
      standing: row[STAND].map(([party, index]) => [party, table[index]]), arrows: table[row[ARROWS]], unsure: [],
      numbers: this.talk.numbers(), all: !$("only").checked,
    });
    this.pictures.reveal();
  }

  // -- who is there ----------------------------------------------------------------------------------------------

  // Shows the parties with what each may do. The focus stays with the button of the same words.
  people() {
    const { byId: $, html } = Studio;
    const focused = $("parties").contains(document.activeElement) ? document.activeElement.dataset.key : null;
    const { parties, offers, legal, byHand, standing } = this.facts;
    const numbers = this.talk.numbers();
    const listed = parties.map((party) => {
      const own = offers.filter((offer) => offer.who === party.name);
      const section = html("section", undefined, "party");
      section.setAttribute("aria-label", party.name);
      const head = html("h3");
      if (numbers.has(party.id)) head.append(html("b", numbers.get(party.id)[0]));
      head.append(party.name, html("small", party.role === party.name ? "" : party.role));
      const lose = own.find((offer) => offer.words.startsWith("lose "));
      if (lose) head.append(this.button("lose", [lose.words], `lose ${party.name}: cut its connections`));
      section.append(head);
      for (const line of standing[party.id] ?? []) section.append(html("p", line));
      if (legal[party.name]?.length) section.append(this.list(party.name, legal[party.name]));
      for (const offer of own) if (offer.message) section.append(this.form(offer, !legal[party.name]?.length));
      if (own.some((offer) => offer.words.startsWith("answer "))) {
        section.append(this.button("no answer", [`fail ${party.name}`], `the player of ${party.name} fails to answer`));
      }
      if (byHand.includes(party.name)) section.append(this.raw(party.name));
      return section;
    });
    const comers = html("section", undefined, "party");
    comers.setAttribute("aria-label", "who may come");
    for (const { words } of offers) {
      const [verb, role, name] = words.split(" ");
      const shut = this.facts.shut.includes(role) ? `, who is turned away: nobody takes in a ${role} now` : "";
      if (verb === "connect") comers.append(this.button(`${role} ${name} comes`, [words], `start a ${role}, named ${name}${shut}`), " ");
      if (verb === "hand") comers.append(this.button("by hand", [words], `connect a ${role} that you play by hand, named ${name}${shut}`), " ");
      if (verb === "hand" && shut) comers.append(html("p", `nobody takes in a ${role} now: who comes is turned away`));
    }
    $("parties").replaceChildren(...listed, comers);
    if (!focused) return;
    const same = [...$("parties").querySelectorAll("[data-key]")].find((one) => one.dataset.key === focused);
    (same ?? $("parties").querySelector("button, select, input") ?? $("parties")).focus();
  }

  button(text, lines, title) {
    const made = Studio.html("button", text);
    made.type = "button";
    made.title = title;
    made.dataset.key = lines[0].split(" ")[0] + title.split(",")[0];
    made.addEventListener("click", () => this.choose(lines));
    return made;
  }

  // A choice among the legal answers that the game lists.
  list(who, answers) {
    const { html } = Studio;
    const form = html("form");
    const select = html("select");
    select.setAttribute("aria-label", `legal answers of ${who}`);
    answers.forEach(([text], at) => {
      const option = html("option", text);
      option.value = at;
      select.append(option);
    });
    select.dataset.key = `legal ${who}`;
    const button = html("button", "answer");
    button.dataset.key = `answers ${who}`;
    form.append(select, button);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.choose([answers[Number(select.value)][1]]);
    });
    return form;
  }

  form({ words, message, fields }, open) {
    const { html } = Studio;
    const form = html("form");
    const inputs = fields.map(({ name, value, type }) => {
      const label = html("label", name);
      const input = html("input");
      input.type = "text";
      input.value = value;
      input.title = type;
      input.autocomplete = "off";
      input.spellcheck = false;
      label.append(input);
      form.append(label);
      return [name, input];
    });
    const button = html("button", message);
    button.title = `${words} ${message}`;
    button.dataset.key = `${words} ${message}`;
    form.append(button);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.choose([[words, message, ...inputs.map(([name, input]) => `${name}=${Trial.written(input.value)}`)].join(" ")]);
    });
    if (open || !fields.length) return form;
    const more = html("details"); // what is no legal answer may be tried too
    more.append(html("summary", `any ${message}`), form);
    return more;
  }

  raw(who) {
    const { html } = Studio;
    const form = html("form");
    const label = html("label", "a message as it stands");
    const input = html("input");
    input.type = "text";
    input.autocomplete = "off";
    label.append(input);
    const button = html("button", "send");
    button.dataset.key = `raw ${who}`;
    form.append(label, button);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (input.value.trim()) this.choose([`raw ${who} ${input.value}`]);
    });
    return form;
  }
}
