import { describe, expect, it } from 'vitest';
import type { Visibility } from '../../src/core/lesson.ts';
import type { RecallQuery, RecallResult } from '../../src/core/recall.ts';
import { createNgramEmbed } from '../../src/embed/ngram-embed.ts';
import { createRecall } from '../../src/lessons/recall/recall.ts';
import { createReadLearnedIn, type ReadLearnedIn } from '../../src/lessons/scope.ts';
import { createMemoryStore } from '../../src/record/store/memory-store.ts';
import { LESSONS, lesson, query } from './recall/sample-lessons.ts';

const ASKED = 'write the invoices of October, number them';
const HOME = { agent: 'billing', project: 'shop' };
const AGENTS = ['billing', 'other'] as const;

const invoices = (visibility: Visibility, scope: object, turns: readonly string[] = []) => {
  const [base] = LESSONS.filter(({ id }) => id === 'invoice-numbers');
  if (base === undefined) throw new Error('no sample');
  const { text } = lesson('invoice-numbers', { ...base.text, scope });
  const evidence = { turns, quotes: [], learner: 'evolver' };
  // Not told by a person: then it would be shown to its own agent whatever the task is.
  return {
    ...base,
    text: { ...text, evidence, note: { ...text.note, visibility, source: 'experience' as const } },
  };
};

async function outcome(
  shelf: ReturnType<typeof invoices>,
  asker: Partial<RecallQuery>,
  learnedIn?: ReadLearnedIn,
): Promise<string> {
  const embed = createNgramEmbed();
  const index = createRecall({
    embed,
    first: embed,
    limits: { topK: 5, tokenBudget: 2000 },
    ...(learnedIn === undefined ? {} : { learnedIn }),
  });
  const others = LESSONS.filter(({ id }) => id !== shelf.id);
  await index.update([...others, shelf]);
  await index.settled();
  const found: RecallResult = await index.recall(query(ASKED, asker), 0);
  return found.considered.find(({ id }) => id === shelf.id)?.verdict ?? 'not considered';
}

describe('the visibility of a lesson', () => {
  it('decides who is shown it: one agent in one project, its scope, or everyone', async () => {
    const seen = async (visibility: Visibility) =>
      Promise.all(
        [HOME, { agent: 'billing', project: 'blog' }, { agent: 'billing' }, { agent: 'other' }].map((asker) =>
          outcome(invoices(visibility, { agent: 'billing' }), asker, async () => [HOME]),
        ),
      );
    expect(await seen('scoped')).toEqual(['shown', 'shown', 'shown', 'out-of-scope']);
    expect(await seen('shared')).toEqual(['shown', 'shown', 'shown', 'shown']);
    expect(await seen('private')).toEqual(['shown', 'private', 'private', 'private']);
  });

  it('does not widen where a shared lesson applies: run kind and domain of its scope still count', async () => {
    const shared = invoices('shared', { agent: 'billing', runKind: 'cron', domain: 'ledger' });
    expect(await outcome(shared, { agent: 'other', runKind: 'cron', domain: 'ledger' })).toBe('shown');
    expect(await outcome(shared, { agent: 'other', runKind: 'chat', domain: 'ledger' })).not.toBe('shown');
    expect(await outcome(shared, { agent: 'other', runKind: 'cron', domain: 'law' })).not.toBe('shown');
  });

  it('shows a lesson for every task to those whose scope it names, and to others only where it fits', async () => {
    const told = invoices('shared', { agent: 'billing' });
    const shelf = { ...told, text: { ...told.text, note: { ...told.text.note, isAlways: true as const } } };
    const embed = createNgramEmbed();
    const index = createRecall({ embed, first: embed, limits: { topK: 5, tokenBudget: 2000 } });
    await index.update([...LESSONS.filter(({ id }) => id !== shelf.id), shelf]);
    await index.settled();
    const ids = async (agent: string) =>
      (await index.recall(query('rebase the branch and push it to the server', { agent }), 0)).lessons.map(
        ({ id }) => id,
      );
    expect(await ids('billing')).toContain(shelf.id);
    expect(await ids('other')).not.toContain(shelf.id);
    // What a person told is one lesson among the others, unless they marked it.
    await index.update([...LESSONS.filter(({ id }) => id !== told.id), { ...told, revision: 2 }]);
    await index.settled();
    expect(await ids('billing')).not.toContain(told.id);
  });

  it('shows a private lesson without evidence to the agent its scope names, and to nobody for a pattern', async () => {
    for (const [scope, expected] of [
      [{ agent: 'billing' }, ['shown', 'private']],
      [{ agent: '*' }, ['private', 'private']],
      [{}, ['private', 'private']],
    ] as const)
      expect(
        await Promise.all(AGENTS.map((agent) => outcome(invoices('private', scope), { agent }))),
        JSON.stringify(scope),
      ).toEqual(expected);
  });

  it('shows a private lesson whose origin cannot be read to nobody (not to everyone)', async () => {
    const failing: ReadLearnedIn = async () => {
      throw new Error('the disk is gone');
    };
    expect(await outcome(invoices('private', {}, ['t1']), HOME, failing)).toBe('private');
  });
});

describe('the origin of a private lesson', () => {
  it('is the agent and the project of the turns it was learned from', async () => {
    const store = createMemoryStore();
    const turn = (id: string, agent: string, project?: string) => ({
      at: 1,
      fact: {
        type: 'turn-start' as const,
        turn: id,
        session: `s-${id}`,
        agent,
        role: 'main' as const,
        wire: 'openai-chat' as const,
        model: 'm',
        generation: 0,
        policy: 'p/m',
        lessons: [],
        ...(project === undefined ? {} : { project: { id: project, label: project } }),
      },
    });
    store.append({
      facts: [turn('t1', 'billing', 'shop'), turn('t2', 'billing', 'shop'), turn('t3', 'codex')],
    });
    const read = createReadLearnedIn({
      turn: async (id) => store.turn(id),
      session: async (id) => store.session(id),
    });
    expect(await read(invoices('private', {}, ['t1', 't2', 't3', 'gone']))).toEqual([
      HOME,
      { agent: 'codex' },
    ]);
    expect(await read(invoices('private', {}))).toBeUndefined();
  });
});
