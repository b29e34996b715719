import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { ChangeSet } from '../../../src/core/lesson.ts';
import type { NewFact } from '../../../src/core/store.ts';
import { createTrialRow } from '../../../src/learn/trial/decide-trials.ts';
import { readTrials } from '../../../src/lessons/effect/fold-trials.ts';
import { openTrialWorld, tasksOf } from './trial-world.ts';

const DAY_MS = 86_400_000;

async function open() {
  const folder = mkdtempSync(path.join(tmpdir(), 'trial-row-'));
  const world = await openTrialWorld(folder);
  onTestFinished(() => {
    world.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const { library, effects, records, parts } = world;
  let sessions = 0;
  const append = async (facts: readonly NewFact[]): Promise<void> => {
    const appended = await records.append(facts);
    facts.forEach(({ at, fact }, place) => {
      const { seq = 0, isNew = false } = appended[place] ?? {};
      if (isNew) effects.add({ seq, at, fact });
    });
  };
  /** A run that ends after so many facts is one that was killed there. */
  const decide = async (most = Number.POSITIVE_INFINITY): Promise<readonly NewFact[]> => {
    const row = createTrialRow({
      lessons: { library, effects },
      records,
      tasks: async () =>
        tasksOf(8).map((task, at) => ({ ...task, from: { session: `past-${at}`, turn: `t-${at}` } })),
      lessonsFor: parts.lessonsFor,
      mayPromote: true,
      clock: parts.clock,
    });
    const written: NewFact[] = [];
    for await (const piece of row.material({} as Parameters<typeof row.material>[0])) {
      if (written.length >= most) break;
      if ('journal' in piece) {
        written.push(...piece.journal);
        await append(piece.journal);
      } else {
        const { set } = piece.material as { readonly set: ChangeSet };
        await library.publish(set);
      }
    }
    return written;
  };
  const session = (score: number | undefined, isShown: boolean, id: string, name?: string): Promise<void> =>
    append([
      {
        at: 1,
        fact: {
          type: 'session-scored',
          session: name ?? `s-${++sessions}`,
          ...(score === undefined ? {} : { score }),
          lessons: isShown ? [id] : [],
          heldOut: isShown || name !== undefined ? [] : [id],
        },
      },
    ]);
  return { ...world, decide, session };
}

it('every inferred lesson on trial gets a date, one after another; what a person said gets none', async () => {
  const { add, decide, records } = await open();
  await add('first');
  await add('second');
  await add('said', { note: { source: 'told' } });
  await decide();
  const trials = (await readTrials(records)).all();
  expect(trials.map(({ subject }) => subject)).toEqual(['lesson/first/1', 'lesson/second/1']);
  const [first, second] = trials.map(({ until }) => until);
  expect(Math.round(((second ?? 0) - (first ?? 0)) / DAY_MS)).toBe(45);
});

it('sessions that come out worse with a lesson retire it; silence counts, and earlier sessions too', async () => {
  const { add, decide, session, library, records } = await open();
  for (let at = 0; at < 8; at++) await session(at < 6 ? 1 : undefined, false, '', `past-${at}`);
  await add('guess');
  await decide();
  expect((await readTrials(records)).of('lesson/guess/1')?.before).toMatchObject({ praise: 6, silent: 2 });
  for (let at = 0; at < 12; at++) await session(at % 4 === 0 ? undefined : 0, true, 'guess');
  for (let at = 0; at < 4; at++) await session(1, false, 'guess');
  await decide();
  expect(library.lesson('guess')).toMatchObject({
    state: 'retired',
    reason: expect.stringMatching(/^harmful: work comes out worse with it: 12 sessions with it, 4 without$/),
  });
});

it('a run that was killed after its verdict carries it out once', async () => {
  const { add, decide, session, library, records } = await open();
  await add('iso-dates');
  await decide();
  for (let at = 0; at < 14; at++) await session(1, true, 'iso-dates');
  for (let at = 0; at < 6; at++) await session(0, false, 'iso-dates');
  await decide(1);
  expect(library.lesson('iso-dates')?.state).toBe('trial');
  await decide();
  await decide();
  expect(library.lesson('iso-dates')?.state).toBe('live');
  const ends = (await records.events('library/trials')).filter(({ fact }) => fact.type === 'trial-ended');
  expect(ends).toHaveLength(1);
});
