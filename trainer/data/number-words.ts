const NUMBER_WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"] as const;

/** `2` → `two`, up to ten; anything else is undefined. */
export function numberWord(value: string): string | undefined {
  return /^\d{1,2}$/.test(value) ? NUMBER_WORDS[Number(value)] : undefined;
}
