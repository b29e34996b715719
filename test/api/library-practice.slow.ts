import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type ChatModel,
  type Instar,
  open,
  type PracticeOptions,
  type PracticePolicy,
} from '../../src/index.ts';
import { lockHome } from '../../src/record/home-lock.ts';
import { startProvider } from '../support/provider.ts';

const SLOW = 120_000;
let dir: string;
let instar: Instar;
const configure = (config: object): void =>
  writeFileSync(path.join(dir, 'config.json'), JSON.stringify(config), { mode: 0o600 });
beforeEach(async () => {
  dir = mkdtempSync(path.join(tmpdir(), 'instar-practice-'));
  instar = await open({ home: dir, env: { PATH: process.env.PATH } });
});
afterEach(async () => {
  await instar.close();
  rmSync(dir, { recursive: true, force: true });
});

const reply = (text: string) =>
  [
    { type: 'reply-start', id: 'r', model: 'm' },
    { type: 'text-delta', text },
    { type: 'reply-end', stop: 'end', usage: { inputTokens: 100, outputTokens: 50 } },
  ] as const;

/** Finds what set the answers with a unit apart. */
const learner: ChatModel = async function* () {
  yield* reply(
    JSON.stringify({
      situation: 'a quantity is asked for',
      insight: 'Write the unit behind every quantity, because a bare number is no answer.',
      quotes: ['the length in metres', 'only a number'],
    }),
  );
};

/** Right in some attempts, by its seed. */
const policy: PracticePolicy = async ({ seed, system }) =>
  system.includes('Write the unit') || seed.endsWith('0/0')
    ? 'It is the length in metres.'
    : 'It is only a number.';
const verify = async (output: string): Promise<boolean> => output.includes('metres');
const TASKS = ['How long is the bridge?', 'How long is the tunnel?'];

describe('practice in a program', () => {
  it(
    'puts what the better answers have in common on trial, and recall shows it afterwards',
    async () => {
      const asked: PracticeOptions = {
        tasks: TASKS,
        policy,
        verify,
        learner,
        domain: 'lengths',
        budget: { calls: 50 },
      };
      const result = await instar.practice(asked);
      expect(result).toMatchObject({
        end: 'done',
        isSelfEvaluated: false,
        counts: { graded: 6, groups: 2, kept: 2, published: 1 },
      });
      expect(await instar.lessons()).toMatchObject([{ state: 'trial', kind: 'experience' }]);
      const { text } = await instar.context('How long is the road?', { domain: 'lengths' });
      expect(text).toContain('Write the unit behind every quantity');
      // The lesson is shown in the next run, and every answer is right: nothing is left to learn.
      const again = await instar.practice(asked);
      expect(again).toMatchObject({ counts: { graded: 6, kept: 0, published: 0 }, rewards: { verifier: 1 } });
    },
    SLOW,
  );

  it(
    'takes groupSize and temperature from the config',
    async () => {
      configure({ practice: { groupSize: 4, temperature: 0.9 } });
      const temperatures: number[] = [];
      await instar.practice({
        tasks: ['How long is the bridge?'],
        policy: async ({ temperature }) => {
          temperatures.push(temperature);
          return 'It is only a number.';
        },
        verify,
      });
      expect(temperatures).toEqual([0.9, 0.9, 0.9, 0.9]);
    },
    SLOW,
  );

  it.each([
    ['tokens', { tokens: 250 }, { tokens: 100 }],
    ['usd', { usd: 0.02 }, { usd: 0.01 }],
  ])(
    'stops at practice.budget.%s of the config',
    async (name, budget, cost) => {
      configure({ practice: { budget } });
      let made = 0;
      const result = await instar.practice({
        tasks: TASKS,
        policy: async () => {
          made++;
          return { output: 'It is only a number.', ...cost };
        },
        verify,
      });
      expect(result).toMatchObject({
        end: 'budget',
        note: expect.stringContaining(`practice.budget.${name}`),
      });
      expect(made).toBeLessThan(6);
    },
    SLOW,
  );

  it(
    'grades by a verifier row against the answer, which no prompt contains',
    async () => {
      const prompts: string[] = [];
      const result = await instar.practice({
        tasks: [{ prompt: 'How many planks are there?', answer: '1729' }],
        policy: async ({ prompt, system }) => {
          prompts.push(prompt, system);
          return 'The answer: 1729';
        },
        verify: { kind: 'exact' },
      });
      expect(result).toMatchObject({ counts: { graded: 3, kept: 0 }, rewards: { verifier: 1 } });
      expect(prompts.join('\n')).not.toContain('1729');
    },
    SLOW,
  );

  it(
    'asks a configured model by its name, and counts what it costs',
    async () => {
      const provider = await startProvider((_, response) => {
        const chunk = (delta: object, more: object = {}) =>
          `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model: 'm', choices: [{ index: 0, delta, ...more }] })}\n\n`;
        const usage = `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model: 'm', choices: [], usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } })}\n\n`;
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(
          `${chunk({ role: 'assistant', content: 'It is the length in metres.' })}${chunk({}, { finish_reason: 'stop' })}${usage}data: [DONE]\n\n`,
        );
      });
      try {
        configure({
          providers: {
            here: {
              baseUrl: `http://127.0.0.1:${provider.port}/v1`,
              wire: 'openai-chat',
              price: { input: 1000, output: 1000 },
            },
          },
        });
        const result = await instar.practice({ tasks: TASKS, policy: 'here/m', verify });
        expect(result).toMatchObject({ counts: { graded: 6 }, spent: { calls: 6, tokens: 90 } });
        expect(result.spent.usd).toBeCloseTo(0.09);
      } finally {
        await provider.close();
      }
    },
    SLOW,
  );

  it(
    'does not count an answer whose verifier throws as a failure',
    async () => {
      const result = await instar.practice({
        tasks: TASKS,
        policy,
        verify: () => {
          throw new Error('no ruler');
        },
      });
      expect(result.counts).toMatchObject({ infrastructure: 6, graded: 0 });
    },
    SLOW,
  );

  it('rejects while another process has the home (it does not wait for the night)', async () => {
    const lock = lockHome(path.join(dir, 'lock.sqlite'));
    try {
      await expect(instar.practice({ tasks: TASKS, policy, verify })).rejects.toMatchObject({
        code: 'home-in-use',
      });
    } finally {
      lock?.release();
    }
  });

  it.each([[[]], [['']], [[{ prompt: 7 }]]])('rejects tasks that are none: %j', async (tasks) => {
    await expect(instar.practice({ tasks: tasks as never, policy, verify })).rejects.toMatchObject({
      code: 'invalid',
    });
  });
});
