/** AdamW (arXiv:1711.05101, algorithm 2), as torch.optim.AdamW computes it: decay first, bias-corrected moments, ε outside the root. */

export type AdamWOptions = {
  readonly lr: number;
  readonly beta1: number;
  readonly beta2: number;
  readonly epsilon: number;
  readonly weightDecay: number;
  /** 1 for the first update. */
  readonly step: number;
  /** Factor on the gradient, e.g. 1 / total weight times the clipping factor. */
  readonly gradientScale: number;
};

export type AdamWBuffers = {
  readonly values: Float32Array;
  readonly gradient: Float32Array;
  readonly first: Float32Array;
  readonly second: Float32Array;
};

export type AdamWUpdate = { readonly buffers: AdamWBuffers; readonly options: AdamWOptions };

/** Updates `values`, `first` and `second` in place. All four have one length. */
export function adamWUpdate({ values, gradient, first, second }: AdamWBuffers, options: AdamWOptions): void {
  const { lr, beta1, beta2, epsilon, weightDecay, step, gradientScale } = options;
  const keep = 1 - lr * weightDecay;
  const stepSize = lr / (1 - beta1 ** step);
  const correction = Math.sqrt(1 - beta2 ** step);
  for (let index = 0; index < values.length; index += 1) {
    const g = (gradient[index] ?? 0) * gradientScale;
    const m = beta1 * (first[index] ?? 0) + (1 - beta1) * g;
    const v = beta2 * (second[index] ?? 0) + (1 - beta2) * g * g;
    first[index] = m;
    second[index] = v;
    values[index] = (values[index] ?? 0) * keep - (stepSize * m) / (Math.sqrt(v) / correction + epsilon);
  }
}
