/** Made-up parameter values by kind, and the words in which a user would say them. */
import type { Parameter } from "../../shared/speech/parameters.ts";
import type { Random } from "../random.ts";

const PLACES = [
  "Lisbon",
  "Porto",
  "Oakland",
  "Fresno",
  "Leeds",
  "Malmo",
  "Ghent",
  "Turin",
  "Bergen",
  "Austin",
  "Quito",
  "Osaka",
  "Pune",
  "Perth",
  "Tampa",
  "Reno",
  "Boise",
  "Nantes",
  "Graz",
  "Izmir",
  "Davis",
  "Salinas",
  "Gilroy",
  "Hamburg",
] as const;
const GIVEN_NAMES = ["Ada", "Bruno", "Chen", "Dalia", "Emil", "Farah", "Goran", "Hana", "Ines", "Jonas", "Kavya", "Luca"] as const;
const FAMILY_NAMES = ["Abbott", "Becker", "Castro", "Dumont", "Eriksen", "Fontana", "Gupta", "Hughes", "Ivanov", "Jensen"] as const;
const SYLLABLES = [
  "bra",
  "cal",
  "den",
  "fio",
  "gar",
  "hel",
  "jun",
  "kel",
  "lor",
  "mev",
  "nov",
  "pel",
  "quin",
  "ros",
  "sol",
  "tam",
  "ver",
  "wil",
  "zan",
] as const;

/** A value that the schema allows and that is none of `except`; undefined where the schema leaves no other. */
export function makeValue(parameter: Parameter, random: Random, except: readonly string[] = []): string | undefined {
  const taken = new Set(except.map((value) => value.toLowerCase()));
  if (parameter.allowed.length > 0 || parameter.kind === "boolean") {
    const choices = (parameter.allowed.length > 0 ? parameter.allowed : ["True", "False"]).filter(
      (value) => !taken.has(value.toLowerCase()) && value.toLowerCase() !== "dontcare",
    );
    return choices.length === 0 ? undefined : random.pick(choices);
  }
  for (let attempt = 0; attempt < 50; attempt += 1) {
    const value = MAKERS[parameter.kind](random);
    if (!taken.has(value.toLowerCase())) return value;
  }
  return undefined;
}

const MAKERS: Record<Parameter["kind"], (random: Random) => string> = {
  boolean: (random) => random.pick(["True", "False"]),
  enum: (random) => pseudoName(random),
  number: (random) => String(1 + random.below(6)),
  date: (random) => `2019-03-${String(2 + random.below(27)).padStart(2, "0")}`,
  time: (random) => `${String(7 + random.below(14)).padStart(2, "0")}:${random.pick(["00", "15", "30", "45"])}`,
  place: (random) => random.pick(PLACES),
  person: (random) => `${random.pick(GIVEN_NAMES)} ${random.pick(FAMILY_NAMES)}`,
  text: (random) => pseudoName(random),
};

function pseudoName(random: Random): string {
  const words = Array.from({ length: 1 + random.below(2) }, () => {
    const word = Array.from({ length: 2 + random.below(2) }, () => random.pick(SYLLABLES)).join("");
    return word.charAt(0).toUpperCase() + word.slice(1);
  });
  return words.join(" ");
}
