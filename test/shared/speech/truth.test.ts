import { describe, expect, it } from "vitest";
import { readParameters, type Parameter } from "../../../shared/speech/parameters.ts";
import { isTruthWanted } from "../../../shared/speech/truth.ts";

/** The truth of the user's words where they tell exactly one. */
function told(text: string, name: string): boolean | undefined {
  const parameters = { type: "object", properties: { [name]: { type: "boolean" } } };
  const [parameter] = readParameters({ type: "function", function: { name: "Search", parameters } }) as [Parameter];
  const wanted = [true, false].filter((truth) => isTruthWanted(text, { parameter, value: String(truth) }));
  return wanted.length === 1 ? wanted[0] : undefined;
}

describe("isTruthWanted: a truth that is said in one word", () => {
  it.each([
    ["You picked the wrong good for kids. no would be correct.", "good_for_kids", false],
    ['You picked the wrong good for kids. "Yes" would have been right.', "good_for_kids", true],
    ["The wrong wifi. It should have been no.", "has_wifi", false],
    ["That wifi value isn't right, it must be no.", "has_wifi", false],
    ["Why did you pick wifi? The correct one is no.", "has_wifi", false],
    ["Wifi? No, thanks.", "has_wifi", false],
    ["Wifi — no.", "has_wifi", false],
    ["wifi, yes", "has_wifi", true],
    ["Set wifi to off please", "has_wifi", false],
    ["Turn the wifi off.", "has_wifi", false],
    ["Pool, no. Wifi, yes.", "has_wifi", true],
    ["Oops, has wifi needs fixing: no.", "has_wifi", false],
    ["Has wifi should be no.", "has_wifi", false],
    ["Regarding the has wifi, go with no.", "has_wifi", false],
    ["Regarding the pets allowed, I'd go with yes please.", "pets_allowed", true],
    ["Has wifi: yes, has breakfast: no", "has_wifi", true],
  ])("%s", (text, name, truth) => {
    expect(told(text, name)).toBe(truth);
  });

  it.each([
    ["of what is missed", "Is there wifi? No. I asked for wifi.", true],
    ["of another topic", "The wifi is fine. The breakfast should be no.", true],
    ["of nothing", "No. I want wifi.", true],
    ["where it is called wrong", "No would be wrong, I want wifi.", true],
    ["where it only asks back", "With wifi, no?", true],
    ["where it only asks whether", "Has it got wifi? No. I asked for wifi.", true],
    ["about something else", "Switch to a place with wifi that is off the road.", true],
  ])("a word %s tells nothing by itself", (_, text, truth) => {
    expect(told(text, "has_wifi")).toBe(truth);
  });
});
