/** What a start does with children that an earlier one left behind, and with a folder that is taken. */
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { claimStateFolder, describeProcess, readPid, runFolder, writePid } from "../../cli/processes.ts";

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
});
