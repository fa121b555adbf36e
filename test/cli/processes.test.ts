/** What a start does with children that an earlier one left behind, and with a folder that is taken. */
import { spawn, type ChildProcess } from "node:child_process";
import { closeSync, mkdtempSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { claimStateFolder, readPid, writeHost, writePid } from "../../cli/processes.ts";
import { addressOf } from "../../trainer/address.ts";
import { describeProcess, hostOf, runFolder } from "../../trainer/host.ts";

describe("state folder", () => {
  let state = "";
  let child: ChildProcess;
  beforeEach(() => {
    state = mkdtempSync(join(tmpdir(), "nextstate-state-"));
    mkdirSync(runFolder(state));
    child = spawn("sleep", ["1000"], { stdio: "ignore" });
    writePid(state, "workerd", child.pid ?? 0);
  });
  afterEach(() => {
    child.kill("SIGKILL");
    rmSync(state, { recursive: true, force: true });
  });

  it("ends a child that an earlier host left behind, and says which", async () => {
    const gone = new Promise((resolve) => child.once("exit", resolve));
    expect(claimStateFolder(state, { workerd: "sleep 1000" })).toEqual([`workerd (process ${child.pid})`]);
    await gone;
    expect(readPid(state, "workerd")).toBeUndefined();
  });

  it("leaves a process alone that only has the number of an earlier child", () => {
    expect(claimStateFolder(state, { workerd: "bin/workerd" })).toEqual([]);
    expect(describeProcess(child.pid ?? 0)?.command).toBe("sleep 1000");
  });

  it("is refused while another host that lives has it, and its children stay", () => {
    const startedAt = describeProcess(child.pid ?? 0)?.startedAt;
    writeFileSync(join(runFolder(state), "host.json"), JSON.stringify({ pid: child.pid, startedAt }));
    expect(() => claimStateFolder(state, { workerd: "sleep" })).toThrow(`in use by process ${child.pid}`);
    expect(describeProcess(child.pid ?? 0)).toBeDefined();
  });

  it("is taken over from a host whose number now belongs to another process", () => {
    writeFileSync(join(runFolder(state), "host.json"), JSON.stringify({ pid: child.pid, startedAt: "earlier" }));
    claimStateFolder(state, {});
    expect(JSON.parse(readFileSync(join(runFolder(state), "host.json"), "utf8"))).toMatchObject({ pid: process.pid });
  });

  it("is free where the record of its host lost its bytes with the machine's power", () => {
    for (const left of ["", "{", "null"]) {
      writeFileSync(join(runFolder(state), "host.json"), left);
      expect(hostOf(state)).toBeUndefined();
      expect(claimStateFolder(state, {})).toEqual([]);
    }
  });

  it("is no file", () => {
    const file = join(state, "keys.json");
    writeFileSync(file, "{}");
    expect(() => claimStateFolder(file, {})).toThrow(`--state: a folder expected, got ${file}, a file`);
  });

  it("leads to the system that runs from it, unless another is named", () => {
    expect(addressOf({ url: undefined, stateFolder: state })).toBe("http://127.0.0.1:8787");
    claimStateFolder(state, {});
    expect(() => addressOf({ url: undefined, stateFolder: state })).toThrow(`the system of ${state} is starting; wait`);
    writeHost(state, "http://127.0.0.1:9000");
    expect(addressOf({ url: undefined, stateFolder: state })).toBe("http://127.0.0.1:9000");
    expect(addressOf({ url: "http://127.0.0.1:9001/", stateFolder: state })).toBe("http://127.0.0.1:9001");
  });

  it("is read whole while its host writes where it listens", () => {
    claimStateFolder(state, {});
    const reader = openSync(join(runFolder(state), "host.json"), "r");
    writeHost(state, "http://127.0.0.1:9000");
    expect(JSON.parse(readFileSync(reader, "utf8"))).toEqual({ pid: process.pid, startedAt: expect.any(String) });
    closeSync(reader);
    expect(readdirSync(runFolder(state))).toEqual(["host.json"]);
  });

  it("says of a system that ended without a word that it has, and what to do", () => {
    const record = { pid: child.pid, startedAt: "earlier", url: "http://127.0.0.1:9000" };
    writeFileSync(join(runFolder(state), "host.json"), JSON.stringify(record));
    const find = (url?: string): string => addressOf({ url, stateFolder: state });
    expect(find).toThrow(`the system of ${state}, at http://127.0.0.1:9000, has ended; \`npm start\``);
    expect(find).toThrow("--url, or NEXTSTATE_URL, names another system");
    expect(find("http://127.0.0.1:9001")).toBe("http://127.0.0.1:9001");
  });
});
