/** The global gradient norm and the factor that bounds it. */
import { AppError } from "../../shared/errors.ts";

/** Euclidean norm of `gradient`, accumulated in float64. @throws {train/nonFinite} */
export function gradientNorm(gradient: Float32Array): number {
  let sum = 0;
  for (let index = 0; index < gradient.length; index += 1) {
    const g = gradient[index] ?? 0;
    sum += g * g;
  }
  if (!Number.isFinite(sum)) throw new AppError("train/nonFinite", `gradient: finite values expected, got a squared norm of ${sum}`);
  return Math.sqrt(sum);
}

/** The factor ≤ 1 that brings `norm` down to `clipNorm`. */
export function clipFactor(norm: number, clipNorm: number): number {
  return norm > clipNorm ? clipNorm / norm : 1;
}
