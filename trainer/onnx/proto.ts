/** Protocol-buffer wire format, the part ONNX needs: varints, 32-bit floats, length-delimited fields. */

const VARINT = 0;
const DELIMITED = 2;
const FIXED32 = 5;

const MOST_VARINT = 10; // bytes
const MOST_UTF8 = 3; // bytes of a UTF-16 code unit
const MOST_SMALL = 2 ** 31; // below it numbers are integers to bit operators
const FIRST_ROOM = 64 * 1024;

const utf8 = new TextEncoder();

/** A message being written: fields in call order, and messages within it in place, all in one memory that grows. */
export class ProtoWriter {
  #bytes = new Uint8Array(FIRST_ROOM);
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
    return this.#delimited(field, () => {
      this.#reserve(value.length * MOST_UTF8);
      this.#length += utf8.encodeInto(value, this.#bytes.subarray(this.#length)).written;
    });
  }

  message(field: number, write: (message: this) => void): this {
    return this.#delimited(field, () => write(this));
  }

  finish(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }

  /** What `write` appends, behind its length: written behind room for the longest, then moved up to its own. */
  #delimited(field: number, write: () => void): this {
    this.#varint((field << 3) | DELIMITED);
    const start = this.#length;
    this.#reserve(MOST_VARINT);
    const inner = start + MOST_VARINT;
    this.#length = inner;
    write();
    const end = this.#length;
    this.#length = start;
    this.#varint(end - inner);
    this.#bytes.copyWithin(this.#length, inner, end);
    this.#length += end - inner;
    return this;
  }

  #varint(value: number | bigint): this {
    this.#reserve(MOST_VARINT);
    if (typeof value === "number" && value >= 0 && value < MOST_SMALL) {
      let small = value;
      while (small > 127) {
        this.#bytes[this.#length++] = (small & 127) | 128;
        small >>>= 7;
      }
      this.#bytes[this.#length++] = small;
      return this;
    }
    let rest = BigInt.asUintN(64, BigInt(value));
    while (rest > 127n) {
      this.#bytes[this.#length++] = Number(rest & 127n) | 128;
      rest >>= 7n;
    }
    this.#bytes[this.#length++] = Number(rest);
    return this;
  }

  #append(chunk: Uint8Array): this {
    this.#reserve(chunk.length);
    this.#bytes.set(chunk, this.#length);
    this.#length += chunk.length;
    return this;
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#bytes.length) return;
    const grown = new Uint8Array(2 * (this.#length + more));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
  }
}
