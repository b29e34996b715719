import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';

/** Forks one of our own programs and waits until it is ready; it exits when we do. */
export async function startChild(
  name: string,
  args: readonly string[] = [],
): Promise<ChildProcess & { port: number }> {
  const child = fork(new URL(`./${name}.js`, import.meta.url), [...args]);
  const [said] = (await once(child, 'message')) as [{ port?: number }];
  return Object.assign(child, { port: said.port ?? 0 });
}

/** Sends SIGTERM and waits for the exit. */
export async function endChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  await gone;
}

export async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
