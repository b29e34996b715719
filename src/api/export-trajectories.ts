import type { Home } from '../config/home.ts';
import { readKey } from '../config/key.ts';
import { readOwnerKey } from '../config/owner-key.ts';
import type { DaemonApi } from '../core/daemon-api.ts';
import { asNumber, asString, type JsonObject } from '../core/json.ts';
import { createRedactor } from '../redact/redact.ts';
import { readOrCreateSalt } from '../redact/salt.ts';

interface TrajectoryExportOptions {
  readonly api: DaemonApi;
  /** The second scan: true when a text still contains a secret. */
  readonly hasSecret: (text: string) => boolean;
  readonly write: (line: string) => void;
  readonly agent?: string;
  readonly project?: string;
}

/** A secret was found in data that should be redacted. The export stops. */
export class SecretFoundError extends Error {
  override readonly name = 'SecretFoundError';
}

const PAGE = 200;

/** One JSON line per session, newest first. Fails closed: every line is scanned again before it is written. */
export async function exportTrajectories({
  api,
  hasSecret,
  write,
  ...filter
}: TrajectoryExportOptions): Promise<number> {
  let count = 0;
  let before: number | undefined;
  for (;;) {
    const page = await api.sessions({ limit: PAGE, ...filter, ...(before === undefined ? {} : { before }) });
    for (const session of page) {
      const trajectory = await api.trajectory(asString(session.id) ?? '');
      if (trajectory === undefined || trajectory.erased === true) continue;
      const line = JSON.stringify(trajectory);
      if (hasSecret(line)) {
        throw new SecretFoundError(
          `session ${session.id} contains what looks like a secret; it was not written`,
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

/** The second scan of exported data: for known keys and for everything shaped like a key. */
export function createSecretScan(home: Home, env: NodeJS.ProcessEnv): (text: string) => boolean {
  const keys = [readKey(home, env)?.key ?? [], readOwnerKey(home, env)?.key ?? []].flat();
  const redactor = createRedactor({
    known: () => keys,
    salt: readOrCreateSalt(home),
  });
  return (text) => redactor.hasSecret(text);
}
