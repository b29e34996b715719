import { expect, vi } from 'vitest';
import { asArray, asObject } from '../../../src/core/json.ts';
import { type InstarHere, replyWith, type Stage } from './instar-here.ts';
import { once, type SettingProofs } from './setting-proof.ts';

/** Generous: each wait ends as soon as the condition holds. */
const SOON = { timeout: 100_000, interval: 20 };
const TASK = 'Sort the rows of the invoices spreadsheet by booking day';
const LESSONS = ['sort-by-day', 'sort-by-row', 'sort-by-invoice'].map((name, at) => ({
  name,
  description: `When you sort the rows of an invoices spreadsheet by booking day, part ${at}.`,
  content:
    [
      'Write the booking day first and keep the header row where it is.',
      'Put the total of each invoice into the last column.',
      'Compare the sum of the rows before and after, and name the difference.',
    ][at] ?? '',
}));
/** What the evolver is answered. */
const WRITTEN = {
  name: 'report-dates',
  description: 'When you write a report for a month.',
  content:
    '# Dates of a report\n\n1. Write the month with its year.\n2. Read the report again before you end.',
  category: 'general',
  quotes: [],
};
const DOMAINS = [
  { domain: 'by-agent', agent: 'billing*' },
  { domain: 'by-project', project: 'shop' },
  { domain: 'by-run', runKind: 'cron' },
  { domain: 'by-words', keywords: ['parsnip', 'turnip soup'] },
  { domain: 'by-both', agent: 'cook', keywords: ['leek'] },
];

export function createLibraryProofs(stage: Stage): SettingProofs {
  /** Three lessons that all fit the task. */
  const teach = async (here: InstarHere): Promise<InstarHere> => {
    if (!taught.has(here)) for (const lesson of LESSONS) await here.addLesson(lesson);
    taught.add(here);
    return here;
  };
  const taught = new Set<InstarHere>();
  let sessions = 0;
  const shown = async (here: InstarHere, task = TASK): Promise<number> => {
    const { headers } = await here.chat(task, { session: `shown-${++sessions}` });
    return String(headers['x-instar-lessons'] ?? '')
      .split(',')
      .filter(Boolean).length;
  };
  const usual = async () => teach(await stage.open('library-usual', { library: { domains: DOMAINS } }));
  /** The domain of a turn, with its reason. */
  const domain = async (text: string, headers: Readonly<Record<string, string>> = {}): Promise<unknown> => {
    const here = await usual();
    const answer = await here.chat(text, { session: `domain-${++sessions}`, headers });
    // A turn is in the record a moment after its reply.
    return vi.waitFor(async () => {
      const why = await here.owner('GET', `/api/turns/${String(answer.headers['x-instar-turn'])}/why`);
      const choice = asArray(why.choices)[0];
      expect(choice).toBeDefined();
      return asObject(asObject(choice).domain).name;
    }, SOON);
  };
  /** Three daemons for the values of `autonomy`, each with another of the other settings changed. */
  const OTHERS = {
    manual: { topK: 1, place: 'message' },
    guarded: {},
    autonomous: { tokenBudget: 80, place: 'message' },
  } as const;
  const changed = async (autonomy: keyof typeof OTHERS): Promise<InstarHere> => {
    const provider = await stage.provider('library', ({ body }, response) =>
      replyWith(response, body.includes('<<<') ? JSON.stringify([WRITTEN]) : 'The report is done.'),
    );
    return stage.open(
      `library-${autonomy}`,
      {
        providers: { p: { wire: 'openai-chat', baseUrl: `${provider.url}/v1`, keyEnv: 'P_KEY' } },
        models: { evolver: 'p/m', judge: 'off' },
        library: { autonomy, ...OTHERS[autonomy] },
        learn: { failures: 1 },
      },
      { env: { P_KEY: 'k-000000000000' } },
    );
  };
  /** The state of the lesson that a model writes where nobody said anything: words would be their own approval. */
  const stateUnder = async (autonomy: keyof typeof OTHERS): Promise<string> => {
    const here = await changed(autonomy);
    const answer = await here.chat('Write the report for October', { session: 'one' });
    const turn = String(answer.headers['x-instar-turn']);
    await here.owner('POST', '/v1/feedback', { turn, score: -1 });
    await here.daemon.settle();
    const learned = asArray(await here.owner('GET', '/api/lessons'))
      .map(asObject)
      .filter(({ id }) => !String(id).startsWith('lesson-'));
    expect(learned.length).toBeGreaterThan(0);
    return String(learned[0]?.state);
  };
  const autonomy = once(async () => {
    const states = [];
    for (const value of ['manual', 'guarded', 'autonomous'] as const) states.push(await stateUnder(value));
    expect(states).toEqual(['proposed', 'trial', 'live']);
  });

  /** Where the provider finds a lesson: with the system text, or with the user's. */
  const places = once(async () => {
    const found = [];
    for (const place of ['system', 'message'] as const) {
      let seen: readonly unknown[] = [];
      const provider = await stage.provider(`place-${place}`, ({ body }, response) => {
        seen = asArray(asObject(JSON.parse(body.toString())).messages);
        replyWith(response, 'It is sorted.');
      });
      const here = await stage.open(
        `place-${place}`,
        {
          providers: { p: { wire: 'openai-chat', baseUrl: `${provider.url}/v1`, keyEnv: 'P_KEY' } },
          library: { place },
        },
        { env: { P_KEY: 'k-000000000000' } },
      );
      await teach(here);
      await shown(here);
      const roles = seen.map(asObject).filter(({ content }) => String(content).includes('booking day first'));
      found.push(...roles.map(({ role }) => role));
    }
    expect(found).toEqual(['system', 'user']);
  });

  /** Whether what one agent was told is shown to another. */
  const sharing = once(async () => {
    const found = [];
    for (const shareAgents of [true, false]) {
      const here = await stage.open(`share-${shareAgents}`, { library: { shareAgents } });
      const [lesson] = LESSONS;
      if (lesson === undefined) throw new Error('no lesson');
      const evidence = { turns: [], quotes: [], learner: 'distiller' };
      await here.addLesson({ ...lesson, scope: { agent: 'clerk' }, evidence, note: { source: 'told' } });
      for (const agent of ['clerk', 'writer']) {
        const headers = { 'x-instar-agent': agent };
        const answer = await here.chat(TASK, { session: `share-${agent}`, headers });
        found.push(answer.headers['x-instar-lessons'] !== undefined);
      }
    }
    expect(found).toEqual([true, true, true, false]);
  });

  return {
    'library.shareAgents=true': { acts: sharing },
    'library.shareAgents=false': { acts: sharing },
    'library.topK': {
      acts: async () =>
        expect([await shown(await usual()), await shown(await teach(await changed('manual')))]).toEqual([
          3, 1,
        ]),
    },
    'library.tokenBudget': {
      acts: async () => expect(await shown(await teach(await changed('autonomous')))).toBeLessThan(3),
    },
    'library.place=system': { acts: places },
    'library.place=message': { acts: places },
    'library.place=auto': { acts: places },
    'library.autonomy=manual': { acts: autonomy },
    'library.autonomy=guarded': { acts: autonomy },
    'library.autonomy=autonomous': { acts: autonomy },
    'library.domains[].domain': {
      acts: async () => expect(await domain(TASK, { 'x-instar-domain': 'named' })).toBe('named'),
    },
    'library.domains[].agent': {
      acts: async () =>
        expect([
          await domain(TASK, { 'x-instar-agent': 'billing-bot' }),
          await domain(TASK, { 'x-instar-agent': 'other' }),
        ]).toEqual(['by-agent', 'general']),
    },
    'library.domains[].project': {
      acts: async () =>
        expect([
          await domain(TASK, { 'x-instar-project': 'shop' }),
          await domain(TASK, { 'x-instar-project': 'blog' }),
        ]).toEqual(['by-project', 'general']),
    },
    'library.domains[].runKind': {
      acts: async () =>
        expect([
          await domain(TASK, { 'x-instar-run-kind': 'cron' }),
          await domain(TASK, { 'x-instar-run-kind': 'chat' }),
        ]).toEqual(['by-run', 'general']),
    },
    'library.domains[].keywords[]': {
      acts: async () =>
        expect([
          await domain('Cook a parsnip for the guests'),
          await domain('Make a turnip soup for the guests'),
          await domain('Cook a leek for the guests', { 'x-instar-agent': 'cook' }),
          await domain('Cook a leek for the guests'),
        ]).toEqual(['by-words', 'by-words', 'by-both', 'general']),
    },
  };
}
