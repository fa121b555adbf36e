/** Formats, and what zod makes of its own checks through the client's helper: every text that is let through is parsed by the schema it came from. */
import { zodTextFormat } from "openai/helpers/zod";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { z as z3 } from "zod/v3";
import { Automaton } from "../../../../shared/grammar/automaton.ts";
import { compileSchema } from "../../../../shared/grammar/schema.ts";
import { Random } from "../../../../trainer/random.ts";
import { readerOf, walk } from "../rules.ts";

const WALKS = 25;

const checks: Readonly<Record<string, z.ZodType>> = {
  email: z.email(),
  "browsers' email": z.email({ pattern: z.regexes.html5Email }),
  "RFC 5322's email": z.email({ pattern: z.regexes.rfc5322Email }),
  "any email": z.email({ pattern: z.regexes.unicodeEmail }),
  "email within lengths": z.email().min(12).max(14),
  uuid: z.uuid(),
  "uuid of version 4": z.uuidv4(),
  guid: z.guid(),
  datetime: z.iso.datetime(),
  "datetime with offset and milliseconds": z.iso.datetime({ offset: true, precision: 3 }),
  "local datetime": z.iso.datetime({ local: true }),
  date: z.iso.date(),
  time: z.iso.time(),
  "time to the second": z.iso.time({ precision: 0 }),
  duration: z.iso.duration(),
  ipv4: z.ipv4(),
  ipv6: z.ipv6(),
  cidr: z.cidrv4(),
  "cidr of version 6": z.cidrv6(),
  hostname: z.hostname(),
  url: z.url(),
  nanoid: z.nanoid(),
  cuid: z.cuid(),
  ulid: z.ulid(),
  telephone: z.e164(),
  mac: z.mac(),
  emoji: z.emoji(),
  hash: z.hash("sha256"),
  hex: z.hex().max(6),
  expression: z.string().regex(/^[A-Z]{2}\d+$/),
  start: z.string().startsWith("a+b").max(9),
  end: z.string().endsWith("?").max(9),
  inside: z.string().includes("mid").max(9),
  lower: z.string().lowercase().min(2).max(9),
  template: z.templateLiteral(["a", z.int(), "-", z.enum(["x", "y"])]),
  cents: z.number().multipleOf(0.01),
  "cents above nothing": z.number().multipleOf(0.05).positive().max(9.99),
  fives: z.int().multipleOf(5),
  "fives within bounds": z.int().multipleOf(5).min(-12).max(12),
};

const checksOf3: Readonly<Record<string, z3.ZodType>> = {
  email: z3.string().email(),
  "email within lengths": z3.string().email().min(12).max(14),
  uuid: z3.string().uuid(),
  datetime: z3.string().datetime(),
  "datetime with offset": z3.string().datetime({ offset: true }),
  date: z3.string().date(),
  time: z3.string().time(),
  duration: z3.string().duration(),
  ip: z3.string().ip(),
  ipv4: z3.string().ip({ version: "v4" }),
  url: z3.string().url(),
  emoji: z3.string().emoji(),
  cuid: z3.string().cuid().max(20),
  expression: z3.string().regex(/^[A-Z]{2}\d+$/),
  cents: z3.number().multipleOf(0.01),
  fives: z3.number().int().step(5),
};

const named = (version: string, all: Readonly<Record<string, z.ZodType | z3.ZodType>>) =>
  Object.entries(all).map(([name, check]) => [`${name} of zod ${version}`, check] as const);

/** As the client sends it, on its own. */
function sentFor(check: z.ZodType | z3.ZodType): unknown {
  const whole = "_zod" in check ? z.object({ x: check }) : z3.object({ x: check });
  return (zodTextFormat(whole as z.ZodObject, "x").schema as { properties: { x: unknown } }).properties.x;
}

describe.each([...named("4", checks), ...named("3", checksOf3)])("%s", (name, check) => {
  it("parses whatever its grammar lets through", () => {
    const rule = compileSchema(sentFor(check), { path: "x", onLoose: (path, keyword, why) => expect.fail(`${path} ${keyword}: ${why}`) });
    const automaton = new Automaton(rule, new Uint8Array(0));
    const random = new Random(name.length);
    const values = Array.from({ length: WALKS }, () => walk(automaton, random))
      .filter((text) => text !== undefined)
      .map((text) => JSON.parse(text) as unknown);
    expect(values.length).toBeGreaterThan(0);
    expect(values.filter((value) => !check.safeParse(value).success)).toEqual([]);
  });
});

describe.each<[format: string, fits: string[], others: string[]]>([
  ["date", ["2024-02-29", "2000-02-29", "1999-12-31"], ["2023-02-29", "1900-02-29", "2024-04-31", "2024-13-01", "2024-1-1", "24-01-01"]],
  ["time", ["00:00:00", "23:59:59.123"], ["24:00:00", "12:60:00", "12:00", "12:00:00Z", "12:00:00."]],
  [
    "date-time",
    ["2024-02-29T12:00:00Z", "2024-02-29T12:00:00.5Z"],
    ["2024-02-29", "2024-02-30T12:00:00Z", "2024-02-29 12:00:00Z", "2024-02-29T12:00:00"],
  ],
  ["duration", ["P1D", "PT36H", "P1Y2M3DT4H5M6S", "P3W"], ["P", "PT", "1D", "P1W2D", "P1S", "P-1D"]],
  [
    "email",
    ["ada@example.com", "a.b+c_d@x-y.co.uk"],
    ["ada", "@example.com", "a..b@example.com", ".a@example.com", "a@example", "a@-x.com", "a b@x.com"],
  ],
  ["hostname", ["localhost", "a-b.example.com", "x1"], ["", "-a.com", "a-.com", "a..b", "a_b", "a.com.", `${"a".repeat(64)}.com`]],
  ["ipv4", ["0.0.0.0", "255.249.199.9"], ["256.0.0.0", "1.2.3", "01.2.3.4", "1.2.3.4.5"]],
  ["ipv6", ["::", "::1", "fe80::1:2", "1:2:3:4:5:6:7:8", "1::8"], ["1:2:3:4:5:6:7", "1::2::3", ":1", "1:", "12345::", "1:2:3:4:5:6:7:8:9"]],
  ["uuid", ["123e4567-e89b-12d3-a456-426614174000"], ["123e4567e89b12d3a456426614174000", "123e4567-e89b-12d3-a456-42661417400g"]],
  [
    "uri",
    ["https://example.com", "http://localhost:3000/a?b=c#d", "https://10.0.0.1/%20"],
    ["example.com", "https://", "https://a b.com", "https://x.com/%2"],
  ],
])("the format %s", (format, fits, others) => {
  it("lets through what it should, and nothing else", () => {
    const read = readerOf({ type: "string", format });
    expect(fits.filter((text) => read(JSON.stringify(text)) !== "fits")).toEqual([]);
    expect(others.filter((text) => read(JSON.stringify(text)) === "fits")).toEqual([]);
  });
});

it("a format beside a pattern allows all that it may be, and the pattern says which", () => {
  const read = readerOf({ type: "string", format: "date-time", pattern: "\\+02:00$" });
  expect(['"2024-02-29T12:00:00+02:00"', '"2024-02-29T12:00:00Z"', '"2024-02-30T12:00:00+02:00"', '"x+02:00"'].map(read)).toEqual([
    "fits",
    "refused",
    "refused",
    "refused",
  ]);
});
