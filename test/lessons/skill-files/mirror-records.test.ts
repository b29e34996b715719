import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createMirrorMemory, type MirrorRecord } from '../../../src/lessons/skill-files/mirror-records.ts';

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'instar-mirror-records-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const record = (id: string, revision = 1): MirrorRecord => ({
  id,
  revision,
  state: 'live',
  hash: `${id}-${revision}`.padEnd(64, '0'),
});
const folderOf = (nth: number): string => `lesson-${nth}`;
const journal = (): string => join(dir, '.mirror.log');

async function keep(count: number): Promise<void> {
  const memory = createMirrorMemory(dir);
  await memory.load();
  for (let nth = 0; nth < count; nth++) memory.put(folderOf(nth), record(String(nth)));
  await memory.save(true);
}

describe('the records of a large library', () => {
  it('are still known after a restart', async () => {
    await keep(5000);
    const { records, isLost } = await createMirrorMemory(dir).load();
    expect([records.size, isLost]).toEqual([5000, false]);
  });

  it('one more lesson writes a line, not the whole file', async () => {
    await keep(5000);
    const { size, mtimeMs } = statSync(join(dir, '.mirror.json'));
    const memory = createMirrorMemory(dir);
    await memory.load();
    await memory.plan(new Map([['new', record('new')]]));
    memory.put('new', record('new'));
    await memory.save(true);
    expect(statSync(join(dir, '.mirror.json'))).toMatchObject({ size, mtimeMs });
    expect(statSync(journal()).size).toBeLessThan(1000);
    expect((await createMirrorMemory(dir).load()).records.get('new')).toEqual(record('new'));
  });

  it('the journal is folded into the file when it is longer than the file', async () => {
    await keep(1);
    const memory = createMirrorMemory(dir);
    await memory.load();
    let longest = 0;
    for (let revision = 2; revision < 600; revision++) {
      memory.put(folderOf(0), record('0', revision));
      await memory.save(true);
      if (existsSync(journal())) longest = Math.max(longest, statSync(journal()).size);
    }
    expect(longest).toBeLessThan(70_000);
    expect([...(await createMirrorMemory(dir).load()).records]).toEqual([[folderOf(0), record('0', 599)]]);
  });
});

describe('a journal that cannot be read to its end', () => {
  it.each(['{"of":', '\u0000\u0000\n', '{"of":"another","files":{"lesson-0":null}}\n'])(
    '%j',
    async (rest) => {
      await keep(2);
      const memory = createMirrorMemory(dir);
      await memory.load();
      memory.forget(folderOf(1));
      await memory.save(true);
      appendFileSync(journal(), rest);
      const next = createMirrorMemory(dir);
      expect([...(await next.load()).records.keys()]).toEqual([folderOf(0)]);
      next.put('later', record('later'));
      await next.save(true);
      const { records, isLost } = await createMirrorMemory(dir).load();
      expect([[...records.keys()], isLost]).toEqual([[folderOf(0), 'later'], false]);
    },
  );

  it('the journal of a file that was replaced is not read', async () => {
    await keep(1);
    const memory = createMirrorMemory(dir);
    await memory.load();
    memory.put('third', record('third'));
    await memory.save(true);
    const old = readFileSync(journal());
    rmSync(join(dir, '.mirror.json'));
    await keep(1);
    writeFileSync(journal(), old);
    expect([...(await createMirrorMemory(dir).load()).records.keys()]).toEqual([folderOf(0)]);
  });
});

describe('a name that was forgotten', () => {
  const textIn = (): string =>
    ['.mirror.json', '.mirror.log']
      .map((name) => join(dir, name))
      .map((file) => (existsSync(file) ? readFileSync(file, 'utf8') : ''))
      .join('');

  it('is in no file any more: it is made of words that may have been erased', async () => {
    await keep(3);
    const memory = createMirrorMemory(dir);
    await memory.load();
    await memory.plan(new Map([['private-words', record('p')]]));
    memory.put('private-words', record('p'));
    await memory.save(true);
    expect(textIn()).toContain('private-words');
    memory.forget('private-words');
    await memory.save(true);
    expect(textIn()).not.toContain('private-words');
  });

  it('also when it was only planned', async () => {
    await keep(3);
    const memory = createMirrorMemory(dir);
    await memory.load();
    await memory.plan(new Map([['private-words', record('p')]]));
    expect(textIn()).toContain('private-words');
    memory.resolve(() => undefined);
    await memory.save(true);
    expect(textIn()).not.toContain('private-words');
  });
});

describe('any history of changes', () => {
  const folder = fc.integer({ min: 0, max: 5 }).map(folderOf);
  const step = fc.oneof(
    fc.record({ kind: fc.constant('put' as const), folder, revision: fc.integer({ min: 1, max: 9 }) }),
    fc.record({ kind: fc.constant('forget' as const), folder }),
    fc.record({ kind: fc.constant('move' as const), folder, to: folder }),
    fc.record({ kind: fc.constant('plan' as const), folder, isDone: fc.boolean() }),
    fc.record({ kind: fc.constant('restart' as const) }),
  );

  it('is read back as it was saved, planned writes included', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        rmSync(dir, { recursive: true, force: true });
        let memory = createMirrorMemory(dir);
        await memory.load();
        const model = new Map<string, MirrorRecord>();
        for (const one of steps) {
          if (one.kind === 'put') {
            memory.put(one.folder, record(one.folder, one.revision));
            model.set(one.folder, record(one.folder, one.revision));
          } else if (one.kind === 'forget') {
            memory.forget(one.folder);
            model.delete(one.folder);
          } else if (one.kind === 'move') {
            memory.move(one.folder, one.to);
            const moved = model.get(one.folder);
            model.delete(one.folder);
            if (moved !== undefined) model.set(one.to, moved);
          } else if (one.kind === 'plan') {
            const planned = record(one.folder, 77);
            await memory.save(true);
            await memory.plan(new Map([[one.folder, planned]]));
            // Killed before the record of the write.
            memory = createMirrorMemory(dir);
            await memory.load();
            memory.resolve((asked) => (one.isDone && asked === one.folder ? planned.hash : undefined));
            if (one.isDone) model.set(one.folder, planned);
          }
          await memory.save(true);
          if (one.kind === 'restart') memory = createMirrorMemory(dir);
          const { records } = await memory.load();
          expect(new Map(records)).toEqual(model);
        }
        expect(new Map((await createMirrorMemory(dir).load()).records)).toEqual(model);
      }),
      { numRuns: 60 },
    );
  });
});
