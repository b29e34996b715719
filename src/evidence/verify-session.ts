import type { StopReason } from '../core/chat.ts';
import type { TurnEvidence } from '../core/evidence.ts';
import { EXPECTED_EVENT } from '../core/fact.ts';
import type { Json } from '../core/json.ts';
import type { NewFact, Records } from '../core/store.ts';
import type { EvidenceReader } from './evidence-reader.ts';
import type { Verifiers } from './verifiers/registry.ts';

const LONGEST_NOTE = 1000;

interface VerifySessionOptions {
  readonly session: string;
  /** The turns to grade; all by default. */
  readonly wanted: readonly string[] | undefined;
  readonly verifiers: Verifiers;
  readonly records: Pick<Records, 'recalls' | 'events'>;
  readonly evidence: Pick<EvidenceReader, 'turns'>;
  readonly now: number;
}

/** Grades the answers of a session whose domain has a verifier, each turn once. A verifier that failed to run gives no reward. */
export async function verifySession(
  { session, wanted, verifiers, records, evidence: reader, now }: VerifySessionOptions,
  signal: AbortSignal,
): Promise<readonly NewFact[]> {
  const domain = await domainOf(session, records);
  if (verifiers.rowFor(domain) === undefined) return [];
  const expected = await readExpected(session, records);
  const facts: NewFact[] = [];
  for (const { evidence } of await reader.turns(session, wanted)) {
    const output = answerOf(evidence);
    if (output === '' || evidence.given.some(({ source }) => source === 'verifier')) continue;
    const { turn, task } = evidence;
    const reference = expected.get(turn);
    const graded = await verifiers.verify(
      { task, output, domain, ...(reference === undefined ? {} : { reference }) },
      signal,
    );
    if (graded.status !== 'ok') continue;
    const note = graded.reasons.join('; ').slice(0, LONGEST_NOTE);
    const score = 2 * graded.reward - 1;
    const fact = {
      type: 'reward-given',
      turn,
      source: 'verifier',
      score,
      ...(note ? { note } : {}),
    } as const;
    facts.push({ at: now, fact, key: `verifier:${turn}` });
  }
  return facts;
}

/** The right answers that were reported, by turn; the last report counts. */
async function readExpected(
  session: string,
  records: Pick<Records, 'events'>,
): Promise<ReadonlyMap<string, Json>> {
  const answers = new Map<string, Json>();
  for (const { fact } of await records.events(session)) {
    if (fact.type !== 'event-reported' || fact.kind !== EXPECTED_EVENT) continue;
    const { turn, expected } = fact.data;
    if (typeof turn === 'string' && expected !== undefined) answers.set(turn, expected);
  }
  return answers;
}

/** The domain of the session's last recall. */
export async function domainOf(session: string, records: Pick<Records, 'recalls'>): Promise<string> {
  const recalled = (await records.recalls(session)).at(-1)?.fact;
  return recalled?.type === 'lessons-recalled' ? recalled.domain.name : 'general';
}

/** The text of a final reply; empty for a reply with tool calls, which is not an answer yet. */
export function answerOf({
  reply,
  stop,
}: Pick<TurnEvidence, 'reply'> & { readonly stop?: StopReason | undefined }): string {
  if (stop !== 'end' || reply.some(({ type }) => type === 'tool-call')) return '';
  return reply.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
}
