// A server of its own in a folder of its own, which can be ended and started again at the same address.

import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

const PROGRAM = process.env.COUNTERSIGN_BIN;
const HERE = import.meta.dirname;

// A scene that fails must leave no server behind.
const running = new Set();
process.on("exit", () => running.forEach((child) => child.kill("SIGKILL")));

export class TestServer {
  /** A folder with a shipped protocol in it, or with the one of these tests; `more` is said to `serve`, and `before`
   * is called with the server before it is started. */
  static async open(protocol, { more = [], before } = {}) {
    const server = new TestServer();
    server.more = more;
    server.folder = fs.mkdtempSync(path.join(os.tmpdir(), "countersign-web-"));
    if (protocol === "desk") fs.cpSync(path.join(HERE, "protocol"), path.join(server.folder, ".opencode/protocol"), { recursive: true });
    else server.run("init", protocol);
    before?.(server);
    await server.start();
    return server;
  }

  /** The environment of the program: what the machine's own user trusts does not count here. */
  env() {
    return { ...process.env, XDG_CONFIG_HOME: path.join(this.folder, ".config") };
  }

  /** Runs a command in the folder, and gives what it prints. */
  run(...args) {
    const done = spawnSync(PROGRAM, args, { cwd: this.folder, env: this.env(), encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
    if (done.status === null || done.status > 3) throw new Error(`countersign ${args.join(" ")}: ${done.status} ${done.stderr}`);
    return done.stdout;
  }

  /** Starts the server: at any port the first time, at the same one afterwards. */
  async start() {
    const listen = this.base ? new URL(this.base).host : "127.0.0.1:0";
    this.child = spawn(PROGRAM, ["serve", "--listen", listen, "--json", ...this.more], { cwd: this.folder, env: this.env(), stdio: ["ignore", "pipe", "ignore"] });
    running.add(this.child);
    const line = await new Promise((done, failed) => {
      let text = "";
      this.child.once("exit", (code) => failed(new Error(`the server ended with ${code}: ${text}`)));
      this.child.stdout.on("data", (bytes) => {
        text += bytes;
        const found = /"(127\.0\.0\.1:\d+)"/.exec(text);
        if (found) done(found[1]);
      });
    });
    this.child.removeAllListeners("exit");
    this.base = `http://${line}`;
    const token = path.join(this.folder, ".countersign/token");
    this.token = fs.existsSync(token) ? fs.readFileSync(token, "utf8").trim() : undefined;
  }

  /** An address of the page, which lets a browser in that was not there before. */
  opened(address) {
    const url = new URL(this.base + address);
    if (this.token) url.searchParams.set("token", this.token);
    return String(url);
  }

  /** Ends the server, as Ctrl-C does. */
  async end() {
    if (this.child.exitCode !== null) return;
    const over = new Promise((done) => this.child.once("exit", done));
    this.child.kill("SIGINT");
    await over;
    running.delete(this.child);
  }

  /** Ends the server and forgets the folder. */
  async close() {
    await this.end();
    fs.rmSync(this.folder, { recursive: true, force: true });
  }

  /** Asks the API. */
  async api(method, at, body, headers = {}) {
    const response = await fetch(`${this.base}/v1${at}`, { method, headers: { "content-type": "application/json", prefer: "wait=10", ...(this.token ? { authorization: `Bearer ${this.token}` } : {}), ...headers }, body: body === undefined ? undefined : JSON.stringify(body) });
    if (!response.ok) throw new Error(`${method} ${at}: ${response.status} ${await response.text()}`);
    return response.json();
  }
}
