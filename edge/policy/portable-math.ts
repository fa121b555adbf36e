/**
 * Elementary functions from + − × ÷ alone. JavaScript engines differ in the last bit of Math.log and its like (Node
 * and workerd do), IEEE arithmetic does not: what a policy answers must not depend on where it runs.
 * Relative errors are about 1e-15.
 */

const LN_2 = 0.6931471805599453;
const HALF_PI = 1.5707963267948966;

/** Natural logarithm of a positive normal number. */
export function ln(x: number): number {
  let mantissa = x;
  let exponent = 0;
  for (; mantissa >= Math.SQRT2; mantissa /= 2) exponent += 1;
  for (; mantissa < Math.SQRT1_2; mantissa *= 2) exponent -= 1;
  // ln m = 2 atanh(s), s = (m − 1) / (m + 1), |s| < 0.172: 0.172^26 is below the last bit
  const s = (mantissa - 1) / (mantissa + 1);
  let series = 0;
  for (let power = 25; power >= 1; power -= 2) series = series * s * s + 1 / power;
  return exponent * LN_2 + 2 * s * series;
}

/** e^x for |x| < 700. */
export function exp(x: number): number {
  const halvings = Math.round(x / LN_2);
  const rest = x - halvings * LN_2;
  let series = 1;
  for (let term = 18; term >= 1; term -= 1) series = 1 + (rest / term) * series;
  let scaled = series;
  for (let i = 0; i < halvings; i++) scaled *= 2;
  for (let i = 0; i > halvings; i--) scaled /= 2;
  return scaled;
}

/** Cosine and sine of an angle in radians; the absolute error grows with the angle, about 1e-16 of it. */
export function cosSin(angle: number): { cos: number; sin: number } {
  const quarters = Math.round(angle / HALF_PI);
  const rest = angle - quarters * HALF_PI;
  let [cos, sin] = [1, 1];
  for (let term = 20; term >= 2; term -= 2) {
    cos = 1 - ((rest * rest) / (term * (term - 1))) * cos;
    sin = 1 - ((rest * rest) / (term * (term + 1))) * sin;
  }
  const turned = [cos, -rest * sin, -cos, rest * sin];
  return { cos: turned[quarters & 3] ?? NaN, sin: turned[(quarters + 3) & 3] ?? NaN };
}
