// @ts-check
/** Shows what the camera sees now: the next picture is asked for a second after the last one came, or did not. */

const EVERY_MS = 1000;

/** @param {HTMLImageElement} first */
function keepUp(first) {
  const address = first.src;
  const none = first.parentElement?.querySelector("[data-none]");
  let shown = first;
  let number = 0;

  const next = () => {
    if (document.hidden) return setTimeout(next, EVERY_MS);
    const fresh = /** @type {HTMLImageElement} */ (shown.cloneNode());
    fresh.onload = () => show(fresh);
    fresh.onerror = () => show(null);
    fresh.src = `${address}?${++number}`;
  };

  /** @param {HTMLImageElement | null} fresh */
  const show = (fresh) => {
    if (fresh) shown.replaceWith(fresh);
    shown = fresh ?? shown;
    shown.hidden = !fresh;
    none?.toggleAttribute("hidden", !!fresh);
    setTimeout(next, EVERY_MS);
  };

  next();
}

for (const picture of document.querySelectorAll("img[data-live]")) if (picture instanceof HTMLImageElement) keepUp(picture);
