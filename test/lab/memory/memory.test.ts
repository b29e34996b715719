import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { askMemory, readModelAddress } from '../../../lab/measure/memory/ask-memory.ts';
import { searchVectors, searchWords, wholeHistory } from '../../../lab/measure/memory/memory-baselines.ts';
import { MalformedEntryError, parseMemorySet } from '../../../lab/measure/memory/memory-set.ts';
import { playMemory } from '../../../lab/measure/memory/play-memory.ts';
import {
  countKinds,
  describeRules,
  isScored,
  reportMemory,
  scoreMemory,
} from '../../../lab/measure/memory/score-memory.ts';
import { withVectorMap } from '../../../lab/measure/memory/vector-map.ts';
import { createMiniLmEmbed } from '../../../src/embed/minilm-embed.ts';
import { startProvider } from '../../support/provider.ts';
import { wholeReply } from '../../support/samples.ts';

const embed = withVectorMap(createMiniLmEmbed());
afterAll(() => embed.close());

const setOf = (...rows: readonly object[]) =>
  parseMemorySet(rows.map((row) => JSON.stringify(row)).join('\n'), 'set.jsonl');
const SIX = setOf(
  {
    id: 'update',
    kind: 'update',
    history: [
      { session: 's1', day: 0, text: 'always install packages with npm' },
      { session: 's2', day: 9, text: 'We switched from npm to pnpm, always install packages with pnpm.' },
    ],
    question: 'Install the package zod',
    answer: 'pnpm',
    must_not: 'npm',
  },
  {
    id: 'negation',
    kind: 'negation',
    history: [{ session: 's1', day: 0, text: 'We never squash commits in this repo.' }],
    question: 'Squash the commits of this repo and merge',
    answer: 'never squash',
  },
  {
    id: 'forgetting',
    kind: 'forgetting',
    history: [
      { session: 's1', day: 0, text: 'Always answer in French.' },
      { session: 's2', day: 1, text: 'Always use metric units.' },
      { session: 's3', day: 4, text: 'Forget what I said about French.' },
    ],
    question: 'How tall is the tower in metric units? Answer it.',
    answer: 'metric units',
    must_not: ['French'],
  },
  {
    id: 'scope',
    kind: 'scope',
    project: 'borealis',
    history: [
      { session: 's1', day: 0, text: 'Always indent with tabs here.', project: 'atlas' },
      { session: 's2', day: 1, text: 'Always indent with 2 spaces here.' },
    ],
    question: 'Indent this file',
    answer: '2 spaces',
    must_not: ['tabs'],
  },
  {
    id: 'recall',
    kind: 'recall',
    history: [
      { session: 's1', day: 0, text: 'No, always write dates as ISO 8601.' },
      { session: 's2', day: 3, text: 'Give me five names for a cat.' },
    ],
    question: 'Write the dates of the meetings into the minutes',
    answer: ['iso 8601', 'YYYY-MM-DD'],
  },
  {
    id: 'multi',
    kind: 'multi',
    history: [
      { session: 's1', day: 0, text: 'Dockerfiles: always pin the base image.' },
      { session: 's2', day: 1, text: 'Dockerfiles: never run as root.' },
    ],
    question: 'Write a Dockerfile for the api',
    answer: [['pin the base image'], ['never run as root']],
  },
);

describe('bench:memory', () => {
  it.each(SIX.map((entry) => [entry.id, entry] as const))(
    'learns the history of "%s" and shows a fresh session what holds, and nothing else',
    async (_, entry) => {
      const { block, lessons } = await playMemory(entry, embed, 'later');
      expect({ ...scoreMemory(entry, block), block, lessons }).toMatchObject({ isRight: true });
    },
  );

  it('is deterministic: the same history gives the same block', async () => {
    const [entry] = SIX;
    if (entry === undefined) throw new Error('no entry');
    const blocks = [await playMemory(entry, embed, 'later'), await playMemory(entry, embed, 'later')];
    expect(blocks[0]?.block).toBe(blocks[1]?.block);
  });

  it('gives the baselines the raw messages of the same project, the old ones too', async () => {
    const [update, , , scope] = SIX;
    if (update === undefined || scope === undefined) throw new Error('no entry');
    for (const text of [wholeHistory(update), searchWords(update), await searchVectors(update, embed)]) {
      expect(text).toContain('2026-01-14: We switched');
      expect(scoreMemory(update, text)).toMatchObject({ isRight: false, missing: [], shown: ['npm'] });
    }
    expect(wholeHistory(scope)).not.toContain('tabs');
  });

  it('reads "X, not Y" as Y rejected, and Y alone or as a part of a word as it stands', () => {
    const [entry] = setOf({
      id: 1,
      kind: 'update',
      history: [{ text: 'x' }],
      question: 'x',
      answer: 'pnpm',
      must_not: 'npm',
    });
    if (entry === undefined) throw new Error('no entry');
    const of = (text: string) => scoreMemory(entry, text);
    expect(of('Use pnpm.')).toMatchObject({ isRight: true, isStrict: true });
    expect(of('Use pnpm, not npm.')).toMatchObject({ isRight: true, isStrict: false });
    expect(of('_"From now on PNPM instead of npm"_')).toMatchObject({ isRight: true });
    expect(of('Use pnpm. From now on npm it is.')).toMatchObject({ isRight: false });
    expect(of("Use pnpm. Don't forget npm.")).toMatchObject({ isRight: false });
    expect(of('Use pnpm.\n\nSaid earlier on the same matter:\n\n> Use npm.')).toMatchObject({
      isRight: false,
      earlier: ['npm'],
    });
    expect(of('Use npm.')).toMatchObject({ isRight: false, missing: [['pnpm']], shown: ['npm'] });
  });

  it('takes any accepted phrase, "unknown" as nothing wrong in view, and leaves a bare "yes" to replies', () => {
    const asked = { kind: 'recall', history: [{ text: 'The office is in Bern.' }], question: 'Where is it?' };
    const [one, other, unknown, free, yes, told] = setOf(
      { ...asked, id: 'accept', answer: 'Bern', accept: ['the capital'] },
      { ...asked, id: 'answers', answers: ['Bern', 'Berne'] },
      { ...asked, id: 'unknown', answer: 'unknown', must_not: ['Basel'] },
      { ...asked, id: 'free', answer: 'not stated' },
      { ...asked, id: 'yes', answer: 'yes' },
      { ...asked, id: 'told', answer: 'yes', accept: 'in Bern' },
    );
    if (!one || !other || !unknown || !free || !yes || !told) throw new Error('an entry is missing');
    const all = [one, other, unknown, free, yes, told];
    expect(scoreMemory(one, 'It is in the capital.').isRight).toBe(true);
    expect(scoreMemory(other, 'Berne.').isRight).toBe(true);
    expect(scoreMemory(unknown, '').isRight).toBe(true);
    expect(scoreMemory(unknown, 'The office is in Basel.').isRight).toBe(false);
    expect(scoreMemory(unknown, 'The office is not in Basel.').isRight).toBe(true);
    expect(all.map((entry) => isScored(entry, 'prompt'))).toEqual([true, true, true, true, false, true]);
    expect(scoreMemory(told, 'The office is in Bern.').isRight).toBe(true);
    expect(scoreMemory(told, 'Yes.').isRight).toBe(false);
    expect(scoreMemory(yes, 'Yes.', 'reply').isRight).toBe(true);
    expect(scoreMemory(yes, 'No.', 'reply').isRight).toBe(false);
    expect(describeRules(all, 'prompt').join(' ')).toBe(
      'The answer is that nothing is known (2 entries): right where no phrase of `must_not` is shown as holding; 1 entry without a phrase: right for every arm. The answer is "yes" or "no" without `accept` (1 entry): left out, no prompt says that.',
    );
  });

  it('counts by kind, unknown kinds too, with intervals', () => {
    const scores = SIX.map((entry) => scoreMemory(entry, 'pnpm'));
    const counts = countKinds(SIX, scores);
    expect(counts[0]).toEqual({
      kind: 'update',
      entries: 1,
      right: 1,
      strict: 1,
      missed: 0,
      wronglyShown: 0,
      earlier: 0,
    });
    expect(counts.at(-1)).toMatchObject({ kind: 'all', entries: 6, right: 1, missed: 5 });
    expect(reportMemory('Set', SIX, [{ name: 'Instar', scores, tokens: 3 }])).toContain(
      '| all | 1 of 6 (3–56 %) |',
    );
  });

  it.each([
    ['no JSON', '{', 'set.jsonl, line 1: it is not a JSON object'],
    ['no question', '{"id":1,"kind":"update","history":[{"text":"x"}]}', 'question'],
    [
      'a strange day',
      '{"id":1,"kind":"x","question":"x","history":[{"text":"x","day":"soon"}]}',
      '"day" takes',
    ],
  ])('names the line and the fault of %s', (_, text, message) => {
    const parse = () => parseMemorySet(text, 'set.jsonl');
    expect(parse).toThrow(MalformedEntryError);
    expect(parse).toThrow(message);
  });

  it('ships two sets of all kinds, with no id and no question in both', () => {
    const [own, test] = ['own', 'own-test'].map((name) => {
      const file = `lab/measure/memory/${name}.jsonl`;
      return parseMemorySet(readFileSync(file, 'utf8'), file);
    });
    expect(own?.length).toBeGreaterThanOrEqual(120);
    expect(test?.length).toBeGreaterThanOrEqual(60);
    const known = new Set(own?.flatMap(({ id, question }) => [id, question]));
    expect(test?.filter(({ id, question }) => known.has(id) || known.has(question))).toEqual([]);
    expect(new Set(test?.map(({ kind }) => kind)).size).toBe(7);
  });

  it('asks a model with the block as its system prompt', async () => {
    const provider = await startProvider((_request, response) => {
      response.end(wholeReply('openai-chat'));
    });
    try {
      const address = readModelAddress(`${provider.url}/v1/org/model-1`);
      if (address === undefined) throw new Error('no address');
      expect(await askMemory(address, 'Use pnpm.', 'Install zod')).toContain('Zürich');
      expect(JSON.parse(String(provider.seen[0]?.body))).toMatchObject({
        model: 'org/model-1',
        messages: [
          { role: 'system', content: 'Use pnpm.' },
          { role: 'user', content: 'Install zod' },
        ],
      });
    } finally {
      await provider.close();
    }
    expect(readModelAddress('model-1')).toBeUndefined();
  });
});
