/**
 * A correction changes its own argument, and no other. Weights that have learned a default fill other arguments of its tool otherwise, too; so a call
 * goes out as it is made without anything learned, held to what the version says of the arguments that it has learned about.
 */
import { isAspect } from "./aspects.ts";
import type { Held, Said } from "./held-notes.ts";
import { argumentText, sameCall } from "./speech/calls.ts";
import type { Place, WrittenAnswer } from "./yielding.ts";

/**
 * The answer itself where it makes no call or several, where no argument of its tool was learned about, where the version that has learned nothing calls
 * nothing or another tool, or fills a learned argument that the answer leaves out, and where both are the same but for what was learned.
 * @param options.learned what the answer's version has learned about
 * @param options.ask what the version says that has learned nothing; undefined where it cannot be asked
 * @param options.hold what that has said again, held to values; undefined where it cannot be
 */
export async function withOwnArguments<Answer extends Pick<WrittenAnswer, "call"> & Pick<Said, "calls">>(
  answer: Answer,
  {
    learned,
    ask,
    hold,
  }: {
    learned: readonly Place[];
    ask: () => Promise<Answer | undefined>;
    hold: (to: readonly Held[], under: Answer) => Promise<Answer | undefined>;
  },
): Promise<Answer> {
  const { call } = answer;
  if (call === undefined || answer.calls.length > 1) return answer;
  const places = learned.filter(({ tool, parameter }) => tool === call.name && !isAspect(parameter));
  if (places.length === 0) return answer;
  const isLearned = (name: string): boolean => places.some(({ parameter }) => parameter === name);
  const own = await ask();
  if (own?.call?.name !== call.name || own.calls.length > 1 || sameCall(call, own.call, isLearned)) return answer;
  if (Object.keys(own.call.arguments).some((name) => isLearned(name) && !(name in call.arguments))) return answer;
  const values = Object.entries(call.arguments).flatMap(([parameter, value]): Held[] =>
    isLearned(parameter) ? [{ tool: call.name, parameter, value: argumentText(value) }] : [],
  );
  const isWithThem = ({ call: made }: Answer): boolean =>
    made?.name === call.name && values.every(({ parameter, value }) => argumentText(made.arguments[parameter]) === value);
  if (isWithThem(own)) return own;
  const after = await hold(values, own);
  return after !== undefined && isWithThem(after) ? after : answer;
}
