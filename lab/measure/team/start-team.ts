import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type InstarProcess, startInstar } from '../gateway/start-instar.ts';
import type { ChatPlace } from './send-turns.ts';

/** One gateway of a team, and where chat requests reach it. */
export interface TeamGateway extends ChatPlace {
  readonly instar: InstarProcess;
}

export interface Team {
  readonly gateways: readonly TeamGateway[];
  close(): Promise<void>;
}

interface TeamOptions {
  readonly main: string;
  readonly upstreamPort: number;
  /** `sqlite`, or the URL of a PostgreSQL that all of them share. */
  readonly store: string;
  readonly count: number;
}

/** Gateways as separate processes with homes of their own. */
export async function startTeam({ main, upstreamPort, store, count }: TeamOptions): Promise<Team> {
  const homes: string[] = [];
  const gateways: TeamGateway[] = [];
  const close = async (): Promise<void> => {
    for (const { instar } of gateways) await instar.close();
    for (const home of homes) rmSync(home, { recursive: true, force: true });
  };
  try {
    for (let nth = 0; nth < count; nth++) {
      const home = mkdtempSync(path.join(tmpdir(), 'instar-team-'));
      homes.push(home);
      writeFileSync(path.join(home, 'config.json'), JSON.stringify(settingsOf(upstreamPort, store)));
      const instar = await startInstar({ main, upstreamPort, home });
      gateways.push({ instar, port: instar.port, headers: instar.headers });
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { gateways, close };
}

const settingsOf = (upstreamPort: number, store: string) => ({
  providers: {
    bench: { wire: ['openai-chat'], baseUrl: `http://127.0.0.1:${upstreamPort}/v1`, models: ['bench'] },
  },
  models: { evolver: 'off', judge: 'off' },
  library: { tokenBudget: 4000, domains: [{ domain: 'bench', agent: '*' }] },
  store: { url: store },
});
