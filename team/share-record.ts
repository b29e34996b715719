import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { createFileSync } from '../src/base/atomic-file.ts';
import type { Log } from '../src/base/log.ts';
import { VERSION } from '../src/base/package.ts';
import { createPatience } from '../src/base/patience.ts';
import type { Clock } from '../src/core/clock.ts';
import type { GatewayProcess } from '../src/core/gateway-process.ts';
import { compact, type JsonObject } from '../src/core/json.ts';
import type { LogFollower } from '../src/core/log-follower.ts';
import type { NewFact } from '../src/core/store.ts';
import { readPgUrl } from '../src/record/pg-place.ts';
import type { RecordSharing, SharedRecord, SharingOptions } from '../src/record/share-record.ts';
import type { GatewayWatch } from './postgres/watch-gateways.ts';
import { readSharedSalt } from './shared-salt.ts';

/** A record in PostgreSQL, which other gateways may write, too. */
export async function sharePgRecord({
  place,
  home,
  clock,
  newId,
  log,
}: SharingOptions): Promise<RecordSharing> {
  const salt = await readSharedSalt(place, home, log);
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
  const { followPgLog } = await import('./postgres/follow-pg-log.ts');
  const { holdGateway } = await import('./postgres/gateways.ts');
  const { openPgPool } = await import('./postgres/pg-connection.ts');
  const { watchGateways } = await import('./postgres/watch-gateways.ts');
  const { now, monotonic } = clock;
  const pool = openPgPool(readPgUrl(place), { most: 3 });
  const watch = watchGateways({ pool, gateway, append, now, monotonic, log });
  const follower = followPgLog({
    pool,
    onConnected: (sql) => holdGateway(sql, gateway),
    onFault: (error) => log.error({ err: error }, 'a change by another gateway could not be followed'),
  });
  follower.onBegun(async () => void watch.look());
  let isClosed = false;
  return {
    ...follower,
    announce: watch.announce,
    listen: ({ follow, reload, wake }) => {
      follower.on(['library-changed', 'session-scored', 'rules-observed'], follow);
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
      id,
      kind,
      host,
      pid,
      url: url ?? undefined,
      version,
      seenMsAgo,
      isAlive,
      isThis: id === own,
      startedAt: new Date(startedAt).toISOString(),
    }),
  );
  return compact({ id: own, seq: follower.seq(), problem: follower.problem(), gateways });
}
