import { firstKey, readCallerKeys } from '../config/caller-keys.ts';
import type { Home } from '../config/home.ts';
import { parseModelRef } from '../config/model-ref.ts';
import { asArray, asString, compact, type JsonObject } from '../core/json.ts';
import type { KeyLimit, LimitedKey } from '../core/key-limit.ts';
import { readKeyLimit, sayKeyLimit, sayKeyUse } from '../text/key-limit.ts';
import { ApiError } from './remote-api.ts';

/** What a key or a member has used of each limit, where it has asked since the start. */
export type ReadUsed = (key: {
  readonly id: string;
  readonly limits: readonly KeyLimit[];
}) => readonly (number | undefined)[] | undefined;

const MOST_LIMITS = 6;

/** The limits that a request names, an empty list for none any more; absent when it names none. Throws `ApiError`. */
export function readLimits(
  { limits, fallback }: JsonObject,
  providers: Readonly<Record<string, unknown>> | undefined,
): Partial<Pick<LimitedKey, 'limits' | 'fallback'>> {
  if (limits === undefined && fallback === undefined) return {};
  const read = asArray(limits).map((text) => readKeyLimit(asString(text) ?? ''));
  if (limits === undefined || read.includes(undefined) || read.length > MOST_LIMITS)
    throw new ApiError(
      400,
      `limits must be a list of at most ${MOST_LIMITS} texts such as "60 requests/minute", "200000 tokens/day" or "$5/day"; a fallback needs one of them.`,
    );
  const valid = read.filter((limit) => limit !== undefined);
  if (fallback === undefined) return { limits: valid };
  const model = asString(fallback) ?? '';
  const ref = parseModelRef(model);
  if (ref === undefined || (providers !== undefined && providers[ref.provider] === undefined))
    throw new ApiError(
      400,
      `The fallback "${model}" is no provider/model of this home; see: instar config get providers.`,
    );
  return { limits: valid, fallback: model };
}

/** The limits of a key in words, with what is used of them. */
export function describeLimits(
  { id, limits = [], fallback }: Pick<LimitedKey, 'id'> & Partial<Pick<LimitedKey, 'limits' | 'fallback'>>,
  readUsed: ReadUsed | undefined,
): JsonObject {
  const amounts = readUsed?.({ id, limits });
  const described = limits.map((limit, nth) => describeLimit(limit, amounts?.[nth]));
  return compact({ limits: described.length === 0 ? undefined : described, fallback });
}

/** What was used is known once the key has asked something since the start. */
const describeLimit = (limit: KeyLimit, used: number | undefined): JsonObject =>
  used === undefined
    ? { ...limit, words: sayKeyLimit(limit) }
    : { ...limit, used, words: sayKeyUse(limit, used) };

interface LimitedPlaces {
  readonly home: Home;
  readonly env: NodeJS.ProcessEnv;
  /** Members with limits. */
  readonly members: () => readonly LimitedKey[];
}

/** The valid keys and the members with limits, for metrics and alerts: a row for each limit. */
export function limitRows({ home, env, members }: LimitedPlaces, used: ReadUsed) {
  const keys = [...[firstKey(home, env) ?? []].flat(), ...readCallerKeys(home)].filter(
    ({ revokedAt }) => revokedAt === undefined,
  );
  return [...keys, ...members()].flatMap(({ id, name, limits = [] }) =>
    limits.map((limit, nth) => ({ key: name, ...limit, used: used({ id, limits })?.[nth] })),
  );
}
