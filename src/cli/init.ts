import { existsSync } from 'node:fs';
import { ConfigError } from '../config/config-error.ts';
import { openHome } from '../config/home.ts';
import { readProviderKey } from '../config/provider-entry.ts';
import { findLocalServers } from '../doctor/check-models.ts';
import type { DoctorCheck } from '../doctor/doctor.ts';
import { createProbeExchange, type Probe, probeProvider } from '../doctor/probe-provider.ts';
import { addStarterSkills } from '../lessons/starter/add-starter-skills.ts';
import type { CommandContext } from './context.ts';
import { CommandError, EXIT, type ExitCode } from './context.ts';
import { askForProvider, confirmChange, offerStarter } from './init-questions.ts';
import { withApi } from './with-api.ts';
import {
  addProvider,
  chooseProvider,
  type NextConfig,
  type ProviderChoice,
  type ProviderFlags,
  writeConfig,
} from './write-config.ts';

export interface InitOptions extends Omit<ProviderFlags, 'provider'> {
  readonly provider?: string;
  readonly force?: true;
  readonly starter?: true;
}

/** Adds one provider to the config. Asks for no key's value, and changes no file unasked. */
export async function init(options: InitOptions, context: CommandContext): Promise<ExitCode> {
  const { env, stdin, stderr } = context;
  const { provider } = options;
  const isGuided =
    provider === undefined && stdin.isTTY === true && stderr.isTTY === true && !context.printer.json;
  if (provider === undefined && !isGuided) {
    throw new CommandError(
      EXIT.wrongUse,
      'there is no terminal to ask on, so flags must say what to set up',
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
    const choice = asked?.choice ?? chooseProvider({ ...options, provider: provider ?? '' }, env);
    const next = plan(home.configFile, choice, env);
    if (existsSync(home.configFile) && !options.force) {
      const agreed = isGuided && (await confirmChange({ input: stdin, output: stderr }, home.configFile));
      if (!agreed) {
        throw new CommandError(
          EXIT.failed,
          `${home.configFile} exists and was left as it is`,
          'change it with --force; a copy of it (.old) is kept',
        );
      }
    }
    const check = asked?.check ?? (await probe(choice)).check;
    const written = writeConfig(home.configFile, next.settings);
    const wantsStarter =
      options.starter ?? (isGuided && (await offerStarter({ input: stdin, output: stderr })));
    const skills = wantsStarter ? await beginLibrary(context) : undefined;
    const isFresh = next.isFresh && written.backup !== undefined;
    tell(context, { ...written, isFresh, ...(skills === undefined ? {} : { skills }) }, choice, check);
    return EXIT.ok;
  } finally {
    await pool.close();
  }
}

/** How many skills were added. */
async function beginLibrary(context: CommandContext): Promise<number> {
  let added = 0;
  await withApi(
    context,
    async (_, shelf) => {
      added = await addStarterSkills(shelf);
      return EXIT.ok;
    },
    true,
  );
  return added;
}

/** Flags that make no config are wrong use, not a broken config. */
function plan(file: string, choice: ProviderChoice, env: NodeJS.ProcessEnv): NextConfig {
  try {
    return addProvider(file, choice, env);
  } catch (error) {
    if (error instanceof ConfigError) throw new CommandError(EXIT.wrongUse, error.message);
    throw error;
  }
}

function tell(
  { printer, env }: CommandContext,
  written: {
    readonly file: string;
    readonly backup?: string;
    readonly isFresh: boolean;
    readonly skills?: number;
  },
  { name, entry, model }: ProviderChoice,
  check: DoctorCheck,
): void {
  if (printer.json) {
    printer.document({ ...written, provider: name, entry, ...(model !== undefined && { model }), check });
    return;
  }
  printer.line(`wrote ${written.file}`);
  if (written.backup !== undefined) printer.note({ text: '  before  ', style: 'dim' }, written.backup);
  if (written.isFresh) printer.note('  nothing of the old file was kept: it had problems');
  const style = check.status === 'ok' ? 'green' : 'yellow';
  printer.note({ text: '  check   ', style: 'dim' }, { text: check.detail, style });
  if (check.mend !== undefined) printer.note({ text: '          → ', style: 'cyan' }, check.mend);
  if (entry.keyEnv !== undefined && !env[entry.keyEnv]) {
    printer.note(
      { text: '  key     ', style: 'dim' },
      `put it in the variable ${entry.keyEnv} before you start`,
    );
  }
  if (written.skills !== undefined)
    printer.note(
      { text: '  skills  ', style: 'dim' },
      `${written.skills} to begin with: instar lessons list`,
    );
  printer.note({ text: '  next    ', style: 'dim' }, 'instar up');
}
