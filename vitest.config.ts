import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Files run beside each other, each with a workerd of its own.
    maxWorkers: 2,
    // A process runs one file after the other: wrangler, which every edge is configured with, takes 1.5 s to load, and is loaded once.
    // So a file leaves everything in the process as it was, clocks and variables among it.
    isolate: false,
    // A test that waits longer than this waits for something that will not come.
    testTimeout: 60_000,
    hookTimeout: 300_000,
    globalSetup: ["test/helpers/build.ts"],
  },
});
