import type { Log } from '../base/log.ts';
import type { Clock } from '../core/clock.ts';
import { type CallerKey, firstKey, readCallerKeys, type UsedAgents, writeUsedAgents } from './caller-keys.ts';
import type { Home } from './home.ts';

/** The agents that keys speak for. Never waits: what is new is written to the file of keys a moment later. */
interface KeyAgents {
  /**
   * The agent under which a request of this key is recorded: the named one where the key may speak for it, else the key's own.
   * `isSub`: an agent that another one started, such as an explorer of a coding client.
   */
  agentOf(key: string, named: string, isSub: boolean): string;
  /** The key's own agent, for a request that names none; undefined while it has none. */
  ownAgent(key: string): string | undefined;
  /** Whether the agent is one of the key's own. A pattern of the owner's is every key's. */
  speaksFor(key: string, agent: string): boolean;
  /** Reads the file again: the owner changed it. */
  reload(): void;
  /** Writes what is not written yet. */
  flush(): void;
}

/** A key may name its agents by using them for this long, and no more of them than this. */
const FIRST_DAY_MS = 24 * 60 * 60 * 1000;
const MOST_AGENTS = 8;
const WRITE_AFTER_MS = 200;
const ANY = '*';

interface Binding {
  readonly key: CallerKey;
  /** By the owner. */
  readonly agents: readonly string[] | undefined;
  readonly since: number | undefined;
  readonly used: ReadonlySet<string>;
}

interface KeyAgentsOptions {
  readonly home: Home;
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
  readonly log: Pick<Log, 'warn'>;
}

export function openKeyAgents({ home, env, clock, log }: KeyAgentsOptions): KeyAgents {
  let bindings = load(home, env);
  const unwritten = new Set<string>();
  let timer: NodeJS.Timeout | undefined;

  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (unwritten.size === 0) return;
    const used = new Map<string, UsedAgents>();
    for (const { key, since, used: agents } of bindings.values())
      if (unwritten.has(key.id) && since !== undefined)
        used.set(key.hash, { since: new Date(since).toISOString(), agents: [...agents] });
    unwritten.clear();
    try {
      writeUsedAgents(home, used);
    } catch (error) {
      // Serving goes on. After a restart the key names its agents again.
      log.warn({ err: error }, 'the agents of a key could not be written to the file of keys');
    }
  };
  const bind = (binding: Binding, named: string): void => {
    const { key } = binding;
    const since = binding.since ?? clock.now();
    bindings.set(key.id, { ...binding, since, used: new Set([...binding.used, named]) });
    unwritten.add(key.id);
    timer ??= setTimeout(flush, WRITE_AFTER_MS).unref();
  };
  const isTakenByAnother = ({ key }: Binding, named: string): boolean =>
    key.isOwn &&
    [...bindings.values()].some(
      (other) => other.key.id !== key.id && other.key.isOwn && other.agents?.includes(named) === true,
    );

  return {
    agentOf: (id, named, isSub) => {
      const binding = bindings.get(id);
      if (binding === undefined) return named;
      const { agents, used, since } = binding;
      if (agents?.includes(named) || agents?.includes(ANY) || used.has(named)) return named;
      const own = agents?.[0] ?? [...used][0];
      if (isTakenByAnother(binding, named)) return own ?? UNNAMED;
      if (isSub && own !== undefined) return named;
      if (agents !== undefined) return own ?? named;
      const isFirstDay = since === undefined || clock.now() - since < FIRST_DAY_MS;
      if (!isFirstDay || used.size >= MOST_AGENTS) return own ?? named;
      bind(binding, named);
      return named;
    },
    ownAgent: (id) => bindings.get(id)?.agents?.find((name) => name !== ANY),
    speaksFor: (id, agent) => {
      const binding = bindings.get(id);
      if (binding === undefined || agent.includes(ANY) || agent === UNNAMED) return true;
      const { agents, used } = binding;
      if (agents !== undefined) return agents.includes(agent) || agents.includes(ANY);
      // Not bound yet, as when a program has reported without the daemon: it is another's only if another key speaks for it.
      return (
        used.has(agent) ||
        ![...bindings.values()].some((other) => other !== binding && isNamedBy(other, agent))
      );
    },
    reload: () => {
      flush();
      bindings = load(home, env);
    },
    flush,
  };
}

const isNamedBy = ({ agents, used }: Binding, agent: string): boolean =>
  agents?.includes(agent) === true || used.has(agent);

/** The agent of a key that has named none of its own. */
const UNNAMED = 'unknown';

function load(home: Home, env: NodeJS.ProcessEnv): Map<string, Binding> {
  const first = firstKey(home, env);
  const keys = [...(first === undefined ? [] : [first]), ...readCallerKeys(home)];
  return new Map(
    keys
      .filter(({ revokedAt }) => revokedAt === undefined)
      .map((key) => [
        key.id,
        {
          key,
          agents: key.agents,
          since: key.used === undefined ? undefined : Date.parse(key.used.since),
          used: new Set(key.used?.agents),
        },
      ]),
  );
}
