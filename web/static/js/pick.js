// @ts-check
/**
 * Ties what is drawn to what is offered: a thing with `data-pick="space=2"` stands for every offered button whose
 * `data-picks` names it. Where one pick is enough a tap on the thing is a tap on the button; where several may be
 * picked, taps choose, and the button for just these is the one that shows.
 */

/** @type {Map<string, Set<string>>} */
const chosen = new Map();

/** @param {Element} button */
const picksOf = (button) => (button.getAttribute("data-picks") ?? "").split(" ").filter(Boolean);

/** @returns {HTMLElement[]} */
const offered = () => [...document.querySelectorAll("main .answer [data-picks], main .bar [data-picks]")].filter((one) => one instanceof HTMLElement);

/** @param {string} group @returns {HTMLElement[]} */
const inGroup = (group) => offered().filter((button) => button.dataset.group === group);

/** @param {HTMLElement[]} buttons */
const severalIn = (buttons) => buttons.some((button) => picksOf(button).length > 1);

/** @param {Set<string>} left @param {string[]} right */
const same = (left, right) => left.size === right.length && right.every((one) => left.has(one));

/** Show of each group with several picks the one button for what is chosen; all of them at first. */
function sync() {
  const groups = new Set(offered().map((button) => button.dataset.group ?? ""));
  for (const group of chosen.keys()) if (!groups.has(group)) chosen.delete(group);
  for (const group of groups) if (severalIn(inGroup(group))) syncGroup(group, inGroup(group));
  for (const thing of document.querySelectorAll("[data-pick]")) mark(thing);
}

/** @param {string} group @param {HTMLElement[]} buttons */
function syncGroup(group, buttons) {
  const now = chosen.get(group);
  if (!now || !buttons.some((button) => same(now, picksOf(button)))) {
    const widest = buttons.reduce((a, b) => (picksOf(b).length > picksOf(a).length ? b : a));
    chosen.set(group, new Set(picksOf(widest)));
  }
  const wanted = /** @type {Set<string>} */ (chosen.get(group));
  for (const button of buttons) button.hidden = !same(wanted, picksOf(button));
}

/** @param {Element} thing */
function mark(thing) {
  const pick = thing.getAttribute("data-pick") ?? "";
  const open = offered().some((button) => picksOf(button).includes(pick));
  const picked = [...chosen.values()].some((picks) => picks.has(pick));
  thing.toggleAttribute("data-open", open);
  thing.toggleAttribute("data-chosen", open && picked);
  if (open) {
    thing.setAttribute("role", "button");
    thing.setAttribute("tabindex", "0");
  } else {
    thing.removeAttribute("role");
    thing.removeAttribute("tabindex");
  }
}

/** @param {string} pick */
function take(pick) {
  for (const button of offered().filter((one) => picksOf(one).includes(pick))) {
    const group = button.dataset.group ?? "";
    if (!severalIn(inGroup(group))) return button.click();
    const now = chosen.get(group) ?? new Set();
    if (!now.delete(pick)) now.add(pick);
    if (!now.size) now.add(pick);
    chosen.set(group, now);
    return sync();
  }
}

/** @param {Event} event */
function onThing(event) {
  const thing = event.target instanceof Element ? event.target.closest("[data-pick][data-open]") : null;
  if (!thing) return;
  event.preventDefault();
  take(thing.getAttribute("data-pick") ?? "");
}

const main = document.querySelector("main.play");
if (main) {
  main.addEventListener("companion:shown", sync);
  main.addEventListener("click", onThing);
  main.addEventListener("keydown", (event) => {
    if (event instanceof KeyboardEvent && (event.key === "Enter" || event.key === " ")) onThing(event);
  });
  sync();
}
