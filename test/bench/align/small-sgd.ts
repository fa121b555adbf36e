/** A handful of made-up dialogues in the form of SGD: people look for cafés, and book tables after they were asked whether all is right. */
import { type Dialogue, type Service, type Sgd, VARIANTS } from "../../../trainer/pretrain/sgd.ts";

const NAMES = { original: ["FindCafe", "BookTable"], twin: ["SearchCafes", "ReserveTable"] } as const;

function service([find, book]: readonly [string, string], suffix: string): Service {
  const slot = (name: string, possible_values: string[] = []): Service["slots"][number] => ({
    name: `${name}${suffix}`,
    description: name,
    is_categorical: possible_values.length > 0,
    possible_values,
  });
  const own = (name: string): string => `${name}${suffix}`;
  return {
    service_name: `Cafes_1${suffix}`,
    description: "Finds cafés and books tables",
    slots: [slot("city"), slot("cafe_name"), slot("seats", ["1", "2", "3"]), slot("terrace", ["True", "False"])],
    intents: [
      {
        name: find,
        description: "Find a café",
        is_transactional: false,
        required_slots: [own("city")],
        optional_slots: { [own("terrace")]: "dontcare", [own("seats")]: "1" },
      },
      {
        name: book,
        description: "Book a table",
        is_transactional: true,
        required_slots: [own("cafe_name"), own("seats")],
        optional_slots: {},
      },
    ],
  };
}

/** One dialogue: a search, what was found, and a table at the first of it. `seats` as the user says them in the search, if at all. */
function dialogue(id: string, city: string, cafe: string, seats?: string): Dialogue {
  const searched: Record<string, string> = seats === undefined ? { city } : { city, seats };
  const said = seats === undefined ? "" : ` for ${seats}`;
  const acts: Dialogue["turns"][number]["acts"] = [["INFORM", "city", [city]]];
  if (seats !== undefined) acts.push(["INFORM", "seats", [seats]]);
  return {
    id,
    services: ["Cafes_1"],
    turns: [
      { role: "user", text: `A café in ${city}${said}, please.`, acts },
      {
        role: "assistant",
        text: `How about ${cafe} in ${city}?`,
        acts: [["OFFER", "cafe_name", [cafe]]],
        calls: [
          {
            service: "Cafes_1",
            method: "FindCafe",
            parameters: searched,
            results: [{ cafe_name: cafe, city, terrace: "True" }],
            result_count: 4,
          },
        ],
      },
      {
        role: "user",
        text: "Good, book it for two.",
        acts: [
          ["SELECT", "", []],
          ["INFORM", "seats", ["2"]],
        ],
      },
      {
        role: "assistant",
        text: `A table for two at ${cafe}, is that right?`,
        acts: [
          ["CONFIRM", "cafe_name", [cafe]],
          ["CONFIRM", "seats", ["2"]],
        ],
      },
      {
        role: "user",
        text: "No, make that three.",
        acts: [
          ["NEGATE", "", []],
          ["INFORM", "seats", ["three"]],
        ],
      },
      { role: "assistant", text: `So three at ${cafe}?`, acts: [["CONFIRM", "seats", ["3"]]] },
      { role: "user", text: "Yes.", acts: [["AFFIRM", "", []]] },
      {
        role: "assistant",
        text: "Your table is booked.",
        acts: [["NOTIFY_SUCCESS", "", []]],
        calls: [
          {
            service: "Cafes_1",
            method: "BookTable",
            parameters: { cafe_name: cafe, seats: "3" },
            results: [{ cafe_name: cafe, seats: "3" }],
            result_count: 1,
          },
        ],
      },
    ],
  };
}

const CITIES = "Lima Oslo Turin Kyoto Quito Dakar Porto Sofia Riga Accra Hanoi Perth Tunis Delhi Malmo Graz".split(" ");
const CAFES = "Aurora Bellini Corvo Dahlia Esker Fresco Gustav Harbour Indigo Juniper Kestrel Lumen Marmara Nectar Ondine Piccolo".split(
  " ",
);
const SILENT = 8;

export function smallSgd(): Sgd {
  const dialogues = CITIES.map((city, index) =>
    dialogue(`1_${index}`, city, CAFES[index] ?? "", index < SILENT ? undefined : String(2 + (index % 2))),
  );
  const schemas = VARIANTS.map((variant) => {
    const shown = variant === "v1" ? service(NAMES.twin, "_b") : service(NAMES.original, "");
    return [variant, new Map([["Cafes_1", shown]])] as const;
  });
  return { dialogues, schemas: Object.fromEntries(schemas) as Sgd["schemas"] };
}
