/** Aspects of a call: their texts, read back, and the tools that they are about. */
import { describe, expect, it } from "vitest";
import { appliesTo, aspectText, isAspect, parseAspect, type Place, topicsOf } from "../../shared/aspects.ts";
import { correctionText, parseHint } from "../../shared/jobs.ts";
import { SEARCH, WEATHER } from "../trainer/hotel.ts";

const PLACES = [
  { tool: "SearchHotel", parameter: "@tool", value: "FindRoom", text: "Call FindRoom in place of SearchHotel." },
  { tool: "SearchHotel", parameter: "@ask", value: "first", text: "Ask before SearchHotel is called." },
  { tool: "SearchHotel", parameter: "@ask", value: "never", text: "Call SearchHotel without asking." },
];

describe("an aspect", () => {
  it.each(PLACES)("is written as $text and read back", ({ text, ...place }) => {
    expect(isAspect(place.parameter)).toBe(true);
    expect([aspectText(place), correctionText(place, place.tool)]).toEqual([text, text]);
    expect(parseAspect(text)).toEqual(place);
    expect(parseHint(text)).toEqual({ kind: "hint", text, hint: { parameter: place.parameter, value: place.value } });
  });

  it("is none where a parameter is named", () => {
    expect(isAspect("city")).toBe(false);
    expect(parseAspect("city should be Porto.")).toBeUndefined();
    expect(correctionText({ parameter: "city", value: "Porto" }, "SearchHotel")).toBe("city should be Porto.");
  });

  it("shares a topic with what it contradicts, and with nothing else", () => {
    const [other, first, never] = PLACES as readonly Place[] as [Place, Place, Place];
    const share = (left: Place, right: Place): boolean => topicsOf(left).some((topic) => topicsOf(right).includes(topic));
    expect(share({ tool: "FindRoom", parameter: "@tool", value: "SearchHotel" }, other)).toBe(true);
    expect(share({ ...other, value: "BookRoom" }, other)).toBe(true);
    expect(share(first, never)).toBe(true);
    expect(share({ tool: "FindRoom", parameter: "@tool", value: "BookRoom" }, other)).toBe(false);
    expect([share({ ...first, tool: "FindRoom" }, first), share(other, first)]).toEqual([false, false]);
  });

  it("applies where its tools are at hand, and says something that it knows", () => {
    const tools = [SEARCH, WEATHER];
    const other = { tool: "SearchHotel", parameter: "@tool", value: WEATHER.function.name };
    const ask = { tool: "SearchHotel", parameter: "@ask", value: "first" };
    expect([other, ask].map((place) => appliesTo(place, tools))).toEqual([true, true]);
    expect([other, ask].map((place) => appliesTo(place, [WEATHER]))).toEqual([false, false]);
    expect(appliesTo(other, [SEARCH])).toBe(false);
    expect(appliesTo({ ...ask, value: "maybe" }, tools)).toBe(false);
    expect(appliesTo({ ...other, value: "SearchHotel" }, tools)).toBe(false);
  });
});
