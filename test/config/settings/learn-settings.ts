import { expect, vi } from 'vitest';
import { asArray, asObject } from '../../../src/core/json.ts';
import { chatBody, type InstarHere, replyWith, type Stage } from './instar-here.ts';
import { once, type SettingProofs } from './setting-proof.ts';

/** Generous: each wait ends as soon as the condition holds. */
const SOON = { timeout: 100_000, interval: 20 };

const skill = (name: string, what: string) => ({
  name,
  description: `When you write ${what} into a report.`,
  content: [
    `1. Find every one of the ${what} in what you write.`,
    `2. Put ${what} into the last column of the table.`,
    '3. Read the file once more before you say that you are done.',
    `Example: a table whose last column has ${what}`,
    `Anti-pattern: ${what} in the middle of a sentence.`,
  ].join('\n'),
  category: 'productivity',
});
const SKILLS = [skill('put-amounts-last', 'amounts of money'), skill('put-names-last', 'names of customers')];
const NOTE = 'Put amounts of money and names of customers into the last column of the report.';

/** A system prompt of about 8,000 tokens, and what the model makes of it. */
const LONG = [
  "You are the house's clerk.",
  ...Array.from(
    { length: 400 },
    (_, nth) => `It is good to know that part ${nth} of the building has windows, doors and rooms.`,
  ),
  'Never delete a file.',
].join('\n');
const SHORT = "You are the house's clerk. Never delete a file.";

export function createLearnProofs(stage: Stage): SettingProofs {
  const asked = new Map<string, number>();
  const provider = () =>
    stage.provider('learn', (request, response) => {
      const { model, stream } = chatBody(request);
      const [role, daemon = ''] = model.split('--');
      if (role !== 'm') asked.set(daemon, (asked.get(daemon) ?? 0) + 1);
      const isPrompt = request.body.includes('part 399 of the building');
      // Told that it wrote too many, it writes one.
      const skills = request.body.includes('write at most 1') ? SKILLS.slice(0, 1) : SKILLS;
      const written = JSON.stringify(isPrompt ? { prompt: SHORT } : skills);
      replyWith(response, role === 'teacher' ? written : 'The report is done.', stream === true);
    });
  const open = async (name: string, learn: object): Promise<InstarHere> => {
    const entry = { wire: 'openai-chat', baseUrl: `${(await provider()).url}/v1`, keyEnv: 'P_KEY' };
    // A model on this machine costs nothing unless its entry says what it costs.
    const priced = { ...entry, price: { input: 10, output: 10 } };
    return stage.open(
      name,
      {
        providers: { p: priced },
        models: { evolver: `p/teacher--${name}` },
        learn: { budget: { usdPerDay: 1000 }, ...learn },
      },
      { env: { P_KEY: 'k-000000000000' } },
    );
  };
  let sessions = 0;
  const complain = async (here: InstarHere): Promise<void> => {
    const answer = await here.chat(`Write report number ${++sessions}`, {
      model: 'p/m',
      session: `complaint-${sessions}`,
      headers: { 'x-instar-agent': 'clerk' },
    });
    const turn = String(answer.headers['x-instar-turn']);
    await here.owner('POST', '/v1/feedback', { turn, score: -1, note: NOTE });
    await here.daemon.settle();
  };
  const lessons = async (here: InstarHere): Promise<number> =>
    asArray(await here.owner('GET', '/api/lessons')).length;
  const buffer = async (here: InstarHere): Promise<unknown> =>
    asObject(asObject(asObject(await here.owner('GET', '/api/status')).learning).buffer).query;
  const prompt = async (here: InstarHere, session: string): Promise<string> => {
    const messages = [
      { role: 'system', content: LONG },
      { role: 'user', content: 'Who lives here?' },
    ];
    const { headers } = await here.chat('', { model: 'p/m', session, messages });
    return String(headers['x-instar-prompt'] ?? 'whole');
  };
  const eager = () => open('eager', { failures: 1, maxNewSkills: 1, compress: true });
  const slow = () => open('slow', { failures: 3 });

  const compress = once(async () => {
    for (const here of [await eager(), await slow()]) await prompt(here, 'first');
    await vi.waitFor(
      async () => expect(await prompt(await eager(), `later-${++sessions}`)).toMatch(/^shortened/),
      SOON,
    );
    expect(await prompt(await slow(), 'later')).toBe('whole');
  });

  return {
    'learn.failures': {
      acts: async () => {
        await complain(await eager());
        await complain(await slow());
        expect([asked.has('eager'), asked.has('slow')]).toEqual([true, false]);
        for (const _ of [2, 3]) await complain(await slow());
        expect(asked.get('slow')).toBe(1);
      },
    },
    'learn.maxNewSkills': {
      acts: async () => expect([await lessons(await eager()), await lessons(await slow())]).toEqual([1, 2]),
    },
    'learn.flush=strict': {
      acts: async () => {
        const here = await slow();
        const { headers } = await here.chat('Bake a chocolate cake with cherries', { session: 'cake' });
        await here.owner('POST', '/v1/feedback', { turn: String(headers['x-instar-turn']), score: 1 });
        await vi.waitFor(async () => expect(await buffer(here)).toBe(1), SOON);
        await here.addLesson({
          name: 'sort-invoices',
          description: 'When you sort the rows of a spreadsheet of invoices.',
          content: 'Sort by booking day.',
        });
        // Also a sample that has nothing to do with the lesson; with `scoped` that one would stay.
        await vi.waitFor(async () => expect(await buffer(here)).toBe(0), SOON);
      },
    },
    'learn.flush=scoped': {
      shownIn: 'test/served/served-scoped.slow.ts',
      title:
        'with learn.flush scoped, a new lesson keeps the samples that it does not affect, certified for the new generation',
    },
    ...Object.fromEntries(
      ['learn.compress=true', 'learn.compress=false'].map((one) => [one, { acts: compress }]),
    ),
    ...Object.fromEntries(
      (['identity', 'efficiency'] as const).map((part) => [
        `learn.identity.reward.${part}`,
        {
          shownIn: 'test/served/served-identity-reward.slow.ts',
          title: 'are made of the parts that the owner weighs, and say of each attempt what they are made of',
        },
      ]),
    ),
    'learn.budget.tokensPerDay': {
      acts: async () => {
        const silent = await open('silent', { failures: 1, budget: { usdPerDay: 1000, tokensPerDay: 0 } });
        await complain(silent);
        expect(asked.get('eager'), 'with tokens').toBeGreaterThan(0);
        expect(asked.get('silent'), 'without').toBeUndefined();
      },
    },
    'learn.budget.usdPerDay': {
      acts: async () => {
        const poor = await open('poor', { failures: 1, budget: { usdPerDay: 0 } });
        await complain(poor);
        expect(asked.get('eager'), 'with money').toBeGreaterThan(0);
        expect(asked.get('poor'), 'without').toBeUndefined();
      },
    },
  };
}
