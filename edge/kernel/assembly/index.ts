// A Llama/Qwen3-family decoder step for one to eight rows. A row is a token with its own position, KV pages and
// adapter, so rows may belong to one prompt or to different sequences; none of them influences another's numbers.
import {
  LAYER_INPUT_NORM, LAYER_K_BIAS, LAYER_K_NORM, LAYER_LINEAR, LAYER_POST_NORM, LAYER_Q_BIAS, LAYER_Q_NORM,
  LAYER_V_BIAS, LAYER_WORDS, LINEAR_COUNT, LINEAR_DOWN, LINEAR_GATE, LINEAR_K, LINEAR_O, LINEAR_Q, LINEAR_UP,
  LINEAR_V, LORA_WORDS, MAX_ROWS, MODEL_COS, MODEL_EMBEDDING, MODEL_EPS, MODEL_FINAL_NORM, MODEL_HEAD,
  MODEL_HEADS, MODEL_HEAD_DIM, MODEL_HIDDEN, MODEL_INTERMEDIATE, MODEL_KV_HEADS, MODEL_LAYERS, MODEL_LAYER_TABLE,
  MODEL_LOGITS, MODEL_SCRATCH, MODEL_SIN, MODEL_VOCAB, PAGE, PANEL, ROW_ADAPTER, ROW_PAGES, ROW_POSITION,
  ROW_TOKEN, ROW_WORDS,
} from "./layout";
import { addInto, rmsNorm, rotate, swiGlu } from "./elementwise";
import { attend, writeKeyValue } from "./attention";
import { addLora } from "./lora";
import { matmul } from "./matmul";

export { exponentials } from "./sampling";

/** Ranks above this are refused by the host. */
const MAX_RANK = 256;

let hidden = 0, heads = 0, kvHeads = 0, headDim = 0, intermediate = 0;
let queryWidth = 0, keyWidth = 0;
let eps: f32 = 0;
let cosTable: usize = 0, sinTable: usize = 0;
let x: usize = 0, normed: usize = 0, q: usize = 0, k: usize = 0, v: usize = 0, mixed: usize = 0;
let gate: usize = 0, up: usize = 0, delta: usize = 0, loraDown: usize = 0, scores: usize = 0;

// @ts-ignore: decorator
@inline
function word(table: usize, index: i32): i32 {
  return load<i32>(table + (<usize>index << 2));
}

// @ts-ignore: decorator
@inline
function pointer(table: usize, index: i32): usize {
  return <usize>load<u32>(table + (<usize>index << 2));
}

/** Reads the sizes of a model and lays its scratch out; returns the first byte after the fixed part. */
function open(model: usize): usize {
  hidden = word(model, MODEL_HIDDEN);
  heads = word(model, MODEL_HEADS);
  kvHeads = word(model, MODEL_KV_HEADS);
  headDim = word(model, MODEL_HEAD_DIM);
  intermediate = word(model, MODEL_INTERMEDIATE);
  queryWidth = heads * headDim;
  keyWidth = kvHeads * headDim;
  eps = load<f32>(model + MODEL_EPS * 4);
  cosTable = pointer(model, MODEL_COS);
  sinTable = pointer(model, MODEL_SIN);
  const row: usize = MAX_ROWS * 4;
  x = pointer(model, MODEL_SCRATCH);
  normed = x + row * hidden;
  delta = normed + row * hidden;
  q = delta + row * hidden;
  k = q + row * queryWidth;
  v = k + row * keyWidth;
  mixed = v + row * keyWidth;
  gate = mixed + row * queryWidth;
  up = gate + row * intermediate;
  loraDown = up + row * intermediate;
  scores = loraDown + MAX_RANK * 4;
  return scores;
}

/** Bytes of scratch that a model with these sizes needs for sequences of up to `context` tokens. */
export function scratchBytes(model: usize, context: i32): usize {
  const start = pointer(model, MODEL_SCRATCH);
  return open(model) - start + (<usize>(context + PAGE) << 2);
}

/** First byte that the host may hand out. */
export function heapBase(): usize {
  return __heap_base;
}

/** Highest adapter rank that `forward` has room for. */
export function maxRank(): i32 {
  return MAX_RANK;
}

/**
 * Runs `count` rows, writes their keys and values into their pages, and leaves the logits of rows
 * `logitsFrom`..count-1 at the same row of the logits buffer. Rows of one sequence come in ascending position.
 */
export function forward(model: usize, rows: usize, count: i32, logitsFrom: i32): void {
  open(model);
  for (let r = 0; r < count; r++) {
    embed(x + rowOffset(r, hidden), pointer(model, MODEL_EMBEDDING), word(row(rows, r), ROW_TOKEN));
  }
  const layers = word(model, MODEL_LAYERS);
  for (let l = 0; l < layers; l++) {
    const table = model + ((MODEL_LAYER_TABLE + l * LAYER_WORDS) << 2);
    attentionBlock(table, l, rows, count);
    // Rows without logits are only there for their keys and values, which the last layer has written by now.
    const from = l + 1 == layers ? logitsFrom : 0;
    if (from < count) mixAndFeedForward(table, l, rows, from, count);
  }
  if (logitsFrom < count) writeLogits(model, logitsFrom, count);
}

// @ts-ignore: decorator
@inline
function row(rows: usize, r: i32): usize {
  return rows + (<usize>(r * ROW_WORDS) << 2);
}

// @ts-ignore: decorator
@inline
function rowOffset(r: i32, width: i32): usize {
  return <usize>(r * width) << 2;
}

function embed(out: usize, panels: usize, token: i32): void {
  const column = panels + (<usize>(token / PANEL) * hidden * PANEL + (token % PANEL)) * 4;
  for (let i = 0; i < hidden; i++) {
    store<f32>(out + (<usize>i << 2), load<f32>(column + (<usize>(i * PANEL) << 2)));
  }
}

/** y = W x (+ bias) (+ adapter) for rows from..count-1. */
function linear(
  y: usize, input: usize, layer: usize, l: i32, which: i32, inputs: i32, out: i32, rows: usize, from: i32, count: i32,
): void {
  const w = pointer(layer, LAYER_LINEAR + which);
  matmul(
    y + rowOffset(from, out), <usize>out << 2, input + rowOffset(from, inputs), <usize>inputs << 2,
    w, inputs, out, count - from,
  );
  for (let r = from; r < count; r++) {
    const adapter = pointer(row(rows, r), ROW_ADAPTER);
    if (adapter == 0) continue;
    const record = adapter + (<usize>((l * LINEAR_COUNT + which) * LORA_WORDS) << 2);
    addLora(y + rowOffset(r, out), input + rowOffset(r, inputs), record, inputs, out, loraDown);
  }
}

function addBias(y: usize, bias: usize, width: i32, count: i32): void {
  if (bias == 0) return;
  for (let r = 0; r < count; r++) addInto(y + rowOffset(r, width), bias, width);
}

/** Norm, projections, q and k norms, rotary embedding; keys and values go to the pages. */
function attentionBlock(layer: usize, l: i32, rows: usize, count: i32): void {
  for (let r = 0; r < count; r++) {
    const at = rowOffset(r, hidden);
    rmsNorm(normed + at, x + at, pointer(layer, LAYER_INPUT_NORM), hidden, eps);
  }
  linear(q, normed, layer, l, LINEAR_Q, hidden, queryWidth, rows, 0, count);
  linear(k, normed, layer, l, LINEAR_K, hidden, keyWidth, rows, 0, count);
  linear(v, normed, layer, l, LINEAR_V, hidden, keyWidth, rows, 0, count);
  addBias(q, pointer(layer, LAYER_Q_BIAS), queryWidth, count);
  addBias(k, pointer(layer, LAYER_K_BIAS), keyWidth, count);
  addBias(v, pointer(layer, LAYER_V_BIAS), keyWidth, count);
  for (let r = 0; r < count; r++) {
    const position = word(row(rows, r), ROW_POSITION);
    positionHeads(q + rowOffset(r, queryWidth), heads, pointer(layer, LAYER_Q_NORM), position);
    positionHeads(k + rowOffset(r, keyWidth), kvHeads, pointer(layer, LAYER_K_NORM), position);
    storeKeyValue(l, r, position, pointer(row(rows, r), ROW_PAGES));
  }
}

function positionHeads(heads0: usize, count: i32, gain: usize, position: i32): void {
  const half = headDim / 2;
  const table = rowOffset(position, half);
  for (let h = 0; h < count; h++) {
    const head = heads0 + rowOffset(h, headDim);
    if (gain != 0) rmsNorm(head, head, gain, headDim, eps);
    rotate(head, cosTable + table, sinTable + table, half);
  }
}

/** Byte offset of layer `l`'s keys inside a page; its values follow after the same number of bytes. */
// @ts-ignore: decorator
@inline
function layerOffset(l: i32): usize {
  return <usize>(l * 2 * keyWidth * PAGE) << 2;
}

function storeKeyValue(l: i32, r: i32, position: i32, pages: usize): void {
  const page = pointer(pages, position / PAGE);
  const headBytes = <usize>(headDim * PAGE) << 2;
  const keys = page + layerOffset(l);
  const values = keys + (<usize>(keyWidth * PAGE) << 2);
  for (let h = 0; h < kvHeads; h++) {
    const at = rowOffset(r, keyWidth) + rowOffset(h, headDim);
    writeKeyValue(keys + headBytes * h, values + headBytes * h, position % PAGE, k + at, v + at, headDim);
  }
}

function mixAndFeedForward(layer: usize, l: i32, rows: usize, from: i32, count: i32): void {
  for (let r = from; r < count; r++) attendHeads(l, r, row(rows, r));
  linear(delta, mixed, layer, l, LINEAR_O, queryWidth, hidden, rows, from, count);
  for (let r = from; r < count; r++) {
    const at = rowOffset(r, hidden);
    addInto(x + at, delta + at, hidden);
    rmsNorm(normed + at, x + at, pointer(layer, LAYER_POST_NORM), hidden, eps);
  }
  linear(gate, normed, layer, l, LINEAR_GATE, hidden, intermediate, rows, from, count);
  linear(up, normed, layer, l, LINEAR_UP, hidden, intermediate, rows, from, count);
  for (let r = from; r < count; r++) {
    const at = rowOffset(r, intermediate);
    swiGlu(gate + at, up + at, intermediate);
  }
  linear(delta, gate, layer, l, LINEAR_DOWN, intermediate, hidden, rows, from, count);
  for (let r = from; r < count; r++) addInto(x + rowOffset(r, hidden), delta + rowOffset(r, hidden), hidden);
}

function attendHeads(l: i32, r: i32, record: usize): void {
  const headBytes = <usize>(headDim * PAGE) << 2;
  const keys = layerOffset(l);
  const values = keys + (<usize>(keyWidth * PAGE) << 2);
  const group = heads / kvHeads;
  for (let h = 0; h < heads; h++) {
    const at = rowOffset(r, queryWidth) + rowOffset(h, headDim);
    const shared = headBytes * (h / group);
    attend(
      mixed + at, q + at, pointer(record, ROW_PAGES), keys + shared, values + shared,
      word(record, ROW_POSITION), headDim, scores,
    );
  }
}

function writeLogits(model: usize, from: i32, count: i32): void {
  const vocab = word(model, MODEL_VOCAB);
  for (let r = from; r < count; r++) {
    const at = rowOffset(r, hidden);
    rmsNorm(normed + at, x + at, pointer(model, MODEL_FINAL_NORM), hidden, eps);
  }
  matmul(
    pointer(model, MODEL_LOGITS) + rowOffset(from, vocab), <usize>vocab << 2, normed + rowOffset(from, hidden),
    <usize>hidden << 2, pointer(model, MODEL_HEAD), hidden, vocab, count - from,
  );
}
