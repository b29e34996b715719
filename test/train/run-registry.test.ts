import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openRunRegistry } from '../../train/run-files.ts';
import type { RunCheckpoint } from '../../train/run-journal.ts';
import { runsOf } from '../support/counts.ts';

let folder = '';
let file = '';
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'instar-book-'));
  file = path.join(folder, 'train', 'runs.json');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const saved = (version: number): RunCheckpoint => ({
  version,
  state: `state/${version}`,
  sampler: `s/${version}`,
});

describe('the run registry', () => {
  it('starts with a new adapter, and continues the same run in every window (not another)', () => {
    expect(openRunRegistry(file).next(0, [])).toEqual({ name: 'run-1', from: undefined, firstVersion: 0 });
    openRunRegistry(file).propose(saved(3));
    expect(openRunRegistry(file).next(3, []).name).toBe('run-1');
  });

  it('continues a run whose candidate was not shown to be as good', () => {
    const book = openRunRegistry(file);
    book.propose(saved(3));
    expect(book.next(0, [])).toMatchObject({ name: 'run-1' });
  });

  it('starts another run from the live weights, under a new version, after a rollback', () => {
    const book = openRunRegistry(file);
    for (const version of [2, 4]) book.propose(saved(version));
    const next = book.next(2, [4]);
    expect(next).toEqual({ name: 'run-2', from: { ...saved(2), version: 5 }, firstVersion: 5 });
    // That was then: the new run is not turned back by what ended the old one, in this process or the next.
    expect(book.next(2, [4])).toEqual(next);
    expect(openRunRegistry(file).next(2, [4])).toEqual(next);
  });

  it('starts with a new adapter when the base model serves', () => {
    const book = openRunRegistry(file);
    book.propose(saved(2));
    book.leave();
    expect(book.next(0, [])).toEqual({ name: 'run-2', from: undefined, firstVersion: 3 });
  });

  it('abandons a run that cannot be retried at once, and one without progress after three windows', () => {
    openRunRegistry(file).stop(true, false);
    expect(openRunRegistry(file).next(0, []).name).toBe('run-2');
    for (const name of ['run-2', 'run-2', 'run-3']) {
      openRunRegistry(file).stop(false, true);
      expect(openRunRegistry(file).next(0, []).name).toBe(name);
    }
    for (const cameFurther of [false, false, true, false, false]) {
      openRunRegistry(file).stop(cameFurther, true);
      expect(openRunRegistry(file).next(0, []).name).toBe('run-3');
    }
  });

  it('does not start again from a checkpoint that could not be opened', () => {
    const book = openRunRegistry(file);
    book.propose(saved(1));
    book.leave();
    expect(book.next(1, []).from).toMatchObject({ state: 'state/1' });
    for (let window = 0; window < 3; window++) book.stop(false, true);
    expect(book.next(1, [])).toEqual({ name: 'run-3', from: undefined, firstVersion: 3 });
  });

  it('treats an unreadable file as an empty registry (not as the end of training)', () => {
    openRunRegistry(file);
    writeFileSync(file, '{"number": 4, "propo');
    expect(openRunRegistry(file).next(7, [])).toEqual({ name: 'run-1', from: undefined, firstVersion: 0 });
  });

  it('never assigns a version twice, and gives the same answers after a restart', () => {
    let begun = 0;
    const happening = fc.oneof(
      fc.record({ what: fc.constant('propose' as const), steps: fc.integer({ min: 1, max: 5 }) }),
      fc.record({ what: fc.constant('serve' as const), which: fc.nat({ max: 20 }) }),
      fc.record({ what: fc.constantFrom('turn back' as const, 'leave' as const, 'stall' as const) }),
    );
    fc.assert(
      fc.property(fc.array(happening, { maxLength: 30 }), (happenings) => {
        rmSync(file, { force: true });
        let live = 0;
        let last = 0;
        const given: number[] = [];
        const turnedBack: number[] = [];
        let run = openRunRegistry(file).next(live, turnedBack);
        for (const one of happenings) {
          const book = openRunRegistry(file);
          if (one.what === 'propose') {
            last = Math.max(last, run.firstVersion) + one.steps;
            given.push(last);
            book.propose(saved(last));
          } else if (one.what === 'serve') live = given[one.which % Math.max(1, given.length)] ?? 0;
          else if (one.what === 'leave') book.leave();
          else if (one.what === 'stall') book.stop(false, true);
          else if (live > 0) {
            turnedBack.push(live);
            live = 0;
          }
          const next = openRunRegistry(file).next(live, turnedBack);
          expect(openRunRegistry(file).next(live, turnedBack)).toEqual(next);
          if (next.name !== run.name) {
            begun++;
            expect(next.firstVersion).toBeGreaterThan(Math.max(live, ...given));
            if (next.from !== undefined) expect(next.from.sampler).toBe(`s/${live}`);
          }
          run = next;
        }
        expect(new Set(given).size).toBe(given.length);
      }),
      runsOf(40, 120),
    );
    expect(begun).toBeGreaterThan(15);
  });
});
