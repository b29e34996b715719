import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Fact } from '../../../src/core/fact.ts';
import { principalOfSession, sessionPrefix } from '../../../src/core/principal.ts';
import { type AsyncStore, FOLDED_TYPES, formatTurnBodyKey, type Records } from '../../../src/core/store.ts';
import { recordsOfMember } from '../../../src/record/member-records.ts';
import { end, start } from './facts.ts';

const MEMBERS = ['m_aaaaaaaa', 'm_bbbbbbbb', 'm_aaaaaaaab'] as const;
/** The home's own person is nobody's member; some name their conversations as if they were a member's. */
const OWNERS = ['', ...MEMBERS] as const;
const NAMES = ['main', 'm_aaaaaaaa', 'x:m_bbbbbbbb:', 'zz'] as const;

/** A turn of somebody, and what was said about it. */
const happening = fc.record({
  owner: fc.constantFrom(...OWNERS),
  name: fc.constantFrom(...NAMES),
  rated: fc.constantFrom('turn', 'session', 'none'),
  isAppraised: fc.boolean(),
  isReported: fc.boolean(),
  isEnded: fc.boolean(),
});
type Happening = typeof happening extends fc.Arbitrary<infer One> ? One : never;

interface SecretTurn {
  readonly turn: string;
  readonly session: string;
  /** In every text about the turn, and in nothing about another one. */
  readonly secret: string;
  readonly facts: readonly Fact[];
}

function createTurn(
  { owner, name, rated, isAppraised, isReported, isEnded }: Happening,
  nth: number,
): SecretTurn {
  const session = owner === '' ? name : `${sessionPrefix(owner, undefined)}${name}`;
  const turn = `t${nth}q`;
  const secret = `secret${nth}q`;
  const project = { id: secret, label: secret };
  const subject = rated === 'turn' ? { turn } : { session };
  const facts: readonly Fact[] = [
    start(turn, session, { project, agent: secret, request: formatTurnBodyKey({ turn, part: 'request' }) }),
    ...(isEnded ? [end(turn, { failure: secret, reply: formatTurnBodyKey({ turn, part: 'reply' }) })] : []),
    ...(rated === 'none'
      ? []
      : [{ type: 'reward-given', ...subject, source: 'person', score: 1, note: secret } as const]),
    ...(isAppraised
      ? [
          {
            type: 'turn-appraised',
            ...{ turn, session, scope: { agent: secret }, generation: 1, verdict: 'failure', signals: [] },
            ...{ digests: [secret], source: 'person', reward: 0 },
          } as const satisfies Fact,
        ]
      : []),
    ...(isReported
      ? [{ type: 'event-reported', kind: 'build', session, data: { log: secret } } as const satisfies Fact]
      : []),
  ];
  return { turn, session, secret, facts };
}

const MANY = 10_000;
const INDEXED_TYPES = [...FOLDED_TYPES, 'event-reported'] as const;

/** Every question that the record answers, with every id that there is: a new one does not compile without its questions. */
const askAll = (
  records: Records,
  world: readonly SecretTurn[],
): Readonly<Record<keyof Records, readonly (() => Promise<unknown>)[]>> => {
  const sessions = [...new Set(world.map(({ session }) => session))];
  const turns = world.map(({ turn }) => turn);
  const ofSession = (ask: (session: string) => Promise<unknown>) => sessions.map((id) => () => ask(id));
  const ofTurn = (ask: (turn: string) => Promise<unknown>) => turns.map((id) => () => ask(id));
  const patterns = ['', 'm', ...MEMBERS, ...NAMES, 't'].flatMap((beginning) =>
    ['', 'q', 'n'].map((ending) => ({ beginning, end: ending })),
  );
  return {
    facts: [() => records.facts(0, MANY), () => records.facts(0, 1), () => records.facts(2, 3)],
    factsOf: INDEXED_TYPES.map((type) => () => records.factsOf(type, 0, MANY)),
    newestOf: INDEXED_TYPES.map((type) => () => records.newestOf(type, 3)),
    recalls: ofSession((id) => records.recalls(id)),
    sampled: ofSession((id) => records.sampled(id)),
    events: ofSession((id) => records.events(id)),
    sessions: [
      () => records.sessions({ limit: MANY }),
      ...MEMBERS.map((member) => () => records.sessions({ limit: MANY, member })),
      ...world.map(
        ({ secret }) =>
          () =>
            records.sessions({ limit: MANY, agent: secret }),
      ),
      ...world.map(
        ({ secret }) =>
          () =>
            records.sessions({ limit: MANY, project: secret }),
      ),
    ],
    session: ofSession((id) => records.session(id)),
    ids: patterns.flatMap((pattern) => [
      () => records.ids('sessions', pattern, MANY),
      () => records.ids('turns', pattern, MANY),
    ]),
    turns: ofSession((id) => records.turns(id)),
    turn: ofTurn((id) => records.turn(id)),
    openTurns: [() => records.openTurns()],
    rewards: [
      ...ofSession((session) => records.rewards({ session })),
      ...ofSession((turnsOf) => records.rewards({ turnsOf })),
      ...ofTurn((turn) => records.rewards({ turn })),
    ],
    judgements: [
      ...ofSession((id) => records.judgements(id, 'turn-appraised')),
      ...ofSession((id) => records.judgements(id, 'session-scored')),
    ],
    block: ofTurn(async (turn) => [
      await records.block(formatTurnBodyKey({ turn, part: 'request' })),
      await records.block(formatTurnBodyKey({ turn, part: 'reply' })),
    ]),
    chains: [() => records.chains(MANY)],
    totals: [async () => ({ ...(await records.totals()), facts: 0 })],
    check: [() => records.check()],
    append: [],
    erase: [],
    snapshot: [],
  };
};

/** No question about the record shows a member what is another's; and what is the member's own, all of it. */
export function describeVisibility(name: string, open: () => Promise<AsyncStore>): void {
  const fill = async (store: AsyncStore, world: readonly SecretTurn[]): Promise<void> => {
    let time = 1000;
    for (const { turn, session, secret, facts } of world) {
      await store.append({
        facts: facts.map((fact) => ({ at: time++, fact })),
        blocks: (['request', 'reply'] as const).map((part) => ({
          hash: formatTurnBodyKey({ turn, part }),
          text: secret,
          session,
        })),
        chains: [{ session, link: secret }],
      });
    }
  };
  const worlds = fc.array(happening, { minLength: 2, maxLength: 12 }).map((all) => all.map(createTurn));
  const recordsOver = (store: AsyncStore): Records => ({
    ...store,
    append: (facts, blocks = []) => store.append({ facts, blocks }),
    erase: (session, reason) => store.erase(session, 9e6, reason),
  });

  describe(`what a member sees of a record (${name})`, () => {
    it('is all of the own sessions and not a word of another one, whatever is asked', async () => {
      let answers = 0;
      await fc.assert(
        fc.asyncProperty(worlds, fc.constantFrom(...MEMBERS), async (world, member) => {
          const store = await open();
          try {
            await fill(store, world);
            const isOwn = ({ session }: SecretTurn): boolean => principalOfSession(session) === member;
            const own = recordsOfMember(recordsOver(store), member);
            const seen = new Set<string>();
            for (const [ask, questions] of Object.entries(askAll(own, world)))
              for (const question of questions) {
                const text = JSON.stringify(await question()) ?? '';
                const shown = world.filter(
                  ({ turn, secret }) => text.includes(secret) || text.includes(`"${turn}"`),
                );
                expect([ask, shown.filter((one) => !isOwn(one))]).toEqual([ask, []]);
                for (const { secret } of shown) seen.add(secret);
                if (shown.length > 0) answers++;
              }
            expect([...seen].sort()).toEqual(
              world
                .filter(isOwn)
                .map(({ secret }) => secret)
                .sort(),
            );
          } finally {
            await store.close();
          }
        }),
        { numRuns: RUNS },
      );
      // Silence would pass as well.
      expect(answers).toBeGreaterThan(RUNS);
    }, 240_000);

    it('a member writes nothing about another’s session or turn, and erases none', async () => {
      await fc.assert(
        fc.asyncProperty(worlds, fc.constantFrom(...MEMBERS), async (world, member) => {
          const store = await open();
          try {
            await fill(store, world);
            const own = recordsOfMember(recordsOver(store), member);
            const mine = `${sessionPrefix(member, undefined)}new`;
            const { facts: before } = await store.totals();
            for (const { turn, session } of world.filter(
              (one) => principalOfSession(one.session) !== member,
            )) {
              const rate = { type: 'reward-given', source: 'person', score: -1 } as const;
              for (const fact of [
                { ...rate, turn },
                { ...rate, session },
                { ...rate, turn, session: mine },
                end(turn),
                start('new', session),
                { type: 'session-end', session, reason: 'asked' } as const,
                { type: 'event-reported', kind: 'build', data: {} } as const,
              ] satisfies readonly Fact[])
                await expect(own.append([{ at: 5, fact }])).rejects.toMatchObject({ code: 'locked' });
              expect((await own.erase(session, 'asked')).turns).toBe(0);
            }
            expect((await store.totals()).facts).toBe(before);
          } finally {
            await store.close();
          }
        }),
        { numRuns: RUNS },
      );
    }, 240_000);
  });
}

const RUNS = 25;
