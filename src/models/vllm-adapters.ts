import type { ChatModel, ChatOptions } from '../core/chat.ts';
import { createFailure, type Failure, type Refused, refused } from '../core/failure.ts';
import {
  type AdapterLocation,
  createVllmRoutes,
  type VllmRoutes,
  type VllmRoutesOptions,
} from './vllm-routes.ts';

/**
 * LoRA adapters of one base model in a running vLLM, with a name for each version. A pointer elsewhere decides which version
 * serves. The order of a change: `load` the new version, move the pointer, then `keepOnly` the versions it names. A version
 * that is no longer wanted is unloaded when the last borrower has released it, never while a reply is read from it.
 */
export interface VllmAdapters {
  /**
   * Makes a version ready to be borrowed. The folder must not change while the version is kept: vLLM may evict the adapter
   * and read it again. For a version that is already ready, loads it again if the server has lost it. Never rejects.
   */
  load(version: number, folder: string, signal: AbortSignal): Promise<AdapterLoadResult>;
  /** The model name to request until `release`; undefined when the version is not ready. */
  borrow(version: number): AdapterLease | undefined;
  /** Unloads every other version as soon as nobody reads from it. Pass all versions that are still wanted. */
  keepOnly(versions: readonly number[]): void;
  /** Resolves when nothing is being loaded or unloaded. A failed unload is tried again at the next `keepOnly`. */
  settled(): Promise<void>;
}

type AdapterLoadResult = { readonly ok: true; readonly model: string } | Refused;

interface AdapterLease {
  readonly model: string;
  /** Further calls have no effect. */
  release(): void;
}

interface VllmAdaptersOptions extends VllmRoutesOptions {
  /** The prefix of adapter names; unique to this installation if several share a server. */
  readonly name: string;
  readonly log?: (line: string) => void;
}

interface Slot extends AdapterLocation {
  readers: number;
  isReady: boolean;
  isWanted: boolean;
  /** Loads and unloads of one slot run one after the other. */
  last: Promise<unknown>;
}

const NEVER = new AbortController().signal;

export function createVllmAdapters(options: VllmAdaptersOptions): VllmAdapters {
  const { name: prefix, log = () => undefined } = options;
  const routes = createVllmRoutes(options);
  const slots = new Map<number, Slot>();

  const running = new Set<Promise<unknown>>();
  const inTurn = <T>(slot: Slot, work: () => Promise<T>): Promise<T> => {
    const done = slot.last.then(work);
    slot.last = done;
    running.add(done);
    void done.finally(() => running.delete(done));
    return done;
  };
  const unloadUnused = (version: number, slot: Slot): void => {
    if (slot.isWanted || slot.readers > 0) return;
    void inTurn(slot, async () => {
      if (slot.isWanted || slot.readers > 0 || slots.get(version) !== slot) return;
      // From here on it cannot be borrowed, so nobody reads from it when it is unloaded.
      slot.isReady = false;
      const outcome = await routes.unload(slot.name, NEVER);
      if (outcome.is === 'done' || outcome.is === 'absent') slots.delete(version);
      else log(`${slot.name} was not unloaded: ${outcome.failure.message}`);
    });
  };
  const slotOf = (version: number, folder: string): Slot => {
    const found = slots.get(version);
    if (found !== undefined) return found;
    const name = `${prefix}-v${version}`;
    const slot = { name, folder, readers: 0, isReady: false, isWanted: true, last: Promise.resolve() };
    slots.set(version, slot);
    return slot;
  };

  return {
    load: async (version, folder, signal) => {
      const slot = slotOf(version, folder);
      if (slot.folder !== folder) return refused(otherFolder(version, slot.folder));
      slot.isWanted = true;
      return inTurn(slot, async (): Promise<AdapterLoadResult> => {
        if (slot.isReady) {
          const listed = await routes.list(signal);
          // Unknown: the slot keeps its state.
          if (!listed.ok) return listed;
          slot.isReady = listed.served.has(slot.name);
        }
        const failure = slot.isReady ? undefined : await loadAdapter(routes, slot, signal);
        slot.isReady = failure === undefined;
        if (failure === undefined) {
          // It may have been unloaded while this waited for its turn.
          slots.set(version, slot);
          return { ok: true, model: slot.name };
        }
        slots.delete(version);
        return refused(failure);
      });
    },
    borrow: (version) => {
      const slot = slots.get(version);
      if (slot === undefined || !slot.isReady) return undefined;
      slot.readers++;
      let isHeld = true;
      return {
        model: slot.name,
        release: () => {
          if (!isHeld) return;
          isHeld = false;
          slot.readers--;
          unloadUnused(version, slot);
        },
      };
    },
    keepOnly: (versions) => {
      for (const [version, slot] of slots) {
        slot.isWanted = versions.includes(version);
        unloadUnused(version, slot);
      }
    },
    settled: async () => {
      while (running.size > 0) await Promise.all(running);
    },
  };
}

const otherFolder = (version: number, folder: string): Failure =>
  createFailure(
    'bad-request',
    `Version ${version} is already served from ${folder}. Other weights need another version.`,
  );

/**
 * Loads an adapter; undefined on success. A server that was not restarted with Instar still has the adapters of before: the
 * same name with the same folder is the same adapter. A different one of that name is unloaded first. Loading in place is the
 * last resort, since the server then reads the folder again with every request.
 */
async function loadAdapter(
  routes: VllmRoutes,
  place: AdapterLocation,
  signal: AbortSignal,
): Promise<Failure | undefined> {
  const first = await routes.load(place, false, signal);
  if (first.is === 'done') return undefined;
  if (first.is !== 'taken') return first.failure;
  const listed = await routes.list(signal);
  if (listed.ok && listed.served.get(place.name) === place.folder) return undefined;
  const gone = await routes.unload(place.name, signal);
  const isGone = gone.is === 'done' || gone.is === 'absent';
  const again = await routes.load(place, !isGone, signal);
  return again.is === 'done' ? undefined : again.failure;
}

interface AdapterModelOptions {
  /** A model at the same server that requests the name in the request. */
  readonly model: ChatModel;
  readonly adapters: Pick<VllmAdapters, 'borrow'>;
  /** The version that answers a turn, read once at its start; undefined: the base model, by the request's name. */
  readonly versionOf: (options: ChatOptions) => number | undefined;
}

/** Answers a turn with one version from its first token to its last, even if another version serves by then. */
export function withAdapters({ model, adapters, versionOf }: AdapterModelOptions): ChatModel {
  return (request, options) => ({
    async *[Symbol.asyncIterator]() {
      const version = versionOf(options);
      // Chosen and borrowed in the same tick, so it cannot be unloaded in between.
      const borrowed = version === undefined ? undefined : adapters.borrow(version);
      if (version !== undefined && borrowed === undefined) {
        const message = `Version ${version} of the policy is not loaded. Load it again, or roll back.`;
        yield { type: 'failure', failure: createFailure('overloaded', message) };
        return;
      }
      try {
        yield* model(borrowed === undefined ? request : { ...request, model: borrowed.model }, options);
      } finally {
        borrowed?.release();
      }
    },
  });
}
