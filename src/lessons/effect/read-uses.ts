import type { JsonObject } from '../../core/json.ts';
import { principalOfSession } from '../../core/principal.ts';
import type { Records } from '../../core/store.ts';

interface UseOfMember {
  sessions: number;
  worked: number;
  failed: number;
  /** The newest sessions that failed although it was shown. */
  failures: string[];
}

const PAGE = 1000;
const MOST_FAILURES = 5;
/** From this score on a session worked. */
const WORKED = 0.5;

/**
 * What became of the sessions in which a lesson was shown, by member: what worked with it, and what failed in spite of it. `member` absent:
 * the home's own person. Through the records of a member it tells of the own sessions alone.
 */
export async function readUses(lesson: string, records: Pick<Records, 'factsOf'>): Promise<JsonObject[]> {
  /** The last score of each session counts. */
  const scores = new Map<string, number>();
  for (let after = 0; ; ) {
    const page = await records.factsOf('session-scored', after, PAGE);
    for (const { fact } of page)
      if (fact.type === 'session-scored' && fact.score !== undefined && fact.lessons.includes(lesson))
        scores.set(fact.session, fact.score);
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) break;
    after = last.seq;
  }
  const members = new Map<string, UseOfMember>();
  for (const [session, score] of scores) {
    const member = principalOfSession(session) ?? '';
    const use = members.get(member) ?? { sessions: 0, worked: 0, failed: 0, failures: [] };
    use.sessions++;
    if (score >= WORKED) use.worked++;
    else {
      use.failed++;
      use.failures = [...use.failures, session].slice(-MOST_FAILURES);
    }
    members.set(member, use);
  }
  return [...members].map(([member, use]) => ({ ...(member === '' ? {} : { member }), ...use }));
}
