/** AdamW against the published algorithm and PyTorch's numbers. */
import { describe, expect, it } from "vitest";
import { Random } from "../../../trainer/random.ts";
import { adamWUpdate } from "../../../trainer/optim/adamw.ts";

const OPTIONS = { lr: 0.01, beta1: 0.9, beta2: 0.95, epsilon: 1e-8, weightDecay: 0.1 };

/** torch.optim.AdamW (2.13, float64), the same gradients: three updates of [1, −2, 0.5] under gradients g · step, g = [0.1, −0.3, 2]. */
const TORCH = [0.9680076136906267, -1.9650106113375483, 0.46950611226248956];

/** Algorithm 2 of arXiv:1711.05101 for one number, in float64. */
function reference(value: number, gradients: readonly number[]): number {
  const { lr, beta1, beta2, epsilon, weightDecay } = OPTIONS;
  let [theta, m, v] = [value, 0, 0];
  gradients.forEach((g, index) => {
    m = beta1 * m + (1 - beta1) * g;
    v = beta2 * v + (1 - beta2) * g * g;
    const [mHat, vHat] = [m / (1 - beta1 ** (index + 1)), v / (1 - beta2 ** (index + 1))];
    theta -= lr * weightDecay * theta + (lr * mHat) / (Math.sqrt(vHat) + epsilon);
  });
  return theta;
}

function run(start: readonly number[], gradients: readonly (readonly number[])[], gradientScale = 1): Float32Array {
  const values = Float32Array.from(start);
  const [first, second] = [new Float32Array(values.length), new Float32Array(values.length)];
  gradients.forEach((gradient, index) =>
    adamWUpdate({ values, gradient: Float32Array.from(gradient), first, second }, { ...OPTIONS, step: index + 1, gradientScale }),
  );
  return values;
}

describe("adamWUpdate", () => {
  it("follows the published algorithm over ten updates", () => {
    const random = new Random(1);
    const gradients = Array.from({ length: 10 }, () => [random.normal(), 100 * random.normal(), 1e-4 * random.normal()]);
    const got = run([1, -2, 0.5], gradients);
    [1, -2, 0.5].forEach((value, index) => {
      const column = gradients.map((gradient) => gradient[index] ?? 0);
      expect(got[index]).toBeCloseTo(reference(value, column), 5);
    });
  });

  it("gives torch.optim.AdamW's numbers", () => {
    const got = run(
      [1, -2, 0.5],
      [1, 2, 3].map((step) => [0.1 * step, -0.3 * step, 2 * step]),
    );
    TORCH.forEach((value, index) => expect(got[index]).toBeCloseTo(value, 6));
  });

  it("scales the gradient before anything else", () => {
    expect(run([1, 2], [[3, 4]], 0.5)).toEqual(run([1, 2], [[1.5, 2]]));
  });
});
