/**
 * A trainer's lease of an agent: who may publish for it. Every lease has a fencing token, higher than those before it; a trainer that
 * was taken for dead and comes back carries an old one, and is refused.
 */
import { z } from "zod";

/** Carries the token with every request that moves a line. */
export const LEASE_HEADER = "x-lease-token";
export const LEASE_MS = 30_000;
/** What a holder is called to whoever asks with another key. */
export const ANOTHER_TRAINER = "another trainer";

const Token = z.number().int().min(0);

/** A request for a lease, and with the `token` that it has its heartbeat. Members of later trainers are let pass. */
export const LeaseRequest = z.object({
  /** The trainer's name. A process that begins under a key and name need not wait until the lease of the one before it ends. */
  holder: z
    .string()
    .min(1)
    .max(200)
    .refine((name) => name !== ANOTHER_TRAINER, `a name other than "${ANOTHER_TRAINER}" expected, which stands for trainers of other keys`),
  token: Token.optional(),
  /** The last lease of a process that had one, where it asks again: it takes none from another process of its name. */
  last: Token.optional(),
  /** How long the lease holds without a heartbeat, ms. */
  ttlMs: z.number().int().min(1_000).max(600_000).default(LEASE_MS),
});
export type LeaseRequest = z.infer<typeof LeaseRequest>;

export const LeaseAnswer = z.discriminatedUnion("status", [
  z.object({
    status: z.literal("held"),
    token: Token,
    /** Other trainers that asked for the agent lately. */
    waiting: z.number().int(),
    /** How long nobody had the agent since the lease before this one ran out, ms; where none ran out it is not there. */
    unheldMs: z.number().min(0).optional(),
  }),
  z.object({
    status: z.literal("taken"),
    /** Null where nobody has it, and the token that was given is an old one; ANOTHER_TRAINER where another key has it. */
    holder: z.string().nullable(),
    /** Unless its holder says another word, ms. */
    endsInMs: z.number(),
  }),
]);
export type LeaseAnswer = z.infer<typeof LeaseAnswer>;

export const LeaseEnd = z.object({ token: Token });
