import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openOfflineApi } from '../../src/api/offline-api.ts';
import { openPageReads } from '../../src/api/page/page-reads.ts';
import { homeAt } from '../../src/config/home.ts';
import type { Fact } from '../../src/core/fact.ts';
import { asArray, asObject, asString, type Json, type JsonObject } from '../../src/core/json.ts';
import { ATTEMPT_PREFIX } from '../../src/core/principal.ts';
import type { NewFact } from '../../src/core/store.ts';
import { countWork, describeTrend } from '../../src/lessons/explain/count-work.ts';
import { openSqliteStore } from '../../src/record/store/sqlite-store.ts';
import { end, start } from '../record/store/facts.ts';

const DAY = 86_400_000;

type Word = 'praised' | 'blamed' | 'blamed silently';
type Verdict = 'success' | 'failure' | 'ambiguous';

interface WorldTurn {
  readonly role: 'main' | 'aux';
  /** What is said about it, one after the other: a rating, or an appraisal that knows a correction in the chat. */
  readonly said: readonly (
    | { readonly is: 'rated'; readonly word: Word }
    | { readonly is: 'appraised'; readonly verdict: Verdict; readonly isCorrected: boolean }
  )[];
  readonly rules: readonly ('kept' | 'broken' | 'told-again' | 'shown')[];
}

interface WorldSession {
  readonly isPractice: boolean;
  readonly daysAgo: number;
  readonly turns: readonly WorldTurn[];
  readonly score: number | undefined;
}

const turns: fc.Arbitrary<WorldTurn> = fc.record({
  role: fc.constantFrom('main' as const, 'main' as const, 'aux' as const),
  said: fc.array(
    fc.oneof(
      fc.record({
        is: fc.constant('rated' as const),
        word: fc.constantFrom<Word>('praised', 'blamed', 'blamed silently'),
      }),
      fc.record({
        is: fc.constant('appraised' as const),
        verdict: fc.constantFrom<Verdict>('success', 'failure', 'ambiguous'),
        isCorrected: fc.boolean(),
      }),
    ),
    { maxLength: 3 },
  ),
  rules: fc.array(fc.constantFrom('kept', 'broken', 'told-again', 'shown'), { maxLength: 2 }),
});

const worlds: fc.Arbitrary<readonly WorldSession[]> = fc.array(
  fc.record({
    isPractice: fc.boolean(),
    daysAgo: fc.constantFrom(0, 0, 1, 6, 20, 50),
    turns: fc.array(turns, { minLength: 1, maxLength: 3 }),
    score: fc.option(fc.constantFrom(0, 0.25, 0.5, 0.75, 1), { nil: undefined }),
  }),
  { minLength: 3, maxLength: 12 },
);

const idOf = (index: number, { isPractice }: WorldSession): string =>
  `${isPractice ? ATTEMPT_PREFIX : 'session-'}${index}`;

const TOLD: Readonly<Record<Word, { readonly score: number; readonly note?: string }>> = {
  praised: { score: 1 },
  blamed: { score: -1, note: 'name the file' },
  'blamed silently': { score: -1 },
};

/** The facts of a world, as the parts of the daemon write them. Sessions of today begin just after midnight. */
function factsOf(world: readonly WorldSession[], midnight: number): readonly NewFact[] {
  const facts: NewFact[] = [];
  world.forEach((session, index) => {
    let at = midnight - session.daysAgo * DAY + index * 1000;
    const write = (fact: Fact): void => void facts.push({ at: at++, fact });
    const id = idOf(index, session);
    session.turns.forEach(({ role, said, rules }, place) => {
      const turn = `${id}-turn-${place}`;
      write(start(turn, id, { role }));
      write(end(turn));
      for (const one of said)
        if (one.is === 'rated') write({ type: 'reward-given', turn, source: 'person', ...TOLD[one.word] });
        else
          write({
            type: 'turn-appraised',
            turn,
            session: id,
            scope: {},
            generation: 0,
            verdict: one.verdict,
            signals: one.isCorrected
              ? [{ name: 'user-corrected', source: 'chat', score: 0, weight: 3, reason: 'said so' }]
              : [],
            digests: [],
          });
      if (rules.length > 0)
        write({
          type: 'rules-observed',
          session: id,
          turn,
          results: rules.map((outcome) => ({ lesson: 'lesson-a', revision: 1, outcome })),
        });
    });
    if (session.score !== undefined)
      write({ type: 'session-scored', session: id, score: session.score, lessons: [], heldOut: [] });
  });
  return facts.toSorted((a, b) => a.at - b.at);
}

/** The same counts from the world itself. */
function expected(world: readonly WorldSession[]) {
  const people = world.filter(({ isPractice }) => !isPractice);
  const all = people.flatMap((session) => session.turns);
  const last = all.map(({ said }) => {
    const word = said.at(-1);
    const verdict = said.findLast((one) => one.is === 'appraised');
    return {
      isCorrected:
        word?.is === 'rated' ? word.word !== 'praised' : word?.is === 'appraised' && word.isCorrected,
      verdict: verdict?.is === 'appraised' ? verdict.verdict : undefined,
    };
  });
  const rules = all.flatMap((turn) => turn.rules);
  return {
    sessions: people.length,
    turns: all.length,
    successes: last.filter(({ verdict }) => verdict === 'success').length,
    failures: last.filter(({ verdict }) => verdict === 'failure').length,
    corrections: last.filter(({ isCorrected }) => isCorrected).length,
    feedback: all.flatMap(({ said }) => said.filter(({ is }) => is === 'rated')).length,
    scored: people.filter(({ score }) => score !== undefined).length,
    rules: {
      kept: rules.filter((outcome) => outcome === 'kept').length,
      broken: rules.filter((outcome) => outcome === 'broken').length,
      toldAgain: rules.filter((outcome) => outcome === 'told-again').length,
    },
  };
}

function outcomeOf({ turns: all, score }: WorldSession): 'good' | 'bad' | undefined {
  const ratings = all.flatMap(({ said }) => said.flatMap((one) => (one.is === 'rated' ? [one.word] : [])));
  const word = ratings.at(-1);
  if (word !== undefined) return word === 'praised' ? 'good' : 'bad';
  return score === undefined || score === 0.5 ? undefined : score < 0.5 ? 'bad' : 'good';
}

/** Midnight where this machine is; a world of today needs a few minutes of it. */
function midnightOf(now: number): number {
  const date = new Date(now);
  return new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
}

describe('what is counted of people’s work', () => {
  it('is the same on the page, in a terminal and in the list of sessions, whatever happened', async () => {
    await fc.assert(
      fc.asyncProperty(worlds, async (world) => {
        const dir = mkdtempSync(path.join(tmpdir(), 'instar-counts-'));
        try {
          const home = homeAt(path.join(dir, 'home'));
          mkdirSync(home.dir, { mode: 0o700 });
          const now = Date.now();
          const store = openSqliteStore({ file: home.storeFile });
          for (const fact of factsOf(world, midnightOf(now))) store.append({ facts: [fact] });
          store.close();

          const opened = await openOfflineApi(home, {}, { mayCreate: false, key: undefined });
          const today = await opened.lessonsApi.today();
          const listed = await opened.api.sessions({ limit: 100 });
          opened.close();
          const ofToday = expected(world.filter(({ daysAgo }) => daysAgo === 0));
          const { successes, failures, ...counts } = ofToday;
          expect(today).toMatchObject({ ...counts, appraised: { successes, failures } });

          const reads = openPageReads(home.storeFile);
          const offset = -new Date(now).getTimezoneOffset();
          const { days } = await reads.home({ now, offset });
          const { sessions } = await reads.sessions({ limit: 100 });
          const bad: Json[] = [];
          // A search pauses on a busy machine, and says where it goes on.
          for (let cursor: string | undefined = ''; cursor !== undefined; ) {
            const part: JsonObject = await reads.sessions({
              limit: 100,
              outcome: 'bad',
              ...(cursor && { cursor }),
            });
            bad.push(...asArray(part.sessions));
            cursor = asString(part.next);
          }
          await reads.close();
          const drawn = asArray(days).map(asObject);
          expect(drawn.at(-1)).toMatchObject({
            sessions: ofToday.sessions,
            corrections: ofToday.corrections,
            broken: ofToday.rules.broken,
          });
          const month = expected(world.filter(({ daysAgo }) => daysAgo < 30));
          const sum = (name: string) => drawn.reduce((total, day) => total + Number(day[name]), 0);
          expect([sum('sessions'), sum('corrections'), sum('broken')]).toEqual([
            month.sessions,
            month.corrections,
            month.rules.broken,
          ]);

          const people = world.flatMap((session, index) =>
            session.isPractice ? [] : [{ id: idOf(index, session), session }],
          );
          const inList = asArray(sessions).map(asObject);
          expect(inList.map(({ id, turns: count, outcome }) => [id, count, outcome]).sort()).toEqual(
            people.map(({ id, session }) => [id, session.turns.length, outcomeOf(session)]).sort(),
          );
          expect(listed.map(({ id, turns: count }) => [id, count]).sort()).toEqual(
            inList.map(({ id, turns: count }) => [id, count]).sort(),
          );
          expect(bad.length).toBe(inList.filter(({ outcome }) => outcome === 'bad').length);
        } finally {
          rmSync(dir, { recursive: true, force: true });
        }
      }),
      { numRuns: 4 },
    );
  });
});

describe('whether it gets better', () => {
  const work = (sessions: number, corrections: number) => ({
    ...countWork([], { from: 0, to: 0 }),
    sessions,
    corrections,
  });

  it.each([
    ['nothing happened', work(0, 0), work(0, 0), 'none'],
    ['one conversation', work(0, 0), work(1, 1), 'early'],
    ['a week without a time before it', work(0, 0), work(40, 20), 'early'],
    ['much fewer than before', work(60, 40), work(30, 3), 'better'],
    ['much more than before', work(60, 6), work(30, 20), 'worse'],
    ['about as many', work(60, 20), work(30, 9), 'same'],
    ['none at all', work(60, 0), work(30, 0), 'same'],
  ])('says of %s what the numbers can bear', (_, before, after, is) => {
    expect(describeTrend(before, after).is).toBe(is);
  });
});
