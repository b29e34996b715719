import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { InstarClient } from '../shared/instar-client.ts';
import type { AgentRun } from '../shared/run-reports.ts';

const FILES = ['SOUL.md', 'IDENTITY.md'];

/**
 * Follows who the agent is said to be: a changed SOUL.md or IDENTITY.md of the workspace is reported, by its hash. The words stay in
 * the workspace: OpenClaw shows these files to the model itself.
 */
export function createIdentityFollower(client: Pick<InstarClient, 'report'>): (run: AgentRun) => void {
  const known = new Map<string, string>();
  return ({ agent, folder }) => {
    if (folder === undefined) return;
    for (const name of FILES) {
      const file = join(folder, name);
      const hash = hashOfFile(file);
      const before = known.get(file);
      if (hash === undefined || hash === before) continue;
      known.set(file, hash);
      client.report({
        kind: 'identity_file',
        agent,
        folder,
        file: name,
        hash,
        isChanged: before !== undefined,
      });
    }
  };
}

function hashOfFile(file: string): string | undefined {
  try {
    return createHash('sha256').update(readFileSync(file)).digest('hex');
  } catch {
    return undefined;
  }
}
