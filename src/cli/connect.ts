import { homedir } from 'node:os';
import { findDaemon } from '../api/daemon-status.ts';
import { isLoopbackHost } from '../config/address.ts';
import { type Home, homeAt, openHome } from '../config/home.ts';
import { readOrCreateKey } from '../config/key.ts';
import { loadConfig } from '../config/load-config.ts';
import type { Config } from '../config/schema.ts';
import { readClientFile } from '../connect/client-file.ts';
import { CLIENTS, type Client, planConnection } from '../connect/clients.ts';
import { connectClient, disconnectClient, type UndoneFile } from '../connect/connect.ts';
import { connectedClients } from '../connect/connect-record.ts';
import { type ClientConnection, shellExports } from '../connect/connection.ts';
import { renderEdit } from '../connect/file-edit.ts';
import { type CommandContext, CommandError, EXIT, type ExitCode } from './context.ts';

export interface ConnectCommandOptions {
  readonly args: readonly string[];
  readonly write?: true;
  readonly undo?: true;
  readonly model?: string;
}

/** Shows or writes what points a client at the gateway, or takes it out again. */
export async function connect(options: ConnectCommandOptions, context: CommandContext): Promise<ExitCode> {
  const [client] = options.args;
  if (options.write && options.undo) {
    throw new CommandError(EXIT.wrongUse, '--write and --undo exclude each other', 'give one of them');
  }
  if (options.undo) return disconnect(client, context);
  if (client === undefined) {
    throw new CommandError(EXIT.wrongUse, 'a client is missing', `one of: ${[...CLIENTS, 'env'].join(', ')}`);
  }
  const home = options.write ? openHome(context.homeDir) : homeAt(context.homeDir);
  const { config } = loadConfig({ file: home.configFile, env: context.env });
  const connection: ClientConnection = {
    url: await gatewayUrl(home, config),
    // What is only shown does not show the key.
    key: options.write ? readOrCreateKey(home, context.env).key : `the key in ${home.keyFile}`,
    keyFile: home.keyFile,
    config,
    isOpenToOthers: !isLoopbackHost(config.gateway.host),
    ...(options.model !== undefined && { model: options.model }),
  };
  if (client === 'env') return showExports(connection, options, context);
  const known = CLIENTS.find((name) => name === client);
  if (known === undefined) throw new CommandError(EXIT.wrongUse, `"${client}" is not a client Instar knows`);
  return options.write ? write(home, known, connection, context) : show(known, connection, context);
}

const surroundings = ({ env }: CommandContext) => ({
  env,
  homeDir: env.HOME || homedir(),
  read: (file: string) => readClientFile(file).content?.bytes.toString('utf8'),
});

function show(client: Client, connection: ClientConnection, context: CommandContext): ExitCode {
  const { printer } = context;
  const { edits, notes } = planConnection(client, connection, surroundings(context));
  const files = edits.map((edit) => ({ file: edit.file, add: renderEdit(edit) }));
  if (printer.json) {
    printer.document({ client, url: connection.url, written: false, files, notes });
    return EXIT.ok;
  }
  for (const { file, add } of files) {
    printer.line({ text: file, style: 'bold' });
    printer.line(add);
  }
  for (const note of notes) printer.note({ text: '  note  ', style: 'dim' }, note);
  printer.note({ text: '  next  ', style: 'dim' }, `instar connect ${client} --write puts it there`);
  return EXIT.ok;
}

function write(home: Home, client: Client, connection: ClientConnection, context: CommandContext): ExitCode {
  const { printer } = context;
  const { edits, notes } = planConnection(client, connection, surroundings(context));
  const files = connectClient(home, client, { edits, secret: connection.key });
  const shown = notes.map((note) => note.replaceAll(connection.key, `the key in ${home.keyFile}`));
  if (printer.json) {
    printer.document({ client, url: connection.url, written: true, files, notes: shown });
    return EXIT.ok;
  }
  for (const { file, change } of files) printer.line(`${change} ${file}`);
  for (const note of shown) printer.note({ text: '  note  ', style: 'dim' }, note);
  printer.note({ text: '  undo  ', style: 'dim' }, `instar connect ${client} --undo`);
  return EXIT.ok;
}

function showExports(
  connection: ClientConnection,
  { write }: ConnectCommandOptions,
  context: CommandContext,
): ExitCode {
  const { printer, env } = context;
  if (write) {
    throw new CommandError(
      EXIT.wrongUse,
      'variables have no file to be written to',
      'eval "$(instar connect env)" sets them in a shell',
    );
  }
  const variables = shellExports(connection, Boolean(env.INSTAR_KEY?.trim()));
  if (printer.json) {
    printer.document({ client: 'env', url: connection.url, written: false, variables });
    return EXIT.ok;
  }
  for (const { name, value } of variables) printer.line(`export ${name}=${value}`);
  printer.note(
    { text: '  note  ', style: 'dim' },
    'for the shell of your agent: eval "$(instar connect env)"; not for the one that runs instar up',
  );
  return EXIT.ok;
}

/** Where the gateway runs now, else where it would. */
async function gatewayUrl(home: Home, { gateway }: Config): Promise<string> {
  const daemon = await findDaemon(home);
  if (daemon !== undefined) return daemon.url.replace(/\/+$/, '');
  if (gateway.port === 0) {
    throw new CommandError(
      EXIT.failed,
      'gateway.port is 0, so the port is only known while Instar runs',
      'start it with: instar up',
    );
  }
  const host = gateway.host === '0.0.0.0' || gateway.host === '::' ? '127.0.0.1' : gateway.host;
  return `http://${host.includes(':') ? `[${host}]` : host}:${gateway.port}`;
}

const SAID: Readonly<Record<UndoneFile['kind'], string>> = {
  exact: 'as it was before',
  changed: 'changed by someone else since; only what Instar had put there was taken out',
  gone: 'is gone, and was left so',
  unreadable: 'changed by someone else since, and cannot be read; take out what names Instar by hand',
};

/** `connect --undo`: puts back the files of one client, or of all. */
export function disconnect(client: string | undefined, { homeDir, printer }: CommandContext): ExitCode {
  const home = homeAt(homeDir);
  const clients = client === undefined ? connectedClients(home) : [client];
  const undone = clients.flatMap((name) => {
    const files = disconnectClient(home, name);
    return files === undefined ? [] : [{ client: name, files }];
  });
  if (undone.length === 0) {
    const what = client === undefined ? 'no client is connected' : `${client} is not connected`;
    throw new CommandError(EXIT.failed, `${what}, so there is nothing to put back`);
  }
  const isWhole = undone.every(({ files }) => files.every(({ kind }) => kind !== 'unreadable'));
  if (printer.json) printer.document({ undone, ok: isWhole });
  else {
    for (const { files } of undone)
      for (const { file, kind } of files) printer.line(`${file}: ${SAID[kind]}`);
  }
  return isWhole ? EXIT.ok : EXIT.failed;
}
