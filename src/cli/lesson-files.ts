import path from 'node:path';
import { exportSkillFiles, importSkillFiles, type SkillReport } from '../app/library/skill-files.ts';
import { CommandError, EXIT, type ExitCode } from './command-error.ts';
import type { CommandContext } from './context.ts';
import { withDesk } from './with-desk.ts';

interface Importing {
  readonly args: readonly string[];
  readonly as: 'proposed' | 'trial' | 'live';
}

interface Exporting {
  readonly args: readonly string[];
  readonly all?: true;
  readonly overwrite?: true;
}

export const importLessons = ({ args, as }: Importing, context: CommandContext): Promise<ExitCode> =>
  withDesk(
    context,
    async (_, shelf) => {
      const from = path.resolve(args[0] ?? '');
      return tell(await importSkillFiles(shelf, from, as), context, `no skill was found in ${from}`);
    },
    true,
  );

export const exportLessons = (
  { args, all, overwrite }: Exporting,
  context: CommandContext,
): Promise<ExitCode> =>
  withDesk(context, async (_, shelf) => {
    const options = { all: all ?? false, overwrite: overwrite ?? false };
    const report = await exportSkillFiles(shelf, path.resolve(args[0] ?? ''), options);
    return tell(report, context, 'there is no skill to write yet');
  });

/** Some that could not be taken do not undo the others; they make the exit code. */
function tell(report: SkillReport, { printer }: CommandContext, nothing: string): ExitCode {
  const { done, faults, generation } = report;
  if (done.length === 0 && faults.length === 0) throw new CommandError(EXIT.failed, nothing);
  if (printer.json) printer.document(report);
  else {
    for (const { name, what, notes } of done) {
      printer.line({ text: '✓ ', style: 'green' }, `${name}: ${what}`);
      for (const note of notes) printer.line({ text: `  ${note}`, style: 'dim' });
    }
    for (const { file, why } of faults) printer.line({ text: '✗ ', style: 'red' }, `${file} ${why}`);
    if (generation !== undefined) printer.line(`generation ${generation}`);
  }
  return faults.length === 0 ? EXIT.ok : EXIT.failed;
}
