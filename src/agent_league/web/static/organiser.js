// The organiser's forms: each calls a tool of the league, with the token of this tab.
"use strict";
(() => {
  const answer = document.getElementById("answer");
  const say = (text, kind) => { answer.textContent = text; answer.className = kind; };
  const KEY = `organiser-token ${answer.dataset.endpoint}`;  // each league has its own

  // Shows what the order has changed; what is typed elsewhere on the page stays.
  async function refresh() {
    const fresh = new DOMParser().parseFromString(await (await fetch(location.href, { headers: { accept: "text/html" } })).text(), "text/html");
    for (const part of ["#course", "#ended"]) {
      const here = document.querySelector(part), there = fresh.querySelector(part);
      const focus = here.contains(document.activeElement) && document.activeElement.form?.dataset.tool;
      if (here.outerHTML !== there.outerHTML) here.replaceWith(there);
      if (focus) there.querySelector(`[data-tool=${focus}] button`)?.focus();
    }
    const agents = fresh.querySelector("select[name=agent_id]");
    for (const one of document.querySelectorAll("select[name=agent_id]")) {
      const chosen = one.value;
      if (one.innerHTML !== agents.innerHTML) one.innerHTML = agents.innerHTML;
      one.value = chosen;
    }
    document.querySelector(".announcement.told")?.remove();
    const told = fresh.querySelector(".announcement.told");
    if (told) document.getElementById("content").before(told);
  }

  function follow() {
    if (!document.body.dataset.stream) return;
    const stream = new EventSource(document.body.dataset.stream);
    let due = null;
    stream.onmessage = (event) => {
      if (JSON.parse(event.data).over) {  // soon nobody answers any more
        stream.close();
        clearTimeout(due);
        document.querySelectorAll("#course form").forEach((one) => one.remove());
        document.querySelector("#course .lead").textContent = "The league is over.";
        return;
      }
      due ??= setTimeout(() => { due = null; refresh().catch(() => {}); }, 1000);
    };
    addEventListener("pagehide", () => stream.close());
  }

  async function call(tool, fields, what) {
    const token = sessionStorage.getItem(KEY);
    if (!token) return say("Enter the organiser's token first.", "bad");
    const response = await fetch(answer.dataset.endpoint, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: tool, params: { ...fields, auth_token: token } }),
    });
    const { result, error } = await response.json();
    if (error) return say(`Refused: ${error.data?.detail ?? error.message}`, "bad");
    await refresh();
    if (result.auth_token) return say(`The new token of ${result.agent_id}, shown only now: ${result.auth_token}`, "good");
    return say(`Done: ${what}. ${result.note ?? ""}`, "good");
  }

  document.getElementById("sign-in").addEventListener("submit", (event) => {
    event.preventDefault();
    const field = document.getElementById("token");
    sessionStorage.setItem(KEY, field.value.trim());
    field.value = "";
    say("The token is kept in this tab until you close it. The league checks it with each order.", "good");
  });
  document.addEventListener("submit", async (event) => {
    const form = event.target.closest("form[data-tool]");
    if (!form) return;
    event.preventDefault();
    const fields = Object.fromEntries(new FormData(form));
    const what = [form.querySelector("button").textContent, fields.agent_id, fields.match_id].filter(Boolean).join(" ");
    try {
      await call(form.dataset.tool, fields, what);
    } catch {
      say("The league cannot be reached. It may be over, or its manager was stopped.", "bad");
    }
  });
  follow();
  if (sessionStorage.getItem(KEY)) say("This tab has a token.", "good");
})();
