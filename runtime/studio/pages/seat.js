"use strict";
// A person's seat in a game: shows what the client was told, and sends what the person answers.
(() => {
  const $ = (id) => document.getElementById(id);
  const AGAIN = 1000; // milliseconds until a lost connection is tried again
  const SHOWN = 60; // choices in the list at a time; words narrow them
  const SOON = 5; // seconds that are left when the clock turns red
  const made = (name, text) => {
    const element = document.createElement(name);
    if (text !== undefined) element.textContent = text;
    return element;
  };

  let socket = null;
  let over = false;
  let question = null; // what is asked
  let waits = "wait for your turn"; // what is said while nothing is asked
  let ends = 0; // when its time is up, on this page's clock

  const send = (answer) => socket.send(JSON.stringify(answer));

  // -- choices -------------------------------------------------------------------------------------------------

  function matching() {
    const words = $("words").value.toLowerCase().split(/\s+/).filter(Boolean);
    return question.choices.flatMap((text, at) => (isLeft(at) && words.every((word) => text.toLowerCase().includes(word)) ? [[text, at]] : []));
  }

  function list() {
    const found = matching();
    $("found").textContent =
      found.length > SHOWN ? `${found.length} choices, the first ${SHOWN} are shown` : found.length === 1 ? "1 choice: Enter takes it" : `${found.length} choices`;
    $("choices").replaceChildren();
    for (const [text, at] of found.slice(0, SHOWN)) {
      const item = made("li");
      const button = made("button", text);
      button.type = "button";
      button.addEventListener("click", () => send({ number: question.number, choice: at }));
      item.append(button);
      $("choices").append(item);
    }
  }
  $("words").addEventListener("input", list);
  $("words").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && question) {
      const found = matching();
      if (found.length === 1) send({ number: question.number, choice: found[0][1] });
    } else if (event.key === "ArrowDown") {
      $("choices").querySelector("button")?.focus();
      event.preventDefault();
    }
  });
  $("choices").addEventListener("keydown", (event) => {
    const buttons = [...$("choices").querySelectorAll("button")];
    const at = buttons.indexOf(document.activeElement);
    if (event.key === "ArrowDown") buttons[Math.min(at + 1, buttons.length - 1)].focus();
    else if (event.key === "ArrowUp") (at > 0 ? buttons[at - 1] : $("words")).focus();
    else return;
    event.preventDefault();
  });

  // -- clicks on the board -------------------------------------------------------------------------------------

  let clicked = []; // the spots that were clicked for this question, in their order
  let shown = []; // the buttons on the board, each with its spot

  const isLeft = (at) => clicked.every((spot, place) => question.picks[at]?.[place] === spot);

  // Shows what may be clicked next; what all answers that are left share need not be clicked.
  function offer() {
    $("spots").replaceChildren();
    shown = [];
    $("undo").hidden = true;
    $("due").textContent = "";
    if (!question || !question.picks.length) return;
    const picks = question.picks.filter((_, at) => isLeft(at));
    if (!picks.length) return;
    let place = clicked.length;
    while (picks.length > 1 && picks.every((pick) => pick.length > place && pick[place] === picks[0][place])) place++;
    const shared = picks[0].slice(clicked.length, place);
    for (const spot of [...clicked, ...shared]) mark(spot, "picked");
    const next = [...new Set(picks.map((pick) => pick[place]))].filter((spot) => spot !== undefined);
    for (const spot of next) mark(spot, "").addEventListener("click", () => click([...shared, spot]));
    $("undo").hidden = !clicked.length;
    const due = [...new Set(next.map((spot) => question.spots[spot][5]))];
    $("due").textContent = due.length ? `click ${due.join(", or ")}` : "";
    lay();
  }

  function mark(spot, kind) {
    const button = made("button");
    button.type = "button";
    button.title = question.spots[spot][4];
    button.setAttribute("aria-label", question.spots[spot][4]);
    if (kind) button.className = kind;
    button.disabled = kind === "picked";
    shown.push([button, question.spots[spot]]);
    $("spots").append(button);
    return button;
  }

  function click(spots) {
    const focused = $("spots").contains(document.activeElement);
    clicked.push(...spots);
    const left = question.choices.map((_, at) => at).filter(isLeft);
    if (left.length === 1) {
      for (const [button] of shown) button.disabled = true; // until the game has taken it, or says what is wrong
      send({ number: question.number, choice: left[0] });
      return;
    }
    offer();
    list();
    if (focused) $("spots").querySelector("button:not(:disabled)")?.focus();
  }

  function back() {
    if (!clicked.length) return;
    clicked.pop();
    offer();
    list();
  }
  $("undo").addEventListener("click", back);
  addEventListener("keydown", (event) => {
    if (event.key === "Escape") back();
  });

  // Lays the buttons where the picture is.
  function lay() {
    const { naturalWidth, clientWidth, clientHeight, offsetLeft, offsetTop } = $("board");
    const scale = naturalWidth ? clientWidth / naturalWidth : 0;
    Object.assign($("spots").style, { left: `${offsetLeft}px`, top: `${offsetTop}px`, width: `${clientWidth}px`, height: `${clientHeight}px` });
    for (const [button, [x, y, wide, high]] of shown) {
      Object.assign(button.style, { left: `${x * scale}px`, top: `${y * scale}px`, width: `${wide * scale}px`, height: `${high * scale}px` });
    }
    $("spots").style.height = "0";
  }
  $("board").addEventListener("load", lay);
  new ResizeObserver(lay).observe($("scene"));

  // -- forms ---------------------------------------------------------------------------------------------------

  function form({ message, fields }) {
    const element = made("form");
    element.dataset.message = message;
    for (const field of fields) {
      const label = made("label", field.name);
      const input = made("input");
      input.type = "text";
      input.name = field.name;
      input.autocomplete = "off";
      if (field.offered !== null) input.placeholder = field.offered;
      const told = made("small", field.type);
      const bad = made("small");
      bad.className = "bad";
      label.append(input, told, bad);
      element.append(label);
    }
    const button = made("button", `send ${message}`);
    element.append(button);
    element.addEventListener("submit", (event) => {
      event.preventDefault();
      const texts = Object.fromEntries([...element.querySelectorAll("input")].map((input) => [input.name, input.value]));
      send({ number: question.number, message, texts });
    });
    return element;
  }

  function refused(wrong) {
    $("wrong").textContent = wrong[""] ?? "";
    for (const input of $("forms").querySelectorAll("input")) {
      const why = wrong[input.name];
      input.setAttribute("aria-invalid", String(why !== undefined));
      input.parentElement.querySelector(".bad").textContent = why ?? "";
    }
    $("forms").querySelector("[aria-invalid=true]")?.focus();
  }

  // -- what comes ----------------------------------------------------------------------------------------------

  function asked(next) {
    if (next && question && next.number === question.number) return;
    question = next;
    clicked = [];
    if (next?.picks.length) picture(`/offer.svg?question=${next.number}`, "the board, with what you may click");
    offer();
    $("wrong").textContent = "";
    $("arguments").replaceChildren();
    $("forms").replaceChildren();
    $("choices").replaceChildren();
    $("pick").hidden = !next || !next.choices.length;
    $("question").textContent = next ? `your turn: ${next.name}` : waits;
    document.title = next ? "your turn" : "accord: a seat";
    if (!next) return;
    ends = next.left === null ? 0 : performance.now() + next.left * 1000;
    for (const [name, value] of next.arguments) $("arguments").append(made("dt", name), made("dd", value));
    if (next.choices.length) {
      $("words").value = "";
      list();
      $("words").focus();
    } else {
      $("forms").append(...next.forms.map(form));
      $("forms").querySelector("input, button")?.focus();
    }
  }

  function picture(path, text) {
    $("game").hidden = false;
    if ($("board").getAttribute("src") !== path) $("board").src = path;
    $("board").alt = text;
  }

  function came(told) {
    if (told.wrong) {
      if (question && told.number === question.number) refused(told.wrong);
      return;
    }
    over = told.over;
    $("title").textContent = `${told.protocol}: ${told.name}`;
    $("state").textContent = over ? "the game is over" : "in the game";
    $("leave").hidden = over || Boolean(told.out);
    $("about").hidden = !told.explained;
    $("explained").textContent = told.explained;
    for (const text of told.news) $("news").append(made("li", text));
    if (told.news.length) $("told").scrollTop = $("told").scrollHeight;
    if (told.board !== null && !told.question?.picks.length) picture(`/board.svg?at=${told.board}`, "the board as it stands");
    const wait = told.out ? `you are out: ${told.out}` : "wait for your turn";
    if (over) waits = [told.out ? wait : "", told.ending].filter(Boolean).join("; ") || "the game is over";
    else waits = told.out ? `${wait}; the others play on` : wait;
    if (!told.question) $("question").textContent = waits;
    asked(told.question);
    if (!over) return;
    const last = $("board");
    if (last.complete) socket.close();
    else for (const end of ["load", "error"]) last.addEventListener(end, () => socket.close(), { once: true });
  }

  setInterval(() => {
    const left = question && ends ? Math.max(0, (ends - performance.now()) / 1000) : null;
    $("left").textContent = left === null ? "" : `${left.toFixed(0)} s left`;
    $("left").classList.toggle("soon", left !== null && left < SOON);
  }, 200);

  $("leave").addEventListener("click", () => {
    if (confirm("Leave the game? The others play on.")) send({ leave: true });
  });

  function connect() {
    $("news").replaceChildren();
    socket = new WebSocket(`ws://${location.host}/seat`);
    socket.addEventListener("message", (event) => came(JSON.parse(event.data)));
    socket.addEventListener("close", () => {
      if (over) return;
      $("state").textContent = "the game does not answer; it is tried again";
      asked(null);
      setTimeout(connect, AGAIN);
    });
  }
  connect();
  document.body.dataset.ready = "1";
})();
