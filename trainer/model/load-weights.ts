/** From a checkpoint's files into the buffer that graphs read: each value once in memory, as float32, whatever the files hold. */
import { AppError } from "../../shared/errors.ts";
import type { ModelConfig } from "../../shared/model-config.ts";
import { EMBEDDING, HEAD, listParameters, type ParameterBuffer } from "./parameters.ts";
import { WeightFiles } from "./weight-files.ts";

/** Old Llama files carry the frequencies that config.json gives; libraries read past them, too. */
const DERIVED = /\.rotary_emb\.inv_freq$/;

/**
 * Fills `buffer` from the folder's files. What does not fit by name or shape is refused before anything is written; what is
 * found only by reading, a file that ends early or a value that is no number, leaves the buffer half filled.
 * @throws {policy/refused} naming the tensor
 */
export function loadWeights(folder: string, config: ModelConfig, buffer: ParameterBuffer): void {
  const files = openWeights(folder, config);
  try {
    for (const parameter of buffer.parameters) files.readInto(parameter.name, buffer.view(parameter));
    checkTiedHead(files, config);
  } finally {
    files.close();
  }
}

/** The folder's files, to be read from and closed. @throws {policy/refused} naming a tensor that does not fit by name or shape */
export function openWeights(folder: string, config: ModelConfig): WeightFiles {
  const files = WeightFiles.open(folder);
  try {
    checkTensors(files, config);
    return files;
  } catch (error) {
    files.close();
    throw error;
  }
}

/** Reads everything once, through a small buffer. @throws {policy/refused} naming a tensor that ends early or has a value that is no number */
export function checkWeights(files: WeightFiles, config: ModelConfig): void {
  files.check(listParameters(config));
  checkTiedHead(files, config);
}

/** Some files write the tied head out. It may be there; it may not be another one. */
function checkTiedHead(files: WeightFiles, { tiedHead, vocabSize, hiddenSize }: ModelConfig): void {
  if (tiedHead && files.tensors.has(HEAD) && !files.areEqual(HEAD, EMBEDDING, vocabSize * hiddenSize))
    refuse(`tensor ${HEAD} equal to ${EMBEDDING} expected where config.json says tie_word_embeddings, got another`);
}

function checkTensors({ tensors }: WeightFiles, config: ModelConfig): void {
  const { tiedHead } = config;
  const shapes = new Map(listParameters(config).map(({ name, shape }) => [name, shape]));
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
