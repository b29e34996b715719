import { homeAt } from '../config/home.ts';
import { loadConfig } from '../config/load-config.ts';
import { readOwnKeys } from '../config/own-keys.ts';
import { type Config, configJsonSchema } from '../config/schema.ts';
import { runDoctor } from '../doctor/doctor.ts';
import type { DoctorCheck } from '../doctor/doctor-check.ts';
import { openRedactor } from '../redact/open-redactor.ts';
import { readSalt } from '../redact/salt.ts';
import { type CommandContext, type DeclareCommand, EXIT, type ExitCode } from './context.ts';
import type { Part } from './print.ts';

export const declareDoctor: DeclareCommand = (command, act) =>
  void command
    .option('--schema', 'print the JSON Schema of config.json instead')
    .addHelpText('after', '\nExample:\n  $ instar doctor\n')
    .action(act(doctor));

const MARKS: Record<DoctorCheck['status'], Part> = {
  ok: { text: 'ok', style: 'green' },
  warn: { text: 'warn', style: 'yellow' },
  fail: { text: 'fail', style: 'red' },
};

async function doctor(options: { readonly schema?: true }, context: CommandContext): Promise<ExitCode> {
  const { printer, env } = context;
  if (options.schema) {
    printer.document(configJsonSchema());
    return EXIT.ok;
  }
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
  if (printer.json) printer.document({ ok: passed, checks });
  else {
    printer.table(
      checks.flatMap((check): Part[][] => [
        [MARKS[check.status], check.name, check.detail],
        ...(check.fix === undefined ? [] : [['', '', { text: `→ ${check.fix}`, style: 'cyan' } as const]]),
      ]),
    );
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
