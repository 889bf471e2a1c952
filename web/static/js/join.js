// @ts-check
/** Joins with the one-time token of a QR code: it stands behind the # and so never in a log. */

const form = document.querySelector("form[data-join]");
const token = location.hash.slice(1);
if (form instanceof HTMLFormElement && token) {
  history.replaceState(null, "", location.pathname);
  const secret = form.elements.namedItem("secret");
  if (secret instanceof HTMLInputElement) {
    secret.value = token;
    window.htmx.process(form); // it may not have come to this form yet, and a plain submit is none of ours
    form.requestSubmit();
  }
}
