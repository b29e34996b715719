import type { ReadUsed } from '../src/api/key-limits.ts';
import { SAFE_FOR_TEAM, whyUnsafeForTeam } from '../src/config/address.ts';
import { ConfigError } from '../src/config/config-error.ts';
import type { Config } from '../src/config/schema.ts';
import type { Caller } from '../src/core/caller.ts';
import type { KeysApi } from '../src/core/daemon-api.ts';
import type { LimitedKey } from '../src/core/key-limit.ts';
import type { Library } from '../src/core/library.ts';
import type { LogFollower } from '../src/core/log-follower.ts';
import type { Records } from '../src/core/store.ts';
import { openMembers, withMemberKeys } from './members.ts';
import { createMembersApi } from './members-api.ts';

export interface ServeTeamOptions<Keys> extends Omit<Parameters<typeof openMembers>[0], 'records'> {
  readonly records: Records;
  /** The keys of the home's files. */
  readonly keys: Keys;
  readonly gateway: Config['gateway'];
  /** What other gateways of the same record append; undefined where there are none. */
  readonly shared: Pick<LogFollower, 'on'> | undefined;
  /** Undefined while it cannot be read. */
  readonly library: () => Library | undefined;
  readonly providers: () => Config['providers'];
  /** What members with limits have used. */
  readonly used: ReadUsed;
}

export interface ServedTeam<Keys> {
  /** The home's keys and the members'. */
  readonly keys: Keys;
  readonly api: KeysApi['members'];
  /** Members with limits. */
  limited(): readonly LimitedKey[];
  /** Throws `ConfigError` where members would send their keys readably. */
  refuseUnsafe(): void;
}

/** The members of the team that a gateway serves. A home without members has none of it to do. */
export async function serveTeam<Keys extends { find(presented: string): Caller | undefined }>({
  keys,
  gateway,
  library,
  shared,
  providers,
  used,
  ...opened
}: ServeTeamOptions<Keys>): Promise<ServedTeam<Keys>> {
  const members = await openMembers(opened);
  if (shared !== undefined) {
    shared.on(['member-changed'], async (stored) => members.add(stored));
    // What was appended between the two; without the record they are read again later.
    await members.catchUp().catch(() => undefined);
  }
  const unsafe = whyUnsafeForTeam(gateway);
  return {
    keys: withMemberKeys(keys, members),
    limited: members.limited,
    api: createMembersApi({
      members,
      unsafe,
      records: opened.records,
      library: async () => library(),
      providers,
      used,
    }),
    refuseUnsafe: () => {
      if (unsafe !== undefined && members.list().length > 0)
        throw new ConfigError([{ path: 'gateway.host', what: unsafe, fix: SAFE_FOR_TEAM }]);
    },
  };
}
