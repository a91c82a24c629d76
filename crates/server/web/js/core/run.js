// A run in progress: its status, its versions, and the reply that a model is writing.

import { get, part } from "./api.js";
import { follow } from "./live.js";
import { store } from "./store.js";

/**
 * Follows a run until the signal aborts. `changed(run)` is called with `{ status, versions, writing, error }`
 * whenever any of these changed.
 */
export function followRun(id, changed, signal) {
  const run = { id, status: null, versions: [], writing: "", error: null };
  let reading = false;
  let again = false;

  async function read() {
    // One request at a time; a call during a request starts another request afterwards.
    if (reading) return void (again = true);
    reading = true;
    do {
      again = false;
      try {
        run.status = await get(`/runs/${part(id)}`, {}, signal);
        run.error = null;
      } catch (error) {
        if (error.name === "AbortError") return;
        run.error = error;
      }
      if (!signal.aborted) changed(run);
    } while (again && !signal.aborted);
    reading = false;
  }

  async function catchUp() {
    try {
      let cursor;
      do {
        const after = run.versions.at(-1)?.version ?? 0;
        const page = await get(`/runs/${part(id)}/versions`, { after, limit: 500, cursor }, signal);
        page.items.forEach(add);
        cursor = page.next_cursor;
      } while (cursor);
    } catch (error) {
      if (error.name === "AbortError") return;
    }
    await read();
  }

  function add(version) {
    if (version.version > (run.versions.at(-1)?.version ?? 0)) run.versions = [...run.versions, version];
  }

  function told({ event, data }) {
    const said = JSON.parse(data);
    if (event === "version") {
      add(said);
      run.writing = "";
      soon();
    } else if (event === "writing") {
      run.writing = said.offset === 0 ? said.text : run.writing + said.text;
      changed(run);
    } else if (event === "end") {
      soon();
    }
  }

  // A stream starts with many versions at once; one request covers them all.
  let planned = null;
  function soon() {
    planned ??= setTimeout(() => {
      planned = null;
      if (!signal.aborted) read();
    }, 30);
  }

  // A child that begins or ceases to wait changes what this run waits for, but not its version.
  for (const name of ["opened", "closed"]) {
    store.watch(name, (address) => address.startsWith(`${id}.`) && soon(), signal);
  }

  catchUp().then(() => {
    const after = run.versions.at(-1)?.version ?? 0;
    if (!signal.aborted && !(run.error?.status === 404)) follow(`/runs/${part(id)}/stream?after=${after}`, { told, again: catchUp }, signal);
  });
  return { read: catchUp };
}
