import { describe, expect, it } from 'vitest';
import type { ChatRequest } from '../../src/core/chat.ts';
import type { Fact } from '../../src/core/fact.ts';
import type { PolicyTemplate } from '../../src/core/training.ts';
import { toRecords } from '../../src/record/records.ts';
import { createMemoryStore } from '../../src/record/store/memory-store.ts';
import { hintOf, withHint } from '../../train/hint.ts';
import { createLiveReader, liveEstimators, liveQueryOf } from '../../train/live-turns.ts';
import { end, start } from '../record/store/facts.ts';
import { failure, success } from './facts.ts';

/** A template whose tokens are the characters. */
const template: PolicyTemplate = {
  render: ({ system, messages }) => {
    const texts = messages.flatMap(({ content }) =>
      content.flatMap((part) => ('text' in part ? [part.text] : [])),
    );
    return {
      is: 'prompt',
      tokens: [...system.map(({ text }) => text), ...texts].join('|').split('').map(codeOf),
    };
  },
  read: () => ({ text: '', calls: [] }),
  stop: [0],
  longestReply: 4,
};
const codeOf = (letter: string): number => letter.charCodeAt(0);
const textOf = (tokens: readonly number[] = []): string => String.fromCharCode(...tokens);
const tokensOf = (request: ChatRequest): readonly number[] => {
  const rendered = template.render(request);
  return rendered.is === 'prompt' ? rendered.tokens : [];
};

const says = (role: 'user' | 'assistant', text: string) =>
  ({ role, content: [{ type: 'text', text }] }) as const;
const asked: ChatRequest = {
  ...{ model: 'm', system: [{ type: 'text', text: 'You help.' }], tools: [], stream: false },
  messages: [says('user', 'When is the meeting?')],
};
const BLOCK = '## Active Skills\n\nBe short.';
const CORRECTION = "No, that's wrong. Always write dates as 2026-04-03.";

/** A turn that the user corrected, and one of another session that a person praised. */
async function record({
  block,
  prompt,
}: {
  readonly block?: string;
  readonly prompt?: readonly number[];
} = {}) {
  const store = createMemoryStore();
  const records = toRecords(store, () => 0);
  const answer = [{ type: 'text', text: 'On 3/4.' }] as const;
  const next = {
    ...asked,
    messages: [...asked.messages, says('assistant', 'On 3/4.'), says('user', CORRECTION)],
  };
  const requests = new Map<string, ChatRequest>([
    ['t1', asked],
    ['t2', next],
    ['other', asked],
  ]);
  const recorded = prompt ?? tokensOf(block === undefined ? asked : withHint(asked, block));
  const sampled = (turn: string, session: string): Fact => ({
    type: 'turn-sampled',
    turn,
    session,
    version: 0,
    generation: 1,
    temperature: 1,
    tokens: `k-${turn}`,
  });
  const text = JSON.stringify({ prompt: recorded, tokens: [7], logprobs: [-1] });
  const recalled: Fact = {
    type: 'lessons-recalled',
    session: 's',
    turn: 't1',
    thread: 'm',
    generation: 1,
    why: 'new',
    lessons: [],
    heldOut: [],
    domain: { name: 'general', reason: 'default' },
    considered: [],
    engine: 'e',
    ...(block === undefined ? {} : { block: 'b' }),
  };
  const given = { type: 'reward-given', source: 'person' } as const;
  const appraisals = { generation: 1, source: 'person' } as const;
  const facts = [
    ...[start('t1', 's'), end('t1'), sampled('t1', 's'), recalled, start('t2', 's'), end('t2')],
    ...[start('other', 'o'), end('other'), sampled('other', 'o')],
    ...[{ ...given, turn: 't1', score: -1 } as const, { ...given, turn: 'other', score: 1 } as const],
    failure('t1', { session: 's', reward: 0, ...appraisals }),
    success('other', { session: 'o', reward: 1, ...appraisals }),
  ];
  await records.append(
    facts.map((fact) => ({ at: 1, fact })),
    [
      { hash: 'k-t1', text, session: 's' },
      { hash: 'k-other', text, session: 'o' },
      ...(block === undefined ? [] : [{ hash: 'b', text: block, session: 's' }]),
    ],
  );
  const outcome = { generation: 1, source: 'person' } as const;
  const read = (live: Parameters<typeof liveEstimators>[0]) =>
    createLiveReader({
      estimators: liveEstimators(live),
      records,
      appraised: () => [
        { turn: 'other', session: 'o', reward: 1, ...outcome },
        { turn: 't1', session: 's', reward: 0, ...outcome },
      ],
      decodeTurn: async (view) => {
        const request = requests.get(view.id);
        return request && { view, request, reply: answer, stop: 'end' };
      },
      template: async () => template,
    })(liveQueryOf({ generation: 1, versions: [0], trained: new Set(), most: 8 }));
  return { read, records };
}

describe('train.live', () => {
  it('learns from rewards alone, from corrections alone, from both or from neither', async () => {
    const { read } = await record();
    const kinds = async (live: Parameters<typeof liveEstimators>[0]) =>
      (await read(live)).map(({ rollout, advantage, hinted }) => [
        rollout.id,
        advantage,
        hinted !== undefined,
      ]);
    expect(await kinds({ evaluative: true, directive: true })).toEqual([
      ['live/other', 1, false],
      ['live/t1', -1, true],
    ]);
    expect(await kinds({ evaluative: false, directive: true })).toEqual([['live/t1', undefined, true]]);
    const rewarded = [
      ['live/other', 1, false],
      ['live/t1', -1, false],
    ];
    expect(await kinds({ evaluative: true, directive: false })).toEqual(rewarded);
    expect(await kinds(true)).toEqual(rewarded);
    expect(await kinds(false)).toEqual([]);
  });
});

describe('the hint of a corrected turn', () => {
  const hintedOf = async (given: Parameters<typeof record>[0]): Promise<string> => {
    const { read } = await record(given);
    const [turn] = await read({ evaluative: false, directive: true });
    return textOf(turn?.hinted?.[0]);
  };

  it("quotes the user's own words in the prompt, which is the same otherwise", async () => {
    const hint = hintOf(['Always write dates as 2026-04-03.']) ?? '';
    expect(await hintedOf({})).toContain('Always write dates as 2026-04-03.');
    expect((await hintedOf({})).startsWith('You help.\n\n## Notes')).toBe(true);
    expect(hint).toContain('\n- Always');
  });

  it('stands before the block that the turn was shown', async () => {
    const text = await hintedOf({ block: BLOCK });
    expect(text.indexOf('2026-04-03')).toBeGreaterThan(0);
    expect(text.indexOf('2026-04-03')).toBeLessThan(text.indexOf(BLOCK));
  });

  it('is none when the recorded request does not give the recorded prompt, as after a redaction', async () => {
    expect(await hintedOf({ prompt: [1, 2, 3] })).toBe('');
  });

  it('is gone with its session', async () => {
    const { read, records } = await record();
    await records.erase('s', 'asked for');
    expect(await read({ evaluative: true, directive: true })).not.toContainEqual(
      expect.objectContaining({ rollout: expect.objectContaining({ id: 'live/t1' }) }),
    );
  });

  it('has no line twice and none that is as long as a task', () => {
    expect(
      hintOf(['a  b', 'a b', 'x'.repeat(700)])
        ?.split('\n')
        .slice(2),
    ).toEqual(['- a b']);
    expect(hintOf([' '])).toBeUndefined();
  });
});
