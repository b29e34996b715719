import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Lesson } from '../../../src/core/lesson.ts';
import type { EmbeddingModel, RecallResult } from '../../../src/core/recall.ts';
import { createMiniLmEmbed } from '../../../src/embed/minilm-embed.ts';
import { createNgramEmbed } from '../../../src/embed/ngram-embed.ts';
import { createStaticEmbed, STATIC } from '../../../src/embed/static-embed.ts';
import { createRecall, type LessonRecall, type RecallSettings } from '../../../src/lessons/recall/recall.ts';
import type { VectorCache } from '../../../src/lessons/recall/vector-cache.ts';
import { LESSONS, lesson, query } from './sample-lessons.ts';

const DAY = 86_400_000;
const shown = ({ lessons }: RecallResult): readonly string[] => lessons.map(({ id }) => id);
const verdictOf = ({ considered }: RecallResult, id: string): string | undefined =>
  considered.find((one) => one.id === id)?.verdict;

async function open(lessons: readonly Lesson[], more: Partial<RecallSettings> = {}): Promise<LessonRecall> {
  const { embed = createNgramEmbed() } = more;
  const index = createRecall({ embed, first: embed, limits: { topK: 5, tokenBudget: 2000 }, ...more });
  await index.update(lessons);
  await index.settled();
  return index;
}

/** A model that never answers, like one that is still loading. */
const silent: EmbeddingModel = {
  id: 'silent',
  dimensions: 384,
  embed: () => new Promise(() => undefined),
  close: async () => undefined,
};

const BRIEF = { first: createStaticEmbed(), limits: { topK: 5, tokenBudget: 2000 } };

const FIRST_LOOKS = [
  ['our container restarts over and over in the cluster', 'crashloop-read-previous-logs'],
  ['kubernetes pod CrashLoopBackOff', 'crashloop-read-previous-logs'],
] as const;

/** The vectors of an earlier start. */
const everyVector = ({ dimensions }: EmbeddingModel): VectorCache => ({
  get: async () => Float32Array.from({ length: dimensions }, () => dimensions ** -0.5),
  put: () => undefined,
  keepOnly: async () => undefined,
  readEach: async () => undefined,
  close: async () => undefined,
});

describe('recall with MiniLM', () => {
  const embed = createMiniLmEmbed();
  let index: LessonRecall;
  beforeAll(async () => {
    index = await open(LESSONS, { embed });
  });
  afterAll(() => embed.close());

  it.each([
    ['our container restarts over and over in the cluster', 'crashloop-read-previous-logs'],
    ['find a slot for a call with colleagues in Tokyo and Berlin', 'meeting-time-with-timezones'],
    ['add an index on orders.created_at, postgres, 90 million rows', 'create-index-concurrently'],
    ['bill the customer for October', 'invoice-numbers'],
  ])('shows the expected lesson for "%s"', async (text, id) => {
    const found = await index.recall(query(text), 0);
    expect(shown(found)).toContain(id);
    expect(found.engine).toBe(embed.id);
  });

  it.each([
    'hello',
    'thanks!',
    'ok go on',
    'what is the capital of Mongolia?',
    'tell me a joke about cats',
    '',
  ])('shows nothing for "%s"', async (text) => {
    expect(shown(await index.recall(query(text), 0))).toEqual([]);
  });

  it('rates a lesson lower for a question about its topic than for the work it is about', async () => {
    const relevance = async (text: string): Promise<number> =>
      (await index.recall(query(text), 0)).considered[0]?.relevance ?? 0;
    const work = await relevance('the kubernetes pod keeps restarting');
    expect(await relevance('how do i list kubernetes pods')).toBeLessThan(work);
    expect(await relevance('explain kubernetes pods in simple words')).toBeLessThan(work);
  });

  it('finds a relevant lesson after a year', async () => {
    const found = await index.recall(query('the pod is in CrashLoopBackOff'), 365 * DAY);
    expect(shown(found)).toEqual(['crashloop-read-previous-logs']);
    expect(found.considered[0]?.activation).toBeLessThan(0.5);
  });
});

describe('recall', () => {
  it('finds a lesson by a name that the task uses, without a model', async () => {
    const index = await open(LESSONS);
    for (const text of ['payments-7d9f8 0/1 CrashLoopBackOff 14', 'git push --force-with-lease was rejected'])
      expect(shown(await index.recall(query(text), 0)), text).toHaveLength(1);
    for (const text of ['hello', 'thanks', 'ok go on', 'yes please'])
      expect(shown(await index.recall(query(text), 0)), text).toEqual([]);
  });

  it('ignores the text that a channel added to the task', async () => {
    const index = await open(LESSONS);
    const text = '[Telegram Alice id:123 2026-11-15 10:00] the pod is in CrashLoopBackOff';
    expect(shown(await index.recall(query(text), 0))).toEqual(['crashloop-read-previous-logs']);
  });

  it('does not wait for the model: a first look finds what shares no word, also of a lesson that was published just now', async () => {
    const index = createRecall({ ...BRIEF, embed: silent });
    await index.update(LESSONS);
    for (const [text, id] of FIRST_LOOKS) {
      const found = await index.recall(query(text), 0);
      expect(shown(found), text).toContain(id);
      expect(found.engine).toBe(STATIC);
    }
    expect(index.stats()).toMatchObject({ lessons: LESSONS.length, known: 0 });
    const greeting = await index.recall(query('thanks'), 0);
    expect(shown(greeting)).toEqual([]);
    expect(greeting.isLate).toBeUndefined();
    expect(index.stats().recalls).toEqual({ bySentences: 0, firstLooks: FIRST_LOOKS.length });
  });

  it('that may wait finds the first lesson of all while it is still on its way into the index', async () => {
    const embed = createNgramEmbed();
    const index = createRecall({ embed, first: embed, limits: { topK: 5, tokenBudget: 2000 } });
    const written = index.update(LESSONS);
    const asked = { ...query('the pod is in CrashLoopBackOff'), isUnhurried: true };
    expect(shown(await index.recall(asked, 0))).toEqual(['crashloop-read-previous-logs']);
    await written;
  });

  it('has the model look again where the first look is in doubt, and not where it is sure or nothing is near', async () => {
    const embed = createMiniLmEmbed();
    const index = createRecall({ ...BRIEF, embed });
    await index.update(LESSONS);
    for (const text of ['kubernetes pod CrashLoopBackOff', 'what is the weather in Rome'])
      expect(await index.recall(query(text), 0)).not.toHaveProperty('isLate');
    const task = query('set up a call with people in Japan and Germany');
    const first = await index.recall(task, 0);
    expect(first).toMatchObject({ engine: STATIC, isLate: true });
    expect(shown(first)).not.toContain('meeting-time-with-timezones');
    await vi.waitFor(async () => expect((await index.recall(task, 0)).engine).toBe(embed.id), {
      timeout: 60_000,
      interval: 200,
    });
    const again = await index.recall(task, 0);
    expect(again.isLate).toBeUndefined();
    expect(shown(again)).toContain('meeting-time-with-timezones');
    await embed.close();
  });

  it('counts the tasks that the sentence model answered, and greetings for neither', async () => {
    const index = await open(LESSONS);
    await index.recall(query('kubernetes pod CrashLoopBackOff'), 0);
    await index.recall(query('thanks'), 0);
    expect(index.stats().recalls).toEqual({ bySentences: 1, firstLooks: 0 });
  });

  it('says why the model could not be loaded, also when all vectors are known from an earlier start', async () => {
    const broken = createMiniLmEmbed(new URL('data:text/javascript,throw new Error("no weights")'));
    const index = createRecall({ ...BRIEF, embed: broken, vectorCache: everyVector(broken) });
    await index.update(LESSONS);
    const task = query('bill the customer for October');
    await index.recall(task, 0);
    await vi.waitFor(() => expect(index.stats().failure).toContain('no weights'), { timeout: 30_000 });
    const found = await index.recall(task, 0);
    expect(found.engine).toBe(STATIC);
    // Nothing is owed: the next turn would find no more.
    expect(found.isLate).toBeUndefined();
    expect(index.stats()).toMatchObject({ isModelReady: false, recalls: { bySentences: 0, firstLooks: 2 } });
    await broken.close();
  });

  it('does not load the model for lessons whose vectors are known from an earlier start, before there is a task', async () => {
    const asked: string[] = [];
    const embed: EmbeddingModel = {
      ...createNgramEmbed(),
      embed: async (texts) => {
        asked.push(...texts);
        return createNgramEmbed().embed(texts);
      },
    };
    const index = createRecall({ ...BRIEF, first: embed, embed, vectorCache: everyVector(embed) });
    await index.update(LESSONS);
    await index.settled();
    expect(asked).toEqual([]);
    expect(index.stats()).toMatchObject({ known: LESSONS.length, waiting: 0 });
    await index.recall(query('kubernetes pod CrashLoopBackOff'), 0);
    expect(asked).toHaveLength(1);
  });

  it('uses keywords only when both models are closed', async () => {
    const [embed, first] = [createMiniLmEmbed(), createStaticEmbed()];
    await embed.close();
    await first.close();
    const index = await open(LESSONS, { embed, first });
    const found = await index.recall(query('kubernetes pod CrashLoopBackOff'), 0);
    expect(shown(found)).toHaveLength(1);
    expect(found.engine).toBe('words');
    expect(index.stats().failure).toContain('closed');
  });

  it('respects scopes, expiry and the requested subset', async () => {
    const told = { description: 'When the kraken deploy fails', content: 'Restart the kraken.' };
    const index = await open([
      ...LESSONS,
      lesson('anyone', told),
      lesson('other-agent', { ...told, content: 'Feed it.', scope: { agent: 'other' } }),
      lesson('this-project', { ...told, content: 'Look at its tentacles.', scope: { project: 'sea-*' } }),
      lesson('expired', { ...told, content: 'Call the captain.', expiresAt: 10 }),
    ]);
    const asked = query('the kraken deploy fails', { project: 'sea-monsters' });
    const found = await index.recall(asked, 20);
    expect(verdictOf(found, 'other-agent')).toBe('out-of-scope');
    expect(verdictOf(found, 'expired')).toBe('out-of-scope');
    const verdicts = ['anyone', 'this-project'].map((id) => verdictOf(found, id));
    expect(verdicts).toContain('shown');
    expect(verdicts).not.toContain('out-of-scope');
    const few = await index.recall({ ...asked, among: new Set(['this-project']) }, 20);
    expect(shown(few)).toEqual(['this-project']);
    expect(few.considered.map(({ id }) => id)).toEqual(['this-project']);
  });

  it('does not call the model when no lesson is in scope', async () => {
    const ngrams = createNgramEmbed();
    let asked = 0;
    const embed: EmbeddingModel = {
      ...ngrams,
      embed: (texts) => {
        asked++;
        return ngrams.embed(texts);
      },
    };
    const index = await open(
      [lesson('theirs', { description: 'When you bake.', scope: { agent: 'other' } })],
      {
        embed,
      },
    );
    const before = asked;
    expect(shown(await index.recall(query('How do I bake bread?'), 0))).toEqual([]);
    expect(asked).toBe(before);
    await index.recall(query('How do I bake bread?', { agent: 'other' }), 0);
    expect(asked).toBe(before + 1);
  });

  it('shows one of two near-duplicates', async () => {
    const told = { description: 'When the kraken deploy fails', content: 'Restart the kraken.' };
    const index = await open([...LESSONS, lesson('one', told), lesson('two', told)]);
    const found = await index.recall(query('the kraken deploy fails'), 0);
    expect(shown(found)).toEqual(['one']);
    expect(verdictOf(found, 'two')).toBe('near-duplicate');
  });

  it('shows both of two lessons with one description before the model has read them, and one of two with the same text', async () => {
    const description = 'When the kraken deploy fails';
    const index = createRecall({ embed: silent, ...BRIEF });
    await index.update([
      lesson('restart', { description, content: 'Restart the kraken.' }),
      lesson('again', { description, content: 'restart the kraken' }),
      lesson('logs', { description, content: 'Save the logs of the last hour first.' }),
    ]);
    const found = await index.recall(query('the kraken deploy fails'), 0);
    expect(shown(found)).toHaveLength(2);
    expect(shown(found)).toContain('logs');
    expect(['restart', 'again'].map((id) => verdictOf(found, id)).sort()).toEqual([
      'near-duplicate',
      'shown',
    ]);
  });

  it('holds a lesson out of the chosen sessions', async () => {
    const index = await open(LESSONS, {
      holdout: { lotOf: ({ session }) => (session === 'without' ? 'held-out' : 'shown') },
    });
    const asked = query('kubernetes pod CrashLoopBackOff', { session: 'without' });
    const found = await index.recall(asked, 0);
    expect(found.lessons).toEqual([]);
    expect(found.heldOut).toEqual(['crashloop-read-previous-logs']);
    expect(shown(await index.recall({ ...asked, session: 'with' }, 0))).toEqual(found.heldOut);
  });

  it('finds a lesson by its keywords', async () => {
    const index = await open([
      ...LESSONS,
      lesson('bare', { content: 'Do it twice.', note: { keywords: ['zeppelin'] } }),
    ]);
    expect(shown(await index.recall(query('refuel the zeppelin'), 0))).toEqual(['bare']);
  });
});

describe('the domain of a task', () => {
  const law = { scope: { domain: 'law' } };
  const lessons = [
    ...LESSONS,
    lesson('cite', { description: 'When citing a statute', content: 'Give the paragraph.', ...law }),
    lesson('advice', { description: 'When asked about a contract', content: 'Say what it is not.', ...law }),
    lesson('deadline', { description: 'When a court sets a deadline', content: 'Count the days.', ...law }),
    lesson('once', { kind: 'experience', description: 'A case about a dog', content: 'We lost.', ...law }),
  ];

  it('is the named one and brings its guidelines, but none for a greeting', async () => {
    const index = await open(lessons);
    const found = await index.recall(query('sort my holiday pictures', { domain: 'law' }), 0);
    expect(found.domain).toEqual({ name: 'law', reason: 'header' });
    expect(shown(found)).toEqual(['advice', 'cite', 'deadline']);
    expect(shown(await index.recall(query('hello', { domain: 'law' }), 0))).toEqual([]);
    const other = await index.recall(query('citing a statute', { domain: 'medicine' }), 0);
    expect(verdictOf(other, 'cite')).toBe('out-of-scope');
  });

  it('is else the one of a matching pattern', async () => {
    const patterns = [
      { domain: 'law', agent: 'counsel-*' },
      { domain: 'law', keywords: ['court order', 'statute'] },
    ];
    const index = await open(lessons, { patterns });
    const domain = async (text: string, agent: string) =>
      (await index.recall(query(text, { agent }), 0)).domain;
    expect(await domain('sort my pictures', 'counsel-1')).toEqual({ name: 'law', reason: 'pattern' });
    expect(await domain('what does the statute say', 'main')).toEqual({ name: 'law', reason: 'pattern' });
    expect(await domain('order a pizza', 'main')).toEqual({ name: 'general', reason: 'default' });
  });

  it('is else the nearest one with lessons, when it is clearly the nearest', async () => {
    const index = await open(lessons);
    const found = await index.recall(query('a court deadline: citing the statute about a contract'), 0);
    expect(found.domain).toEqual({ name: 'law', reason: 'nearest' });
  });
});
