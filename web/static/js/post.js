// @ts-check
/** Sends what was tapped: once, however often it was tapped, and says in words why it was not taken. */

import { show } from "./stream.js";

/** @type {WeakMap<Element, string>} */
const keys = new WeakMap();

/** 128 random bits, by what browsers have on a home network too. */
function newKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Say something in words, or show a question of ours with its buttons. @param {string} text @param {string} [question] */
function say(text, question = "") {
  const notice = document.getElementById("notice");
  if (!notice) return;
  notice.textContent = text;
  if (question) void window.htmx.swap({ text: question, target: notice, swap: "innerHTML", sourceElement: notice });
}

/** @param {string | undefined} text */
function parsed(text) {
  try {
    return JSON.parse(text ?? "");
  } catch {
    return {};
  }
}

document.addEventListener("htmx:config:request", (event) => {
  const { ctx } = event.detail;
  const key = keys.get(ctx.sourceElement) ?? newKey();
  keys.set(ctx.sourceElement, key);
  ctx.request.headers["Idempotency-Key"] = key;
});

document.addEventListener("htmx:after:request", (event) => {
  const { ctx } = event.detail;
  keys.delete(ctx.sourceElement);
  const read = ctx.request.method === "GET";
  if (read && ctx.response.status < 400) return openSide(ctx);
  const answer = parsed(ctx.text);
  if (answer.regions) void show(answer.regions);
  if (answer.go) location.assign(answer.go);
  say(answer.ok === false ? answer.error : answer.said ?? "", answer.html);
  if (!read && answer.ok !== false) closeSide();
});

document.addEventListener("htmx:error", (event) => {
  const notice = document.getElementById("notice");
  if (event.detail.ctx && notice) say(notice.dataset.unsent ?? "");
});

/** @param {{target?: Element}} ctx */
function openSide(ctx) {
  document.querySelector("details.lines")?.removeAttribute("open");
  if (ctx.target?.id === "side") document.querySelector("main")?.setAttribute("data-side", "");
}

/** A panel that answers what the table was asked goes with the question. */
function closeStale() {
  const panel = document.querySelector("#side [data-asks]");
  const now = document.querySelector(".answer [data-asks]");
  if (panel instanceof HTMLElement && now instanceof HTMLElement && panel.dataset.asks !== now.dataset.asks) closeSide();
}

document.querySelector("main.play")?.addEventListener("companion:shown", closeStale);

function closeSide() {
  document.querySelector("main")?.removeAttribute("data-side");
  document.getElementById("side")?.replaceChildren();
}

document.addEventListener("click", (event) => {
  const button = event.target instanceof Element ? event.target.closest("[data-close], [data-shows]") : null;
  const main = document.querySelector("main");
  if (!(button instanceof HTMLElement) || !main) return;
  closeSide();
  say("");
  if (button.dataset.shows) main.dataset.shown = main.dataset.shown === button.dataset.shows ? "" : button.dataset.shows;
});
