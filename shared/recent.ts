/** A map that holds no more than so many entries: what was set longest ago is forgotten first. */
export class Recent<Key, Value> extends Map<Key, Value> {
  readonly #capacity: number;

  constructor(capacity: number) {
    super();
    this.#capacity = capacity;
  }

  /** An entry that is there already becomes the last one set. */
  override set(key: Key, value: Value): this {
    this.delete(key);
    super.set(key, value);
    // Maps keep insertion order, so the first key is the oldest.
    const [oldest] = this.keys();
    if (this.size > this.#capacity && oldest !== undefined) this.delete(oldest);
    return this;
  }
}
