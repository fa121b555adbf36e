/**
 * llama-server and its converter as scripts in a folder of a test. The server refuses a model file that says so, is not healthy while a file
 * `hold` lies beside its model, and answers a stream until it is told to finish.
 */
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

const SERVER = `#!${process.execPath}
const { createServer } = require("node:http");
const { existsSync, readFileSync } = require("node:fs");
const { dirname, join } = require("node:path");
const argv = process.argv.slice(2);
const valuesOf = (option) => argv.flatMap((each, at) => (each === option ? [argv[at + 1]] : []));
const [port, model] = [valuesOf("--port").at(-1), valuesOf("--model").at(-1)];
const files = valuesOf("--lora");
console.log("loading", files.length, "adapters");
for (const file of files)
  if (readFileSync(file, "utf8").includes("unloadable")) {
    console.error("error: failed to apply lora adapter " + file);
    process.exit(1);
  }
const streams = new Set();
let [left, waiting] = [0, 0];
const routes = {
  "/health": (_, response) => response.writeHead(existsSync(join(dirname(model), "hold")) ? 503 : 200).end("{}"),
  "/lora-adapters": (_, response) => response.end(JSON.stringify(files.map((path, id) => ({ id, path, scale: 1 })))),
  "/started-with": (_, response) => response.end(JSON.stringify({ pid: process.pid, port: Number(port), argv })),
  "/v1/chat/completions": (_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).write("data: " + port + "\\n\\n");
    streams.add(response);
    response.once("close", () => streams.delete(response) && (left += 1));
  },
  "/finish": (_, response) => {
    // Its own answer first: the server may be stopped as soon as no stream is left.
    response.end(() => {
      for (const stream of streams) streams.delete(stream), stream.end("data: [DONE]\\n\\n");
    });
  },
  "/silent": (_, response) => {
    waiting += 1;
    response.once("close", () => (left += 1));
  },
  "/waiting": (_, response) => response.end(String(waiting)),
  "/left": (_, response) => response.end(String(left)),
  "/die": () => process.exit(7),
  "/echo": async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    response.writeHead(418, "Short and stout", [["X-Twice", "1"], ["X-Twice", "2"]].flat());
    response.end(JSON.stringify({ method: request.method, headers: request.headers, body }));
  },
};
createServer((request, response) => (routes[request.url] ?? ((_, found) => found.writeHead(404).end()))(request, response)).listen(port, "127.0.0.1");
`;

const CONVERTER = `import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
const argv = process.argv.slice(2);
const outfile = argv[argv.indexOf("--outfile") + 1];
const weights = readFileSync(join(argv.at(-1), "adapter_model.safetensors"), "utf8");
appendFileSync(import.meta.filename + ".ran", argv.join(" ") + "\\n");
writeFileSync(import.meta.filename + ".config", readFileSync(join(argv.at(-1), "adapter_config.json")));
console.error("INFO: loading it");
writeFileSync(outfile, weights);
if (weights.includes("unconvertible")) {
  console.error("KeyError: 'no such tensor'");
  process.exit(3);
}
`;

export type StandIns = { readonly llamaServer: string; readonly model: string; readonly convert: string; readonly python: string };

/** Writes them, a model beside them, and tells where they are. */
export async function writeStandIns(folder: string): Promise<StandIns> {
  await mkdir(folder, { recursive: true });
  const [llamaServer, convert, model] = [join(folder, "llama-server.cjs"), join(folder, "convert.mjs"), join(folder, "model.gguf")];
  await Promise.all([writeFile(llamaServer, SERVER), writeFile(convert, CONVERTER), writeFile(model, "")]);
  await chmod(llamaServer, 0o755);
  return { llamaServer, convert, model, python: process.execPath };
}
