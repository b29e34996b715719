import fc from 'fast-check';
import type { Fact } from '../../../src/core/fact.ts';
import type { AsyncStore, Batch, Block, NewFact, Store } from '../../../src/core/store.ts';
import { formatTurnBodyKey } from '../../../src/core/store.ts';
import { end, start } from './facts.ts';

/** Unusual ids: a leading quote, a NUL, a lone surrogate. */
export const SESSIONS = ['s1', 's2', 's3', '"s4"', 's\u0000one', 's\u0000two', 's\ud800'];
export const HASHES = ['aa01', 'aa02', 'aa03', 'ff', 'not hex', 'AA01'];
/** Each session has three turns; the last turn of the list has no session. */
export const TURNS = [...SESSIONS.flatMap((session) => [1, 2, 3].map((n) => `${session}/${n}`)), 'ghost'];
const sessionOf = (turn: string): string => turn.replace(/\/\d$/, '');

/** All text of a session contains its marker, so that a test can search for it after the erasure. */
export const markOf = (session: string): string => `<said in ${JSON.stringify(session)}>`;

const session = fc.constantFrom(...SESSIONS);
const turn = fc.constantFrom(...TURNS);
const time = fc.integer({ min: 0, max: 50 });
const score = fc.double({ min: -1, max: 1, noNaN: true });
const filler = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 12 }), fc.constant('long '.repeat(300)));

const startFact = fc
  .tuple(turn, fc.option(filler), fc.constantFrom('claude', undefined), fc.constantFrom('p1', 'p2'))
  .map(
    ([id, label, client, project]): Fact =>
      start(id, sessionOf(id), {
        ...(client ? { client } : {}),
        ...(label === null ? {} : { project: { id: project, label: markOf(sessionOf(id)) + label } }),
        request: 'aa01',
      }),
  );
const endFact = fc
  .tuple(turn, fc.option(filler), fc.constantFrom(...HASHES))
  .map(
    ([id, failure, reply]): Fact =>
      end(id, { reply, ...(failure === null ? {} : { failure: markOf(sessionOf(id)) + failure }) }),
  );
const rewardFact = fc.tuple(turn, session, fc.constantFrom('turn', 'session', 'both'), score, filler).map(
  ([id, other, names, given, note]): Fact => ({
    type: 'reward-given',
    ...(names === 'session' ? {} : { turn: id }),
    ...(names === 'turn' ? {} : { session: names === 'both' ? sessionOf(id) : other }),
    source: 'person',
    score: given,
    note: markOf(names === 'session' ? other : sessionOf(id)) + note,
  }),
);
const eventFact = fc.tuple(fc.option(session), filler).map(
  ([of, text]): Fact => ({
    type: 'event-reported',
    kind: 'build',
    ...(of === null ? {} : { session: of }),
    data: { text: (of === null ? '' : markOf(of)) + text, nested: [null, true, { deep: 1 }] },
  }),
);
const readFact = fc.tuple(turn, filler).map(
  ([id, text]): Fact => ({
    type: 'message-read',
    session: sessionOf(id),
    turn: id,
    model: 'maker/reader',
    spans: [{ quote: markOf(sessionOf(id)) + text, kind: 'rule' }],
  }),
);
const sessionEnd = session.map((of): Fact => ({ type: 'session-end', session: of, reason: 'quit' }));
const tombstone = session.map(
  (of): Fact => ({ type: 'session-erased', session: of, turns: 0, reason: 'hearsay' }),
);

const newFact: fc.Arbitrary<NewFact> = fc
  .tuple(
    time,
    fc.oneof(
      { weight: 5, arbitrary: startFact },
      { weight: 4, arbitrary: endFact },
      { weight: 2, arbitrary: rewardFact },
      { weight: 2, arbitrary: eventFact },
      { weight: 2, arbitrary: readFact },
      { weight: 1, arbitrary: sessionEnd },
      { weight: 1, arbitrary: tombstone },
    ),
    fc.option(fc.constantFrom('k1', 'k2', 'k3', 'k\u0000', '"k')),
  )
  .map(([when, fact, key]) => ({ at: when, fact, ...(key === null ? {} : { key }) }));

/** A block's text is a function of its hash; every session that is to be erased also has a block of its own. */
const block: fc.Arbitrary<Block> = fc
  .tuple(session, fc.constantFrom(...HASHES), fc.boolean())
  .map(([of, hash, isNamed]) => ({ hash, session: of, ...(isNamed ? {} : { text: textOf(hash) }) }));

export const textOf = (hash: string): string =>
  hash > 'b' ? `long ${hash} `.repeat(400) : `text of ${hash}`;

/** The body of one turn; its text contains the session's marker. */
const ownBlock: fc.Arbitrary<Block> = fc
  .tuple(turn, fc.constantFrom('request', 'reply'), filler)
  .map(([id, part, text]) => ({
    hash: formatTurnBodyKey({ turn: id, part }),
    session: sessionOf(id),
    text: `${markOf(sessionOf(id))}${part}${text}`,
  }));

const batch: fc.Arbitrary<Batch> = fc.record({
  facts: fc.array(newFact, { maxLength: 8 }),
  blocks: fc.array(fc.oneof(block, ownBlock), { maxLength: 12 }),
  chains: fc.array(
    fc.tuple(session, fc.constantFrom('l1', 'l2')).map(([of, link]) => ({ session: of, link })),
    { maxLength: 2 },
  ),
});

/** An operation on a store; its result is part of the comparison. */
export type Step = { readonly name: string; readonly run: (store: Store | AsyncStore) => unknown };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: batch.map((of) => ({
      name: JSON.stringify(of),
      run: (store: Store | AsyncStore) => store.append(of),
    })),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(session, time).map(([of, when]) => ({
      name: `erase ${of} at ${when}`,
      run: (store: Store | AsyncStore) => store.erase(of, when, 'asked'),
    })),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(time, fc.integer({ min: 0, max: 3 })).map(([before, limit]) => ({
      name: `expire ${limit} before ${before}`,
      run: (store: Store | AsyncStore) => store.expire(before, 60, limit),
    })),
  },
);

export const steps = fc.array(step, { minLength: 1, maxLength: 8 });
