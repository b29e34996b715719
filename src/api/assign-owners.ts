import type { Log } from '../base/log.ts';
import {
  type CallerKey,
  firstKey,
  isRecordAssigned,
  markRecordAssigned,
  readCallerKeys,
  tagOf,
  type UsedAgents,
  writeUsedAgents,
} from '../config/caller-keys.ts';
import type { Home } from '../config/home.ts';
import { credentialCaller } from '../config/valid-keys.ts';
import { type Change, isInUse, type Lesson } from '../core/lesson.ts';
import type { Library } from '../core/library.ts';
import { isUnattributed, UNKNOWN_AGENT } from '../core/principal.ts';
import type { Records } from '../core/store.ts';
import { NOTES } from '../learn/memory/write/note-text.ts';
import { OWNERS_AUTHOR } from '../lessons/change-permissions.ts';

interface AssignOwnersOptions {
  readonly home: Home;
  readonly env: NodeJS.ProcessEnv;
  readonly records: Pick<Records, 'sessions' | 'turns' | 'turn' | 'session'>;
  /** Undefined while the library cannot be read: then the next start tries again. */
  readonly library: Library | undefined;
  readonly now: () => number;
  readonly log: Pick<Log, 'info'>;
}

const MOST_SESSIONS = 2000;
const MOST_TURNS = 16;

/**
 * Once, for a home of an earlier version, in which every key spoke for every agent and all keys shared what they learned. Keys are bound
 * to the agents that the record shows; a lesson that rests on one key's conversations becomes that key's; what would go on reaching
 * others without anybody's decision waits for the owner: patterns that no owner wrote, words of several keys, and notes of people whom
 * nobody knows.
 */
export async function assignOwners(options: AssignOwnersOptions): Promise<void> {
  const { home, env, records, library, now, log } = options;
  if (library === undefined || isRecordAssigned(home)) return;
  const first = firstKey(home, env);
  const keys = [...(first === undefined ? [] : [first]), ...readCallerKeys(home)];
  const used = await usedAgents(keys, records, now());
  if (used.size > 0) writeUsedAgents(home, used);
  const ownerOf = createOwnerOf(keys, records);
  const changes: Change[] = [];
  for (const lesson of library.lessons())
    if (isInUse(lesson)) changes.push(...(await reassign(lesson, ownerOf)));
  if (changes.length > 0) {
    const by = { kind: 'instar', name: OWNERS_AUTHOR } as const;
    await library.publish({ id: 'assign-owners-1', by, reason: 'whose each lesson is', changes });
  }
  markRecordAssigned(home);
  if (used.size === 0 && changes.length === 0) return;
  const waiting = changes.filter(({ op }) => op === 'move').length;
  log.info(
    { keys: used.size, lessons: changes.length, waiting },
    'keys and lessons of an earlier version have owners now',
  );
}

/** By the hash of each key that has no agents yet: the agents of its sessions, the most frequent first. */
async function usedAgents(
  keys: readonly CallerKey[],
  records: AssignOwnersOptions['records'],
  at: number,
): Promise<ReadonlyMap<string, UsedAgents>> {
  const unbound = new Map(
    keys.flatMap((key) =>
      (key.agents ?? key.used) === undefined && key.revokedAt === undefined ? [[key.id, key]] : [],
    ),
  );
  const counts = new Map<string, Map<string, number>>();
  for (const { id } of unbound.size === 0 ? [] : await records.sessions({ limit: MOST_SESSIONS })) {
    const [turn] = await records.turns(id, { limit: 1 });
    if (turn?.caller === undefined || turn.agent === UNKNOWN_AGENT) continue;
    const ofKey = counts.get(turn.caller) ?? new Map<string, number>();
    ofKey.set(turn.agent, (ofKey.get(turn.agent) ?? 0) + 1);
    counts.set(turn.caller, ofKey);
  }
  const since = new Date(at).toISOString();
  return new Map(
    [...unbound.values()].flatMap((key) => {
      const agents = [...(counts.get(key.id) ?? [])].sort((a, b) => b[1] - a[1]).map(([agent]) => agent);
      return agents.length === 0 ? [] : [[key.hash, { since, agents }] as const];
    }),
  );
}

interface TurnOwner {
  /** Absent: the home's own person. */
  readonly principal: string | undefined;
  readonly isUnattributed: boolean;
}

type OwnerOf = (turn: string) => Promise<TurnOwner | undefined>;

function createOwnerOf(keys: readonly CallerKey[], records: AssignOwnersOptions['records']): OwnerOf {
  const byId = new Map(keys.map((key) => [key.id, key]));
  return async (id) => {
    const turn = await records.turn(id);
    if (turn === undefined) return undefined;
    const session = await records.session(turn.session);
    const { agent, caller = '', policy } = turn;
    const key = byId.get(caller);
    const isCredential = /^c_[0-9a-f]{16}$/.test(caller);
    const provider = policy.split('/', 1)[0] ?? '';
    const own = key === undefined || key.isOwn ? undefined : tagOf(key);
    return {
      principal: isCredential ? credentialCaller(provider, session?.client).member : own,
      isUnattributed: isUnattributed(turn.session, { agent, project: session?.project?.id }),
    };
  };
}

async function reassign({ id, revision, text }: Lesson, ownerOf: OwnerOf): Promise<readonly Change[]> {
  const { scope, evidence } = text;
  if (scope.member !== undefined || evidence.turns.length === 0) return [];
  const wait = (reason: string): readonly Change[] => [{ op: 'move', id, to: 'proposed', reason }];
  const isPattern = [scope.agent, scope.project, scope.runKind, scope.domain].some((name) =>
    name?.includes('*'),
  );
  if (isPattern)
    return wait('its scope has a pattern that no owner wrote: approve it for all of them, or reject it');
  const owners: TurnOwner[] = [];
  for (const turn of evidence.turns.slice(0, MOST_TURNS)) {
    const owner = await ownerOf(turn);
    if (owner !== undefined) owners.push(owner);
  }
  if (evidence.learner === NOTES && owners.some((one) => one.isUnattributed))
    return wait('nobody knows whose words it has: approve it for everybody who uses this key, or reject it');
  const principals = new Set(owners.map(({ principal }) => principal));
  if (principals.size > 1)
    return wait('it rests on words of several keys: approve it for your own clients, or reject it');
  const [member] = principals;
  return member === undefined
    ? []
    : [{ op: 'revise', id, from: revision, text: { ...text, scope: { ...scope, member } } }];
}
