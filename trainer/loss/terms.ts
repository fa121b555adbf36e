/** The loss terms a batch may carry, each summed with a weight per position. A term is present where its options are. */
import { add, logSoftmax, neg, reduceSum, reshape } from "../autodiff/build.ts";
import type { Graph, Node } from "../autodiff/graph.ts";
import { dimOf } from "../autodiff/shape.ts";
import { type ClipBounds, clippedObjective } from "./clipped-objective.ts";
import { forwardKl, reverseKl } from "./kl.ts";
import { tokenLogProbs } from "./token-log-probs.ts";

/** What of each term is fixed in its graph. */
export type TermOptions = {
  readonly crossEntropy?: Record<string, never>;
  readonly forwardKl?: Record<string, never>;
  readonly reverseKl?: Record<string, never>;
  /** `masked`: the targets were drawn under masks, which come as penalties on the logits. */
  readonly policy?: ClipBounds & { readonly masked: boolean };
  /** k candidates per position. */
  readonly distillation?: ClipBounds & { readonly candidates: number };
};

export type TermName = keyof TermOptions;

type Context = {
  /** [N, V] */
  readonly logits: Node;
  /** [N, 1] */
  readonly targets: Node;
  /** [N, 1] ln π of the targets */
  readonly chosen: Node;
  /** Makes the term's own input `<term>.<name>`. */
  readonly input: (name: string, shape: readonly number[], element?: "float32" | "int32") => Node;
};

/** Loss of each term per position, [N]. Formulas and sources are in the functions called. */
const TERMS: { readonly [K in TermName]: (context: Context, options: NonNullable<TermOptions[K]>) => Node } = {
  crossEntropy: ({ chosen }) => reshape(neg(chosen), [dimOf(chosen.type.shape, 0)]),
  forwardKl: ({ logits, input }) => forwardKl({ policy: logSoftmax(logits), teacher: input("teacherLogProbs", logits.type.shape) }),
  reverseKl: ({ logits, input }) => reverseKl({ policy: logSoftmax(logits), teacher: input("teacherLogProbs", logits.type.shape) }),
  policy: ({ logits, chosen, targets, input }, { masked, ...bounds }) => {
    const { shape } = chosen.type;
    const logProbs = masked ? tokenLogProbs(add(logits, input("penalties", logits.type.shape)), targets) : chosen;
    return reduceSum(
      clippedObjective({ logProbs, oldLogProbs: input("oldLogProbs", shape), advantages: input("advantages", shape) }, bounds),
      [-1],
    );
  },
  // L_i = Σ_v max(−A_v ρ_v, −A_v clip(ρ_v))  (arXiv:2603.10165 v2 §4), v over the candidates of position i
  distillation: ({ logits, input }, { candidates, ...bounds }) => {
    const shape = [dimOf(logits.type.shape, 0), candidates];
    const logProbs = tokenLogProbs(logits, input("candidates", shape, "int32"));
    return reduceSum(
      clippedObjective({ logProbs, oldLogProbs: input("oldLogProbs", shape), advantages: input("advantages", shape) }, bounds),
      [-1],
    );
  },
};

/** Builds the terms asked for over `logits` [N, V], in the table's order: name → loss per position [N]. */
export function buildTerms(
  graph: Graph,
  { logits, targets, chosen, options }: { logits: Node; targets: Node; chosen: Node; options: TermOptions },
): Map<TermName, Node> {
  const terms = new Map<TermName, Node>();
  for (const name of termNames(options))
    terms.set(
      name,
      graph.scope(name, () => buildTerm(name, { graph, logits, targets, chosen, options })),
    );
  return terms;
}

export function termNames(options: TermOptions): TermName[] {
  return TERM_NAMES.filter((name) => options[name] !== undefined);
}

const TERM_NAMES = ["crossEntropy", "forwardKl", "reverseKl", "policy", "distillation"] as const satisfies readonly TermName[];

function buildTerm<K extends TermName>(
  name: K,
  { graph, logits, targets, chosen, options }: { graph: Graph; logits: Node; targets: Node; chosen: Node; options: TermOptions },
): Node {
  const own = options[name];
  const input: Context["input"] = (part, shape, element = "float32") => graph.input(`${name}.${part}`, shape, element);
  return own === undefined ? graph.scalar(0) : TERMS[name]({ logits, targets, chosen, input }, own);
}
