/** Runs once before all test files, so that no two of them build the kernel at the same time. */
import { buildKernel } from "../../cli/bundle.ts";

export default async function setup(): Promise<void> {
  await buildKernel(process.cwd());
}
