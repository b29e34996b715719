import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { openLessons } from '../../src/lessons/open-lessons.ts';
import { toRecords } from '../../src/record/records.ts';
import { openSqliteStore } from '../../src/record/store/sqlite-store.ts';
import { lessonText } from '../support/lesson-text.ts';
import { createTemporaryFolder, runInProcess } from './run-cli.ts';

const folder = createTemporaryFolder();
afterAll(folder.remove);
const cli = (...args: readonly string[]) => runInProcess(['generations', ...args, '--home', folder.dir]);

describe('generations', () => {
  it('says that nothing was published before the first lesson (not: a heading without rows)', async () => {
    expect(await cli('list')).toEqual({
      code: 0,
      stdout: '',
      stderr: 'nothing was learned yet\n',
    });
  });

  describe('of a library with a lesson', () => {
    beforeAll(async () => {
      const store = openSqliteStore({ file: path.join(folder.dir, 'instar.sqlite') });
      const { library } = await openLessons({
        records: toRecords(store, systemClock.now),
        clock: systemClock,
        newId: (prefix) => `${prefix}_1`,
        onFault: (error) => {
          throw error;
        },
      });
      const text = lessonText({ name: 'iso-dates', description: 'When a date is written.', content: 'ISO.' });
      await library.publish({
        id: 'set',
        by: { kind: 'person', name: 'person' },
        reason: 'told',
        changes: [{ op: 'add', id: 'lesson_1', kind: 'skill', state: 'live', text }],
      });
      store.close();
    });

    it('are rolled back with the command that undoes it, and stay listed after a rollback to 0', async () => {
      expect((await cli('rollback', '0')).stdout).toBe(
        'Rolled back to the lessons of generation 0, as generation 2. Undo: instar generations rollback 1\n',
      );
      const { stdout, stderr } = await cli('list');
      expect(stdout).toContain('roll back to generation 0');
      expect(stderr).toContain('instar undo');
      expect((await cli('diff', '0', '2')).stderr).toBe('The lessons of generations 0 and 2 are the same.\n');
      expect((await cli('rollback', '1')).code).toBe(0);
      expect((await cli('diff', '1')).stderr).toBe('The lessons of generations 1 and 3 are the same.\n');
      expect((await cli('rollback', '9')).stderr).toContain('There is no generation 9.\n→ see: instar gen');
    });
  });
});
