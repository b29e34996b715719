import { planClaudeCode } from './clients/claude-code.ts';
import { planCline } from './clients/cline.ts';
import { planCodex } from './clients/codex.ts';
import { planOpenclaw } from './clients/openclaw.ts';
import { planOpencode } from './clients/opencode.ts';
import { planPi } from './clients/pi.ts';
import type { Connection, Surroundings } from './connection.ts';
import type { Plan } from './file-edit.ts';

/** Clients with files that `connect` can write. */
export const CLIENTS = ['openclaw', 'claude-code', 'codex', 'opencode', 'pi', 'cline'] as const;
export type Client = (typeof CLIENTS)[number];

const PLANS: Readonly<Record<Client, (connection: Connection, surroundings: Surroundings) => Plan>> = {
  openclaw: planOpenclaw,
  'claude-code': planClaudeCode,
  codex: planCodex,
  opencode: planOpencode,
  pi: planPi,
  cline: planCline,
};

/** What to put into which file so that a client calls the gateway; writes nothing. Throws `ConfigError`. */
export const planConnection = (client: Client, connection: Connection, surroundings: Surroundings): Plan =>
  PLANS[client](connection, surroundings);
