import { createHash } from 'node:crypto';
import type { Fact, StoredFact } from '../core/fact.ts';
import type { Records } from '../core/store.ts';
import { AUDIT_SUBJECT } from './store/views.ts';

type AuditFact = Fact & { readonly type: 'action-taken' };

/** One entry of the audit trail. */
export interface AuditedAction {
  /** `lessons.approve`, `sessions.erase`. */
  readonly action: string;
  /** Ids and names, never text of people. */
  readonly subject: string;
  /** The id of the key. */
  readonly key: string;
}

/** Appends to the audit trail. Durable when it resolves: callers act only then. Rejects with `StoreError`. */
export type Audit = (action: AuditedAction) => Promise<void>;

const LONGEST_SUBJECT = 500;

/** The audit trail of a home: one chain of facts. Entries are appended one after the other. */
export function createAudit(records: Pick<Records, 'append' | 'events'>, now: () => number): Audit {
  let last: AuditFact | undefined;
  let isLoaded = false;
  let queue: Promise<void> = Promise.resolve();
  const load = async (): Promise<void> => {
    last = auditFacts(await records.events(AUDIT_SUBJECT)).at(-1)?.fact;
    isLoaded = true;
  };
  const append = async (action: AuditedAction): Promise<void> => {
    if (!isLoaded) await load();
    for (;;) {
      const at = now();
      const fact = chain(last, at, action);
      const [done] = await records.append([{ at, fact, key: `audit:${fact.n}` }]);
      if (done?.isNew !== false) {
        last = fact;
        return;
      }
      // Another process of this home wrote this number: continue after it.
      await load();
    }
  };
  return (action) => {
    const done = queue.then(() => append(action));
    queue = done.catch(() => undefined);
    return done;
  };
}

function chain(last: AuditFact | undefined, at: number, given: AuditedAction): AuditFact {
  const n = (last?.n ?? 0) + 1;
  const previous = last?.hash ?? '';
  const { action, key } = given;
  const subject = given.subject.slice(0, LONGEST_SUBJECT);
  const hash = hashOf({ n, at, action, subject, key, previous });
  return { type: 'action-taken', n, action, subject, key, previous, hash };
}

const hashOf = (entry: Omit<AuditFact, 'type' | 'hash'> & { readonly at: number }): string => {
  const { n, at, action, subject, key, previous } = entry;
  return createHash('sha256')
    .update(JSON.stringify([n, at, action, subject, key, previous]))
    .digest('hex');
};

interface StoredAudit extends StoredFact {
  readonly fact: AuditFact;
}

const auditFacts = (facts: readonly StoredFact[]): readonly StoredAudit[] =>
  facts.flatMap(({ seq, at, fact }) => (fact.type === 'action-taken' ? [{ seq, at, fact }] : []));

export interface CheckedTrail {
  /** Oldest first. */
  readonly entries: readonly (AuditedAction & { readonly n: number; readonly at: number })[];
  /** The first fault in the chain. */
  readonly fault?: string;
}

/** The facts about the audit's subject, checked. */
export function checkAuditTrail(facts: readonly StoredFact[]): CheckedTrail {
  const trail = auditFacts(facts);
  let previous = '';
  let fault: string | undefined;
  for (const [index, { at, fact }] of trail.entries()) {
    const isWhole =
      fact.n === index + 1 && fact.previous === previous && fact.hash === hashOf({ ...fact, at });
    if (!isWhole) fault ??= `entry ${index + 1} was changed, or one before it was removed`;
    previous = fact.hash;
  }
  const entries = trail.map(({ at, fact: { n, action, subject, key } }) => ({ n, at, action, subject, key }));
  return fault === undefined ? { entries } : { entries, fault };
}

export const readAuditTrail = async (records: Pick<Records, 'events'>): Promise<CheckedTrail> =>
  checkAuditTrail(await records.events(AUDIT_SUBJECT));
