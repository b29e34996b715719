import type { AttemptAccess, AttemptPlace, AttemptTurns, OpenAttemptAccess } from '../core/attempt-model.ts';

/** Ways through the gateway for attempts that another thread makes: calls of plain data, by the attempt's id. */
export interface SharedAccess {
  open(order: AttemptPlace): Pick<AttemptAccess, 'url' | 'key'>;
  turns(id: string): Promise<AttemptTurns>;
  close(id: string): void;
  /** The other thread has ended: none of its keys is valid any more. */
  closeAll(): void;
}

export function createSharedAccess(open: OpenAttemptAccess): SharedAccess {
  const opened = new Map<string, AttemptAccess>();
  const close = (id: string): void => {
    opened.get(id)?.close();
    opened.delete(id);
  };
  return {
    open: (order) => {
      close(order.id);
      const access = open(order);
      opened.set(order.id, access);
      return { url: access.url, key: access.key };
    },
    turns: async (id) => (await opened.get(id)?.turns()) ?? { messages: [], calls: 0, usage: [] },
    close,
    closeAll: () => {
      for (const id of [...opened.keys()]) close(id);
    },
  };
}

/** The same from the other thread. */
export const createRemoteAccess =
  (calls: {
    open(order: AttemptPlace): Promise<Pick<AttemptAccess, 'url' | 'key'>>;
    turns(id: string): Promise<AttemptTurns>;
    close(id: string): void;
  }): ((order: AttemptPlace) => Promise<AttemptAccess>) =>
  async ({ id, shown, task: { agent, project, domain } }) => {
    const task = {
      domain,
      ...(agent === undefined ? {} : { agent }),
      ...(project === undefined ? {} : { project }),
    };
    const { url, key } = await calls.open({ id, shown, task });
    return { url, key, turns: () => calls.turns(id), close: () => calls.close(id) };
  };
