import type { Log } from '../base/log.ts';
import type { Patience } from '../base/patience.ts';
import type { Clock } from '../core/clock.ts';
import type { StoredFact } from '../core/fact.ts';
import type { GatewayProcess } from '../core/gateway-process.ts';
import type { JsonObject } from '../core/json.ts';
import type { LogFollower } from '../core/log-follower.ts';
import type { NewFact } from '../core/store.ts';
import { readOrCreateSalt } from '../redact/salt.ts';
import { isPgUrl } from './pg-place.ts';

export interface SharingOptions {
  readonly place: string;
  readonly home: { readonly saltFile: string; readonly gatewayFile: string };
  readonly clock: Clock;
  readonly newId: (prefix: string) => string;
  readonly log: Log;
}

/** A record that other gateways may write, too: what of it is the same for all, and who this one is. */
export interface RecordSharing {
  /** The HMAC key of redaction marks. */
  readonly salt: string;
  /** This run; undefined for a record in the home, which nobody shares. */
  readonly gateway: GatewayProcess | undefined;
  /** Follows the others; undefined where nobody shares. `append` is this gateway's way to the record. */
  follow(append: (facts: readonly NewFact[]) => Promise<unknown>): Promise<SharedRecord | undefined>;
}

/** What a gateway hears of the others. */
export interface SharedRecord extends LogFollower {
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

export async function shareRecord(options: SharingOptions): Promise<RecordSharing> {
  if (isPgUrl(options.place)) return (await import('../../team/share-record.ts')).sharePgRecord(options);
  return { salt: readOrCreateSalt(options.home), gateway: undefined, follow: async () => undefined };
}
