// The organiser's forms: each calls a tool of the league, with the token of this tab.
"use strict";
(() => {
  const answer = document.getElementById("answer");
  const say = (text, kind) => { answer.textContent = text; answer.className = kind; };
  const KEY = "organiser-token";

  async function call(tool, fields) {
    const token = sessionStorage.getItem(KEY);
    if (!token) return say("Enter the organiser's token first.", "bad");
    const response = await fetch(answer.dataset.endpoint, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: tool, params: { ...fields, auth_token: token } }),
    });
    const { result, error } = await response.json();
    if (error) return say(`Refused: ${error.data?.detail ?? error.message}`, "bad");
    if (result.auth_token) return say(`The new token of ${result.agent_id}, shown only now: ${result.auth_token}`, "good");
    return say(`Done. ${result.note ?? ""}`, "good");
  }

  document.getElementById("sign-in").addEventListener("submit", (event) => {
    event.preventDefault();
    const field = document.getElementById("token");
    sessionStorage.setItem(KEY, field.value.trim());
    field.value = "";
    say("The token is kept in this tab until you close it.", "good");
  });
  document.querySelectorAll("form[data-tool]").forEach((form) => form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const fields = Object.fromEntries(new FormData(form));
    try {
      await call(form.dataset.tool, fields);
    } catch {
      say("The league cannot be reached.", "bad");
    }
  }));
  if (sessionStorage.getItem(KEY)) say("This tab has a token.", "good");
})();
