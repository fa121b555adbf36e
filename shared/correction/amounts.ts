/**
 * Whether a number that somebody said can be an amount that a parameter wants: an addend of what comes to more is none ("two adults and one child" are not two
 * passengers), and no more is a number that is a name of something ("line 5"), or one below zero.
 */
import { escapeRegExp } from "../regexp.ts";
import { topicWords } from "../speech/mention.ts";
import { numbersAmong } from "../speech/numbers.ts";
import type { Parameter } from "../speech/parameters.ts";
import { numberWord, writtenForm } from "../speech/spoken.ts";
import { sameStem, wordsOf } from "../speech/words.ts";
import { sentencesOf } from "../speech/sentences.ts";

const PEOPLE =
  "adult child children kid baby babies infant toddler teenager teen senior grandparent grandchildren grandkid parent son daughter boy girl man men woman women lady ladies friend colleague coworker brother sister cousin student pensioner".split(
    " ",
  );
const LABELS =
  "line page chapter section row step gate platform track terminal exit version verse paragraph column highway route bus level item ticket issue option".split(
    " ",
  );
const COMPANY_BEFORE =
  /\b(?:me|myself|us|I|he|she|they|wife|husband|partner) (?:and|plus|with) (?:(?:my|our|the|another|other) )?$|\b(?:plus|with|and|bring(?:ing)?|since|because) (?:my|our) (?:other )?$|\bplus $/i;
const COMPANY_AFTER = /^ (?:[\p{L}'-]+ )?(?:and|plus) (?:me|myself|I|my (?:wife|husband|partner|mother|father|mom|mum|dad))\b/iu;

/** Whether the number is said, each time that it is, as one of several that make up the whole, or as a name. */
export function isPartOrLabel(text: string, { parameter, value }: { parameter: Parameter; value: string }): boolean {
  if (writtenForm(value) !== "number") return false;
  const topics = topicWords(parameter);
  const isTopic = (word = ""): boolean => topics.some((topic) => sameStem(word, topic));
  const uses = sentencesOf(text).flatMap((sentence) => usesIn(sentence, { value, isTopic }));
  return uses.length > 0 && !uses.includes("amount");
}

type Use = "addend" | "label" | "amount";

/** How a sentence uses the number, each time. */
function usesIn(sentence: string, { value, isTopic }: { value: string; isTopic: (word?: string) => boolean }): Use[] {
  const words = wordsOf(sentence);
  const counted = words.flatMap((word, at) => {
    const person = [words[at + 1], words[at + 2]].find((each) => PEOPLE.some((one) => sameStem(each ?? "", one)));
    return person !== undefined && numbersAmong([word]).length > 0 && !isTopic(person) ? [at] : [];
  });
  const company = [value, numberWord(value)].filter((number) => number !== undefined && isCompany(sentence, number));
  return words.flatMap((word, at) => {
    if (word !== value && word !== numberWord(value)) return [];
    const [before, after] = [words[at - 1] ?? "", words[at + 1]];
    // "minus 9 out there" is no 9, but "minus 10 percent" takes off 10.
    if (before === "minus" && !/^(?:percent|per|euros?|dollars?)$/.test(after ?? "")) return ["label"];
    if (LABELS.some((each) => sameStem(each, before))) return [isTopic(before) ? "amount" : "label"];
    const isAddend = (counted.length > 1 && counted.includes(at)) || (!isTopic(after) && company.includes(word));
    return [isAddend ? "addend" : "amount"];
  });
}

/** Whether those are meant who come along: "me plus two", "with my 3 kids". */
function isCompany(sentence: string, number: string): boolean {
  const [before, ...after] = sentence.toLowerCase().split(new RegExp(`\\b${escapeRegExp(number)}\\b`));
  return before !== undefined && after.length > 0 && (COMPANY_BEFORE.test(before) || COMPANY_AFTER.test(after.join(number)));
}
