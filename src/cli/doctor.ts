import { newestCopyOf } from '../api/offline-api.ts';
import { homeAt } from '../config/home.ts';
import { loadConfig } from '../config/load-config.ts';
import { readOwnKeys } from '../config/own-keys.ts';
import { type Config, configJsonSchema } from '../config/schema.ts';
import { runDoctor } from '../doctor/doctor.ts';
import type { DoctorCheck } from '../doctor/doctor-check.ts';
import { openRedactor } from '../redact/open-redactor.ts';
import { readSalt } from '../redact/salt.ts';
import { localTime } from '../text/phrases.ts';
import { restoreFile } from './backup.ts';
import {
  type CommandContext,
  type DeclareCommand,
  EXIT,
  type Exit,
  type ExitCode,
  failure,
} from './context.ts';
import { onApi } from './with-api.ts';

export const declareDoctor: DeclareCommand = (command, act) =>
  void command
    .option('--schema', 'print the JSON Schema of config.json instead')
    .option(
      '--confirm-time',
      'say that the clock of this machine is right, so that old sessions expire again',
    )
    .option('--restore', 'replace a missing or damaged record by its newest sound copy; the old file is kept')
    .addHelpText('after', '\nExample:\n  $ instar doctor\n')
    .action(act(doctor));

const STYLES = { ok: 'green', warn: 'yellow', fail: 'red' } as const satisfies Record<
  DoctorCheck['status'],
  string
>;

interface DoctorFlags {
  readonly schema?: true;
  readonly confirmTime?: true;
  readonly restore?: true;
}

async function doctor(options: DoctorFlags, context: CommandContext): Promise<Exit> {
  const { printer, env } = context;
  if (options.schema) {
    context.stdout.write(`${JSON.stringify(configJsonSchema(), null, 2)}\n`);
    return EXIT.ok;
  }
  if (options.confirmTime) return confirmTime({}, context);
  if (options.restore) return restoreNewest(context);
  const home = homeAt(context.homeDir);
  const { redactText } = openRedactor({
    salt: readSalt(home),
    keys: () => readOwnKeys(readableConfig(home.configFile, env), { env, home }),
  });
  // A check may quote a provider's reply or an operating system's message.
  const checks = (await runDoctor({ home, env })).map((check) => ({
    ...check,
    detail: redactText(check.detail),
    ...(check.fix === undefined ? {} : { fix: redactText(check.fix) }),
  }));
  const passed = checks.every((check) => check.status !== 'fail');
  printer.document({ ok: passed, checks });
  // Not a table: a fix that is cut off fixes nothing.
  const longest = Math.max(...checks.map(({ name }) => name.length));
  for (const { status, name, detail, fix } of checks) {
    const label = { text: `${status.padEnd(4)}  ${name.padEnd(longest)}`, style: STYLES[status] } as const;
    printer.fields([
      [label, detail],
      ...(fix === undefined ? [] : [[label, { text: `→ ${fix}`, style: 'cyan' }] as const]),
    ]);
  }
  return passed ? EXIT.ok : EXIT.failed;
}

/** Undefined for a config that a check complains about. */
function readableConfig(file: string, env: NodeJS.ProcessEnv): Config | undefined {
  try {
    return loadConfig({ file, env }).config;
  } catch {
    return undefined;
  }
}

const confirmTime = onApi(async (_: object, { api, printer }) => {
  const confirmed = await api.confirmTime();
  printer.document(confirmed);
  printer.line(
    `Time confirmed: ${localTime(Date.parse(String(confirmed.time)))}. Old sessions and lessons expire again.`,
  );
}, true);

/** Restores the newest copy that is sound. */
async function restoreNewest(context: CommandContext): Promise<ExitCode> {
  const { printer } = context;
  const home = homeAt(context.homeDir);
  const { copy, damaged } = newestCopyOf(home);
  if (copy === undefined)
    throw failure(
      damaged.length === 0
        ? `there is no copy in ${home.snapshotDir}`
        : `no copy in ${home.snapshotDir} is sound`,
      'restore a backup of your own: instar data restore FILE',
    );
  return restoreFile(copy.file, context, () => {
    for (const { name } of damaged) printer.note(`skipped a damaged copy: ${name}`);
  });
}
