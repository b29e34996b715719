import { existsSync, mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { projectsOfFolder } from '../api/folder-projects.ts';
import { replaceFileSync } from '../base/atomic-file.ts';
import { type CallerKey, readCallerKeys } from '../config/caller-keys.ts';
import type { Home } from '../config/home.ts';
import { hashKey } from '../config/key.ts';
import { readClientFile } from '../connect/client-file.ts';
import { connectClient, disconnectClient, type UndoneFile } from '../connect/connect.ts';
import { readRecord } from '../connect/connect-record.ts';
import type { ClientEnvironment } from '../connect/connection.ts';
import { renderEdit } from '../connect/file-edit.ts';
import {
  NATIVE_CLIENTS,
  type NativeClient,
  type NativeContext,
  nativeName,
  planNative,
} from '../connect/native-plans.ts';
import type { ClientName } from '../core/client-name.ts';
import type { JsonObject } from '../core/json.ts';
import { decodeLessons } from '../lessons/codec.ts';
import {
  bringUpToDate,
  forgetNativeSkills,
  type NativePlace,
  type NativeSkills,
  nativeDirs,
  readNativeSkills,
  removeNativeSkills,
  type SyncedSkills,
  writeNativeSkills,
} from '../lessons/skill-files/native-skills.ts';
import { type CommandContext, EXIT, type ExitCode, wrongUse } from './context.ts';
import { dim } from './print.ts';
import { withApi } from './with-api.ts';

export interface NativeOptions {
  readonly write?: true;
  /** A folder, or true for the current one. */
  readonly project?: string | true;
  readonly ratings?: true;
}

interface NativeParts {
  readonly home: Home;
  /** The gateway's address. */
  readonly url: string;
  readonly around: ClientEnvironment;
}

const nativeDir = (home: Home): string => path.join(home.dir, 'native');
const connectionFile = (home: Home, client: string): string => path.join(nativeDir(home), `${client}.json`);

const isNative = (home: Home, client: string): boolean => existsSync(connectionFile(home, client));

/** `connect CLIENT --native`: shows or writes what makes Instar a part of the client; its models and logins stay as they are. */
export async function connectNative(
  name: string,
  options: NativeOptions,
  { home, url, around }: NativeParts,
  context: CommandContext,
): Promise<ExitCode> {
  const client = NATIVE_CLIENTS.find((one) => one === name);
  if (client === undefined)
    throw wrongUse(`${name} cannot be connected natively`, `choose one of: ${NATIVE_CLIENTS.join(', ')}`);
  const projectDir =
    options.project === undefined
      ? undefined
      : path.resolve(options.project === true ? process.cwd() : options.project);
  const native: NativeContext = {
    ...around,
    instarHome: home.dir,
    connectionFile: connectionFile(home, client),
    ...(projectDir === undefined ? {} : { projectDir }),
  };
  const plan = planNative(client, native);
  const { printer } = context;
  if (options.write !== true) {
    const planned = plan.edits.map((edit) => ({ file: edit.file, add: renderEdit(edit) }));
    const skills = plan.skillFolder ?? null;
    printer.document({ client, native: true, written: false, files: planned, skills, notes: plan.notes });
    for (const { file, add } of planned) {
      printer.line({ text: file, style: 'bold' });
      printer.line(add);
    }
    if (skills !== null) printer.line(`skills: ${skills}`);
    printer.note(dim('  next  '), `write these with: instar connect ${client} --native --write`);
    return EXIT.ok;
  }
  const files = plan.edits.map(({ file }) => file);
  const key = await keyFor(home, { client, mayRate: options.ratings === true, files }, context);
  mkdirSync(nativeDir(home), { recursive: true, mode: 0o700 });
  replaceFileSync(connectionFile(home, client), `${JSON.stringify({ client, url, key }, null, 2)}\n`, {
    mode: 0o600,
  });
  const written = connectClient(home, nativeName(client), { edits: plan.edits, secret: key });
  const project =
    projectDir === undefined ? undefined : (await projectsOfFolder(projectDir, home, context.env))[0];
  const place: NativePlace | undefined =
    plan.skillFolder === undefined
      ? undefined
      : { folder: plan.skillFolder, ...(project === undefined ? {} : { project }) };
  const skills = place === undefined ? undefined : await installSkills(home, client, place, context);
  const routed = keysIn(readRecord(home, client)?.files.map(({ path: file }) => file) ?? []);
  // A key that may pass on ratings took the place of the one with which its requests come.
  const isRenewed = routed.some((one) => one !== key);
  const notes = isRenewed
    ? [...plan.notes, `its requests need the new key, too; run: instar connect ${client} --write`]
    : plan.notes;
  report(client, { files: written, skills, notes }, context);
  return EXIT.ok;
}

interface NativeReport {
  readonly files: readonly { readonly file: string; readonly change: string }[];
  readonly skills: SyncedSkills | undefined;
  readonly notes: readonly string[];
}

function report(
  client: NativeClient,
  { files, skills, notes }: NativeReport,
  { printer }: CommandContext,
): void {
  const { written = [], removed = [], faults = [] } = skills ?? {};
  const reported = { written, removed, faults };
  printer.document({ client, native: true, written: true, files, skills: reported, notes });
  for (const { file, change } of files) printer.line(`${change} ${file}`);
  for (const file of written) printer.line(`skill ${file}`);
  for (const { file, why } of faults) printer.note(dim('  note  '), `${file} ${why}`);
  for (const note of notes) printer.note(dim('  note  '), note);
  printer.note(dim('  undo  '), `instar connect ${client} --native --undo`);
}

/** The key of a client on the person's own machine. OpenClaw runs several agents, which its key binds by using them. */
const ownClient = (client: string): JsonObject => ({
  name: client,
  isOwn: true,
  ...(client === 'openclaw' ? {} : { agents: [client] }),
});

interface WantedKey {
  readonly client: ClientName;
  readonly mayRate: boolean;
  /** The client's own files, which may hold its key. */
  readonly files: readonly string[];
}

const keysIn = (files: readonly string[]): readonly string[] =>
  files.flatMap(
    (file) =>
      readClientFile(file)
        .content?.bytes.toString('utf8')
        .match(/instar_caller_[\w-]{43}/g) ?? [],
  );

/** The key that the client has already, so that Instar knows its sessions and its reports as one; else a new one. */
export async function keyFor(
  home: Home,
  { client, mayRate, files }: WantedKey,
  context: CommandContext,
): Promise<string> {
  const isGood = (one: CallerKey): boolean =>
    one.name === client && one.revokedAt === undefined && (one.mayRate || !mayRate);
  const valid = new Set(
    readCallerKeys(home)
      .filter(isGood)
      .map(({ hash }) => hash),
  );
  const routed = readRecord(home, client)?.files.map(({ path: file }) => file) ?? [];
  const known = keysIn([...files, ...routed, connectionFile(home, client)]).find((key) =>
    valid.has(hashKey(key)),
  );
  if (known !== undefined) return known;
  const request = { ...ownClient(client), mayRate };
  return String((await withApi(context, ({ keysApi }) => keysApi.create(request), true)).key);
}

const emptySkills = (client: string): NativeSkills => ({ client, places: [], files: {}, folders: [] });

async function installSkills(
  home: Home,
  client: string,
  place: NativePlace,
  context: CommandContext,
): Promise<SyncedSkills> {
  const known =
    (await readNativeSkills(nativeDir(home))).find((one) => one.client === client) ?? emptySkills(client);
  const places = [...known.places.filter(({ folder }) => folder !== place.folder), place];
  await writeNativeSkills(nativeDir(home), { ...known, places });
  return (
    (await syncClientSkills(home, client, context)) ?? { skills: known, written: [], removed: [], faults: [] }
  );
}

/** Brings a client's skill files up to date; undefined for a client without any. */
export async function syncClientSkills(
  home: Home,
  client: string,
  context: CommandContext,
): Promise<SyncedSkills | undefined> {
  const skills = (await readNativeSkills(nativeDir(home))).find((one) => one.client === client);
  if (skills === undefined) return undefined;
  return withApi(context, async ({ lessonsApi }) =>
    bringUpToDate(skills, decodeLessons(await lessonsApi.all()), nativeDirs(home)),
  );
}

/** Removes exactly what `connectNative` wrote; undefined when the client is not connected natively. */
export async function disconnectNative(
  home: Home,
  client: string,
): Promise<readonly UndoneFile[] | undefined> {
  if (!isNative(home, client)) return undefined;
  const files = disconnectClient(home, nativeName(client)) ?? [];
  const all = await readNativeSkills(nativeDir(home));
  const skills = all.find((one) => one.client === client);
  const isShared = (folder: string): boolean =>
    all.some((other) => other.client !== client && other.places.some((place) => place.folder === folder));
  const removed = skills === undefined ? undefined : await removeNativeSkills(skills, isShared);
  await forgetNativeSkills(nativeDir(home), client);
  for (const file of [
    connectionFile(home, client),
    `${connectionFile(home, client)}.away`,
    `${connectionFile(home, client)}.seen`,
    `${connectionFile(home, client)}.line`,
  ])
    rmSync(file, { force: true });
  return [
    ...files,
    ...(removed?.removed ?? []).map((file) => ({ file, kind: 'exact' as const })),
    ...(removed?.faults ?? []).map(({ file }) => ({ file, kind: 'kept' as const })),
  ];
}
