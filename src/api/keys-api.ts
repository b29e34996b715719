import {
  type CallerKey,
  createCallerKey,
  firstKey,
  isKeyName,
  readCallerKeys,
  replaceFirstKey,
  revokeCallerKeys,
} from '../config/caller-keys.ts';
import { confirmSettings } from '../config/confirmed-settings.ts';
import type { Home } from '../config/home.ts';
import type { LiveSettings } from '../config/live-settings.ts';
import type { KeysApi } from '../core/daemon-api.ts';
import { asString, compact, type JsonObject } from '../core/json.ts';
import type { Records } from '../core/store.ts';
import { readAuditTrail } from '../record/audit-trail.ts';
import { ApiError } from './remote-api.ts';
import { createSettingsApi } from './settings-api.ts';

/** The keys of a home, in its files. */
export function createKeysApi(
  home: Home,
  env: NodeJS.ProcessEnv,
  now: () => number,
  records: Pick<Records, 'events' | 'append'>,
  settings?: LiveSettings,
  members: KeysApi['members'] = noTeam,
): KeysApi {
  const settingsApi = createSettingsApi(home, env, { records, now }, settings);
  return {
    ...settingsApi,
    members,
    list: async () => [...[firstKey(home, env) ?? []].flat(), ...readCallerKeys(home)].map(describeKey),
    create: async (request) => {
      const name = asString(request.name)?.trim() ?? '';
      if (!isKeyName(name))
        throw new ApiError(
          400,
          'A key needs a name of letters, digits, spaces, dots, dashes or @, at most 64.',
        );
      revokeCallerKeys(home, name, now());
      const { key, entry } = createCallerKey(home, { name, mayRate: request.mayRate === true, at: now() });
      return { ...describeKey(entry), key };
    },
    revoke: async (idOrName) => {
      const first = firstKey(home, env);
      if (first !== undefined && (first.id === idOrName || first.name === idOrName)) {
        const replaced = replaceFirstKey(home, env, now());
        if (replaced === undefined)
          throw new ApiError(400, 'This key comes from INSTAR_KEY: change the variable and restart Instar.');
        return [describeKey(replaced)];
      }
      return revokeCallerKeys(home, idOrName, now()).map(describeKey);
    },
    confirm: async (confirmed) => {
      const done = confirmSettings(home, confirmed, now());
      await settingsApi.reload();
      return done;
    },
    audit: async (limit) => {
      const { entries, fault } = await readAuditTrail(records);
      const newest = entries.slice(-limit).reverse();
      const shown = newest.map(({ at, ...entry }) => ({ ...entry, at: new Date(at).toISOString() }));
      return compact({ entries: shown, fault });
    },
  };
}

const describeKey = ({ id, name, mayRate, createdAt, revokedAt }: CallerKey): JsonObject =>
  compact({
    id,
    name,
    may: mayRate ? ['ask', 'feedback'] : ['ask'],
    createdAt: createdAt === '' ? undefined : createdAt,
    revokedAt,
  });

const noTeam = async (): Promise<never> => {
  throw new ApiError(409, 'The members of the team cannot be read here.');
};
