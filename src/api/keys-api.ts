import {
  type CallerKey,
  changeCallerKey,
  changeFirstKey,
  createCallerKey,
  firstKey,
  isKeyName,
  readCallerKeys,
  replaceFirstKey,
  revokeCallerKeys,
  tagOf,
} from '../config/caller-keys.ts';
import { confirmSettings } from '../config/confirmed-settings.ts';
import type { Home } from '../config/home.ts';
import type { LiveSettings } from '../config/live-settings.ts';
import { credentialCaller } from '../config/valid-keys.ts';
import type { KeysApi } from '../core/daemon-api.ts';
import { asArray, asString, compact, type Json, type JsonObject } from '../core/json.ts';
import type { LimitedKey } from '../core/key-limit.ts';
import type { Library } from '../core/library.ts';
import type { Records } from '../core/store.ts';
import { readAuditTrail } from '../record/audit-trail.ts';
import { describeLimits, type ReadUsed, readLimits } from './key-limits.ts';
import { ApiError } from './remote-api.ts';
import { createSettingsApi } from './settings-api.ts';

interface KeysApiOptions {
  readonly home: Home;
  readonly env: NodeJS.ProcessEnv;
  readonly now: () => number;
  readonly records: Pick<Records, 'events' | 'append'>;
  readonly settings?: LiveSettings;
  readonly members?: KeysApi['members'];
  /** Undefined while the library cannot be read. */
  readonly lessons?: () => { readonly library: Library } | undefined;
  /** The agents or the owner of a key were changed. */
  readonly onChanged?: () => void;
  /** What a key with limits has used of each, where it has asked since the start. */
  readonly used?: ReadUsed;
  /** Members of the team with limits. */
  readonly limitedMembers?: () => readonly LimitedKey[];
}

/** The keys of a home, in its files. */
export function createKeysApi(options: KeysApiOptions): KeysApi {
  const { home, env, now, records, settings, members = noTeam, lessons, onChanged } = options;
  const describeKey = (key: CallerKey): JsonObject => describe(key, options.used);
  const settingsApi = createSettingsApi(home, env, { records, now }, settings);
  return {
    ...settingsApi,
    members,
    list: async () => [
      ...[...[firstKey(home, env) ?? []].flat(), ...readCallerKeys(home)].map(describeKey),
      ...(options.limitedMembers?.() ?? []).map((member) => describeLimitedMember(member, options.used)),
    ],
    create: async (request) => {
      const { key, entry } = await createKey(options, request);
      return { ...describeKey(entry), key };
    },
    change: async (idOrName, request) => {
      const agents = readAgents(request.agents);
      const limits = readLimits(request, settings?.config.providers);
      const first = firstKey(home, env);
      if (first !== undefined && isNamed(first, idOrName)) {
        if (request.isOwn === false) throw new ApiError(400, 'The first key is your own.');
        changeFirstKey(home, first.hash, { ...(agents && { agents }), ...limits });
        onChanged?.();
        return describeKey(firstKey(home, env) ?? first);
      }
      const before = findKey(home, idOrName);
      if (before === undefined) return undefined;
      const changed = changeCallerKey(home, before.id, {
        ...(typeof request.isOwn === 'boolean' ? { isOwn: request.isOwn } : {}),
        ...(agents === undefined ? {} : { agents }),
        ...limits,
      });
      onChanged?.();
      const library = lessons?.()?.library;
      const moved =
        changed?.isOwn === true && !before.isOwn && library !== undefined
          ? await moveLessons(library, tagOf(before), now())
          : 0;
      return changed && { ...describeKey(changed), movedLessons: moved };
    },
    revoke: async (idOrName) => {
      const first = firstKey(home, env);
      if (first !== undefined && isNamed(first, idOrName)) {
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

/** Makes the key; one of the same name ends. */
async function createKey(
  { home, now, settings, lessons, onChanged }: KeysApiOptions,
  request: JsonObject,
): Promise<ReturnType<typeof createCallerKey>> {
  const name = asString(request.name)?.trim() ?? '';
  if (!isKeyName(name))
    throw new ApiError(400, 'A key needs a name of letters, digits, spaces, dots, dashes or @, at most 64.');
  const agents = readAgents(request.agents);
  const limits = readLimits(request, settings?.config.providers);
  revokeCallerKeys(home, name, now());
  const { key, entry } = createCallerKey(home, {
    name,
    mayRate: request.mayRate === true,
    at: now(),
    isOwn: request.isOwn === true,
    ...(agents === undefined ? {} : { agents }),
    ...limits,
  });
  onChanged?.();
  const library = lessons?.()?.library;
  // A client that had only its own login so far goes on with what it learned under that.
  if (entry.isOwn && library !== undefined)
    for (const provider of Object.keys(settings?.config.providers ?? {}))
      await moveLessons(library, credentialCaller(provider, name).id, now());
  return { key, entry };
}

const isNamed = ({ id, name }: CallerKey, idOrName: string): boolean => id === idOrName || name === idOrName;

const findKey = (home: Home, idOrName: string): CallerKey | undefined =>
  readCallerKeys(home).findLast(
    ({ id, name, revokedAt }) => revokedAt === undefined && (id === idOrName || name === idOrName),
  );

const AGENT_NAME = /^(?:\*|[^*?\p{Cc}]{1,128})$/u;
const MOST_AGENTS = 64;

/** The agents that a request names; undefined when it names none. */
function readAgents(agents: unknown): readonly string[] | undefined {
  if (agents === undefined) return undefined;
  const names = asArray(agents as Json).map((name) => asString(name)?.trim() ?? '');
  if (names.length > 0 && names.length <= MOST_AGENTS && names.every((name) => AGENT_NAME.test(name)))
    return names;
  throw new ApiError(
    400,
    `agents must be a list of 1 to ${MOST_AGENTS} names without * and ?, or "*" alone for every agent.`,
  );
}

/** What a key learned for itself becomes the home's own person's: the owner decided so. The number of lessons. */
async function moveLessons(library: Library, from: string, at: number): Promise<number> {
  const changes = library
    .lessons()
    .filter(({ state, text }) => text.scope.member === from && state !== 'rejected' && state !== 'retired')
    .map(({ id, revision, text }) => {
      const { member: _, ...scope } = text.scope;
      return { op: 'revise', id, from: revision, text: { ...text, scope } } as const;
    });
  if (changes.length === 0) return 0;
  const by = { kind: 'person', name: 'person' } as const;
  const reason = `the owner shares the lessons of ${from}`;
  const { results } = await library.publish({ id: `share-${from}-${at}`, by, reason, changes });
  return results.filter(({ status }) => status === 'applied').length;
}

const describe = (key: CallerKey, readUsed: ReadUsed | undefined): JsonObject => {
  const { id, name, mayRate, createdAt, revokedAt, isOwn, agents, used } = key;
  return compact({
    id,
    name,
    may: mayRate ? ['ask', 'feedback'] : ['ask'],
    whose: isOwn ? 'yours' : 'its own',
    agents: [...(agents ?? used?.agents ?? [])],
    agentsBy: agents === undefined ? 'use' : 'owner',
    ...describeLimits(key, readUsed),
    createdAt: createdAt === '' ? undefined : createdAt,
    revokedAt,
  });
};

/** Members are listed where people look for limits; their keys are among the members. */
const describeLimitedMember = (member: LimitedKey, readUsed: ReadUsed | undefined): JsonObject => ({
  id: member.id,
  name: member.name,
  may: ['ask'],
  whose: 'a member’s',
  agents: ['*'],
  isMember: true,
  ...describeLimits(member, readUsed),
});

const noTeam = async (): Promise<never> => {
  throw new ApiError(409, 'The members of the team cannot be read here.');
};
