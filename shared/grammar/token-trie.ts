/** The plain tokens of a vocabulary by their bytes, so that tokens that begin alike are looked at once. */
import type { Vocabulary } from "../vocabulary.ts";

export type TrieNode = {
  /** Tokens that end here. */
  readonly ids: number[];
  readonly children: Map<number, TrieNode>;
};

export function buildTrie(vocabulary: Vocabulary): TrieNode {
  const root: TrieNode = { ids: [], children: new Map() };
  vocabulary.forEachPlain((id, bytes) => {
    let node = root;
    for (const byte of bytes) {
      const child: TrieNode = node.children.get(byte) ?? { ids: [], children: new Map() };
      node.children.set(byte, child);
      node = child;
    }
    node.ids.push(id);
  });
  return root;
}
