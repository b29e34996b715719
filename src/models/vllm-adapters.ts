import { createFailure, type Failure } from '../core/failure.ts';
import {
  type AdapterPlace,
  createVllmRoutes,
  type VllmRoutes,
  type VllmRoutesOptions,
} from './vllm-routes.ts';

/**
 * Adapters of one base model in a running vLLM, a name for each version. What serves is decided elsewhere, by a pointer; the
 * order in which it moves is: `load` what is new, move the pointer, then `keepOnly` what it names now. A version that is
 * named no longer is unloaded when the last who borrowed it has given it back, and never while anyone reads from it.
 */
export interface VllmAdapters {
  /**
   * Makes a version ready to be borrowed. The folder must stay as it is while the version is kept: vLLM reads it again when
   * it needs room and has dropped it. Again for one that is ready: loads it if the server has lost it. Never rejects.
   */
  load(version: number, folder: string, signal: AbortSignal): Promise<Loaded>;
  /** The name to ask for, until it is given back; undefined when the version is not ready. */
  borrow(version: number): Borrowed | undefined;
  /** Whatever else there is goes, as soon as nobody reads from it. To be told of all that is still wanted, at once. */
  keepOnly(versions: readonly number[]): void;
  /** Resolves when nothing is being loaded or unloaded. What could not be unloaded is tried again at the next `keepOnly`. */
  settled(): Promise<void>;
}

export type Loaded =
  | { readonly isReady: true; readonly model: string }
  | { readonly isReady: false; readonly failure: Failure };

export interface Borrowed {
  readonly model: string;
  /** May be called again to no effect. */
  release(): void;
}

export interface VllmAdaptersOptions extends VllmRoutesOptions {
  /** What the names begin with; of this installation alone, when several share a server. */
  readonly name: string;
  readonly log?: (line: string) => void;
}

interface Slot extends AdapterPlace {
  readers: number;
  isReady: boolean;
  isWanted: boolean;
  /** What happens to it happens one after the other. */
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
  const letGo = (version: number, slot: Slot): void => {
    if (slot.isWanted || slot.readers > 0) return;
    void inTurn(slot, async () => {
      if (slot.isWanted || slot.readers > 0 || slots.get(version) !== slot) return;
      // From here on nobody gets it, so that nobody reads from it when it goes.
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
      if (slot.folder !== folder) return { isReady: false, failure: elsewhere(version, slot.folder) };
      slot.isWanted = true;
      return inTurn(slot, async (): Promise<Loaded> => {
        if (slot.isReady) {
          const listed = await routes.list(signal);
          // Nobody knows, so it stays what it was.
          if ('failure' in listed) return { isReady: false, failure: listed.failure };
          slot.isReady = listed.served.has(slot.name);
        }
        const failure = slot.isReady ? undefined : await bring(routes, slot, signal);
        slot.isReady = failure === undefined;
        if (failure === undefined) {
          // It may have been unloaded while this waited for its turn.
          slots.set(version, slot);
          return { isReady: true, model: slot.name };
        }
        slots.delete(version);
        return { isReady: false, failure };
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
          letGo(version, slot);
        },
      };
    },
    keepOnly: (versions) => {
      for (const [version, slot] of slots) {
        slot.isWanted = versions.includes(version);
        letGo(version, slot);
      }
    },
    settled: async () => {
      while (running.size > 0) await Promise.all(running);
    },
  };
}

const elsewhere = (version: number, folder: string): Failure =>
  createFailure(
    'bad-request',
    `Version ${version} is served from ${folder}. Give other weights another version.`,
  );

/**
 * Loads an adapter; undefined when it is there. A server that was not restarted with us still has what we loaded before: the
 * name with the same folder is the same adapter. Another one under the name is unloaded first; loading over it is the last
 * way, since a server remembers that it was told so and reads the folder again with every request.
 */
async function bring(
  routes: VllmRoutes,
  place: AdapterPlace,
  signal: AbortSignal,
): Promise<Failure | undefined> {
  const first = await routes.load(place, false, signal);
  if (first.is === 'done') return undefined;
  if (first.is !== 'taken') return first.failure;
  const listed = await routes.list(signal);
  if ('served' in listed && listed.served.get(place.name) === place.folder) return undefined;
  const gone = await routes.unload(place.name, signal);
  const isGone = gone.is === 'done' || gone.is === 'absent';
  const again = await routes.load(place, !isGone, signal);
  return again.is === 'done' ? undefined : again.failure;
}
