import { homedir } from 'node:os';
import { Argument } from 'commander';
import { callDaemon } from '../config/call-daemon.ts';
import { type CallerKey, readCallerKeys } from '../config/caller-keys.ts';
import { findDaemon } from '../config/daemon-file.ts';
import { type Home, homeAt, openHome } from '../config/home.ts';
import { readKey, readOrCreateKey } from '../config/key.ts';
import { loadConfig } from '../config/load-config.ts';
import type { Config } from '../config/schema.ts';
import { readClientFile } from '../connect/client-file.ts';
import { planConnection } from '../connect/clients.ts';
import { connectClient, disconnectClient, type UndoneFile } from '../connect/connect.ts';
import { connectedClients, readRecord } from '../connect/connect-record.ts';
import { type ClientConnection, shellExports, whyOnlyEmbedded } from '../connect/connection.ts';
import { renderEdit } from '../connect/file-edit.ts';
import { whyNotServed } from '../connect/served-models.ts';
import { CLIENT_NAMES, type ClientName, isClientName } from '../core/client-name.ts';
import { asArray, asObject, asString, parseJson } from '../core/json.ts';
import type { WireName } from '../core/wire.ts';
import { askOwner, isAtTerminal } from './confirm-owner.ts';
import {
  connectNative,
  disconnectNative,
  keyFor,
  type NativeOptions,
  syncClientSkills,
} from './connect-native.ts';
import {
  type CommandContext,
  type DeclareCommand,
  EXIT,
  type ExitCode,
  failure,
  type Positional,
  wrongUse,
} from './context.ts';
import { dim } from './print.ts';
import { withApi } from './with-api.ts';

export const declareConnect: DeclareCommand = (command, act) =>
  void command
    .addArgument(new Argument('[client]', 'the program to connect').choices([...CLIENT_NAMES, 'env']))
    .option('--write', "write the settings into the client's own files; the originals are kept in the home")
    .option('--undo', 'restore the original settings of one client, or of all when none is named')
    .option(
      '--native',
      "install skills, hooks and tools as the client's own; models and logins stay as they are",
    )
    .option(
      '--project [dir]',
      'with --native: the skills of this project, in its folder (default: the current one)',
    )
    .option('--ratings', "with --native: what the client's user says counts as a person's word")
    .option('--model <name>', 'model the client should request (default: the alias "default")')
    .addHelpText(
      'after',
      '\nExample:\n  $ instar connect claude-code --write\n  $ instar connect claude-code --native --project . --write\n',
    )
    .action(act(connect));

interface ConnectOptions extends Positional, NativeOptions {
  readonly native?: true;
  readonly undo?: true;
  readonly model?: string;
}

/** Shows, writes or undoes the settings that point a client at the gateway. */
export async function connect(options: ConnectOptions, context: CommandContext): Promise<ExitCode> {
  const [client] = options.args;
  if (options.write && options.undo) {
    throw wrongUse('--write and --undo exclude each other', 'use one of them');
  }
  if (!options.native && (options.project !== undefined || options.ratings))
    throw wrongUse('--project and --ratings are for --native', 'add --native');
  if (options.undo) return disconnect(client, options.native === true, context);
  if (client === undefined) {
    throw wrongUse('no client was given', `choose one of: ${[...CLIENT_NAMES, 'env'].join(', ')}`);
  }
  const home = options.write ? openHome(context.homeDir) : homeAt(context.homeDir);
  const { config } = loadConfig({ file: home.configFile, env: context.env });
  if (options.native) {
    const parts = { home, url: await gatewayUrl(home, config), around: clientEnvironment(context) };
    return connectNative(client, options, parts, context);
  }
  const wire = WIRES[client] ?? 'openai-chat';
  const served = await servedModels(home, wire, context);
  const connection: ClientConnection = {
    url: await gatewayUrl(home, config),
    // Printed settings never contain a key. --write creates one for the client.
    key: `the key in ${home.keyFile}`,
    keyFile: home.keyFile,
    config,
    ...(options.model !== undefined && { model: options.model }),
    ...(served !== undefined && { served }),
  };
  const why = options.model === undefined ? undefined : whyNotServed(connection, options.model, wire);
  if (why !== undefined) throw wrongUse(why, 'name one of these with --model');
  const usual =
    options.model === undefined && config.models.default !== undefined ? { model: 'default' } : {};
  const toy = client === 'env' ? undefined : whyOnlyEmbedded({ ...connection, ...usual });
  if (toy !== undefined)
    throw failure(`${toy}; ${client} was not changed`, 'choose a provider first: instar init');
  if (client === 'env') return showExports(connection, options, context);
  if (!isClientName(client)) throw wrongUse(`"${client}" is not a known client`);
  if (!options.write) return show(client, connection, context);
  // The first key is for shells and for clients that are set up by hand.
  readOrCreateKey(home, context.env);
  const key = await keyOfClient(home, client, connection, context);
  const code = write(home, client, { ...connection, key }, context);
  // The gateway shows the lessons from now on.
  await syncClientSkills(home, client, context);
  await askToShare(home, client, config, context);
  return code;
}

/** The rules that a person tells one agent hold for the others only when the person says so, once. */
async function askToShare(
  home: Home,
  client: ClientName,
  { library }: Config,
  context: CommandContext,
): Promise<void> {
  const others = clientsOf(home).filter((name) => name !== client);
  if (others.length === 0 || library.shareAgents !== undefined) return;
  if (!isAtTerminal(context)) {
    if (!context.printer.json)
      context.printer.note(
        dim('  note  '),
        `what you tell ${client} stays with it; share with ${others.join(', ')}: instar config set library.shareAgents true`,
      );
    return;
  }
  const value = await askOwner(
    context,
    `Share what you tell one agent with your others (${others.join(', ')})?`,
    true,
  );
  await withApi(context, ({ keysApi }) => keysApi.setSetting({ path: 'library.shareAgents', value }));
}

const clientEnvironment = ({ env }: CommandContext) => ({
  env,
  homeDir: env.HOME || homedir(),
  read: (file: string) => readClientFile(file).content?.bytes.toString('utf8'),
});

const LONGEST_SHOWN = 2000;

function show(client: ClientName, connection: ClientConnection, context: CommandContext): ExitCode {
  const { printer } = context;
  const { edits, notes } = planConnection(client, connection, clientEnvironment(context));
  const files = edits.map((edit) => ({ file: edit.file, add: renderEdit(edit) }));
  printer.document({ client, url: connection.url, written: false, files, notes });
  for (const { file, add } of files) {
    printer.line({ text: file, style: 'bold' });
    printer.line(add.length > LONGEST_SHOWN ? `(${add.length} characters; see them with --json)` : add);
  }
  for (const note of notes) printer.note(dim('  note  '), note);
  printer.note(dim('  next  '), `write these settings with: instar connect ${client} --write`);
  return EXIT.ok;
}

/**
 * The client's own key: the one in its settings while it is valid, else a new one. Connecting again does not lock a running
 * client out. Nothing is created for a client that keeps its own credentials.
 */
async function keyOfClient(
  home: Home,
  client: ClientName,
  connection: ClientConnection,
  context: CommandContext,
): Promise<string> {
  const { edits } = planConnection(client, connection, clientEnvironment(context));
  if (!edits.some((edit) => renderEdit(edit).includes(connection.key))) return connection.key;
  const files = edits.map(({ file }) => file);
  return keyFor(home, { client, mayRate: false, files }, context);
}

function write(
  home: Home,
  client: ClientName,
  connection: ClientConnection,
  context: CommandContext,
): ExitCode {
  const { printer } = context;
  const { edits, notes } = planConnection(client, connection, clientEnvironment(context));
  const files = connectClient(home, client, { edits, secret: connection.key });
  const shown = notes.map((note) => note.replaceAll(connection.key, 'the key in its settings'));
  printer.document({ client, url: connection.url, written: true, files, notes: shown });
  for (const { file, change } of files) printer.line(`${change} ${file}`);
  for (const note of shown) printer.note(dim('  note  '), note);
  printer.note(dim('  undo  '), `instar connect ${client} --undo`);
  sayTryIt(context, client);
  return EXIT.ok;
}

/** The last words of a set-up: what to say to the agent, so that something is learned. */
export const sayTryIt = ({ printer }: CommandContext, agent: string): undefined =>
  printer.note(
    dim('  try it'),
    `  say to ${agent}: “No, we always use ISO dates in reports.” Then ask in a new conversation, and see: instar lessons`,
  );

function showExports(
  connection: ClientConnection,
  { write }: ConnectOptions,
  context: CommandContext,
): ExitCode {
  const { printer, env } = context;
  if (write) {
    throw wrongUse(
      'environment variables cannot be written to a file',
      'set them in a shell with: eval "$(instar connect env)"',
    );
  }
  const variables = shellExports(connection, Boolean(env.INSTAR_KEY?.trim()));
  printer.document({ client: 'env', url: connection.url, written: false, variables });
  for (const { name, value } of variables) printer.line(`export ${name}=${value}`);
  // In `eval "$(instar connect env)"` nobody has to be told.
  if (context.stdout.isTTY === true)
    printer.note(
      dim('  note  '),
      'set them in the shell of your agent with eval "$(instar connect env)", not in the shell that runs instar up',
    );
  return EXIT.ok;
}

/** The wires of clients that speak only one. */
export const WIRES: Readonly<Record<string, WireName>> = {
  'claude-code': 'anthropic',
  codex: 'openai-responses',
};

/** What the running daemon lists for a client of this wire; undefined when none runs, or when it does not say. */
async function servedModels(
  home: Home,
  wire: WireName,
  { env }: CommandContext,
): Promise<readonly string[] | undefined> {
  const daemon = await findDaemon(home);
  const key = readKey(home, env)?.key;
  if (daemon === undefined || key === undefined) return undefined;
  const version = wire === 'anthropic' ? { 'anthropic-version': '2023-06-01' } : {};
  try {
    const headers = { 'x-instar-key': key, ...version };
    const reply = await callDaemon(daemon, '/v1/models', { headers, timeoutMs: MODELS_TIMEOUT_MS });
    const { data } = asObject(parseJson(reply.text));
    const ids = asArray(data).flatMap((entry) => asString(asObject(entry).id) ?? []);
    return reply.status === 200 && ids.length > 0 ? ids : undefined;
  } catch {
    // It answers too late: the settings are made from the config alone.
    return undefined;
  }
}

const MODELS_TIMEOUT_MS = 2_000;

/** The address of the running gateway, else the configured one. */
async function gatewayUrl(home: Home, { gateway }: Config): Promise<string> {
  const daemon = await findDaemon(home);
  if (daemon !== undefined) return daemon.url.replace(/\/+$/, '');
  if (gateway.port === 0) {
    throw failure(
      'gateway.port is 0, so the port is known only while Instar runs',
      'start it with: instar up',
    );
  }
  const host = gateway.host === '0.0.0.0' || gateway.host === '::' ? '127.0.0.1' : gateway.host;
  return `http://${host.includes(':') ? `[${host}]` : host}:${gateway.port}`;
}

/** The key of a client that is no longer connected is of use to nobody. */
async function revokeKeyOf(client: string, home: Home, context: CommandContext): Promise<void> {
  const isValid = ({ name, revokedAt }: CallerKey): boolean => name === client && revokedAt === undefined;
  if (!readCallerKeys(home).some(isValid)) return;
  await withApi(context, ({ keysApi }) => keysApi.revoke(client));
}

const clientsOf = (home: Home): readonly string[] => [
  ...new Set(connectedClients(home).map((name) => name.replace(/-native$/, ''))),
];

const OUTCOMES: Readonly<Record<UndoneFile['kind'], string>> = {
  exact: 'restored to its original content',
  changed: 'another program changed it since; only the settings of Instar were removed',
  gone: 'was deleted since; nothing to restore',
  kept: 'was edited since; it stays',
  unreadable: 'another program changed it since and it cannot be parsed; remove the Instar settings by hand',
};

/** `connect --undo`: restores the files of one client, or of all; with `--native` only what that wrote. */
async function disconnect(
  client: string | undefined,
  onlyNative: boolean,
  context: CommandContext,
): Promise<ExitCode> {
  const { printer } = context;
  const home = homeAt(context.homeDir);
  const clients = client === undefined ? clientsOf(home) : [client];
  const undone: { readonly client: string; readonly files: readonly UndoneFile[] }[] = [];
  for (const name of clients) {
    // What was connected last is undone first: then all files are as they were.
    const native = await disconnectNative(home, name);
    const routed = onlyNative ? undefined : disconnectClient(home, name);
    if (native !== undefined || routed !== undefined)
      undone.push({ client: name, files: [...(native ?? []), ...(routed ?? [])] });
    if (onlyNative && readRecord(home, name) !== undefined) continue;
    if (native !== undefined || routed !== undefined) await revokeKeyOf(name, home, context);
  }
  if (undone.length === 0) {
    const what = client === undefined ? 'no client is connected' : `${client} is not connected`;
    throw failure(`${what}, so there is nothing to undo`);
  }
  const isWhole = undone.every(({ files }) => files.every(({ kind }) => kind !== 'unreadable'));
  printer.document({ undone, ok: isWhole });
  for (const { files } of undone)
    for (const { file, kind } of files) printer.line(`${file}: ${OUTCOMES[kind]}`);
  return isWhole ? EXIT.ok : EXIT.failed;
}
