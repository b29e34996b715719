import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Lesson } from '../../../src/core/lesson.ts';
import { createNgramEmbed } from '../../../src/embed/ngram-embed.ts';
import { createIndexFile, type IndexFile } from '../../../src/lessons/recall/index-file.ts';
import { comparedKey, vectorKeysOf } from '../../../src/lessons/recall/lesson-texts.ts';
import { createRecall, type LessonRecall } from '../../../src/lessons/recall/recall.ts';
import { openVectorCache, type VectorCache } from '../../../src/lessons/recall/vector-cache.ts';
import { runsOf } from '../../support/counts.ts';
import { lesson, query } from './sample-lessons.ts';

let dir: string;
let file: string;
beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'instar-index-'));
  file = path.join(dir, 'index.bin');
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const openVectors = (): Promise<VectorCache> => {
  const { id, dimensions } = createNgramEmbed();
  return openVectorCache(path.join(dir, 'vectors.bin'), id, dimensions);
};

/** The index of one start, and whether it had to embed anything. */
async function start(indexFile: IndexFile | undefined) {
  const embed = createNgramEmbed();
  const vectors = await openVectors();
  const texts: string[] = [];
  const recall: LessonRecall = createRecall({
    embed: {
      ...embed,
      embed: (wanted, most) => {
        texts.push(...wanted);
        return embed.embed(wanted, most);
      },
    },
    first: embed,
    limits: { topK: 5, tokenBudget: 2000 },
    vectorCache: vectors,
    ...(indexFile === undefined ? {} : { indexFile }),
  });
  return {
    recall,
    texts,
    stop: async () => {
      await recall.settled();
      await indexFile?.close();
      await vectors.close();
    },
  };
}

const words = fc
  .array(
    fc.constantFrom('kraken', 'deploy', 'invoice', 'csv umlauts', 'git push --force', 'src/app.ts', 'the'),
    { minLength: 1, maxLength: 4 },
  )
  .map((list) => list.join(' '));
const told = fc.record({ id: fc.nat(90), text: words, domain: fc.constantFrom('sea', 'land') });
const library = fc.array(told, { minLength: 1, maxLength: 90 });

let revision = 0;
const lessonsOf = (state: readonly { id: number; text: string; domain: string }[]): readonly Lesson[] =>
  [...new Map(state.map((one) => [one.id, one])).values()].map(({ id, text, domain }) =>
    lesson(`l${id}`, {
      description: `When ${text} fails`,
      content: `Try ${text} again. Then look at the ${text} of lesson ${id}.`,
      revision: ++revision,
      scope: { domain },
    }),
  );
const MANY = Array.from({ length: 80 }, (_, id) => ({ id, text: `kraken ${id}`, domain: 'sea' }));
const damage = fc.constantFrom('none', 'none', 'cut', 'byte', 'longer', 'foreign', 'empty', 'gone');

function harm(how: string): void {
  const bytes = readFileSync(file);
  if (how === 'cut') writeFileSync(file, bytes.subarray(0, bytes.length - 7));
  if (how === 'byte') writeFileSync(file, bytes.with(bytes.length >> 1, (bytes[bytes.length >> 1] ?? 0) ^ 4));
  if (how === 'longer') appendFileSync(file, 'more');
  if (how === 'foreign') writeFileSync(file, `instar recall 0 ${'x'.repeat(200)}`);
  if (how === 'empty') writeFileSync(file, '');
  if (how === 'gone') rmSync(file);
}

/** A file with all lessons of a library; their vectors are kept too. */
async function fill(lessons: readonly Lesson[]): Promise<void> {
  const first = await start(createIndexFile(file));
  await first.recall.update(lessons);
  await first.stop();
}

describe('the file of the index', () => {
  it('changes no result, whatever was learned since and whatever happened to it', async () => {
    await fc.assert(
      fc.asyncProperty(library, words, damage, async (edits, asked, how) => {
        rmSync(file, { force: true });
        const before = lessonsOf(MANY);
        await fill(before);
        harm(how);
        // Some stay, some are revised, some are gone, some are new.
        const edited = lessonsOf(edits);
        const ids = new Set(edited.map(({ id }) => id));
        const after = [...before.filter(({ id }, at) => at % 3 > 0 && !ids.has(id)), ...edited];
        const [withFile, without] = [await start(createIndexFile(file)), await start(undefined)];
        for (const one of [withFile, without]) {
          await one.recall.update(after);
          await one.recall.settled();
        }
        const ask = (one: LessonRecall) => one.recall(query(`the ${asked} fails again`), 0);
        expect(await ask(withFile.recall)).toEqual(await ask(without.recall));
        expect(withFile.recall.stats()).toEqual(without.recall.stats());
        // Also after a lesson was taken away that came from the file.
        for (const one of [withFile, without]) await one.recall.update(after.slice(1));
        expect(await ask(withFile.recall)).toEqual(await ask(without.recall));
        await withFile.stop();
        await without.stop();
      }),
      runsOf(15, 100),
    );
  });

  it('spares a start from embedding, and finds every lesson', async () => {
    const lessons = lessonsOf(MANY);
    await fill(lessons);
    const file2 = createIndexFile(file);
    await file2.load();
    expect(lessons.filter((one) => file2.find(comparedKey(one)) === undefined)).toEqual([]);
    const second = await start(file2);
    await second.recall.update(lessons);
    await second.recall.settled();
    expect(second.texts).toEqual([]);
    await second.stop();
  });

  it('has no words of lessons, and after an erasure nothing that the erased lesson came to', async () => {
    const lessons = lessonsOf([...MANY, { id: 99, text: 'zanzibar', domain: 'land' }]);
    await fill(lessons);
    const erased = lessons.at(-1);
    if (erased === undefined) throw new Error('no lesson');
    const key = Buffer.from(comparedKey(erased), 'base64');
    const whole = readFileSync(file);
    for (const word of ['kraken', 'zanzibar']) expect(whole.includes(word)).toBe(false);
    expect(whole.includes(key)).toBe(true);
    const found = createIndexFile(file);
    await found.load();
    const hashes = found.find(comparedKey(erased))?.terms.hashes ?? new Float64Array();
    const others = new Set(
      lessons.slice(0, -1).flatMap((one) => [...(found.find(comparedKey(one))?.terms.hashes ?? [])]),
    );
    const own = [...hashes].filter((one) => !others.has(one)).map(bytesOf);
    expect(own.length).toBeGreaterThan(0);
    for (const one of own) expect(whole.includes(one)).toBe(true);

    const running = createIndexFile(file);
    const daemon = await start(running);
    await daemon.recall.update(lessons);
    const left = lessons.slice(0, -1);
    await running.keepOnly(new Set(left.map(comparedKey)));
    const erasedFile = readFileSync(file);
    for (const one of [key, ...own, ...[...vectorKeysOf([erased])].filter(isOnlyIn(left)).map(bytesOfKey)])
      expect(erasedFile.includes(one)).toBe(false);
    expect(erasedFile.includes(Buffer.from(comparedKey(left[0] ?? erased), 'base64'))).toBe(true);
    await daemon.stop();
  });

  it('loses at the next start what was erased by a process that was killed before it wrote the file', async () => {
    const lessons = lessonsOf(MANY);
    await fill(lessons);
    const key = Buffer.from(comparedKey(lessons[0] as Lesson), 'base64');
    const next = await start(createIndexFile(file));
    await next.recall.update(lessons.slice(1));
    await next.stop();
    expect(existsSync(file)).toBe(true);
    expect(readFileSync(file).includes(key)).toBe(false);
  });

  it('is removed at a start where it is of another version', async () => {
    writeFileSync(file, `instar recall 0 ${'zanzibar '.repeat(50)}`);
    await createIndexFile(file).load();
    expect(existsSync(file)).toBe(false);
  });
});

const bytesOf = (hash: number): Buffer => Buffer.from(new Float64Array([hash]).buffer);
const bytesOfKey = (key: string): Buffer => Buffer.from(key, 'base64');
const isOnlyIn = (others: readonly Lesson[]) => {
  const known = vectorKeysOf(others);
  return (key: string): boolean => !known.has(key);
};
