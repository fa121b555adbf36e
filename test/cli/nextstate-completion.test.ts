/** What a shell completes of `nextstate`, by the script that it prints. */
import { beforeAll, describe, expect, it } from "vitest";
import { putAgent } from "../helpers/call.ts";
import { withEdge } from "../helpers/edge.ts";
import { BIN, runCommand, runNextstate } from "./run-nextstate.ts";

const USAGE = 2;

const edge = withEdge();

describe("nextstate completion", () => {
  beforeAll(() => putAgent(edge, "desk"));

  const completed = async (line: string): Promise<string[]> => {
    const script = (await runNextstate(["completion", "bash"])).stdout;
    const typed = `COMP_LINE='${line}' COMP_POINT=${line.length}; _nextstate; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const env = { NEXTSTATE_URL: edge.url, NEXTSTATE_ADMIN_KEY: edge.keys.admin };
    return (await runCommand("bash", ["-c", `${script}\n${typed}`], { env })).stdout.trim().split("\n");
  };

  it("completes commands, options and names of agents in bash, behind npx too", async () => {
    expect(await completed("nextstate ver")).toEqual(["versions"]);
    expect(await completed("nextstate agents p")).toEqual(["put", "pause"]);
    expect(await completed("npx nextstate turns de")).toEqual(["desk"]);
    expect(await completed("nextstate turns --url http://127.0.0.1:9 de")).toEqual([""]);
    expect(await completed("nextstate rollback line --y")).toEqual(["--yes"]);
    expect(await completed("npx nexts")).toEqual([""]);
  });

  it("prints a script for zsh, and knows no other shell", async () => {
    expect((await runNextstate(["completion", "zsh"])).stdout).toContain(BIN);
    expect(await runNextstate(["completion", "fish"])).toMatchObject({ code: USAGE, stderr: expect.stringContaining("got fish") });
  });
});
