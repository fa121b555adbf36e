/** Somebody who asks, under the key of an application. */
import { z } from "zod";

export const Person = z.object({ name: z.string(), key: z.string(), keyId: z.string() });
export type Person = z.infer<typeof Person>;
