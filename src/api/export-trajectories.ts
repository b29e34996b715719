import type { Home } from '../config/home.ts';
import { readKey } from '../config/key.ts';
import type { DaemonApi } from '../core/daemon-api.ts';
import { asNumber, asString, type JsonObject } from '../core/json.ts';
import { readOrCreateSalt } from '../record/open-recording.ts';
import { createRedactor } from '../record/redact.ts';

interface TrajectoryExportOptions {
  readonly desk: DaemonApi;
  /** The second look: true when a text still holds a secret. */
  readonly hasSecret: (text: string) => boolean;
  readonly write: (line: string) => void;
  readonly agent?: string;
  readonly project?: string;
}

/** A secret was found in what should be free of them: nothing more is written. */
export class SecretFoundError extends Error {
  override readonly name = 'SecretFoundError';
}

const PAGE = 200;

/** One JSON line per session, newest first. Fails closed: a line is looked at again before it is written. */
export async function exportTrajectories({
  desk,
  hasSecret,
  write,
  ...filter
}: TrajectoryExportOptions): Promise<number> {
  let count = 0;
  let before: number | undefined;
  for (;;) {
    const page = await desk.sessions({ limit: PAGE, ...filter, ...(before === undefined ? {} : { before }) });
    for (const session of page) {
      const trajectory = await desk.trajectory(asString(session.id) ?? '');
      if (trajectory === undefined || trajectory.erased === true) continue;
      const line = JSON.stringify(trajectory);
      if (hasSecret(line)) {
        throw new SecretFoundError(
          `session ${session.id} holds what looks like a secret; nothing of it was written`,
        );
      }
      write(`${line}\n`);
      count++;
    }
    const oldest = lastTime(page.at(-1));
    if (page.length < PAGE || oldest === undefined || oldest === before) return count;
    before = oldest;
  }
}

function lastTime(session: JsonObject | undefined): number | undefined {
  return asNumber(Date.parse(asString(session?.lastAt) ?? ''));
}

/** The second look at what leaves the house: known keys and everything that has the shape of one. */
export function createSecretScan(home: Home, env: NodeJS.ProcessEnv): (text: string) => boolean {
  const key = readKey(home, env)?.key;
  const redactor = createRedactor({
    known: () => (key === undefined ? [] : [key]),
    salt: readOrCreateSalt(home),
  });
  return (text) => redactor.hasSecret(text);
}
