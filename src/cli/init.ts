import { existsSync, realpathSync } from 'node:fs';
import { checkConfig } from '../config/check-config.ts';
import { ConfigError } from '../config/config-error.ts';
import { findDaemon } from '../config/daemon-file.ts';
import { writeConfigText } from '../config/edit-config.ts';
import { type Home, openHome } from '../config/home.ts';
import { readProviderKey } from '../config/provider-entry.ts';
import { compact, type JsonObject, parseJson } from '../core/json.ts';
import { findLocalServers } from '../doctor/check-models.ts';
import { describeConfiguredWriter } from '../doctor/check-prices.ts';
import type { DoctorCheck } from '../doctor/doctor-check.ts';
import { createProbeExchange, type Probe, probeProvider } from '../doctor/probe-provider.ts';
import { plural } from '../text/phrases.ts';
import {
  type CommandContext,
  type DeclareCommand,
  EXIT,
  type ExitCode,
  expectedError,
  failure,
  wrongUse,
} from './context.ts';
import { askForProvider, confirmChange, offerLive } from './init-questions.ts';
import { offerAgents } from './offer-agents.ts';
import { dim, lineWidth, noteField } from './print.ts';
import { showReload } from './show-reload.ts';
import { withApi } from './with-api.ts';
import {
  addProvider,
  chooseProvider,
  lacksLiveTraining,
  type NextConfig,
  type ProviderChoice,
  type ProviderFlags,
} from './write-config.ts';

export const declareInit: DeclareCommand = (command, act) =>
  void command
    .option('--provider <name>', 'openai, anthropic, openrouter, ollama … or a name of your own')
    .option(
      '--wire <wire>',
      'API format: openai, openai-chat, openai-responses, anthropic (or several, with commas)',
    )
    .option('--base-url <url>', 'base URL of its API')
    .option('--key-env <variable>', 'name of the environment variable with its key')
    .option('--pass-through', 'store no key: each client uses its own')
    .option('--model <name>', 'default model, for requests that name no model')
    .option('--learn', 'let the same model write lessons and judge unclear turns')
    .option('--live', 'also train weights on the rewards of live traffic (train.live)')
    .option('--force', 'change an existing config; a copy (.old) is kept')
    .addHelpText(
      'after',
      '\nExample:\n  $ instar init --provider openai --key-env OPENAI_API_KEY --model gpt-5.2\n',
    )
    .action(act(init));

interface InitOptions extends Omit<ProviderFlags, 'provider'> {
  readonly provider?: string;
  readonly force?: true;
  readonly learn?: true;
  readonly live?: true;
}

/** The same for a person who starts Instar and has no provider yet. */
export const initFirst = (context: CommandContext): Promise<ExitCode> => init({}, context, true);

/** Adds one provider to the config. Never asks for a key, and changes an existing file only when allowed to. */
async function init(options: InitOptions, context: CommandContext, isStarting = false): Promise<ExitCode> {
  const { env, stdin, stderr } = context;
  const { provider } = options;
  const isInteractive =
    provider === undefined && stdin.isTTY === true && stderr.isTTY === true && !context.printer.json;
  if (provider === undefined && !isInteractive) {
    throw wrongUse(
      'standard input is not a terminal, so --provider is required',
      'instar init --provider NAME [--wire W] [--base-url URL] [--key-env VAR | --pass-through] [--model M] [--force]',
    );
  }
  const home = openHome(context.homeDir);
  const pool = createProbeExchange();
  const probe = (choice: ProviderChoice): Promise<Probe> =>
    probeProvider(
      pool.exchange,
      choice.name,
      choice.entry,
      readProviderKey(choice.entry, { env, homeDir: home.dir }),
    );
  try {
    const asked =
      provider === undefined
        ? await askForProvider({
            io: { input: stdin, output: stderr },
            env,
            local: await findLocalServers(pool.exchange, env),
            probe,
          })
        : undefined;
    const given = asked?.choice ?? chooseProvider({ ...options, provider: provider ?? '' }, env);
    // Before the probe: a key is sent only to an address that the config may have.
    plan(home.configFile, given, env);
    if (existsSync(home.configFile) && !options.force) {
      const agreed =
        isInteractive && (await confirmChange({ input: stdin, output: stderr }, home.configFile));
      if (!agreed) {
        throw failure(
          `${home.configFile} exists; it was not changed`,
          'change it with --force; a copy (.old) is kept',
        );
      }
    }
    const { check, models = [] } = asked ?? (await probe(given));
    const live =
      options.live ??
      (isInteractive && lacksLiveTraining(home.configFile, env)
        ? await offerLive({ input: stdin, output: stderr })
        : undefined);
    const choice = { ...(options.learn ? learningChoice(given, models) : given), ...compact({ live }) };
    const next = plan(home.configFile, choice, env);
    const written = writeConfigText(home.configFile, next.text);
    const reloaded = await reloadRunning(context, home);
    const isFresh = next.isFresh && written.backup !== undefined;
    const learning = describeConfiguredWriter(checkConfig(parseJson(next.text), { env }).config, env);
    const result = { ...written, isFresh, learning, ...compact({ reloaded }) };
    printResult(context, { ...result, ...(isInteractive ? { isAsked: true } : {}) }, choice, check);
    if (isInteractive) await offerAgents(context, isStarting || reloaded !== undefined);
    return EXIT.ok;
  } finally {
    await pool.close();
  }
}

/** With the only model of a server where none is named: `--learn` needs one. */
function learningChoice(choice: ProviderChoice, models: readonly string[]): ProviderChoice {
  const model = choice.model ?? (models.length === 1 ? models[0] : undefined);
  if (model !== undefined) return { ...choice, model, learns: true };
  throw wrongUse(
    `--learn needs a model: ${choice.name} lists ${plural(models.length, 'model')}`,
    'name one with --model',
  );
}

/**
 * Makes a running Instar use the new config. Undefined when none runs. One that cannot be asked, such as one whose owner key
 * needs a passphrase that nobody can type here, notices the new file by itself.
 */
async function reloadRunning(context: CommandContext, home: Home): Promise<JsonObject | undefined> {
  if ((await findDaemon(home)) === undefined) return undefined;
  try {
    return await withApi(context, ({ keysApi }) => keysApi.reload());
  } catch (error) {
    const known = expectedError(error);
    if (known === undefined) throw error;
    return { running: true, problem: known.message };
  }
}

/** Reports an invalid combination of flags as wrong use, not as a broken config. */
function plan(file: string, choice: ProviderChoice, env: NodeJS.ProcessEnv): NextConfig {
  try {
    return addProvider(file, choice, env);
  } catch (error) {
    if (error instanceof ConfigError) throw wrongUse(error.message);
    throw error;
  }
}

function printResult(
  { printer, env, stderr }: CommandContext,
  written: {
    readonly file: string;
    readonly backup?: string;
    readonly isFresh: boolean;
    /** Questions follow, and say what comes next. */
    readonly isAsked?: boolean;
    /** Who writes lessons now. */
    readonly learning: string;
    readonly reloaded?: JsonObject;
  },
  { name, entry, model }: ProviderChoice,
  check: DoctorCheck,
): void {
  printer.document({ ...written, provider: name, entry, ...(model !== undefined && { model }), check });
  printer.line(`wrote ${written.file}`);
  if (written.backup !== undefined) printer.note(dim('  backup  '), written.backup);
  if (written.isFresh) printer.note('  the old file was invalid: none of its settings were kept');
  const style = check.status === 'ok' ? 'green' : 'yellow';
  printer.note(dim('  check   '), { text: check.detail, style });
  if (check.fix !== undefined) printer.note({ text: '          → ', style: 'cyan' }, check.fix);
  if (entry.keyEnv !== undefined && !env[entry.keyEnv] && written.reloaded === undefined) {
    printer.note(dim('  key     '), `set ${entry.keyEnv} before you start Instar`);
  }
  noteField(printer, '  writer  ', written.learning, lineWidth(stderr, env));
  const { reloaded } = written;
  if (reloaded === undefined) {
    if (!written.isAsked) printer.note(dim('  next    '), 'instar up');
  } else if (typeof reloaded.file === 'string' && realPath(reloaded.file) !== realPath(written.file))
    printer.note(
      { text: '  effect  ', style: 'yellow' },
      `none yet: the running Instar uses ${reloaded.file}. Start it again without --config: instar stop && instar up`,
    );
  else if (reloaded.problem !== undefined)
    printer.note(dim('  effect  '), 'the running Instar reads the new config within seconds: instar status');
  else showReload(printer, reloaded);
}

const realPath = (file: string): string => (existsSync(file) ? realpathSync(file) : file);
