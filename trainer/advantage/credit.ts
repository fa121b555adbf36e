/**
 * Credit of a scalar reward to tokens: only those where the teacher would move the student the same way. A turn is judged
 * as a whole, but a correction is about one argument; what the teacher likes as much or more is not to blame. (design §5, hybrid)
 */
import { zipStrict } from "../../shared/assert.ts";

const DIFFERENCE_NATS = 0.5; // a probability ratio of 1.65; smaller gaps are noise of the context, not of the hint

/** A_t = r − b where sign(r − b) · (ln p_teacher(a_t) − ln p_student(a_t)) > 0.5 nats, else 0. */
export function creditedAdvantages(
  advantage: number,
  { teacherLogProbs, studentLogProbs }: { teacherLogProbs: readonly number[]; studentLogProbs: readonly number[] },
): number[] {
  return zipStrict(teacherLogProbs, studentLogProbs).map(([teacher, student]) =>
    Math.sign(advantage) * (teacher - student) > DIFFERENCE_NATS ? advantage : 0,
  );
}
