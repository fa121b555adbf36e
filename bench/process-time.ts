/** CPU time of child processes, from Linux's /proc: what a figure costs whatever else the machine is doing. */
import { readdirSync, readFileSync } from "node:fs";

const TICKS_PER_SECOND = 100; // USER_HZ, which /proc counts in on every architecture

/** Seconds that this process's children of that name have run, user and system; null where there is no /proc. */
export function childCpuSeconds(name: string): number | null {
  const stats = processIds().map(readStat);
  const children = stats.filter((stat) => stat?.name === name && stat.parent === process.pid);
  return children.length === 0 ? null : children.reduce((sum, stat) => sum + (stat?.seconds ?? 0), 0);
}

function processIds(): string[] {
  try {
    return readdirSync("/proc").filter((entry) => /^\d+$/.test(entry));
  } catch {
    return []; // no Linux, no figure
  }
}

/** `/proc/<id>/stat`: the name stands in parentheses, then state, parent, …; user and system time are fields 14 and 15. */
function readStat(id: string): { name: string; parent: number; seconds: number } | undefined {
  try {
    const [head = "", tail = ""] = readFileSync(`/proc/${id}/stat`, "utf8").split(/\) (?=[A-Z] )/);
    const fields = tail.split(" ");
    const ticks = Number(fields[11]) + Number(fields[12]);
    return { name: head.slice(head.indexOf("(") + 1), parent: Number(fields[1]), seconds: ticks / TICKS_PER_SECOND };
  } catch {
    return undefined; // ended since it was listed
  }
}
