/** `npm run check`: what every commit must pass. */
import { runSteps, type Step } from "./run-steps.ts";

const BIN = "node_modules/.bin";

const STEPS: readonly Step[] = [
  { name: "format", command: [`${BIN}/oxfmt`, "--check", "."] },
  { name: "lint", command: [`${BIN}/oxlint`] },
  { name: "types of the edge", command: [`${BIN}/tsc`, "-p", "edge"] },
  { name: "types of the dashboard", command: [`${BIN}/tsc`, "-p", "dashboard"] },
  { name: "types of trainer, shell and benches", command: [`${BIN}/tsc`, "-p", "trainer"] },
  { name: "types of the tests", command: [`${BIN}/tsc`, "-p", "test"] },
  { name: "unused files, exports and dependencies", command: [`${BIN}/knip`] },
  { name: "tests", command: [process.execPath, "cli/test.ts"] },
];

process.exit(runSteps(STEPS));
