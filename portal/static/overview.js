// The live part of the overview: pictures of it come as events, each as this server has made it.
// What is the same stays as it is, so that nobody loses their place by an update.
(() => {
  "use strict";
  const figures = document.getElementById("figures");
  const state = document.getElementById("live-state");
  let source = null;
  let watch = null;

  const say = (words) => {
    if (state.textContent !== words) state.textContent = words;
  };

  // A network can end without a word.
  const heard = () => {
    clearTimeout(watch);
    watch = setTimeout(() => {
      say("Not live: nothing has been heard for a while.");
      open();
    }, 15000);
  };

  const show = (event) => {
    heard();
    const fresh = new DOMParser().parseFromString(JSON.parse(event.data), "text/html");
    for (const part of figures.querySelectorAll("[data-part]")) {
      const other = fresh.querySelector(`[data-part="${part.dataset.part}"]`);
      if (other && other.innerHTML !== part.innerHTML) part.replaceChildren(...other.childNodes);
    }
    say("Live");
  };

  const open = () => {
    source?.close();
    source = new EventSource(figures.dataset.stream);
    heard();
    source.addEventListener("figures", show);
    source.addEventListener("away", (event) => {
      heard();
      say(`Not live: ${JSON.parse(event.data)}`);
    });
    source.addEventListener("over", (event) => {
      source.close();
      clearTimeout(watch);
      document.removeEventListener("visibilitychange", look);
      say(JSON.parse(event.data));
    });
    source.addEventListener("error", () => {
      const over = source.readyState === EventSource.CLOSED;
      if (over) clearTimeout(watch);
      say(over ? "Not live any more. Load this page again; you may have to sign in." : "Connecting again…");
    });
  };

  // A page that nobody sees asks for nothing.
  const look = () => {
    source?.close();
    clearTimeout(watch);
    if (!document.hidden) open();
  };
  document.addEventListener("visibilitychange", look);
  if (!document.hidden) open();
})();
