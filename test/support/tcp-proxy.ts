import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A network between two programs that can fail. */
export interface TcpProxy {
  readonly port: number;
  /** The ports of its connections to the other side so far, which names its users there. */
  readonly from: ReadonlySet<number>;
  /** `reset`: connections break and new ones are refused. `silent`: they stay open, and nothing arrives. */
  cut(how: 'reset' | 'silent'): void;
  heal(): void;
  close(): Promise<void>;
}

export async function startTcpProxy(to: number): Promise<TcpProxy> {
  const from = new Set<number>();
  const pairs = new Set<readonly [Socket, Socket]>();
  let mode: 'open' | 'reset' | 'silent' = 'open';
  const drop = (): void => {
    for (const pair of pairs) for (const socket of pair) socket.destroy();
    pairs.clear();
  };
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    if (mode === 'reset') return void socket.resetAndDestroy();
    const upstream = connect(to, '127.0.0.1');
    upstream.on('error', () => socket.destroy());
    // The end of a killed program arrives, unless the network is cut: otherwise it would keep its locks on the other side.
    for (const [one, other] of [[socket, upstream] as const, [upstream, socket] as const])
      one.on('close', () => {
        if (mode === 'open') other.destroy();
      });
    upstream.on('connect', () => void from.add(upstream.localPort ?? 0));
    const pair = [socket, upstream] as const;
    pairs.add(pair);
    if (mode === 'silent') return;
    socket.pipe(upstream);
    upstream.pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    from,
    cut: (how) => {
      mode = how;
      if (how === 'reset') drop();
      else
        for (const [socket, upstream] of pairs) {
          socket.unpipe(upstream);
          upstream.unpipe(socket);
        }
    },
    heal: () => {
      mode = 'open';
      // What was cut silently is as good as lost.
      drop();
    },
    close: () => {
      drop();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
