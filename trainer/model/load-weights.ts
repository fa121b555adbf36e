/** From a checkpoint's files into the buffer that graphs read: each value once in memory, as float32, whatever the files hold. */
import { AppError } from "../../shared/errors.ts";
import type { ModelConfig } from "../../shared/model-config.ts";
import { EMBEDDING, HEAD, type ParameterBuffer } from "./parameters.ts";
import { WeightFiles } from "./weight-files.ts";

/** Old Llama files carry the frequencies that config.json gives; libraries read past them, too. */
const DERIVED = /\.rotary_emb\.inv_freq$/;

/**
 * Fills `buffer` from the folder's files. What does not fit by name or shape is refused before anything is written; what is
 * found only by reading, a file that ends early or a value that is no number, leaves the buffer half filled.
 * @throws {policy/refused} naming the tensor
 */
export function loadWeights(folder: string, { tiedHead }: ModelConfig, buffer: ParameterBuffer): void {
  const files = WeightFiles.open(folder);
  try {
    checkTensors(files, { buffer, tiedHead });
    for (const parameter of buffer.parameters) files.readInto(parameter.name, buffer.view(parameter));
    const embedding = buffer.parameters.find(({ name }) => name === EMBEDDING);
    // Some files write the tied head out. It may be there; it may not be another one.
    if (embedding !== undefined && tiedHead && files.tensors.has(HEAD) && !files.holds(HEAD, buffer.view(embedding)))
      refuse(`tensor ${HEAD} equal to ${EMBEDDING} expected where config.json says tie_word_embeddings, got another`);
  } finally {
    files.close();
  }
}

function checkTensors({ tensors }: WeightFiles, { buffer, tiedHead }: { buffer: ParameterBuffer; tiedHead: boolean }): void {
  const shapes = new Map(buffer.parameters.map(({ name, shape }) => [name, shape]));
  const embedding = shapes.get(EMBEDDING);
  if (tiedHead && tensors.has(HEAD) && embedding !== undefined) shapes.set(HEAD, embedding);
  for (const [name, shape] of shapes) {
    const tensor = tensors.get(name);
    if (tensor === undefined) refuse(`tensor ${name} expected, got none`);
    if (tensor.shape.join() !== shape.join())
      refuse(`${tensor.fileName}: tensor ${name}: shape [${shape.join(", ")}] expected, got [${tensor.shape.join(", ")}]`);
  }
  for (const [name, { fileName }] of tensors)
    if (!shapes.has(name) && !DERIVED.test(name)) refuse(`${fileName}: no tensor ${name} expected for this config.json, got one`);
}

function refuse(what: string): never {
  throw new AppError("policy/refused", what);
}
