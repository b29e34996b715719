import type { Appraisal, TurnEvidence } from '../core/evidence.ts';
import type { FailureCase, Origin, Passage } from '../core/learn.ts';
import type { Scope } from '../core/lesson.ts';
import { truncateMiddle } from '../text/truncate.ts';

export interface CaseOrigin {
  readonly at: number;
  readonly generation: number;
  readonly scope: Scope;
  readonly appraisal: Appraisal;
}

const LONGEST_TASK = 3000;
const LONGEST_REPLY = 2000;
const LONGEST_RESULT = 1500;
const MOST_RESULTS = 4;

/** Tools whose results are written by third parties. */
const WEB = /web|fetch|brows|https?|url|scrape|crawl|mail|inbox|calendar|rss/i;

/** The messages around a failure, in order and cut to a length that a learner can read. */
export function createFailureCase(
  evidence: TurnEvidence,
  { at, generation, scope, appraisal }: CaseOrigin,
): FailureCase {
  const { turn, session, task, next, given } = evidence;
  const calls = new Map(
    evidence.reply.flatMap((part) => (part.type === 'tool-call' ? [[part.id, part.name]] : [])),
  );
  const results = (next?.tools ?? []).slice(0, MOST_RESULTS).map(({ callId, text }): Passage => {
    const origin = WEB.test(calls.get(callId) ?? '') ? 'web' : 'tool';
    return { origin, text: middle(text, LONGEST_RESULT) };
  });
  const notes = given.flatMap(({ source, note }): readonly Passage[] =>
    note && (source === 'person' || source === 'verifier') ? [{ origin: source, text: note }] : [],
  );
  const passages: readonly Passage[] = [
    passage('user', task, LONGEST_TASK),
    passage('assistant', replyText(evidence), LONGEST_REPLY),
    ...results,
    passage('user', next?.user ?? '', LONGEST_REPLY),
    ...notes,
  ].filter(({ text }) => text.trim() !== '');
  const source = appraisal.source ?? 'signal';
  return {
    turn,
    session,
    at,
    generation,
    scope,
    task: middle(task, LONGEST_TASK),
    passages,
    appraisal,
    source,
  };
}

const passage = (origin: Origin, text: string, most: number): Passage => ({
  origin,
  text: middle(text, most),
});

/** The text and the tool calls of a reply. */
export const replyText = ({ reply }: TurnEvidence): string =>
  reply
    .flatMap((part) => {
      if (part.type === 'text') return [part.text];
      return part.type === 'tool-call' ? [`${part.name}(${part.arguments})`] : [];
    })
    .join('\n');

/** The start states the request, the end the result. */
const middle = (text: string, most: number): string =>
  truncateMiddle(text, most, { headShare: 0.5, gap: () => '[…]' });
