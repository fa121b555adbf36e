/** Whether a tool's result says itself that the tool failed: an error member, a failed status, a non-zero exit code, a leading "Error". */
import { parseObject } from "./calls.ts";

export function saysFailure(result: string): boolean {
  const text = result.trim();
  const members = Object.entries(parseObject(text) ?? {});
  return (
    /^(error|exception|traceback)\b/i.test(text) ||
    members.some(([name, value]) => isFailure(name.toLowerCase().replaceAll("_", ""), value))
  );
}

function isFailure(name: string, value: unknown): boolean {
  if (name === "error")
    return value !== null && value !== false && value !== "" && JSON.stringify(value) !== "{}" && JSON.stringify(value) !== "[]";
  if (name === "iserror") return value === true;
  if (name === "status") return typeof value === "string" && /^(error|failed|failure)$/i.test(value);
  return name === "exitcode" && typeof value === "number" && value !== 0;
}
