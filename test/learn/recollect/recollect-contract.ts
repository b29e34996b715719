import { describe, expect, it, onTestFinished } from 'vitest';
import { sessionPrefix } from '../../../src/core/principal.ts';
import type { RecollectQuery } from '../../../src/core/recollection.ts';
import type { AsyncStore, Records } from '../../../src/core/store.ts';
import { createNgramEmbed } from '../../../src/embed/ngram-embed.ts';
import { createEvidenceReader } from '../../../src/evidence/evidence-reader.ts';
import { createIndexMessages } from '../../../src/learn/recollect/index-messages.ts';
import { createRecollect } from '../../../src/learn/recollect/recollect.ts';
import { recordsOf } from '../../../src/record/records.ts';
import { readStoredTurn } from '../../../src/record/stored-turn.ts';
import { createTurnEncoder } from '../../../src/record/turn-encoder.ts';
import { openRedactor } from '../../../src/redact/open-redactor.ts';
import { turnJobs } from '../turn-jobs.ts';

const BEGIN = Date.UTC(2026, 3, 14, 8);
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const AGENT = 'ada';
const QUESTION = 'In which hall does the crate with the lamps stand?';
const saying = (hall: string): string => `The crate with the lamps stands in the hall ${hall}.`;
const [ADA, BOB] = ['m_aaaaaaaa', 'm_bbbbbbbb'];
const [INES, OTTO] = ['u_0000000000000001', 'u_0000000000000002'];

interface Talk {
  readonly agent?: string;
  readonly project?: string;
}

/** When the process that indexes dies: at which of its writes, and whether that write still reaches the store. */
interface Death {
  readonly write: number;
  readonly isWritten: boolean;
}

/** One gateway: it records what people say, indexes it when their session ends, and searches it. */
function openGateway(store: AsyncStore, death?: Death) {
  const redactor = openRedactor();
  const encoder = createTurnEncoder({ ...redactor, setKeys: () => undefined });
  const records = recordsOf(Promise.resolve(store), () => now, redactor);
  const model = createNgramEmbed();
  const decode = (view: Parameters<typeof readStoredTurn>[0]) => readStoredTurn(view, records, new Map());
  let now = BEGIN;
  let writes = 0;
  let turns = 0;
  const append: Records['append'] = async (...given) => {
    const dies = ++writes === death?.write;
    if (!dies || death.isWritten) await records.append(...given);
    if (death !== undefined && writes >= death.write) throw new Error('killed');
    return [];
  };
  const evidence = createEvidenceReader({ ...records, decoder: () => decode });
  const indexMessages = createIndexMessages({ records: { ...records, append }, evidence, model });
  const recollect = createRecollect({
    records,
    decode,
    hasSecret: redactor.hasSecret,
    clock: { now: () => now },
    model,
  });
  return {
    records,
    writes: () => writes,
    index: (session: string) => indexMessages(session, now),
    /** Messages, each alone or with the answer to it. */
    say: async (
      session: string,
      said: readonly (string | readonly [string, string])[],
      { agent = AGENT, project }: Talk = {},
    ) => {
      const messages: object[] = [];
      for (const [content, reply] of said.map((one) => (typeof one === 'string' ? [one, 'Noted.'] : one))) {
        messages.push({ role: 'user', content });
        const place = project === undefined ? {} : { project: { id: project, label: project } };
        const at = { turn: `${session}-${++turns}`, session, agent, at: now, ...place };
        await store.append(encoder.batch(turnJobs(at, messages, reply)));
        messages.push({ role: 'assistant', content: reply });
        now += MINUTE;
      }
      await store.append({ facts: [{ at: now, fact: { type: 'session-end', session, reason: 'idle' } }] });
    },
    ask: (session: string, more: Partial<RecollectQuery> = {}) =>
      recollect({ text: QUESTION, session, agent: AGENT, ...more }),
    pass: (ms: number) => {
      now += ms;
    },
  };
}
type Gateway = ReturnType<typeof openGateway>;

/** What can be found: the entries without the order in which they were written. */
async function entriesIn({ records }: Gateway): Promise<readonly object[]> {
  const facts = await records.factsOf('message-indexed', 0, 1_000);
  return facts
    .flatMap(({ fact }) => (fact.type === 'message-indexed' ? [fact] : []))
    .toSorted((one, other) => (one.turn < other.turn ? -1 : 1));
}

/** In the order in which they were said. */
const textsOf = async (found: ReturnType<Gateway['ask']>): Promise<readonly string[]> =>
  (await found).toSorted((one, other) => one.at - other.at).map(({ text }) => text);

/** The contract of recollections for every store. `open`: a new, empty one, as often as it is opened by another gateway. */
export function describeRecollections(name: string, open: () => () => Promise<AsyncStore>): void {
  const openPlace = () => {
    const again = open();
    return async (death?: Death): Promise<Gateway> => {
      const store = await again();
      onTestFinished(() => store.close());
      return openGateway(store, death);
    };
  };

  describe(`what people said (${name})`, () => {
    it('is found by the person who said it, for the same agent and project, and by nobody else', async () => {
      const gateway = await openPlace()();
      const people: readonly (readonly [string, Talk?])[] = [
        [''],
        ['', { agent: 'bob' }],
        ['', { project: 'shop' }],
        [sessionPrefix(undefined, INES)],
        [sessionPrefix(ADA, undefined)],
        [sessionPrefix(ADA, undefined), { agent: 'bob' }],
        [sessionPrefix(ADA, undefined), { project: 'shop' }],
        [sessionPrefix(ADA, undefined), { project: 'other' }],
        [sessionPrefix(BOB, undefined)],
        [sessionPrefix(BOB, undefined), { project: 'shop' }],
        [sessionPrefix(ADA, INES)],
        [sessionPrefix(ADA, OTTO)],
        [sessionPrefix(BOB, INES)],
        [sessionPrefix('k_aaaaaaaa', INES)],
      ];
      for (const [nth, [prefix, talk]] of people.entries()) {
        await gateway.say(`${prefix}said-${nth}`, [saying(`number${nth}`)], talk);
        await gateway.index(`${prefix}said-${nth}`);
      }
      for (const [nth, [prefix, talk]] of people.entries())
        expect(await textsOf(gateway.ask(`${prefix}asks-${nth}`, talk))).toEqual([saying(`number${nth}`)]);
      // Nobody knows whose words these would be.
      expect(await gateway.ask(`${sessionPrefix('k_aaaaaaaa', undefined)}asks`)).toEqual([]);
    });

    it('is found by all gateways as soon as one has indexed it, also by one that has searched before', async () => {
      const gateways = openPlace();
      const [one, other] = [await gateways(), await gateways()];
      const session = sessionPrefix(ADA, undefined);
      for (let nth = 0; nth < 4; nth++) {
        const [here, there] = nth % 2 === 0 ? [one, other] : [other, one];
        const before = Array.from({ length: nth }, (_, past) => saying(`number${past}`));
        expect(await textsOf(there.ask(`${session}asks`))).toEqual(before);
        await here.say(`${session}said-${nth}`, [saying(`number${nth}`)]);
        await here.index(`${session}said-${nth}`);
        for (const gateway of [one, other]) gateway.pass(DAY);
        expect(await textsOf(there.ask(`${session}asks`))).toEqual([...before, saying(`number${nth}`)]);
      }
    });

    it('is found by what it answers, of which nothing is quoted; not in a project, where agents answer with code', async () => {
      const gateway = await openPlace()();
      const said = [
        [
          'The evening was a success.',
          'Lovely! Which singer performed at the concert of the harbour festival?',
        ],
        'It was Matt, and he stayed until midnight.',
      ] as const;
      for (const project of [undefined, 'shop']) {
        const talk = project === undefined ? {} : { project };
        await gateway.say(`said ${project}`, said, talk);
        await gateway.index(`said ${project}`);
        const found = gateway.ask('asks', {
          text: 'Which singer performed at the harbour festival?',
          ...talk,
        });
        expect(await textsOf(found)).toEqual(project === undefined ? [said[1]] : []);
      }
      await gateway.records.erase('said undefined', 'asked');
      const erased = (await entriesIn(gateway)).filter((one) => 'words' in one && one.words === '');
      expect(erased).toHaveLength(2);
      for (const one of erased) expect(one).not.toHaveProperty('around');
    });

    it('is found by what its author had said before it, where it points back to that; in a project, too', async () => {
      const gateway = await openPlace()();
      for (const talk of [{}, { project: 'shop' }]) {
        const session = `said ${talk.project}`;
        await gateway.say(session, ['Book a room for the harbour retro.', 'We moved it to Friday.'], talk);
        await gateway.index(session);
        const found = await textsOf(gateway.ask('asks', { text: 'When is the harbour retro?', ...talk }));
        expect(found).toEqual(['Book a room for the harbour retro.', 'We moved it to Friday.']);
      }
    });

    it('is found for a question about a place that they often name, unlike one about somebody to whom they speak', async () => {
      const gateway = await openPlace()();
      for (const name of ['Helsinki', 'Marta']) {
        const greeting = name === 'Marta' ? 'Hey Marta! ' : '';
        const said = Array.from({ length: 5 }, (_, nth) => `${greeting}I sent ${name} the invoice ${nth}.`);
        await gateway.say(name, [...said, `The lamp that reminds me of ${name} is green.`]);
        await gateway.index(name);
        const text = `What colour has the thing for the hall that I like most, from ${name}?`;
        const found = await textsOf(gateway.ask('asks', { text }));
        expect(found.some((one) => one.includes('green'))).toBe(name === 'Helsinki');
      }
    });

    it('is indexed once, though two gateways do it at the same time', async () => {
      const gateways = openPlace();
      const [one, other] = [await gateways(), await gateways()];
      await one.say('said', [saying('seven'), 'The lamps are of green glass.']);
      await Promise.all([one.index('said'), other.index('said'), one.index('said')]);
      expect(await entriesIn(one)).toHaveLength(2);
      expect(await entriesIn(other)).toEqual(await entriesIn(one));
    });

    it('is indexed to the same end, whichever write of the indexer a gateway dies at', async () => {
      const said = Array.from({ length: 33 }, (_, nth) => `Crate ${nth + 1} is of green glass.`);
      const index = async (death?: Death) => {
        const gateways = openPlace();
        const first = await gateways(death);
        await first.say('said', said);
        const isDead = await first.index('said').then(
          () => false,
          () => true,
        );
        expect(isDead).toBe(death !== undefined);
        const next = await gateways();
        await next.index('said');
        return { entries: await entriesIn(next), writes: first.writes() };
      };
      const whole = await index();
      expect(whole).toMatchObject({ writes: 2 });
      expect(whole.entries).toHaveLength(said.length);
      for (let write = 1; write <= whole.writes; write++)
        for (const isWritten of [false, true])
          expect((await index({ write, isWritten })).entries).toEqual(whole.entries);
    });

    it('is gone with its session: from the store, for a gateway that had loaded it, and for a new one', async () => {
      const gateways = openPlace();
      const [one, other] = [await gateways(), await gateways()];
      await one.say('said', [saying('seven')]);
      await one.say('kept', [saying('eight')]);
      for (const session of ['said', 'kept']) await one.index(session);
      for (const gateway of [one, other])
        expect(await textsOf(gateway.ask('asks'))).toEqual([saying('seven'), saying('eight')]);
      await other.records.erase('said', 'asked');
      // A gateway that only now comes to it indexes nothing.
      await other.index('said');
      for (const gateway of [one, other, await gateways()])
        expect(await textsOf(gateway.ask('asks'))).toEqual([saying('eight')]);
      const [erased, kept] = (await entriesIn(one)).toReversed();
      expect(erased).toMatchObject({ session: 'said', words: '' });
      expect(erased).not.toHaveProperty('vectors');
      expect(kept).toMatchObject({ session: 'kept', words: expect.stringMatching(/./) });
    });

    it('that was erased takes no place from what was kept', async () => {
      const gateway = await openPlace()();
      for (let nth = 0; nth < 24; nth++) {
        await gateway.say(`said-${nth}`, [saying(`number${nth}`)]);
        await gateway.index(`said-${nth}`);
      }
      await gateway.say('kept', [
        'The lamps of the crate are of green glass, which Nadia bought at the harbour.',
      ]);
      await gateway.index('kept');
      await gateway.ask('asks');
      for (let nth = 0; nth < 24; nth++) await gateway.records.erase(`said-${nth}`, 'asked');
      expect(await textsOf(gateway.ask('asks'))).toEqual([
        'The lamps of the crate are of green glass, which Nadia bought at the harbour.',
      ]);
    });

    it('is not quoted for its day either, once it was asked to be forgotten', async () => {
      const gateway = await openPlace()();
      await gateway.say('said', ['My locker at the pool has the number 4711.', 'The lamps came.']);
      await gateway.index('said');
      gateway.pass(DAY);
      const asked = () => textsOf(gateway.ask('asks', { text: 'What did I say yesterday?' }));
      expect(await asked()).toEqual(['My locker at the pool has the number 4711.', 'The lamps came.']);
      await gateway.say('forgets', ['Please forget my locker at the pool.']);
      await gateway.index('forgets');
      expect(await asked()).toEqual(['The lamps came.']);
    });

    it('is indexed as it is stored: a secret in it is neither found nor quoted', async () => {
      const gateway = await openPlace()();
      const key = `sk-ant-api03-${'Ab3dE5gH'.repeat(6)}`;
      await gateway.say('said', [saying(`of the key ${key}.`), saying('seven')]);
      await gateway.index('said');
      expect(await textsOf(gateway.ask('asks', { text: `${QUESTION} ${key}` }))).toEqual([saying('seven')]);
      expect(JSON.stringify(await entriesIn(gateway))).not.toContain(key.slice(8, 24));
    });

    it('is found by the day, the week or the month in which it was said', async () => {
      const gateway = await openPlace()();
      // 14 April 2026 is a Tuesday.
      for (const [nth, text] of [
        'The lamps came.',
        'Nadia painted the crate.',
        'The crate was sold.',
      ].entries()) {
        await gateway.say(`day-${nth}`, [text]);
        await gateway.index(`day-${nth}`);
        gateway.pass(nth === 1 ? 25 * DAY : DAY);
      }
      const asked = (text: string) => textsOf(gateway.ask('asks', { text }));
      // Now it is Monday, 11 May.
      expect(await asked('What did I say on 14 April?')).toEqual(['The lamps came.']);
      expect(await asked('what did I tell you yesterday')).toEqual(['The crate was sold.']);
      expect(await asked('What did I say last Sunday?')).toEqual(['The crate was sold.']);
      expect(await asked('Was habe ich im April gesagt?')).toEqual([
        'The lamps came.',
        'Nadia painted the crate.',
      ]);
      expect(await asked('What did I say about the crate in April?')).toEqual(['Nadia painted the crate.']);
      expect(await asked('What did I say on 3 March?')).toEqual([]);
    });

    it('has its day, and the times that its words name', async () => {
      const gateway = await openPlace()();
      await gateway.say('said', ['Yesterday the crate with the lamps came to the hall of the harbour.']);
      await gateway.index('said');
      const [found] = await gateway.ask('asks');
      expect(found).toMatchObject({ session: 'said', at: BEGIN });
      expect(found?.times).toEqual([{ words: 'yesterday', means: '13 April 2026' }]);
    });
  });
}
