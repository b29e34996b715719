import { hash } from 'node:crypto';

/**
 * Whether a lesson is held back from a session, to see how sessions come out without it. The same for ever for the same
 * pair; over sessions a share of `share`, and which lessons a session misses says nothing about its others. With 0
 * never; what a larger share holds back includes what a smaller one does.
 */
export function isHeldOut(session: string, lesson: string, share: number): boolean {
  if (!(share > 0)) return false;
  const bytes = hash('sha256', JSON.stringify([session, lesson]), 'buffer');
  return bytes.readUIntBE(0, 6) < share * 2 ** 48;
}
