/** What matrix products reach on this machine at this moment. */
import { gemm } from "../trainer/autodiff/build.ts";
import { Graph } from "../trainer/autodiff/graph.ts";
import { encodeModel } from "../trainer/onnx/encode.ts";
import { GraphSession } from "../trainer/onnx/session.ts";

const [SIZE, CHAIN, RUNS] = [1024, 8, 5];

/** Best of a few runs of products of 1024 × 1024 matrices, in floating-point operations per second. */
export async function measureGemmPeak(threads: number): Promise<number> {
  const graph = new Graph();
  const start = graph.input("x", [SIZE, SIZE]);
  let product = start;
  for (let link = 0; link < CHAIN; link += 1) product = gemm(product, start);
  const session = await GraphSession.open(encodeModel({ product }), { threads });
  const x = { values: new Float32Array(SIZE * SIZE).fill(1 / SIZE), shape: [SIZE, SIZE] };
  let best = Infinity;
  for (let run = 0; run < RUNS; run += 1) {
    const from = performance.now();
    await session.run({ x });
    best = Math.min(best, (performance.now() - from) / 1000);
  }
  await session.close();
  return (2 * SIZE ** 3 * CHAIN) / best;
}
