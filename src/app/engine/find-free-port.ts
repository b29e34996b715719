import { createServer } from 'node:net';

/** Below the ephemeral range, so that no outgoing connection takes the port while nobody listens on it. */
const FIRST = 20_000;
const COUNT = 10_000;

/** The first free loopback port from `start` on, wrapping within the range. */
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
      else reject(new Error(`cannot listen on loopback: ${message}`));
    });
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
