import type { Log } from '../../src/base/log.ts';
import type { GatewayProcess } from '../../src/core/gateway-process.ts';
import type { NewFact } from '../../src/core/store.ts';
import { crashOf } from '../../src/record/store/async-store.ts';
import {
  type KnownGateway,
  listGateways,
  listOpenTurns,
  noteGateway,
  removeGateways,
  WORKER_URL,
} from './gateways.ts';
import type { PgPool } from './pg-connection.ts';

interface WatchOptions {
  readonly pool: PgPool;
  readonly gateway: GatewayProcess;
  readonly append: (facts: readonly NewFact[]) => Promise<unknown>;
  readonly now: () => number;
  readonly monotonic: () => number;
  readonly log: Log;
  readonly everyMs?: number;
  /** A gateway that is disconnected for longer is dead. */
  readonly graceMs?: number;
}

export interface GatewayWatch {
  /** Where this gateway can be reached; undefined for a worker, which listens nowhere. */
  announce(url: string | undefined): void;
  /** All gateways of the record, as of the last look. */
  known(): readonly KnownGateway[];
  /** Looks now. Never rejects. */
  look(): Promise<void>;
  close(): void;
}

const EVERY_MS = 15_000;
/**
 * A lost connection is no death: the gateway goes on serving and records later. Only turns wait that are shown as running.
 */
const GRACE_MS = 600_000;

/** Tells the others that this gateway runs, and ends the turns of gateways that are dead. */
export function watchGateways(options: WatchOptions): GatewayWatch {
  const { pool, gateway, append, now, monotonic, log, everyMs = EVERY_MS, graceMs = GRACE_MS } = options;
  /** Since when each was seen without its lock, by this process and without a break. */
  const missing = new Map<string, number>();
  let url: string | undefined;
  let known: readonly KnownGateway[] = [];
  let looking: Promise<void> | undefined;

  const endTurnsOf = async (dead: ReadonlySet<string>): Promise<void> => {
    const listed = new Set(known.map(({ id }) => id));
    const open = (await listOpenTurns(pool)).filter(
      ({ gateway: by }) => by !== undefined && (dead.has(by) || !listed.has(by)),
    );
    const at = now();
    if (open.length > 0) {
      await append(open.map(({ turn }) => crashOf(turn, at)));
      log.info({ turns: open.length }, 'the turns of a gateway that is gone were ended');
    }
    await removeGateways(pool, [...dead]);
  };
  const work = async (): Promise<void> => {
    try {
      await noteGateway(pool, gateway.id, url);
      known = await listGateways(pool);
      for (const { id, isAlive } of known)
        if (isAlive || id === gateway.id) missing.delete(id);
        else if (!missing.has(id)) missing.set(id, monotonic());
      const dead = known.filter(
        ({ id }) => monotonic() - (missing.get(id) ?? Number.POSITIVE_INFINITY) >= graceMs,
      );
      await endTurnsOf(new Set(dead.map(({ id }) => id)));
    } catch (error) {
      // Whoever cannot see the others cannot tell who is dead.
      missing.clear();
      log.debug({ err: error }, 'the other gateways could not be seen');
    }
  };
  const look = (): Promise<void> => {
    looking ??= work().finally(() => {
      looking = undefined;
    });
    return looking;
  };
  const timer = setInterval(() => void look(), everyMs);
  timer.unref();
  return {
    announce: (own) => {
      url = own ?? WORKER_URL;
      void look();
    },
    known: () => known,
    look,
    close: () => clearInterval(timer),
  };
}
