// What pages do beyond being read: follow the league, change the theme, step through a match.
"use strict";
(() => {
  const root = document.documentElement;
  const remember = (key, value) => { try { localStorage.setItem(key, value); } catch { /* private */ } };
  const recall = (key) => { try { return localStorage.getItem(key); } catch { return null; } };
  root.classList.add("js");
  if (recall("theme")) root.dataset.theme = recall("theme");
  if (new URLSearchParams(location.search).has("wall")) root.classList.add("wall");

  const isDark = () => root.dataset.theme ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;

  function offerThemes() {
    document.getElementById("theme")?.addEventListener("click", () => {
      root.dataset.theme = isDark() ? "light" : "dark";
      remember("theme", root.dataset.theme);
    });
  }

  // Replaces what differs. Children with a data-key keep their elements, so focus stays.
  function update(element, html) {
    const fresh = document.createElement("template");
    fresh.innerHTML = html;
    const focus = document.activeElement?.getAttribute?.("href");
    const known = new Map([...element.children].filter((one) => one.dataset.key).map((one) => [one.dataset.key, one]));
    if (!known.size || ![...fresh.content.children].some((one) => one.dataset.key)) {
      element.replaceChildren(fresh.content);
    } else {
      const wanted = [...fresh.content.children].map((one) => {
        const old = known.get(one.dataset.key);
        return old && old.outerHTML === one.outerHTML ? old : one;
      });
      if (wanted.length !== element.children.length || wanted.some((one, i) => element.children[i] !== one)) {
        element.replaceChildren(...wanted);
      }
    }
    if (focus && document.activeElement === document.body) {
      element.querySelector(`[href="${CSS.escape(focus)}"]`)?.focus({ preventScroll: true });
    }
  }

  // Reads this page again, and keeps what is open and where the reader is.
  const PAUSE = 2000;
  let isReading = false, wanted = 0;
  async function readAgain(seq) {
    wanted = Math.max(wanted, seq);
    if (isReading) return;
    isReading = true;
    let shown = 0;
    try {
      const answer = await fetch(location.href, { headers: { accept: "text/html" } });
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
      const here = document.getElementById("content"), there = fresh.getElementById("content");
      shown = Number(fresh.body.dataset.seq);
      if (!answer.ok || !there || here.contains(document.activeElement?.closest("form"))) return;
      const open = [...here.querySelectorAll("details[open][id]")].map((one) => one.id);
      const places = [...here.querySelectorAll(".scroll")].map((one) => [one.scrollLeft, one.scrollTop]);
      open.forEach((id) => there.querySelector(`#${CSS.escape(id)}`)?.setAttribute("open", ""));
      if (here.innerHTML !== there.innerHTML) {
        const focus = document.activeElement?.getAttribute?.("href");
        here.replaceChildren(...there.childNodes);
        document.body.dataset.seq = shown;
        here.querySelectorAll(".scroll").forEach((one, i) => places[i] && one.scrollTo(...places[i]));
        if (focus) here.querySelector(`[href="${CSS.escape(focus)}"]`)?.focus({ preventScroll: true });
        offerSteps();
      }
    } catch { /* the stream says that the league cannot be reached */ } finally {
      setTimeout(() => { isReading = false; if (shown < wanted) readAgain(wanted); }, PAUSE);
    }
  }

  function follow() {
    const body = document.body, sign = document.getElementById("connection");
    if (!body.dataset.stream || (!("live" in body.dataset) && !("follows" in body.dataset))) return;
    const isLive = "live" in body.dataset;
    let isOver = false, stream = null, latestAt = Date.now();
    const show = (text, state) => { if (sign.textContent !== text) { sign.textContent = text; sign.className = state; } };
    const take = (event) => {
      const news = JSON.parse(event.data);
      latestAt = Date.now();
      show("live", "live");
      if (isLive) {
        for (const [id, html] of Object.entries(news.regions)) {
          const element = document.getElementById(id);
          if (element) update(element, html);
        }
      } else if (news.seq > Number(body.dataset.seq)) {
        readAgain(news.seq);
      }
      if (news.over) {  // nothing more will come
        isOver = true;
        close();
        show("final", "");
      }
    };
    const open = () => {
      if (stream || isOver) return;
      stream = new EventSource(body.dataset.stream + (isLive ? "?live" : ""));
      stream.onopen = () => show("live", "live");
      stream.onmessage = take;
      stream.onerror = () => {
        const age = Math.round((Date.now() - latestAt) / 1000);
        show(`reconnecting… (${age} s old)`, "lost");
        if (stream.readyState === EventSource.CLOSED) { stream = null; setTimeout(open, 2000); }
      };
    };
    const close = () => { stream?.close(); stream = null; };
    // A hidden tab needs no stream: browsers allow only a few to one host.
    document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
    addEventListener("pagehide", close);
    if (!document.hidden) open();
  }

  function offerSteps() {
    const steps = [...document.querySelectorAll(".sequence [data-step]")];
    const sign = document.getElementById("step");
    if (!steps.length || !sign) return;
    const all = document.querySelectorAll(".messages [data-step]").length;
    let now = all;
    const show = () => {
      document.querySelectorAll("[data-step]").forEach((one) => {
        one.classList.toggle("later", now < all && Number(one.dataset.step) > now);
        one.classList.toggle("now", now < all && Number(one.dataset.step) === now);
      });
      sign.textContent = now === all ? `all ${all} messages` : `message ${now} of ${all}`;
    };
    const moves = { first: () => 1, back: () => Math.max(1, now - 1), on: () => Math.min(all, now + 1), last: () => all };
    document.querySelectorAll("[data-go]").forEach((button) => button.addEventListener("click", () => {
      now = moves[button.dataset.go]();
      show();
    }));
    show();
  }

  function offerCopies() {
    document.addEventListener("click", async (event) => {
      const button = event.target.closest?.("[data-copy]");
      if (!button) return;
      const source = document.getElementById(button.dataset.copy);
      try {
        await navigator.clipboard.writeText(source.textContent);
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(source);
        button.textContent = "Selected: press Ctrl-C";
      }
    });
  }

  document.addEventListener("DOMContentLoaded", () => { offerThemes(); follow(); offerSteps(); offerCopies(); });
})();
