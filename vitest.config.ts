import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Files run beside each other, each with a workerd of its own.
    maxWorkers: 2,
    // A test that waits longer than this waits for something that will not come.
    testTimeout: 60_000,
    hookTimeout: 300_000,
    globalSetup: ["test/helpers/build.ts"],
  },
});
