// @ts-check
/** Joins with the one-time token of a QR code: it stands behind the # and so never in a log. */

const form = document.querySelector("form[data-join]");
const token = location.hash.slice(1);
if (form instanceof HTMLFormElement && token) {
  history.replaceState(null, "", location.pathname);
  const secret = form.elements.namedItem("secret");
  if (secret instanceof HTMLInputElement) {
    secret.value = token;
    form.requestSubmit();
  }
}
