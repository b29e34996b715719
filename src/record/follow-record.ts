import { hostname } from 'node:os';
import { createFileSync } from '../base/atomic-file.ts';
import { readFileSync } from 'node:fs';
import type { Log } from '../base/log.ts';
import { VERSION } from '../base/package.ts';
import type { Clock } from '../core/clock.ts';
import { compact, type JsonObject } from '../core/json.ts';
import type { LogFollower } from '../core/log-follower.ts';
import type { GatewayProcess } from '../core/recorder.ts';
import type { NewFact } from '../core/store.ts';
import { isPgUrl, readPgUrl } from './postgres/pg-place.ts';

interface FollowRecordOptions {
  readonly place: string;
  readonly gateway: GatewayProcess;
  readonly append: (facts: readonly NewFact[]) => Promise<unknown>;
  readonly clock: Clock;
  readonly log: Log;
}

/** What a gateway hears of the others that share its record. */
export interface FollowedRecord extends LogFollower {
  /** Where this gateway can be reached. */
  announce(url: string): void;
  /** For `status`: the other gateways, and whether this one is behind. */
  describe(): JsonObject;
}

/** This run of a gateway; undefined for a record that nobody shares. `newId` makes the id of the home, too. */
export function describeGateway(
  place: string,
  home: { readonly gatewayFile: string },
  clock: Pick<Clock, 'now'>,
  newId: (prefix: string) => string,
): GatewayProcess | undefined {
  if (!isPgUrl(place)) return undefined;
  createFileSync(home.gatewayFile, `${newId('h')}\n`);
  return {
    id: newId('g'),
    home: readFileSync(home.gatewayFile, 'utf8').trim(),
    host: hostname(),
    pid: process.pid,
    version: VERSION,
    startedAt: clock.now(),
  };
}

/** Two connections: one listens and shows that this gateway is alive, the other one looks after the others. */
export async function followRecord({
  place,
  gateway,
  append,
  clock,
  log,
}: FollowRecordOptions): Promise<FollowedRecord> {
  const { followLog } = await import('./postgres/follow-log.ts');
  const { holdGateway } = await import('./postgres/gateways.ts');
  const { openPgPool } = await import('./postgres/pg-connection.ts');
  const { watchGateways } = await import('./postgres/watch-gateways.ts');
  const pool = openPgPool(readPgUrl(place), { most: 2 });
  const watch = watchGateways({ pool, gateway, append, now: clock.now, monotonic: clock.monotonic, log });
  const follower = followLog({
    pool,
    onConnected: (sql) => holdGateway(sql, gateway),
    onFault: (error) => log.error({ err: error }, 'a change by another gateway could not be followed'),
  });
  follower.onBegun(() => void watch.look());
  return {
    ...follower,
    announce: watch.announce,
    describe: () => {
      const gateways = watch.known().map(({ id, host, pid, url, version, startedAt, seenMsAgo, isAlive }) =>
        compact({
          id,
          host,
          pid,
          url: url ?? undefined,
          version,
          startedAt: new Date(startedAt).toISOString(),
          seenMsAgo,
          isAlive,
          isThis: id === gateway.id,
        }),
      );
      return compact({ id: gateway.id, seq: follower.seq(), problem: follower.problem(), gateways });
    },
    close: async () => {
      watch.close();
      await follower.close();
      await pool.close();
    },
  };
}
