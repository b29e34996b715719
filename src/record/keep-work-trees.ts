import { blockHash } from '../base/block-hash.ts';
import type { Log } from '../base/log.ts';
import { createLruMap } from '../base/lru-map.ts';
import type { Clock } from '../core/clock.ts';
import { compact } from '../core/json.ts';
import type { BegunWork } from '../core/practice.ts';
import type { Records } from '../core/store.ts';
import { writeWorkspaceContent } from '../core/workspace-content.ts';
import { readWorkTree, type WorkTree } from './work-tree.ts';

interface WorkTreeKeeperParts {
  /** `practice.snapshots`, as it is now. */
  readonly isOn: () => boolean;
  readonly records: Pick<Records, 'append'>;
  readonly hasSecret: (text: string) => boolean;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
}

/** Keeps the state of clients' projects as requests come in, off the hot path, one at a time. */
export interface WorkTreeKeeper {
  /** Returns at once. Requests that come faster than projects can be read are left out. */
  begun(work: BegunWork): void;
  /** Resolves when nothing is under way. */
  settle(): Promise<void>;
}

const MOST_WAITING = 16;
const MOST_SESSIONS = 1000;

export function createWorkTreeKeeper(parts: WorkTreeKeeperParts): WorkTreeKeeper {
  /** The state that was last kept of a session: only a change is written. */
  const last = createLruMap<string, string>(MOST_SESSIONS);
  let waiting = 0;
  let queue: Promise<void> = Promise.resolve();

  const keep = async ({ session, turn, folder }: BegunWork): Promise<void> => {
    const tree = await readWorkTree(folder, parts);
    if (tree.is === 'none') return;
    const text = tree.is === 'kept' ? writeWorkspaceContent(tree.content) : undefined;
    const content = text === undefined ? undefined : blockHash(text);
    const mark = JSON.stringify([stateOf(tree), content]);
    if (last.get(session) === mark) return;
    await parts.records.append(
      [
        {
          at: parts.clock.now(),
          fact: compact({
            type: 'workspace-snapshotted' as const,
            ...{ session, turn },
            ...stateOf(tree),
            content,
          }),
          key: `workspace:${turn}`,
        },
      ],
      text === undefined || content === undefined ? [] : [{ hash: content, text, session }],
      true,
    );
    last.set(session, mark);
  };

  return {
    begun: (work) => {
      if (!parts.isOn() || waiting >= MOST_WAITING || !work.isAsked()) return;
      waiting++;
      queue = queue
        .then(() => keep(work))
        .catch((error: unknown) => parts.log.debug({ err: error }, 'a project could not be snapshotted'))
        .finally(() => {
          waiting--;
        });
    },
    settle: async () => queue,
  };
}

const stateOf = (tree: Exclude<WorkTree, { readonly is: 'none' }>) =>
  tree.is === 'kept'
    ? compact({ repository: tree.repository, commit: tree.commit, within: tree.within })
    : { skipped: tree.why };
