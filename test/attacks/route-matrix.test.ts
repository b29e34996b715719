import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PAGE_ROUTES } from '../../src/api/router/page-routes.ts';
import type { RouteShape } from '../../src/api/router/route-shape.ts';
import { routeName } from '../../src/api/router/route-shape.ts';
import { ROUTES } from '../../src/api/router/routes.ts';
import type { Answer } from '../support/client.ts';
import { type KeyWorld, openKeyWorld, TASK } from './key-world.ts';

/**
 * Every route of the API, with every kind of key. A route that is added later is in it: what it answers follows from its `access`, and
 * a route for callers needs a row below that says what it may not show of another key.
 */
const ALL: readonly (readonly [string, RouteShape])[] = [
  ...Object.entries(ROUTES),
  ...Object.entries(PAGE_ROUTES),
];
const SECRET = '--of-ada';

interface Ids {
  readonly session: string;
  readonly turn: string;
  readonly episode: string;
  readonly lesson: string;
}

let world: KeyWorld;
let ada: string;
let eve: string;
let member: string;
let of: Ids;
beforeAll(async () => {
  world = await openKeyWorld();
  ada = await world.makeKey('ada', { agents: ['builder'] });
  eve = await world.makeKey('eve', { agents: ['writer'] });
  const added = await world.here.owner('POST', '/api/members/add', { name: 'mia', role: 'member' });
  member = String(added.key);
  const taught = await world.teach({ key: ada, agent: 'builder' }, 'hers', `Always build it with ${SECRET}.`);
  const event = (body: object) => world.call(ada, 'POST', '/v1/events', { session: 'her-episode', ...body });
  await event({ kind: 'episode_start', task: TASK });
  const listed = JSON.parse((await world.call(ada, 'GET', '/api/lessons')).text) as readonly { id: string }[];
  of = {
    session: String(taught.headers['x-instar-session']),
    turn: String(taught.headers['x-instar-turn']),
    episode: 'her-episode',
    lesson: String(listed[0]?.id),
  };
}, 240_000);
afterAll(() => world.close());

const at = ({ path }: RouteShape): string => path.replace(':id', encodeURIComponent(of.lesson));
const call = (key: string, route: RouteShape): Promise<Answer> =>
  world.call(key, route.method, at(route), route.method === 'GET' ? undefined : {});

describe('who may call a route', () => {
  it.each(ALL)('%s without a key', async (_, route) => {
    const { status } = await world.call('', route.method, at(route), route.method === 'GET' ? undefined : {});
    if (route.access === 'anyone') expect(status).not.toBe(401);
    else expect([401, 429], routeName(route)).toContain(status);
  });

  it.each(ALL.filter(([, { access }]) => access !== 'anyone' && access !== 'caller'))(
    '%s is refused to the key of a client',
    async (_, route) => {
      expect((await call(eve, route)).status).toBe(403);
    },
  );

  it.each(ALL.filter(([, { access }]) => access === 'owner' || access === 'reviewer'))(
    '%s is refused to a member',
    async (_, route) => {
      expect((await call(member, route)).status).toBe(403);
    },
  );

  /** A feed of events has no end: that it is refused to others is above. */
  const hasEnd = ({ reply }: RouteShape): boolean =>
    typeof reply === 'function' || !reply.type.includes('event-stream');

  it.each(ALL.filter(([, route]) => route.method === 'GET' && route.access !== 'anyone' && hasEnd(route)))(
    '%s is open to the owner',
    async (_, route) => {
      const { status } = await call(ownerKey(), route);
      expect([401, 403]).not.toContain(status);
    },
  );
});

const ownerKey = (): string => world.ownerKey;

/** What a key may not get of another's: a call that names what is foreign, and what the answer must not be. */
const FOREIGN: Readonly<Record<string, (key: string) => Promise<void>>> = {
  openapi: async (key) => holdsNothing(await world.call(key, 'GET', '/api/openapi.json')),
  feedback: async (key) => {
    for (const body of [{ turn: of.turn }, { session: of.session }])
      expect(
        (await world.call(key, 'POST', '/v1/feedback', { ...body, score: -1, note: 'bad' })).status,
      ).not.toBe(200);
  },
  events: async (key) => {
    const answer = await world.call(key, 'POST', '/v1/events', {
      kind: 'note',
      session: of.session,
      agent: 'builder',
    });
    expect(answer.text).not.toContain(SECRET);
    const { turns } = await world.here.owner('GET', `/api/sessions/${encodeURIComponent(of.session)}`);
    expect(turns).toHaveLength(3);
  },
  status: async (key) => holdsNothing(await world.call(key, 'GET', '/api/status')),
  lessons: async (key) => holdsNothing(await world.call(key, 'GET', '/api/lessons')),
  recall: async (key) => {
    for (const body of [
      { task: TASK, agent: 'builder' },
      { name: of.lesson, agent: 'builder' },
      { task: TASK, agent: 'builder', episode: of.episode },
    ])
      holdsNothing(await world.call(key, 'POST', '/api/recall', body));
  },
  evaluateSkill: async (key) =>
    holdsNothing(
      await world.call(key, 'POST', '/api/skills/evaluate', {
        name: 'a-skill',
        description: 'When you build the shop.',
        content: `Build it with the flag that others use. ${TASK}`,
      }),
    ),
  episode: async (key) => {
    for (const id of [of.episode, of.session])
      expect((await world.call(key, 'GET', `/api/episodes/${encodeURIComponent(id)}`)).status).toBe(404);
  },
  training: async (key) => holdsNothing(await world.call(key, 'GET', '/api/train')),
  learning: async (key) => holdsNothing(await world.call(key, 'GET', '/api/learning')),
  schedule: async (key) => holdsNothing(await world.call(key, 'GET', '/api/schedule')),
  overlays: async (key) => holdsNothing(await world.call(key, 'GET', '/api/overlays?agent=builder')),
};

const holdsNothing = ({ text }: Answer): void => {
  expect(text).not.toContain(SECRET);
  expect(text).not.toContain(of.lesson);
};

describe('what a key gets of another’s', () => {
  const callers = ALL.filter(([, { access }]) => access === 'caller').map(([name]) => name);

  it('is said for every route that clients may call', () => {
    expect(Object.keys(FOREIGN).toSorted()).toEqual(callers.toSorted());
  });

  it.each(callers)('%s shows and changes nothing of another key, an own client or a member', async (name) => {
    for (const key of [eve, world.here.key, member]) await FOREIGN[name]?.(key);
  });

  it('is there for the key itself, else the rows above would hold for no reason', async () => {
    expect((await world.call(ada, 'GET', '/api/lessons')).text).toContain(of.lesson);
    const recalled = await world.call(ada, 'POST', '/api/recall', { task: TASK, agent: 'builder' });
    expect(recalled.text).toContain(SECRET);
    expect((await world.call(ada, 'GET', `/api/episodes/${of.episode}`)).status).toBe(200);
  });
});
