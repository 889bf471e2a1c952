// @ts-check
/** Keeps the page as the table is: one stream of server-sent events, changed regions only, presence in words. */

/** @typedef {{number: number, regions?: Record<string, string>}} Shown */

const OFFLINE_AFTER_MS = 6000;

/** @param {Record<string, string>} regions */
export async function show(regions) {
  const main = /** @type {HTMLElement} */ (document.querySelector("main"));
  for (const [name, html] of Object.entries(regions)) {
    const target = main.querySelector(`[data-region="${name}"]`);
    if (target) await window.htmx.swap({ text: html, target, swap: "innerMorph", sourceElement: main });
  }
  main.dispatchEvent(new CustomEvent("companion:shown"));
}

/** Says how the line to the table is, and since when it is cut. */
class Presence {
  /** @param {HTMLElement} main @param {HTMLElement} words */
  constructor(main, words) {
    this.main = main;
    this.words = words;
    this.lostAt = 0;
    setInterval(() => this.tell(), 1000);
  }

  found() {
    this.lostAt = 0;
    this.tell();
  }

  lost() {
    this.lostAt ||= Date.now();
    this.tell();
  }

  tell() {
    const ms = this.lostAt ? Date.now() - this.lostAt : 0;
    const state = !this.lostAt ? "connected" : ms < OFFLINE_AFTER_MS ? "reconnecting" : "offline";
    const age = this.lostAt ? ` ${(this.words.dataset.age ?? "").replace("{seconds}", String(Math.round(ms / 1000)))}` : "";
    const text = (this.words.dataset[state] ?? state) + age;
    if (this.words.textContent !== text) this.words.textContent = text;
    this.words.className = `dot ${this.lostAt ? "bad" : "good"}`;
    this.main.toggleAttribute("data-stale", ms > 2000);
  }
}

/** @param {HTMLElement} main */
function listen(main) {
  const words = /** @type {HTMLElement} */ (document.getElementById("presence"));
  const presence = new Presence(main, words);
  /** @type {EventSource | null} */
  let source = null;

  /** @param {MessageEvent<string>} event */
  const take = (event) => {
    /** @type {Shown} */
    const shown = JSON.parse(event.data);
    presence.found();
    main.dataset.number = String(shown.number);
    void show(shown.regions ?? {});
  };

  const open = () => {
    source?.close();
    source = new EventSource(/** @type {string} */ (main.dataset.stream));
    source.addEventListener("snapshot", take);
    source.addEventListener("view", take);
    source.addEventListener("reload", () => location.reload());
    source.addEventListener("open", () => presence.found());
    source.addEventListener("error", () => {
      presence.lost();
      if (source?.readyState === EventSource.CLOSED) setTimeout(open, 1000);
    });
  };

  addEventListener("pagehide", () => source?.close());
  addEventListener("pageshow", (event) => event.persisted && open());
  addEventListener("offline", () => presence.lost());
  addEventListener("online", open);
  open();
}

const main = document.querySelector("main[data-stream]");
if (main instanceof HTMLElement) listen(main);
