import { loadSettings } from '../api/settings-api.ts';
import { ConfigError, type Problem } from '../config/config-error.ts';
import { applyConfirmed, findLoosened } from '../config/confirmed-settings.ts';
import { findDaemon } from '../config/daemon-file.ts';
import {
  type DescribedSetting,
  type DescribedSettings,
  decodeSettings,
  describeSettings,
} from '../config/describe-settings.ts';
import { readSettingPath, readSettingValue } from '../config/edit-config.ts';
import { homeAt } from '../config/home.ts';
import { loadConfig } from '../config/load-config.ts';
import { readOwnerKey } from '../config/owner-key.ts';
import { renderPath, type SettingPath } from '../config/setting-path.ts';
import type { Json, JsonObject } from '../core/json.ts';
import { plural } from '../text/phrases.ts';
import { confirmOwner } from './confirm-owner.ts';
import {
  type CommandContext,
  type DeclareCommand,
  EXIT,
  type Exit,
  type ExitCode,
  failure,
  type Positional,
  wrongUse,
} from './context.ts';
import { dim, type Part } from './print.ts';
import { changeShared, getShared } from './shared-config.ts';
import { showReload } from './show-reload.ts';
import { onApi, withApi } from './with-api.ts';

export const declareConfig: DeclareCommand = (config, act) => {
  config
    .command('get [path]')
    .description('Show the settings that people change, one setting, or a group of settings.')
    .option('--all', 'every setting, and where each value comes from')
    .option('--file', 'the path of the config file alone')
    .option('--shared', 'only what all gateways of the record share, and whether it counts here')
    .addHelpText('after', '\nExamples:\n  $ instar config get\n  $ instar config get library.topK\n')
    .action(act(getConfig));
  config
    .command('set <path> [value]')
    .description('Change a setting; a running Instar uses it at once where that is possible.')
    .option('--default', 'remove it from the config file, so that its default counts again')
    .option('--shared', 'for all gateways of the record, in place of the config file here')
    .addHelpText(
      'after',
      '\nThe value is JSON or a bare word.\n\nExamples:\n  $ instar config set library.topK 4\n  $ instar config set library.topK --default\n  $ instar config set models.default openai/gpt-5.2\n  $ instar config set models.fast \'["groq/llama-4", "openai/gpt-5.2-mini"]\'\n',
    )
    .action(act(setConfig));
  config
    .command('check [file]')
    .description('Check the config file, or another one, and print every problem with its fix.')
    .option('--confirm', 'confirm settings that give learning more freedom and were edited in the file')
    .option('--reload', 'make a running Instar read the file now (it also notices a change by itself)')
    .addHelpText('after', '\nExample:\n  $ instar config check\n')
    .action(act(checkConfig));
};

interface CheckOptions extends Positional {
  readonly confirm?: true;
  readonly reload?: true;
}

const checkConfig = (options: CheckOptions, context: CommandContext): Promise<Exit> =>
  options.confirm === true
    ? confirmConfig(context)
    : options.reload === true
      ? reloadConfig({}, context)
      : checkConfigFile(options, context);

/** Asks for every waiting setting, then records the owner's word. */
async function confirmConfig(context: CommandContext): Promise<Exit> {
  const home = homeAt(context.homeDir);
  const { waiting } = applyConfirmed(loadConfig({ file: home.configFile, env: context.env }).config, home);
  const { printer } = context;
  if (waiting.length === 0) {
    printer.document({ confirmed: [] });
    printer.line('No setting waits for confirmation.');
    return EXIT.ok;
  }
  for (const { path, asked, used } of waiting) await confirmOwner(context, question(path, asked, used));
  const settings = Object.fromEntries(waiting.map(({ path, asked }) => [path, asked]));
  await withApi(context, ({ keysApi }) => keysApi.confirm(settings), true);
  printer.document({ confirmed: Object.keys(settings) });
  for (const { path, asked } of waiting) printer.line(`Confirmed ${path} "${asked}".`);
  return EXIT.ok;
}

const question = (path: string, asked: string, used: string): string =>
  `Set ${path} to "${asked}" (now "${used}")? ${MEANING[asked] ?? ''}`;

const MEANING: Readonly<Record<string, string>> = {
  autonomous: 'Everything that passes the gate then goes live without a trial.',
};

/** The settings of the running daemon, which has an environment of its own; else those of the file and this environment. */
async function readSettings(context: CommandContext): Promise<DescribedSettings> {
  const home = homeAt(context.homeDir);
  const isOpen = readOwnerKey(home, context.env)?.key !== undefined;
  if (!isOpen || (await findDaemon(home)) === undefined)
    return describeSettings({ file: home.configFile, env: context.env });
  return decodeSettings(await withApi(context, ({ keysApi }) => keysApi.settings()));
}

interface GetOptions extends Positional {
  readonly shared?: true;
  readonly all?: true;
  readonly file?: true;
}

/** What a person sets in the first weeks. */
const USUAL_SETTINGS: ReadonlySet<string> = new Set([
  'gateway.port',
  'models.default',
  'models.evolver',
  'models.judge',
  'library.autonomy',
  'library.topK',
  'library.shareAgents',
  'learn.enabled',
  'learn.budget.usdPerDay',
  'practice.budget.usd',
  'schedule.sleep',
  'train.engine',
  'store.url',
]);

async function getConfig({ args, shared, all, file }: GetOptions, context: CommandContext): Promise<Exit> {
  const { printer } = context;
  const [text] = args;
  if (file === true) return printPath(context);
  if (shared === true) return getShared({ text }, context);
  const path = text === undefined ? [] : readSettingPath(text);
  const described = await readSettings(context);
  const found = described.settings.filter((setting) => isBelow(setting.path, path));
  if (printer.json) {
    const [only] = found;
    if (only?.path === renderPath(path)) printer.document(only);
    else printer.document({ ...described, settings: found });
  } else if (found.length === 1 && found[0]?.path === renderPath(path)) showOne(context, found[0]);
  else if (found.length === 0) printer.line(`${renderPath(path)} is not set`);
  else {
    const isShort = text === undefined && all !== true;
    const isUsual = ({ path: name, from }: DescribedSetting): boolean =>
      !isShort || USUAL_SETTINGS.has(name) || from !== 'default';
    const shown = found.filter(isUsual);
    showAll(context, shown, described.file);
    if (shown.length < found.length)
      printer.note(dim(`${found.length - shown.length} more keep their defaults: instar config get --all`));
  }
  if (described.problem !== undefined && !printer.json) {
    printer.note({ text: 'problem  ', style: 'yellow' }, described.problem);
    printer.next('instar config check');
  }
  return EXIT.ok;
}

/** A setting itself, or one of the group that a path names. */
const isBelow = (setting: string, path: SettingPath): boolean => {
  const name = renderPath(path);
  return (
    path.length === 0 || setting === name || setting.startsWith(`${name}.`) || setting.startsWith(`${name}[`)
  );
};

/** The value alone on standard output, for scripts. */
function showOne({ printer }: CommandContext, { value, from, inForce }: DescribedSetting): void {
  printer.line(textOf(value));
  printer.note(dim(ORIGINS[from]));
  if (inForce !== undefined)
    printer.note({ text: `the running Instar uses ${textOf(inForce)}`, style: 'yellow' });
}

function showAll({ printer }: CommandContext, settings: readonly DescribedSetting[], file: string): void {
  printer.table(['SETTING', 'VALUE', 'FROM'], settings, ({ path, value, from, inForce }): Part[] => [
    path,
    value === null ? dim(textOf(value)) : textOf(value),
    from === 'default' ? dim(from) : from,
    ...(inForce === undefined ? [] : [{ text: `in force: ${textOf(inForce)}`, style: 'yellow' } as const]),
  ]);
  printer.note(dim('file  '), file);
}

const ORIGINS: Readonly<Record<DescribedSetting['from'], string>> = {
  default: 'the default',
  shared: 'shared by all gateways of the record',
  file: 'from the config file',
  environment: 'from the environment',
};

const textOf = (value: Json): string =>
  value === null ? '(not set)' : typeof value === 'string' ? value : JSON.stringify(value);

interface SetOptions extends Positional {
  readonly shared?: true;
  readonly default?: true;
}

async function setConfig(options: SetOptions, context: CommandContext): Promise<Exit> {
  const { args, shared } = options;
  const [name = '', text] = args;
  if (options.default === true && text === undefined) return unsetConfig(options, context);
  if (text === undefined || options.default === true)
    throw wrongUse(
      text === undefined ? `no value for ${name} was given` : 'a value and --default exclude each other',
      `instar config set ${name} VALUE, or instar config set ${name} --default`,
    );
  if (shared === true) return changeShared({ name, text }, context);
  const path = readSettingPath(name);
  const edit = { path, value: readSettingValue(path, text) };
  const loosened = findLoosened(edit, homeAt(context.homeDir));
  if (loosened !== undefined)
    await confirmOwner(context, question(loosened.path, loosened.asked, loosened.used));
  return withApi(
    context,
    async ({ keysApi }) => {
      const report = await keysApi.setSetting({ ...edit, path: [...path] });
      if (loosened !== undefined) await keysApi.confirm({ [loosened.path]: loosened.asked });
      const done =
        loosened === undefined ? report : { ...report, applied: [loosened.path], unchanged: false };
      const value = await shownValue(keysApi, path);
      const verb = report.isSame === true ? 'is already' : 'is now';
      return showChange(
        context,
        done,
        `${renderPath(path)} ${value === undefined ? 'is set' : `${verb} ${value}`}`,
      );
    },
    true,
  );
}

/** The value as `config get` shows it, where a secret is hidden; undefined for a group of settings. */
async function shownValue(
  { settings }: { readonly settings: () => Promise<JsonObject> },
  path: SettingPath,
): Promise<string | undefined> {
  const found = decodeSettings(await settings()).settings.find((one) => one.path === renderPath(path));
  return found === undefined ? undefined : textOf(found.value);
}

const unsetConfig = async ({ args, shared }: SetOptions, context: CommandContext): Promise<Exit> => {
  const [path = ''] = args;
  if (shared === true) return changeShared({ name: path }, context);
  const report = await withApi(context, ({ keysApi }) => keysApi.setSetting({ path, unset: true }), true);
  const what = report.isSame === true ? 'is not in the config file' : 'was removed from the config file';
  return showChange(context, report, `${path} ${what}`);
};

function showChange(context: CommandContext, report: JsonObject, what: string): ExitCode {
  const { printer } = context;
  printer.document(report);
  printer.line(`${what}.`);
  if (report.isSame !== true) {
    printer.note(dim('  file    '), String(report.file));
    if (report.backup !== undefined) printer.note(dim('  backup  '), String(report.backup));
  }
  if (report.running === true || report.isSame !== true) showReload(printer, report);
  return EXIT.ok;
}

const reloadConfig = onApi(async (_: object, { keysApi, printer }) => {
  const report = await keysApi.reload();
  if (report.running !== true)
    throw failure('Instar is not running; it reads its config when it starts', 'instar up');
  printer.document(report);
  showReload(printer, report);
});

async function printPath(context: CommandContext): Promise<Exit> {
  const { file } = await readSettings(context);
  context.printer.document({ file });
  context.printer.line(file);
  return EXIT.ok;
}

/** Every problem of a file at once. */
async function checkConfigFile({ args }: Positional, context: CommandContext): Promise<Exit> {
  const { printer, env } = context;
  const home = homeAt(context.homeDir);
  const file = args[0] ?? home.configFile;
  const problems = await problemsOf(async () => {
    const { waiting } = await loadSettings({ file, env, required: args[0] !== undefined }, home);
    for (const { path, asked, used } of waiting)
      printer.note(
        { text: 'waiting  ', style: 'yellow' },
        `${path} "${asked}" needs your confirmation ("${used}" is used until then): instar config check --confirm`,
      );
  });
  printer.document({ ok: problems.length === 0, file, problems });
  if (problems.length === 0) printer.line(`${file} is valid.`);
  else {
    printer.line(`${file} has ${plural(problems.length, 'problem')}:`);
    for (const { path, what, fix } of problems) {
      printer.line({ text: '  ✗ ', style: 'red' }, path === file ? what : `${path}: ${what}`);
      if (fix !== undefined) printer.line({ text: '    → ', style: 'cyan' }, fix);
    }
  }
  return problems.length === 0 ? EXIT.ok : EXIT.failed;
}

async function problemsOf(load: () => Promise<void>): Promise<readonly Problem[]> {
  try {
    await load();
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}
