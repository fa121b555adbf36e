#!/usr/bin/env node
/** `npx nextstate`: hands over to main.ts as every script of the repository is, and remembers the folder that it was called in. */
process.env.NEXTSTATE_CWD = process.cwd();
process.argv.splice(2, 0, "cli/nextstate/main.ts");
await import("../bootstrap.mjs");
