import { describe, expect, it } from 'vitest';
import type { AssistantPart, ChatRequest } from '../../../src/core/chat.ts';
import type { TurnView } from '../../../src/core/store.ts';
import { createReplayTasks } from '../../../src/learn/trial/replay-tasks.ts';
import { toRecords } from '../../../src/record/records.ts';
import { createMemoryStore } from '../../../src/record/store/memory-store.ts';
import { end, start } from '../../record/store/facts.ts';

const NOW = 1_800_000_000_000;
const asked = (text: string): ChatRequest => ({
  model: 'm',
  system: [{ type: 'text', text: 'Be brief.' }],
  messages: [{ role: 'user', content: [{ type: 'text', text }] }],
  tools: [],
  stream: false,
});
const SAID: readonly AssistantPart[] = [{ type: 'text', text: 'It is 2026-03-16.' }];
const CALLED: readonly AssistantPart[] = [{ type: 'tool-call', id: 'c', name: 'bash', arguments: '{}' }];

interface Recorded {
  readonly session: string;
  readonly text: string;
  readonly reply?: readonly AssistantPart[];
  readonly more?: Parameters<typeof start>[2];
}

/** The tasks that these recorded sessions give, by session. */
async function tasksFrom(recorded: readonly Recorded[], maySee = async (_: string) => true) {
  const records = toRecords(createMemoryStore(), () => NOW);
  for (const [at, { session, more }] of recorded.entries()) {
    await records.append([
      { at: NOW + at, fact: start(`t-${session}`, session, { caller: 'k_1', ...more }) },
      { at: NOW + at, fact: end(`t-${session}`) },
    ]);
  }
  const decodeTurn = async (view: TurnView) => {
    const one = recorded.find(({ session }) => session === view.session);
    if (one === undefined) return undefined;
    return { view, request: asked(one.text), reply: one.reply ?? SAID, stop: 'end' as const };
  };
  return createReplayTasks({ records, decodeTurn, maySee, now: () => NOW })();
}

describe('recorded requests that can be answered again', () => {
  it('are first requests in words that were answered in words, once each, with their session', async () => {
    const tasks = await tasksFrom([
      { session: 's1', text: 'When is the release?' },
      { session: 's2', text: 'When is the release?' },
      { session: 's3', text: 'Fix the build.', reply: CALLED },
    ]);
    expect(tasks).toHaveLength(1);
    expect(tasks[0]).toMatchObject({
      prompt: 'When is the release?',
      system: 'Be brief.',
      from: { session: expect.stringMatching(/^s[12]$/) },
    });
    expect(tasks[0]?.check ?? tasks[0]?.reference).toBeUndefined();
  });

  it('are none of anonymous callers, of practice, or of sessions that the models may not see', async () => {
    const tasks = await tasksFrom(
      [
        { session: 's1', text: 'Who is it?', more: { caller: 'anonymous' } },
        { session: 's2', text: 'What was practised?', more: { runKind: 'practice' } },
        { session: 's3', text: 'What is secret?' },
        { session: 's4', text: 'What is open?' },
      ],
      async (session) => session !== 's3',
    );
    expect(tasks.map(({ prompt }) => prompt)).toEqual(['What is open?']);
  });
});
