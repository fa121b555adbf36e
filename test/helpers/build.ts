/** Runs once before all test files, so that no two of them build kernel or dashboard at the same time. */
import { buildDashboard, buildKernel } from "../../cli/bundle.ts";

export default async function setup(): Promise<void> {
  await Promise.all([buildKernel(process.cwd()), buildDashboard(process.cwd())]);
}
