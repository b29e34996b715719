import { afterAll, beforeAll, expect, it } from 'vitest';
import { createRandom } from '../../src/base/random.ts';
import { isVisibleTo } from '../../src/core/principal.ts';
import { type KeyWorld, openKeyWorld, type Speaker } from './key-world.ts';

/** Each world has one daemon; `RANDOM_WORLDS` and `WORLD_ACTIONS` ask for more than `npm test` has time for. */
const WORLDS = Number(process.env.RANDOM_WORLDS ?? 1);
const ACTIONS = Number(process.env.WORLD_ACTIONS ?? 14);
const LIMIT = 600_000;

interface Holder {
  readonly name: string;
  readonly key: string;
  /** The key as a principal; undefined: the home's own person. */
  readonly principal: string | undefined;
}

/** A word that one holder, and perhaps one end user of it, has brought into the world. */
interface Canary {
  readonly word: string;
  readonly principal: string | undefined;
  readonly agent: string;
  readonly how: string;
}

const AGENTS = ['builder', 'writer', '*', 'support'];
const SESSIONS = ['main', 'work', 'shared'];
const USERS = [undefined, undefined, 'ines', 'otto'];

let world: KeyWorld;
beforeAll(async () => {
  world = await openKeyWorld();
}, 240_000);
afterAll(() => world.close());

it.each(Array.from({ length: WORLDS }, (_, nth) => nth + 1))(
  'no prompt gains a word that only another key or another end user caused (world %i)',
  async (seed) => {
    const random = createRandom(`world/${seed}`);
    const pick = <T>(list: readonly T[]): T => list[random.below(list.length)] as T;
    const holders = await makeHolders(seed);
    const canaries: Canary[] = [];
    for (let nth = 0; nth < ACTIONS; nth++) {
      const holder = pick(holders);
      const user = pick(USERS);
      const agent = pick(AGENTS);
      const speaker: Speaker = { key: holder.key, agent, ...(user === undefined ? {} : { user }) };
      const word = `--canary-${seed}-${nth}`;
      const session = `${pick(SESSIONS)}-${seed}`;
      const how = pick(['chat', 'chat', 'feedback', 'event', 'episode'] as const);
      const principal = await act(how, speaker, session, word);
      canaries.push({ word, principal: principal ?? holder.principal, agent, how });
    }
    let shown = 0;
    for (const holder of holders)
      for (const user of [undefined, 'ines', 'otto'])
        for (const agent of ['builder', 'writer', 'support']) {
          const { prompt, principal } = await look({ key: holder.key, agent, ...(user && { user }) });
          for (const canary of canaries.filter(({ word }) => prompt.includes(word))) {
            shown++;
            expect(
              isVisibleTo(canary.principal, principal),
              `${canary.word} (${canary.how}, of ${canary.principal}) was shown to ${principal}`,
            ).toBe(true);
          }
        }
    // Without anything shown the law would hold for no reason.
    expect(shown).toBeGreaterThan(0);
  },
  LIMIT,
);

async function makeHolders(seed: number): Promise<readonly Holder[]> {
  const made: Holder[] = [{ name: 'first', key: world.here.key, principal: undefined }];
  for (const [name, more] of [
    [`app-a-${seed}`, { mayRate: true }],
    [`app-b-${seed}`, {}],
    [`client-${seed}`, { isOwn: true }],
  ] as const) {
    const created = await world.here.owner('POST', '/api/keys', { name, ...more });
    const isOwn = 'isOwn' in more;
    made.push({ name, key: String(created.key), principal: isOwn ? undefined : String(created.id) });
  }
  return made;
}

/** The principal that a reply's session id names. */
const principalIn = (session: string): string | undefined => {
  const [, tag, person] = /^(?:([kc]_\w+)|o_\w+)?(?:(?:^|\.)(u_\w+))?:/.exec(session) ?? [];
  return tag !== undefined && person !== undefined ? `${tag}.${person}` : (tag ?? person);
};

async function act(
  how: 'chat' | 'feedback' | 'event' | 'episode',
  speaker: Speaker,
  session: string,
  word: string,
): Promise<string | undefined> {
  const { key, agent = '' } = speaker;
  const rule = `Always build it with the flag ${word}.`;
  if (how === 'chat') {
    const answer = await world.teach(speaker, `${session}-${word}`, rule);
    const headers = { 'x-instar-session-done': 'true' };
    const last = [{ role: 'user', content: `We built the shop with ${word}, remember that.` }];
    await world.learned(await world.send({ ...speaker, headers }, `${session}-${word}-end`, last));
    return principalIn(String(answer.headers['x-instar-session']));
  }
  if (how === 'feedback') {
    const answer = await world.send(speaker, session, [{ role: 'user', content: 'Compile the shop.' }]);
    await world.learned(answer);
    await world.call(key, 'POST', '/v1/feedback', {
      turn: answer.headers['x-instar-turn'],
      score: -1,
      note: rule,
    });
    await world.here.daemon.settle();
    return principalIn(String(answer.headers['x-instar-session']));
  }
  const event = (body: object) => world.call(key, 'POST', '/v1/events', { agent, ...body });
  if (how === 'event') {
    for (let nth = 0; nth < 4; nth++)
      await event({ kind: 'retry_exhausted', session: `${session}-${nth}`, repair: rule, error: word });
  } else {
    const id = `${session}-${word}`;
    await event({ kind: 'episode_start', session: id, task: 'Compile the shop.' });
    await event({ kind: 'episode_attempt', session: id, action: 'make', result: `error ${word}`, ok: false });
    await event({ kind: 'episode_attempt', session: id, action: `make ${word}`, result: 'ok', ok: true });
    await event({ kind: 'episode_end', session: id, outcome: 'success', note: rule });
  }
  await world.here.daemon.settle();
  return undefined;
}

async function look(
  speaker: Speaker,
): Promise<{ readonly prompt: string; readonly principal: string | undefined }> {
  const asked = await world.promptOf(speaker, 'With which flag did we build the shop, do you remember?');
  const prompt = `${await world.promptOf(speaker)}\n${asked}`;
  const answer = await world.send(speaker, 'who', [{ role: 'user', content: 'Compile the shop.' }]);
  return { prompt, principal: principalIn(String(answer.headers['x-instar-session'])) };
}
