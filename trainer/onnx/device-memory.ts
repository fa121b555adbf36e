/** How much memory a device has: only its own tools know. */
import { execFileSync } from "node:child_process";
import type { Device } from "./device.ts";

const QUERY = ["--query-gpu=memory.free", "--format=csv,noheader,nounits"];

/** Bytes that are free on the card that is CUDA's first device, as nvidia-smi tells; undefined for other devices, and where it does not tell. */
export function freeDeviceBytes(device: Device): number | undefined {
  if (device !== "cuda") return undefined;
  const [first = ""] = (process.env["CUDA_VISIBLE_DEVICES"] ?? "").split(",");
  try {
    const said = execFileSync("nvidia-smi", [...QUERY, `--id=${first.trim() || "0"}`], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    const mebibytes = Number(said.trim());
    return mebibytes > 0 ? mebibytes * 2 ** 20 : undefined;
  } catch {
    return undefined; // a container without NVIDIA's tools
  }
}
