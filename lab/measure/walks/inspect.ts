import { WebSocket } from 'undici';

/** One V8 isolate of the measured process: its main thread or one of its worker threads. */
export interface Isolate {
  readonly name: string;
  call(method: string, params?: object): Promise<unknown>;
}

export interface Inspector {
  /** The main thread first, then the worker threads that run now. */
  isolates(): readonly Isolate[];
  close(): void;
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

interface WorkerParams {
  readonly sessionId: string;
  readonly workerInfo?: { readonly url: string };
  readonly message?: string;
}

/** A thread that ends while it is asked may never answer, and its end may be told before the question was sent. */
const MOST_WAIT_MS = 10_000;

/** Sends commands of the Chrome DevTools Protocol and matches the replies to them. */
function createCaller(send: (text: string) => void) {
  const waiting = new Map<number, (message: Message) => void>();
  let nextId = 1;
  return {
    receive: (message: Message): void => {
      if (message.id === undefined) return;
      waiting.get(message.id)?.(message);
      waiting.delete(message.id);
    },
    call: (method: string, params: object = {}): Promise<unknown> =>
      new Promise((resolve, reject) => {
        const id = nextId++;
        const timer = setTimeout(() => resolve({}), MOST_WAIT_MS);
        waiting.set(id, ({ error, result }) => {
          clearTimeout(timer);
          if (error === undefined) resolve(result);
          else reject(new Error(`${method}: ${error.message}`));
        });
        send(JSON.stringify({ id, method, params }));
      }),
    /** The thread has ended: calls that wait for it get an empty reply. */
    end: (): void => {
      for (const reply of waiting.values()) reply({ result: {} });
      waiting.clear();
    },
  };
}

const nameOf = (url: string): string => url.split('/').at(-1)?.replace(/\.js$/, '') ?? url;

/** Connects to a process that was started with `--inspect`, and to each worker thread as it starts. */
export async function openInspector(
  url: string,
  onIsolate: (isolate: Isolate) => Promise<void>,
): Promise<Inspector> {
  const socket = new WebSocket(url);
  const main = createCaller((text) => socket.send(text));
  const workers = new Map<
    string,
    { readonly isolate: Isolate; receive(message: Message): void; end(): void }
  >();
  socket.addEventListener('message', ({ data }) => {
    const message = JSON.parse(String(data)) as Message;
    main.receive(message);
    const params = message.params as WorkerParams | undefined;
    if (message.method === 'NodeWorker.attachedToWorker' && params !== undefined) {
      const { sessionId, workerInfo } = params;
      const caller = createCaller((text) => {
        main.call('NodeWorker.sendMessageToWorker', { sessionId, message: text }).catch(caller.end);
      });
      const isolate = { name: nameOf(workerInfo?.url ?? 'worker'), call: caller.call };
      workers.set(sessionId, { isolate, receive: caller.receive, end: caller.end });
      void onIsolate(isolate);
    }
    if (message.method === 'NodeWorker.detachedFromWorker' && params !== undefined) {
      workers.get(params.sessionId)?.end();
      workers.delete(params.sessionId);
    }
    if (message.method === 'NodeWorker.receivedMessageFromWorker' && params?.message !== undefined)
      workers.get(params.sessionId)?.receive(JSON.parse(params.message) as Message);
  });
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => resolve());
    socket.addEventListener('error', () => reject(new Error(`no inspector at ${url}`)));
  });
  const mainIsolate = { name: 'main', call: main.call };
  await onIsolate(mainIsolate);
  await main.call('NodeWorker.enable', { waitForDebuggerOnStart: false });
  return {
    isolates: () => [mainIsolate, ...[...workers.values()].map(({ isolate }) => isolate)],
    close: () => socket.close(),
  };
}
