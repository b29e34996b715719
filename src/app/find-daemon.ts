import { type DaemonRecord, readDaemonFile } from '../config/daemon-file.ts';
import type { Home } from '../config/home.ts';

/** The daemon that serves this home and answers now; a record that a killed one left behind is not it. */
export async function findDaemon(home: Home): Promise<DaemonRecord | undefined> {
  const record = readDaemonFile(home);
  if (record === undefined) return undefined;
  try {
    const reply = await askDaemon(record, '/healthz');
    await reply.body?.cancel();
    return reply.status === 200 ? record : undefined;
  } catch {
    return undefined;
  }
}

/** Rejects when nothing answers within two seconds. */
export const askDaemon = (
  record: DaemonRecord,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> =>
  fetch(new URL(path, record.url), { headers, redirect: 'manual', signal: AbortSignal.timeout(2_000) });

/** Whether the process that wrote the record still exists: its port may meanwhile be someone else's. */
export function isAlive(record: DaemonRecord): boolean {
  try {
    return process.kill(record.pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
