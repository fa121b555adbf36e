/**
 * What an event teaches goes by the event's id. Where its words hold several corrections, the first has that id and each further one a number behind it ("…/next#2"): it is
 * noted, weighed, learned and refused by itself. The log, the quarantine and what is read from either know the event alone.
 */

/** @param nth from 1 */
export function hintIdOf(eventId: string, nth: number): string {
  return nth === 1 ? eventId : `${eventId}#${nth}`;
}

export function eventIdOf(hintId: string): string {
  return hintId.replace(/#\d+$/, "");
}
