/** Patterns as grammars of JSON strings, against the machine's own regular expressions: random walks, and what lies beside them. */
import { describe, expect, it } from "vitest";
import { Automaton } from "../../../../shared/grammar/automaton.ts";
import { compileSchema } from "../../../../shared/grammar/schema.ts";
import { Random } from "../../../../trainer/random.ts";
import { readerOf, walk } from "../rules.ts";

const PATTERNS: readonly string[] = [
  "^[A-Z]{2}\\d+$",
  "ab+c",
  "^a|b$",
  "^(?:a|bc)*d?$",
  "^[^@\\s]+@[^@\\s]+\\.[a-z]{2,}$",
  "^\\$\\d{1,3}(,\\d{3})*(\\.\\d\\d)?$",
  "^(?:(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)\\.){3}\\d$",
  '^["\\\\/]{2,4}$',
  "^[\\x00-\\x1f]+$",
  "^.{2,5}$",
  "^[\\s\\S]*z$",
  "^(?=.*[A-Z])(?=.*\\d)[A-Za-z\\d]{4,8}$",
  "^(?!0)(?!.*00)\\d{3,6}$",
  "^(?!(?:con|nul)$)[a-z]+$",
  "^P(?:(\\d+W)|(?!.*W)(?=\\d|T\\d)(\\d+Y)?(\\d+M)?(\\d+D)?(T(?=\\d)(\\d+H)?(\\d+M)?(\\d+([.,]\\d+)?S)?)?)$",
  "\\bcat\\b",
  "^\\w+\\b.\\B.$",
  "^é{1,2}[ü-ž]$",
  "^[ぁ-ん]{2}[一-龠]+$",
  "^\\u20ac\\x20\\t?$",
  "^a{0}b{2,}c{1,2}?$",
  "^a?b?c?$",
  "^[ab]{0,3}c?$",
  "^(?=[ab.]{3,200}\\.$)[a.]+b?\\.$",
  "^(a*)*b$",
  "(?:^|,)x(?:,|$)",
  "^(?:(?=a)\\w|b)+$",
  "^(?:a|(?!b)\\D){2,3}$",
  "^x{a}$",
  "^[-a\\-z.\\]]+$",
  "^[\\w-]+$",
  "^[\\d-x]+$",
  "^[^]$",
  "a[]|b",
  "^(?<year>\\d{4})-(?<month>\\d\\d)$",
  "^\\p{Lu}\\p{Ll}*$",
  "^[\\P{L}]$",
  "^(?:😀|\\u{1f601}|\\ud83d\\ude02)+$",
  "",
];

/** As JSON schema has it, and where a pattern has no such reading as the machine reads it otherwise. */
function expressionOf(pattern: string): RegExp {
  try {
    return new RegExp(pattern, "u");
  } catch {
    return new RegExp(pattern);
  }
}

describe.each(PATTERNS)("the pattern %s", (pattern) => {
  const random = new Random(PATTERNS.indexOf(pattern));
  const schema = { type: "string", pattern };
  // A limit has every walk come to its end.
  const rule = compileSchema({ ...schema, maxLength: 24 }, { path: "", onLoose: (path, _, why) => expect.fail(`${path}: ${why}`) });
  const automaton = new Automaton(rule, new Uint8Array(0));
  const written = Array.from({ length: 40 }, () => walk(automaton, random)).filter((text) => text !== undefined);
  const texts = written.map((text) => JSON.parse(text) as string);

  it("is fitted by every text that its grammar lets through", () => {
    expect(texts.length).toBe(40);
    expect(texts.filter((text) => !expressionOf(pattern).test(text))).toEqual([]);
  });

  it("reads alike with the flag u and without what it lets through, unless it names characters that are two units", () => {
    if (/[\u{10000}-\u{10ffff}]|\\u\{|\\u[dD]8|\\[pP]/u.test(pattern)) return;
    expect(texts.filter((text) => !new RegExp(pattern).test(text))).toEqual([]);
  });

  it("lets through what fits it, and nothing else, of texts that are nearly right", () => {
    const read = readerOf(schema);
    const plain = (text: string): string => text.replace(/[\u{10000}-\u{10ffff}]/gu, "");
    const characters = Array.from(new Set(`${plain(pattern)}${plain(texts.join("")).slice(0, 50)}aZ0 -.é\n`));
    const nearly = texts.flatMap((text) => {
      const points = Array.from(text).slice(0, 40);
      const at = Math.floor(random.next() * (points.length + 1));
      const other = random.pick(characters);
      return [points.toSpliced(at, 1), points.toSpliced(at, 0, other), points.toSpliced(at, 1, other), points.slice(0, at)].map((each) =>
        each.join(""),
      );
    });
    // Characters beyond U+FFFF are let through where both readings take them as one, and may be left out elsewhere.
    const told = nearly.filter((text) => !/[\u{10000}-\u{10ffff}]/u.test(text) || /😀/u.test(pattern));
    expect(told.map((text) => [text, read(JSON.stringify(text)) === "fits"])).toEqual(
      told.map((text) => [text, expressionOf(pattern).test(text)]),
    );
  });
});

describe("a text that a pattern holds", () => {
  it("is stopped at the first byte that leads nowhere, within a character of several, and in an escape", () => {
    const read = readerOf({ type: "string", pattern: "^[é\n]$" });
    expect(['"é"', '"\\n"', '"è', '"\\t', '"\\u', '"\\"', '"é\\'].map(read)).toEqual([
      "fits",
      "fits",
      "refused",
      "refused",
      "refused",
      "refused",
      "refused",
    ]);
  });

  it("is written in one way", () => {
    const read = readerOf({ type: "string", pattern: '^[/"\\\\é\\x01]$' });
    expect(['"/"', '"\\/"', '"\\""', '"\\u0022"', '"\\\\"', '"\\u00e9"', '"\\u0001"', '"\u0001"'].map(read)).toEqual([
      "fits",
      "refused",
      "fits",
      "refused",
      "fits",
      "refused",
      "fits",
      "refused",
    ]);
  });

  it.each<[object, string[], string[]]>([
    [{ pattern: "^(ab)*$", minLength: 3, maxLength: 5 }, ["abab"], ["", "ab", "ababab"]],
    [{ pattern: "^(ab)*$", minLength: 3 }, ["abab", "ababab"], ["ab", "aba"]],
    [{ pattern: "^(a|bbbb)$", minLength: 2 }, ["bbbb"], ["a"]],
    [{ pattern: "^a*b$", maxLength: 3 }, ["b", "aab"], ["aaa", "aaab"]],
    [{ pattern: "^.{2,9}$", minLength: 4, maxLength: 200 }, ["abcd", "éééé", "123456789"], ["abc", "1234567890"]],
    [{ pattern: "^a", allOf: [{ pattern: "b$" }, { pattern: "-" }, { maxLength: 4 }] }, ["a-b", "a--b"], ["ab", "a-bc", "a---b"]],
    [{ pattern: "^2024", format: "date" }, ["2024-02-29"], ["2023-01-01", "2024-02-30", "2024"]],
  ])("has its lengths and all its patterns: %j", (keywords, fits, others) => {
    const read = readerOf({ type: "string", ...keywords });
    expect(fits.map((text) => read(JSON.stringify(text)))).toEqual(fits.map(() => "fits"));
    expect(others.filter((text) => read(JSON.stringify(text)) === "fits")).toEqual([]);
  });

  it("never leads to where its length leaves no end", () => {
    const read = readerOf({ type: "string", pattern: "^(?:a{3}|b{5})*$", minLength: 4, maxLength: 5 });
    expect(['"b', '"bbbbb"', '"a'].map(read)).toEqual(["unfinished", "fits", "refused"]);
  });

  it("stands beside other types, and in names of the same schema", () => {
    const read = readerOf({
      anyOf: [
        { type: ["string", "null"], pattern: "^a+$" },
        { type: "integer", pattern: "^b$" },
      ],
    });
    expect(['"aa"', "null", "7", '"b'].map(read)).toEqual(["fits", "fits", "fits", "refused"]);
    expect(['"a"', "7", '"b'].map(readerOf({ pattern: "^a$" }))).toEqual(["fits", "fits", "refused"]);
  });
});
