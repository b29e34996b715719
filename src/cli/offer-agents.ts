import { accessSync, constants } from 'node:fs';
import path from 'node:path';
import { homeAt } from '../config/home.ts';
import { loadConfig } from '../config/load-config.ts';
import type { Config } from '../config/schema.ts';
import { findTarget } from '../connect/connection.ts';
import type { ClientName } from '../core/client-name.ts';
import { connect, sayTryIt, WIRES } from './connect.ts';
import { type CommandContext, CommandError, EXIT } from './context.ts';
import { dim } from './print.ts';

/** The programs of clients. */
const PROGRAMS: Readonly<Record<ClientName, string>> = {
  'claude-code': 'claude',
  codex: 'codex',
  openclaw: 'openclaw',
  opencode: 'opencode',
  pi: 'pi',
  cline: 'cline',
  continue: 'cn',
  aider: 'aider',
  hermes: 'hermes',
};

/** The clients whose program is on the PATH. Nothing is run. */
function findAgents({ PATH = '' }: NodeJS.ProcessEnv): readonly ClientName[] {
  const folders = PATH.split(path.delimiter).filter((folder) => path.isAbsolute(folder));
  const isThere = (program: string): boolean =>
    folders.some((folder) => {
      try {
        accessSync(path.join(folder, program), constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
  return (Object.keys(PROGRAMS) as ClientName[]).filter((client) => isThere(PROGRAMS[client]));
}

/** A client's own login reaches a provider of its own vendor only. */
function canServe(config: Config, client: ClientName): boolean {
  const wire = WIRES[client] ?? 'openai-chat';
  const { credentials, wires } = findTarget(config, undefined, wire);
  return credentials !== 'caller' || wires.includes(wire);
}

/** Asks which of the agents on this machine to connect, connects them, and ends with what to say to one of them. */
export async function offerAgents(context: CommandContext, isRunning: boolean): Promise<void> {
  const { stdin: input, stderr: output, env, printer } = context;
  const { config } = loadConfig({ file: homeAt(context.homeDir).configFile, env });
  const found = findAgents(env).filter((client) => canServe(config, client));
  let connected: readonly ClientName[] = [];
  if (found.length > 0) {
    const { isCancel, multiselect } = await import('@clack/prompts');
    const picked = await multiselect<ClientName>({
      input,
      output,
      message:
        'Connect the agents on this machine? (Space chooses, Enter goes on; undo: instar connect --undo)',
      options: found.map((client) => ({ value: client, label: client })),
      initialValues: [...found],
      required: false,
    });
    if (isCancel(picked)) throw new CommandError(EXIT.interrupted, 'no agent was connected');
    connected = picked;
  }
  for (const client of connected)
    try {
      await connect({ args: [client], write: true }, context);
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      printer.note({ text: `  ${client}: `, style: 'yellow' }, error.message);
    }
  const [first] = connected;
  if (first === undefined)
    printer.note(
      dim('  agent   '),
      found.length === 0
        ? 'instar connect CLIENT points your agent at Instar'
        : 'later: instar connect CLIENT --write',
    );
  if (!isRunning) printer.note(dim('  next    '), 'instar up');
  if (first === undefined) sayTryIt(context, 'your agent');
}
