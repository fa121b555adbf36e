/** `npm test [-- filter …]`: the whole suite, or the files whose path holds a filter. The last line is the count. */
import { startVitest, type TestModule } from "vitest/node";

// NODE_ENV and the like are vitest's own; only what is asked for on the command line is passed on.
const vitest = await startVitest("test", process.argv.slice(2), { run: true, watch: false });
const modules = vitest.state.getTestModules();
const tests = modules.flatMap((module) => [...module.children.allTests()]);
const passed = tests.filter((test) => test.result().state === "passed").length;
const failedTests = tests.filter((test) => test.result().state === "failed").length;
// A file that fails before its tests run, and an error that belongs to none of them, count like a failed test.
const failed = failedTests + modules.filter(failedOutsideTests).length + vitest.state.getUnhandledErrors().length;
await vitest.close();
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exit(failed > 0 || tests.length === 0 ? 1 : 0);

function failedOutsideTests(module: TestModule): boolean {
  return module.state() === "failed" && ![...module.children.allTests("failed")].length;
}
