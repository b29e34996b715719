import { resolve } from 'node:path';
import { InvalidArgumentError, Option } from 'commander';
import { openSettings } from '../api/settings-api.ts';
import { openLogFile } from '../base/log-file.ts';
import { type Home, HomeInUseError, openHome } from '../config/home.ts';
import { followSettings } from '../config/live-settings.ts';
import { readOwnKeys, withFormerKeys } from '../config/own-keys.ts';
import { canShare, WORK_KINDS, type WorkKind, type WorkKinds } from '../jobs/shared-work.ts';
import { createLog } from '../redact/create-log.ts';
import { openRedactor } from '../redact/open-redactor.ts';
import { readOrCreateSalt } from '../redact/salt.ts';
import {
  type CommandContext,
  CommandError,
  type DeclareCommand,
  EXIT,
  type ExitCode,
  wrongUse,
} from './context.ts';
import { stayUntilStopped } from './foreground.ts';
import { describeMissingKeys } from './up-checks.ts';

export const declareWorker: DeclareCommand = (command, act) =>
  void command
    .option('--only <kinds>', `do only this of the work: ${WORK_KINDS.join(', ')}, with commas`, parseKinds)
    .option('--config <file>', 'read this file instead of the one in the home')
    .addOption(new Option('--log <format>', 'format of log lines').choices(['json', 'pretty', 'none']))
    .addHelpText('after', '\nExample:\n  $ instar team worker --home ~/.instar-worker --only attempts\n')
    .action(act(worker));

interface WorkerCommandOptions {
  readonly only?: WorkKinds;
  readonly config?: string;
  readonly log?: 'json' | 'pretty' | 'none';
}

const ALL: WorkKinds = { learning: true, attempts: true, training: true };

/** `learning,attempts` */
function parseKinds(text: string): WorkKinds {
  const given = text.split(',').map((one) => one.trim());
  const wrong = given.find((one) => !WORK_KINDS.includes(one as WorkKind));
  if (wrong !== undefined)
    throw new InvalidArgumentError(`"${wrong}" is no kind of work: ${WORK_KINDS.join(', ')}.`);
  const has = (kind: WorkKind): boolean => given.includes(kind);
  return { learning: has('learning'), attempts: has('attempts'), training: has('training') };
}

/** Learns, practises and trains for a store that gateways on other machines write. Resolves after a signal has stopped it. */
async function worker(options: WorkerCommandOptions, context: CommandContext): Promise<ExitCode> {
  const { env, printer } = context;
  const home = openHome(context.homeDir);
  const file = resolve(options.config ?? home.configFile);
  const place = { file, required: options.config !== undefined, env };
  const { settings, notes, warnings } = await openSettings(place, home);
  const { config } = settings;
  if (!canShare(config.store.url))
    throw wrongUse(
      'a worker needs a record that other processes can reach, and this home has a file of its own',
      `set store.url to the postgres:// URL of the gateways, in ${file}`,
    );
  const redactor = openRedactor({
    salt: readOrCreateSalt(home),
    keys: withFormerKeys(settings, (now) => readOwnKeys(now, { env, home })),
  });
  const format = options.log ?? ('auto' as const);
  const logOptions = { format, level: config.log.level, stream: context.stderr, env, redactor };
  const logFile = openLogFile(home.logFile, (error) =>
    createLog(logOptions).warn(`${home.logFile}: ${error.message}`),
  );
  const log = createLog({ ...logOptions, file: logFile });
  for (const note of notes) log.info(note);
  for (const warning of [...warnings, ...describeMissingKeys(config, { env, home })]) log.warn(warning);

  const work = options.only ?? ALL;
  const daemon = await context.startDaemon({ home, config, settings, env, log, work }).catch(explain(home));
  const followed = followSettings({ settings, files: [file, home.confirmedFile], log });
  const { ended } = stayUntilStopped({
    close: () => {
      followed.close();
      return daemon.close();
    },
    reload: followed.reloadNow,
    log,
  });
  const does = WORK_KINDS.filter((kind) => work[kind]);
  printer.document({ ready: true, pid: process.pid, does });
  printer.line(`instar worker ready: ${does.join(', ')}`);
  const code = await ended;
  log.info('stopped');
  await logFile?.close();
  return code;
}

const explain =
  (home: Home) =>
  (error: unknown): never => {
    if (error instanceof HomeInUseError)
      throw new CommandError(
        EXIT.homeTaken,
        error.message,
        `give the worker a home of its own, not ${home.dir}: --home DIR`,
      );
    throw error;
  };
