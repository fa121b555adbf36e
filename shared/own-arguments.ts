/**
 * A correction changes its own argument, and no other. Weights that have learned a default fill other arguments of its tool otherwise, too; so a call
 * goes out as it is made without anything learned, held to what the version says of the arguments that it has learned about.
 */
import { isAspect } from "./aspects.ts";
import { canonicalJson } from "./digest.ts";
import type { Held, Said } from "./held-notes.ts";
import { type Standing, versionFor } from "./reach.ts";
import { argumentText, sameCall, wasMade } from "./speech/calls.ts";
import type { Heard, Place, WrittenAnswer } from "./yielding.ts";

/** Whether an argument is as without anything learned: others of its tool were learned about, and it was not. */
export function isOwn({ tool, parameter }: Place, learned: readonly Place[]): boolean {
  const places = learned.filter((each) => each.tool === tool && !isAspect(each.parameter));
  return places.length > 0 && !isAspect(parameter) && places.every((each) => each.parameter !== parameter);
}

/** The version whose an argument is in the calls that go out, or how its tool is called and replied to. */
export function versionOf<Version>(place: Place, standing: Standing<Version>, learned: readonly Place[]): Version {
  const { answering } = standing;
  return answering !== null && isOwn(place, learned) ? answering.outside : versionFor(place.tool, standing);
}

/**
 * The answer itself where it makes no call or several, where no argument of its tool was learned about, and where both are the same but for what was learned;
 * also where the version that has learned nothing calls nothing or another tool, makes again a call that was made before, or fills a learned argument that the
 * answer leaves out, and where its call cannot be held to the very values (lists, objects).
 * @param options.learned what the answer's version has learned about
 * @param options.ask what the version says that has learned nothing; undefined where it cannot be asked
 * @param options.hold what that has said again, held to values; undefined where it cannot be
 */
export async function withOwnArguments<Answer extends Pick<WrittenAnswer, "call"> & Pick<Said, "calls">>(
  answer: Answer,
  {
    learned,
    heard,
    ask,
    hold,
  }: {
    learned: readonly Place[];
    heard: Pick<Heard, "messages">;
    ask: () => Promise<Answer | undefined>;
    hold: (to: readonly Held[], under: Answer) => Promise<Answer | undefined>;
  },
): Promise<Answer> {
  const { call } = answer;
  if (call === undefined || answer.calls.length > 1) return answer;
  const places = learned.filter(({ tool, parameter }) => tool === call.name && !isAspect(parameter));
  if (places.length === 0) return answer;
  const isLearned = (name: string): boolean => places.some(({ parameter }) => parameter === name);
  const isMade = (some: typeof call): boolean => wasMade(heard.messages, some, isLearned);
  const own = await ask();
  if (own?.call?.name !== call.name || own.calls.length > 1 || sameCall(call, own.call, isLearned)) return answer;
  if (Object.keys(own.call.arguments).some((name) => isLearned(name) && !(name in call.arguments))) return answer;
  if (isMade(own.call) && !isMade(call)) return answer;
  const values = Object.entries(call.arguments).filter(([name]) => isLearned(name));
  const isWithThem = ({ call: made }: Answer): boolean =>
    values.every(([name, value]) => name in (made?.arguments ?? {}) && canonicalJson(made?.arguments[name]) === canonicalJson(value));
  if (isWithThem(own)) return own;
  const after = await hold(
    values.map(([parameter, value]) => ({ tool: call.name, parameter, value: argumentText(value) })),
    own,
  );
  return after?.call !== undefined && sameCall(after.call, own.call, isLearned) && isWithThem(after) ? after : answer;
}
