import type { Records } from '../core/store.ts';
import type { Redactor } from '../redact/redact.ts';

/**
 * The same records, asked with the ids that callers use: an id that contains a secret is stored as its mark, and is found
 * under it.
 */
export const withCleanIds = (records: Records, { redactName }: Pick<Redactor, 'redactName'>): Records => ({
  ...records,
  session: (id) => records.session(redactName(id)),
  sessions: ({ agent, ...query }) =>
    records.sessions(agent === undefined ? query : { ...query, agent: redactName(agent) }),
  turns: (session, page) => records.turns(redactName(session), page),
  events: (session) => records.events(redactName(session)),
  recalls: (session) => records.recalls(redactName(session)),
  sampled: (session) => records.sampled(redactName(session)),
  rewards: (of) =>
    records.rewards(
      'session' in of
        ? { session: redactName(of.session) }
        : 'turnsOf' in of
          ? { turnsOf: redactName(of.turnsOf) }
          : of,
    ),
  judgements: (session, type) => records.judgements(redactName(session), type),
  erase: (session, reason) => records.erase(redactName(session), reason),
});
