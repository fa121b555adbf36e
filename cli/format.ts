/** `npm run format`: writes every file the way `npm run check` wants it. */
import { runSteps } from "./run-steps.ts";

process.exit(runSteps([{ name: "format", command: ["node_modules/.bin/oxfmt", "."] }]));
