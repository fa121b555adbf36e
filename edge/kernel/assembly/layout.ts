/**
 * Word offsets (32-bit) of the tables that describe a model, an adapter and a row in linear memory.
 * Read by the kernel (AssemblyScript) and by the host (TypeScript), so it holds untyped integer constants only.
 */

/** Weight matrices are stored as panels [out / PANEL][in][PANEL], `out` padded with zero rows. */
export const PANEL = 32;
/** Most rows (tokens) that one forward call accepts. */
export const MAX_ROWS = 8;
/** Positions per KV page. Page layout per layer: K [kvHeads][headDim][PAGE], then V [kvHeads][PAGE][headDim]. */
export const PAGE = 64;

// Model table.
export const MODEL_HIDDEN = 0;
export const MODEL_LAYERS = 1;
export const MODEL_HEADS = 2;
export const MODEL_KV_HEADS = 3;
export const MODEL_HEAD_DIM = 4;
export const MODEL_INTERMEDIATE = 5;
export const MODEL_VOCAB = 6; // padded to PANEL
export const MODEL_EPS = 7; // f32
export const MODEL_EMBEDDING = 8; // panels [vocab][hidden]
export const MODEL_FINAL_NORM = 9;
export const MODEL_HEAD = 10; // panels; equals MODEL_EMBEDDING when tied
export const MODEL_COS = 11; // [context][headDim / 2]
export const MODEL_SIN = 12;
export const MODEL_SCRATCH = 13;
export const MODEL_LOGITS = 14; // [MAX_ROWS][vocab]
export const MODEL_LAYER_TABLE = 16; // first layer starts here

// Layer table; a zero pointer means absent (biases, q and k norms).
export const LAYER_WORDS = 16;
export const LAYER_INPUT_NORM = 0;
export const LAYER_Q_NORM = 1;
export const LAYER_K_NORM = 2;
export const LAYER_POST_NORM = 3;
export const LAYER_Q_BIAS = 4;
export const LAYER_K_BIAS = 5;
export const LAYER_V_BIAS = 6;
export const LAYER_LINEAR = 8; // + LINEAR_*, pointers to panels

// The seven linear maps of a layer, in this order, in layer and adapter tables.
export const LINEAR_COUNT = 7;
export const LINEAR_Q = 0;
export const LINEAR_K = 1;
export const LINEAR_V = 2;
export const LINEAR_O = 3;
export const LINEAR_GATE = 4;
export const LINEAR_UP = 5;
export const LINEAR_DOWN = 6;

// Adapter table: [layers][LINEAR_COUNT] records.
export const LORA_WORDS = 4;
export const LORA_A = 0; // [rank][in]; zero pointer: this map has no adapter
export const LORA_B = 1; // transposed: [rank][out padded to PANEL]
export const LORA_RANK = 2;
export const LORA_SCALE = 3; // f32, alpha / rank

// Row table: one record per token of a forward call.
export const ROW_WORDS = 4;
export const ROW_TOKEN = 0;
export const ROW_POSITION = 1;
export const ROW_PAGES = 2; // pointer to the page pointers of the row's sequence
export const ROW_ADAPTER = 3; // adapter table, zero for none
