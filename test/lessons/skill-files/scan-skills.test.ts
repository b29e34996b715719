import { existsSync, mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createScanner, fileHash } from '../../../src/lessons/skill-files/scan-skills.ts';
import { runsOf } from '../../support/counts.ts';
import { scratch } from './skill-folders.ts';

const FOLDERS = 80;
const SEEN = '.mirror.seen';
/** Later than the times of all files, so that these can tell that nothing has changed. */
const clock = { now: () => Date.now() + 60_000, monotonic: () => performance.now() };
const file = (dir: string, n: number): string => join(dir, `skill-${n}`, 'SKILL.md');

const edit = fc.record({
  folder: fc.nat(FOLDERS - 1),
  how: fc.constantFrom('same length', 'same times', 'deleted', 'twice'),
});
const damage = fc.constantFrom('none', 'cut', 'bytes', 'gone', 'foreign');

describe('the files that were seen before', () => {
  it('change nothing that a scan finds, whatever was edited since and whatever happened to their list', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(edit, { maxLength: 12 }), damage, async (edits, harm) => {
        const dir = scratch();
        for (let n = 0; n < FOLDERS; n++) {
          mkdirSync(join(dir, `skill-${n}`));
          writeFileSync(file(dir, n), `text ${n}`);
        }
        const records = new Map(
          Array.from({ length: FOLDERS }, (_, n) => [`skill-${n}`, { hash: fileHash(`text ${n}`) }]),
        );
        await createScanner(dir, clock, 0)(records);
        expect(existsSync(join(dir, SEEN))).toBe(true);
        for (const { folder, how } of edits) {
          const path = file(dir, folder);
          if (how === 'deleted' || !existsSync(path)) {
            rmSync(path, { force: true });
            continue;
          }
          const { atime, mtime } = statSync(path);
          writeFileSync(path, readFileSync(path, 'utf8').replace('text', 'Text'));
          if (how === 'twice') writeFileSync(path, readFileSync(path, 'utf8').replace('Text', 'text'));
          if (how === 'same times') utimesSync(path, atime, mtime);
        }
        const list = join(dir, SEEN);
        if (harm === 'gone') rmSync(list);
        if (harm === 'cut') writeFileSync(list, readFileSync(list).subarray(0, 100));
        if (harm === 'bytes') writeFileSync(list, Buffer.from([0xff, 0, 10, 0xfe]));
        if (harm === 'foreign') writeFileSync(list, 'a\nb\n');
        const found = await createScanner(dir, clock, 0)(records);
        rmSync(list, { force: true });
        const read = await createScanner(dir, clock, 0)(records);
        expect(found.folders).toEqual(read.folders);
        expect([...found.folders.values()].filter((one) => 'text' in one).length).toBeLessThanOrEqual(
          edits.length,
        );
      }),
      runsOf(8, 60),
    );
  });

  it('are joined by what was set aside and by a new text since the scan before', async () => {
    const dir = scratch();
    mkdirSync(join(dir, 'skill-0'));
    writeFileSync(file(dir, 0), 'text');
    const records = new Map([['skill-0', { hash: fileHash('text') }]]);
    const scan = createScanner(dir, clock, 0);
    expect((await scan(records)).setAside).toEqual([]);
    // Later than the step of the file system's clock.
    await new Promise((resolve) => setTimeout(resolve, 30));
    writeFileSync(`${file(dir, 0)}.yours`, 'mine');
    writeFileSync(file(dir, 0), 'other');
    const { setAside, folders } = await scan(records);
    expect(setAside).toEqual([join('skill-0', 'SKILL.md.yours')]);
    expect(folders.get('skill-0')).toMatchObject({ kind: 'file', text: 'other' });
  });

  it('are listed without their names', async () => {
    const dir = scratch();
    for (let n = 0; n < FOLDERS; n++) {
      mkdirSync(join(dir, `skill-${n}`));
      writeFileSync(file(dir, n), `text ${n}`);
    }
    await createScanner(dir, clock, 0)(new Map());
    expect(readFileSync(join(dir, SEEN), 'utf8')).not.toContain('skill');
  });
});
