import { blockHash } from '../../src/base/block-hash.ts';
import type { Lesson } from '../../src/core/lesson.ts';
import { formatTurnBodyKey } from '../../src/core/store.ts';
import { toRecords } from '../../src/record/records.ts';
import { createRequestEncoder } from '../../src/record/request-manifest.ts';
import { createMemoryStore } from '../../src/record/store/memory-store.ts';
import { ruleCheck } from '../lessons/checks/make-check.ts';
import { lesson } from '../lessons/recall/sample-lessons.ts';
import { end, start } from '../record/store/facts.ts';

export const DAY = 24 * 3_600_000;
export const NOW = 100 * DAY;
const TOOLS = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }];

export interface Recorded {
  readonly session: string;
  readonly says?: string;
  readonly at?: number;
  readonly domain?: string;
  readonly reply?: object;
  readonly before?: readonly object[];
  readonly role?: 'main' | 'aux';
}

export const answer = (text: string) => ({ content: [{ type: 'text', text }], stop: 'end' });

export async function record(sessions: readonly Recorded[]) {
  const records = toRecords(createMemoryStore(), () => NOW);
  for (const { session, says = `sum ${session}`, at = NOW, domain = 'math', ...more } of sessions) {
    const { reply = answer('it is 4'), before = [], role = 'main' } = more;
    const body = {
      model: 'gpt',
      temperature: 0.2,
      max_tokens: 50,
      tools: TOOLS,
      messages: [{ role: 'system', content: 'Be brief.' }, ...before, { role: 'user', content: says }],
    };
    const turn = `t-${session}`;
    const request = formatTurnBodyKey({ turn, part: 'request' });
    const keeper = createRequestEncoder((value) => JSON.stringify(value));
    const kept = keeper.keep(request, session, 'chat', Buffer.from(JSON.stringify(body)));
    if (kept === undefined) throw new Error('nothing was kept');
    const said = JSON.stringify(reply);
    await records.append(
      [
        start(turn, session, { wire: 'openai-chat', agent: 'ada', role, request }),
        {
          type: 'lessons-recalled',
          session,
          turn,
          thread: '',
          generation: 1,
          why: 'new',
          lessons: [],
          heldOut: [],
          domain: { name: domain, reason: 'header' },
          considered: [],
          engine: 'words',
        } as const,
        end(turn, { reply: blockHash(said) }),
      ].map((fact) => ({ at, fact })),
      [...kept, { hash: blockHash(said), text: said, session }],
    );
  }
  return records;
}

export const ISO = ruleCheck({
  appliesWhen: [{ is: 'pattern', pattern: '\\d{4}-\\d{2}-\\d{2}|\\d{1,2} Nov \\d{4}' }],
  holdsWhen: [{ is: 'pattern', pattern: '\\d{1,2} Nov \\d{4}', max: 0 }],
});
export const isoRule = (name: string, scope: Lesson['text']['scope'] = {}): Lesson =>
  lesson(name, { check: ISO, description: '"Use ISO dates"', scope, note: { source: 'told' } });
