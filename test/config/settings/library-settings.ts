import { expect, vi } from 'vitest';
import { asArray, asObject } from '../../../src/core/json.ts';
import { type InstarHere, replyWith, type Stage } from './instar-here.ts';
import { once, type SettingProofs } from './setting-proof.ts';

/** Generous: each wait ends as soon as the condition holds. */
const SOON = { timeout: 25_000, interval: 20 };
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
const DOMAINS = [
  { domain: 'by-agent', agent: 'billing*' },
  { domain: 'by-project', project: 'shop' },
  { domain: 'by-run', runKind: 'cron' },
  { domain: 'by-words', keywords: ['parsnip', 'turnip soup'] },
  { domain: 'by-both', agent: 'cook', keywords: ['leek'] },
];

export function createLibraryProofs(stage: Stage): SettingProofs {
  const open = (name: string, library: object, learn: object = {}): Promise<InstarHere> =>
    stage.open(name, { library: { holdout: 0, ...library }, learn });
  /** A daemon with three lessons that all fit the task. */
  const taught = async (name: string, library: object): Promise<InstarHere> => {
    const here = await open(name, library);
    if (asArray(await here.owner('GET', '/api/lessons')).length === 0)
      for (const lesson of LESSONS) await here.addLesson(lesson);
    return here;
  };
  let sessions = 0;
  const shown = async (here: InstarHere, task = TASK): Promise<number> => {
    const { headers } = await here.chat(task, { session: `shown-${++sessions}` });
    return String(headers['x-instar-lessons'] ?? '')
      .split(',')
      .filter(Boolean).length;
  };
  const usual = () => taught('library-usual', { domains: DOMAINS });
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
  /** The state of the lesson that a person's complaint becomes. */
  const stateUnder = (autonomy: string) => async (): Promise<string> => {
    const provider = await stage.provider('library', (_request, response) =>
      replyWith(response, 'The report is done.'),
    );
    const here = await stage.open(
      `autonomy-${autonomy}`,
      {
        providers: { p: { wire: 'openai-chat', baseUrl: `${provider.url}/v1`, keyEnv: 'P_KEY' } },
        models: { evolver: 'off' },
        library: { autonomy, holdout: 0 },
        learn: { failures: 1 },
      },
      { env: { P_KEY: 'k-000000000000' } },
    );
    const answer = await here.chat('Write the report for October', { session: 'one' });
    const note = 'Always write dates as YYYY-MM-DD in reports.';
    await here.owner('POST', '/v1/feedback', {
      turn: String(answer.headers['x-instar-turn']),
      score: -1,
      note,
    });
    await here.daemon.settle();
    const lessons = asArray(await here.owner('GET', '/api/lessons')).map(asObject);
    expect(lessons.length).toBeGreaterThan(0);
    return String(lessons[0]?.state);
  };
  const autonomy = once(async () => {
    const states = [];
    for (const value of ['manual', 'guarded', 'autonomous']) states.push(await stateUnder(value)());
    expect(states).toEqual(['proposed', 'trial', 'live']);
  });

  return {
    'library.topK': {
      acts: async () =>
        expect([
          await shown(await usual()),
          await shown(await taught('library-one', { topK: 1, tokenBudget: 1500 })),
        ]).toEqual([3, 1]),
    },
    'library.tokenBudget': {
      acts: async () =>
        expect(await shown(await taught('library-short', { tokenBudget: 80, holdout: 0.5 }))).toBeLessThan(3),
    },
    'library.holdout': {
      acts: async () => {
        const counts = async (here: InstarHere) => {
          const all = [];
          for (let nth = 0; nth < 24; nth++) all.push(await shown(here));
          return all;
        };
        expect(new Set(await counts(await usual()))).toEqual(new Set([3]));
        const held = await taught('library-held', { holdout: 0.5 });
        expect(new Set(await counts(held)).size).toBeGreaterThan(1);
      },
    },
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
