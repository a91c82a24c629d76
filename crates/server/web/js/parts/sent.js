// What was sent to a model, read from the stored request of any provider.

/** The prompts of a run, oldest first: the version of the reply, its step, phase, and the digest of the request. */
export function steps(versions) {
  const all = [];
  let phase = "";
  for (const { version, time, input, events } of versions) {
    if (input?.exchange?.request) all.push({ version, time, phase, action: input.action, by: input.by, request: input.exchange.request, build: input.packet_build });
    phase = events.findLast((one) => one.event === "phase_entered")?.phase ?? phase;
  }
  return all;
}

/** The messages of a request: `{ role, text }`, the system prompt first; null if the format is unknown. */
export function messages(body) {
  let request;
  try {
    request = JSON.parse(body);
  } catch {
    return null;
  }
  const turns = request?.messages ?? request?.contents;
  if (!Array.isArray(turns)) return null;
  const system = words(request.system ?? request.systemInstruction ?? request.system_instruction);
  const rest = turns.map((turn) => ({ role: role(turn?.role), text: words(turn?.content ?? turn?.parts ?? turn?.text) }));
  return system ? [{ role: "system", text: system }, ...rest] : rest;
}

const role = (name) => (name === "system" || name === "developer" ? "system" : name === "assistant" || name === "model" ? "assistant" : "user");

/** The text of a message, which is a string, an object with parts, or a list of parts. */
function words(content) {
  if (content === undefined || content === null) return "";
  if (typeof content === "string") return content;
  if (Array.isArray(content)) return content.map(words).join("\n");
  return words(content.text ?? content.parts ?? content.content ?? JSON.stringify(content, null, 2));
}
