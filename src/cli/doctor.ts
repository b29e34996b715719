import { homeAt } from '../config/home.ts';
import { configJsonSchema } from '../config/schema.ts';
import type { DoctorCheck } from '../doctor/doctor.ts';
import { runDoctor } from '../doctor/doctor.ts';
import type { CommandContext } from './context.ts';
import { EXIT, type ExitCode } from './context.ts';
import type { Part } from './print.ts';

const MARKS: Record<DoctorCheck['status'], Part> = {
  ok: { text: 'ok', style: 'green' },
  warn: { text: 'warn', style: 'yellow' },
  fail: { text: 'fail', style: 'red' },
};

export async function doctor(
  options: { readonly schema?: true },
  context: CommandContext,
): Promise<ExitCode> {
  const { printer, env } = context;
  if (options.schema) {
    printer.document(configJsonSchema());
    return EXIT.ok;
  }
  const home = homeAt(context.homeDir);
  const checks = await runDoctor({ home, env });
  const passed = checks.every((check) => check.status !== 'fail');
  if (printer.json) printer.document({ ok: passed, checks });
  else {
    printer.table(
      checks.flatMap((check): Part[][] => [
        [MARKS[check.status], check.name, check.detail],
        ...(check.mend === undefined ? [] : [['', '', { text: `→ ${check.mend}`, style: 'cyan' } as const]]),
      ]),
    );
  }
  return passed ? EXIT.ok : EXIT.failed;
}
