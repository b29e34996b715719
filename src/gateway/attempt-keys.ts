import { createHash, randomBytes } from 'node:crypto';
import { type BoundAttempt, type Caller, PRACTICE } from '../core/caller.ts';
import { compact } from '../core/json.ts';
import type { KnownCallers } from './access-control.ts';
import type { Identity } from './identify.ts';
import type { ShownLessons } from './turn.ts';

/** Keys of attempts at practice tasks, beside the keys of callers. They live in this process's memory, and only it makes them. */
export interface AttemptKeys extends KnownCallers {
  open(attempt: BoundAttempt): AttemptKey;
}

interface AttemptKey {
  readonly key: string;
  /** The key is refused from now on. */
  close(): void;
}

const PREFIX = 'instar_attempt_';

/**
 * Binds a session to its lessons by a key that is made for it: a header could be sent by any client. Requests with the key are
 * in the attempt's session, are shown the attempt's block, and are not learned from, whatever else they say of themselves.
 */
export function withAttemptKeys(keys: KnownCallers): AttemptKeys {
  const open = new Map<string, Caller>();
  return {
    find: (presented) => (presented.startsWith(PREFIX) ? open.get(hashOf(presented)) : keys.find(presented)),
    ofCredential: keys.ofCredential,
    open: (attempt) => {
      const key = `${PREFIX}${randomBytes(32).toString('base64url')}`;
      const hash = hashOf(key);
      open.set(hash, { kind: 'caller', id: PRACTICE, mayRate: false, attempt });
      return { key, close: () => void open.delete(hash) };
    },
  };
}

const hashOf = (key: string): string => createHash('sha256').update(key).digest('hex');

/** Who calls: the attempt, whatever the request says. Which of the client's requests it is, the request tells. */
export const identityInAttempt = (
  { client, role }: Identity,
  { session, agent, project, domain }: BoundAttempt,
): Identity =>
  compact({
    client,
    role,
    sessionId: session,
    agent,
    project: project === undefined ? undefined : { id: project, label: project },
    domain,
    runKind: PRACTICE,
    record: true,
    sessionDone: false,
  });

/** The attempt's lessons, frozen: a client's own calls for a title or a summary get none, as always. */
export const lessonsOfAttempt = (
  { shown: { text, place, lessons, generation } }: BoundAttempt,
  { role }: Identity,
): ShownLessons => {
  if (role === 'aux') return { generation, lessons: [], additions: [] };
  const shown = { generation, lessons, additions: [] };
  if (text === '') return shown;
  return place === 'message' ? { ...shown, said: text } : { ...shown, block: text };
};
