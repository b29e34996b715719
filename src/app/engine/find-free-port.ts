import { createServer } from 'node:net';

/** Below where systems take the ports of outgoing connections, so that none of those sits on it while nobody listens. */
const FIRST = 20_000;
const COUNT = 10_000;

/** A port of loopback that is free now, the first from `start` on, counted within the range. */
export async function findFreePort(start: number): Promise<number> {
  for (let tried = 0; tried < COUNT; tried++) {
    const port = FIRST + ((((start - FIRST + tried) % COUNT) + COUNT) % COUNT);
    if (await isFree(port)) return port;
  }
  throw new Error(`no port from ${FIRST} to ${FIRST + COUNT - 1} is free`);
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', ({ code, message }: NodeJS.ErrnoException) => {
      if (code === 'EADDRINUSE' || code === 'EACCES') resolve(false);
      else reject(new Error(`loopback cannot be listened on: ${message}`));
    });
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
