/** Memory of arrays that several threads read, or that nobody reads any more. */

/** Memory that threads and graphs read in place. */
export function sharedFloats(length: number): Float32Array {
  return new Float32Array(new SharedArrayBuffer(length * Float32Array.BYTES_PER_ELEMENT));
}

/** The same values in shared memory: what is sent to a thread again and again is copied once. */
export function shareFloats(values: Float32Array): Float32Array {
  const shared = sharedFloats(values.length);
  shared.set(values);
  return shared;
}

/** Gives back the memory of arrays that nobody reads any more, each the only one in its buffer: V8 counts little of it, and would keep that of several runs. */
export function discard(arrays: Readonly<Record<string, Float32Array | Uint8Array>>): void {
  for (const { buffer } of Object.values(arrays)) if (buffer instanceof ArrayBuffer) buffer.transfer(0);
}
