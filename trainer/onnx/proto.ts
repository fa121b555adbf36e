/** Protocol-buffer wire format, the part ONNX needs: varints, 32-bit floats, length-delimited fields. */

const VARINT = 0;
const DELIMITED = 2;
const FIXED32 = 5;

/** A message being written: fields in call order. */
export class ProtoWriter {
  readonly #chunks: Uint8Array[] = [];
  #length = 0;

  /** A signed or unsigned integer as int64: negative numbers take ten bytes, as the format demands. */
  int(field: number, value: number | bigint): this {
    return this.#varint((field << 3) | VARINT).#varint(value);
  }

  float(field: number, value: number): this {
    this.#varint((field << 3) | FIXED32);
    return this.#append(new Uint8Array(Float32Array.of(value).buffer));
  }

  bytes(field: number, value: Uint8Array): this {
    return this.#varint((field << 3) | DELIMITED)
      .#varint(value.length)
      .#append(value);
  }

  text(field: number, value: string): this {
    return this.bytes(field, new TextEncoder().encode(value));
  }

  message(field: number, write: (message: ProtoWriter) => void): this {
    const inner = new ProtoWriter();
    write(inner);
    return this.bytes(field, inner.finish());
  }

  finish(): Uint8Array {
    const whole = new Uint8Array(this.#length);
    let offset = 0;
    for (const chunk of this.#chunks) {
      whole.set(chunk, offset);
      offset += chunk.length;
    }
    return whole;
  }

  #varint(value: number | bigint): this {
    const bytes: number[] = [];
    let rest = BigInt.asUintN(64, BigInt(value));
    while (rest > 127n) {
      bytes.push(Number(rest & 127n) | 128);
      rest >>= 7n;
    }
    bytes.push(Number(rest));
    return this.#append(Uint8Array.from(bytes));
  }

  #append(chunk: Uint8Array): this {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    return this;
  }
}
