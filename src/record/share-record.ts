import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import type { GatewayWatch } from '../../team/postgres/watch-gateways.ts';
import { readSharedSalt } from '../../team/shared-salt.ts';
import { createFileSync } from '../base/atomic-file.ts';
import type { Log } from '../base/log.ts';
import { VERSION } from '../base/package.ts';
import { createPatience, type Patience } from '../base/patience.ts';
import type { Clock } from '../core/clock.ts';
import type { StoredFact } from '../core/fact.ts';
import type { GatewayProcess } from '../core/gateway-process.ts';
import { compact, type JsonObject } from '../core/json.ts';
import type { LogFollower } from '../core/log-follower.ts';
import type { NewFact } from '../core/store.ts';
import { isPgUrl, readPgUrl } from './pg-place.ts';

interface SharingOptions {
  readonly place: string;
  readonly home: { readonly saltFile: string; readonly gatewayFile: string };
  readonly clock: Clock;
  readonly newId: (prefix: string) => string;
  readonly log: Log;
}

/** A record that other gateways may write, too: what of it is the same for all, and who this one is. */
interface Sharing {
  /** The HMAC key of redaction marks. */
  readonly salt: string;
  /** This run; undefined for a record in the home, which nobody shares. */
  readonly gateway: GatewayProcess | undefined;
  /** Follows the others; undefined where nobody shares. `append` is this gateway's way to the record. */
  follow(append: (facts: readonly NewFact[]) => Promise<unknown>): Promise<SharedRecord | undefined>;
}

/** What a gateway hears of the others. */
interface SharedRecord extends LogFollower {
  /** Where this gateway can be reached; undefined for a worker, which listens nowhere. */
  announce(url: string | undefined): void;
  listen(listeners: {
    /** With each change of the library and each measurement, and once without one: some may have been missed. */
    follow(stored?: StoredFact): Promise<void>;
    /** After an erasure. */
    reload(session: string): Promise<void>;
    /** There is something new to learn from. */
    wake(turns: number): void;
  }): void;
  /** Sessions of clients without session ids that another gateway has recorded. */
  readonly chains: {
    find(
      links: readonly string[],
    ): Promise<readonly { readonly session: string; readonly link: string; readonly lastAt: number }[]>;
    readonly patience: Patience;
    onUnknown(session: string): void;
  };
  /** Sessions whose prompts another gateway has begun. */
  readonly prompts: { readonly patience: Patience; onBehind(session: string): void };
  /** For `status`: all gateways, and whether this one is behind. */
  describe(): JsonObject;
}

export async function shareRecord({ place, home, clock, newId, log }: SharingOptions): Promise<Sharing> {
  const salt = await readSharedSalt(place, home, log);
  if (!isPgUrl(place)) return { salt, gateway: undefined, follow: async () => undefined };
  createFileSync(home.gatewayFile, `${newId('h')}\n`);
  const gateway: GatewayProcess = {
    id: newId('g'),
    home: readFileSync(home.gatewayFile, 'utf8').trim(),
    host: hostname(),
    pid: process.pid,
    version: VERSION,
    startedAt: clock.now(),
  };
  return { salt, gateway, follow: (append) => followRecord({ place, gateway, append, clock, log }) };
}

interface FollowOptions {
  readonly place: string;
  readonly gateway: GatewayProcess;
  readonly append: (facts: readonly NewFact[]) => Promise<unknown>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Facts of other gateways that are learned from. */
const WAKING: ReadonlySet<string> = new Set(['turn-end', 'reward-given', 'event-reported', 'session-end']);

const AGAIN_MS = 10_000;

const UNKNOWN = 'a conversation with a history is not in the record';

/** Two connections: one listens and shows that this gateway is alive, the other one looks after the others. */
async function followRecord({ place, gateway, append, clock, log }: FollowOptions): Promise<SharedRecord> {
  const { followPgLog } = await import('../../team/postgres/follow-pg-log.ts');
  const { holdGateway } = await import('../../team/postgres/gateways.ts');
  const { openPgPool } = await import('../../team/postgres/pg-connection.ts');
  const { watchGateways } = await import('../../team/postgres/watch-gateways.ts');
  const { now, monotonic } = clock;
  const pool = openPgPool(readPgUrl(place), { most: 3 });
  const watch = watchGateways({ pool, gateway, append, now, monotonic, log });
  const follower = followPgLog({
    pool,
    onConnected: (sql) => holdGateway(sql, gateway),
    onFault: (error) => log.error({ err: error }, 'a change by another gateway could not be followed'),
  });
  follower.onBegun(() => void watch.look());
  let isClosed = false;
  return {
    ...follower,
    announce: watch.announce,
    listen: ({ follow, reload, wake }) => {
      follower.on(['library-changed', 'session-scored'], follow);
      /** An erased text must not stay in use here because the database was away for a moment. */
      const reloadSurely = async (session: string): Promise<void> => {
        try {
          await reload(session);
        } catch (error) {
          if (isClosed) return;
          log.error(
            { err: error, session },
            'an erasure by another gateway is followed again in ten seconds',
          );
          setTimeout(() => void reloadSurely(session), AGAIN_MS).unref();
        }
      };
      follower.on(['session-erased'], async ({ fact }) => {
        if (fact.type === 'session-erased') await reloadSurely(fact.session);
      });
      follower.onAppended((types) => {
        if (types.some((type) => WAKING.has(type))) wake(1);
      });
      follower.onBegun(follow);
    },
    chains: {
      find: (links) =>
        pool.all(
          `select c.session, c.link, s.last_at as "lastAt" from chains c join sessions s on s.id = c.session
           where c.link = any($1) and not s.erased`,
          [links],
        ),
      patience: createPatience(monotonic),
      onUnknown: (session) => log.info({ session }, `${UNKNOWN}: it begins a new session`),
    },
    prompts: {
      patience: createPatience(monotonic),
      onBehind: (session) =>
        log.warn({ session }, `${UNKNOWN} up to its last turn: its prompt may change once`),
    },
    describe: () => describeGateways(gateway.id, follower, watch),
    close: async () => {
      isClosed = true;
      watch.close();
      await follower.close();
      await pool.close();
    },
  };
}

function describeGateways(own: string, follower: LogFollower, watch: GatewayWatch): JsonObject {
  const gateways = watch.known().map(({ id, kind, host, pid, url, version, startedAt, seenMsAgo, isAlive }) =>
    compact({
      ...{ id, kind, host, pid, url: url ?? undefined },
      ...{ version, seenMsAgo, isAlive, isThis: id === own },
      startedAt: new Date(startedAt).toISOString(),
    }),
  );
  return compact({ id: own, seq: follower.seq(), problem: follower.problem(), gateways });
}
