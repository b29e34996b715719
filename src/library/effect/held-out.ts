import { hash } from 'node:crypto';

/**
 * Whether a lesson is held out from a session, to measure sessions without it. Deterministic per pair, independent between
 * lessons, for a fraction `share` of the sessions. Never with 0; a larger share includes the pairs of a smaller one.
 */
export function isHeldOut(session: string, lesson: string, share: number): boolean {
  if (!(share > 0)) return false;
  const bytes = hash('sha256', JSON.stringify([session, lesson]), 'buffer');
  return bytes.readUIntBE(0, 6) < share * 2 ** 48;
}
