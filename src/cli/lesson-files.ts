import path from 'node:path';
import { Option } from 'commander';
import { lintSkill } from '../api/lint-skill.ts';
import { neutraliseLine } from '../base/printable.ts';
import type { Scope } from '../core/lesson.ts';
import { IMPORT_FORMATS, type ImportFormat } from '../lessons/import/foreign-note.ts';
import { importNotes, openImport } from '../lessons/import/import-notes.ts';
import {
  exportSkillFiles,
  importSkillFiles,
  type SkillReport,
} from '../lessons/skill-files/import-export.ts';
import { NATIVE_FOLDERS, nativeFolder, type SkillProgram } from '../lessons/skill-files/native-skills.ts';
import { askOwner, isAtTerminal } from './confirm-owner.ts';
import {
  type CommandContext,
  type DeclareCommand,
  EXIT,
  type ExitCode,
  failure,
  type Positional,
  wrongUse,
} from './context.ts';
import { findProject } from './newest-turn.ts';
import { dim, type Part } from './print.ts';
import { createProgress } from './progress.ts';
import { onApi } from './with-api.ts';

/** `instar data import`. */
export const declareImport: DeclareCommand = (command, act) =>
  void command
    .argument(
      '<path>',
      'a SKILL.md, a folder of skills, a CLAUDE.md, or an export of another program’s memory',
    )
    .addOption(
      new Option('--as <state>', 'the state they start in')
        .choices(['proposed', 'trial', 'live'])
        .default('live'),
    )
    .addOption(
      new Option('--format <format>', 'what the file is')
        .choices(['auto', ...IMPORT_FORMATS])
        .default('auto'),
    )
    .option('--project <project>', 'notes: only for this project: its folder, label or id')
    .addHelpText(
      'after',
      '\nExamples:\n  $ instar data import ~/.claude/skills\n  $ instar data import ~/.hermes/skills\n  $ instar data import CLAUDE.md --project .\n',
    )
    .action(act(importLessons));

/** `instar data export skills`. */
export const declareExportSkills: DeclareCommand = (command, act) =>
  void command
    .argument('<dir>', 'a folder; it is created if it is missing')
    .addOption(
      new Option('--for <program>', 'write where this program looks for skills below the folder').choices(
        Object.keys(NATIVE_FOLDERS),
      ),
    )
    .option('--overwrite', 'also overwrite folders that other programs created')
    .option('--all', 'include proposed and retired lessons')
    .option('--private', 'include private lessons')
    .action(act(exportLessons));

interface ImportOptions extends Positional {
  readonly as: 'proposed' | 'trial' | 'live';
  readonly format: ImportFormat | 'auto';
  readonly project?: string;
}

interface ExportOptions extends Positional {
  readonly for?: SkillProgram;
  readonly all?: true;
  readonly overwrite?: true;
  readonly private?: true;
}

const importLessons = onApi(async ({ args, as, format: named, project }: ImportOptions, context) => {
  const { api, lessonsApi } = context;
  const from = path.resolve(args[0] ?? '');
  const opened = await openImport(from, named);
  if (!opened.ok) throw failure(opened.why);
  const { source } = opened;
  const { format } = source;
  if (format === 'skills' && project !== undefined)
    throw wrongUse('--project is for notes: a skill’s file says where it applies');
  const scope: Scope = project === undefined ? {} : { project: await findProject(api, project, context) };
  const state = as === 'proposed' || (await mayUse(from, as, context)) ? as : 'proposed';
  const progress = createProgress(context);
  const phase = `importing ${neutraliseLine(path.basename(from))}`;
  const onProgress = (done: number, of: number): void => progress.show({ phase, done, of });
  progress.show({ phase });
  if (format === 'skills')
    return printReport(
      await importSkillFiles(lessonsApi, from, { state, lint: lintSkill, onProgress }).finally(
        progress.clear,
      ),
      context,
      `no skill found in ${from}`,
    );
  const report = await importNotes(
    lessonsApi,
    { ...source, format },
    { state, scope, lint: lintSkill, now: Date.now(), onProgress },
  ).finally(progress.clear);
  if (project === undefined && format === 'markdown' && report.done.length > 0)
    context.printer.note('these rules hold in every project; for one project, import with --project FOLDER');
  return printReport(
    report,
    context,
    `no note found in ${from} (read as ${format}; another format: --format)`,
  );
}, true);

/** Imported skills go into prompts only at the word of a person: whoever runs commands may be an agent. */
async function mayUse(from: string, as: ImportOptions['as'], context: CommandContext): Promise<boolean> {
  if (isAtTerminal(context))
    return askOwner(context, `Use what ${neutraliseLine(from)} says in prompts, as ${as}?`);
  context.printer.note(
    'imported as proposals, since no person could be asked; keep each in a terminal: instar lessons keep NAME',
  );
  return false;
}

const exportLessons = onApi(async (options: ExportOptions, context) => {
  const { lessonsApi } = context;
  const dir = path.resolve(options.args[0] ?? '');
  const report = await exportSkillFiles(lessonsApi, nativeFolder(dir, options.for), {
    all: options.all === true,
    overwrite: options.overwrite === true,
    isPrivate: options.private === true,
  });
  return printReport(report, context, 'there are no skills to write yet');
});

/** A faulty file does not undo the others; it only sets the exit code. */
function printReport(report: SkillReport, { printer }: CommandContext, nothing: string): ExitCode {
  const { done, faults, generation } = report;
  if (done.length === 0 && faults.length === 0) throw failure(nothing);
  printer.document(report);
  for (const { name, what, notes, findings = [] } of done) {
    const mark: Part =
      findings.length === 0 ? { text: '✓ ', style: 'green' } : { text: '! ', style: 'yellow' };
    printer.line(mark, `${name}: ${what}`);
    for (const finding of findings) printer.line(`  ${finding}`);
    for (const note of notes) printer.line(dim(`  ${note}`));
  }
  if (done.some(({ findings }) => findings !== undefined))
    printer.note(
      'what is marked ! is not in use: keep one with: instar lessons keep NAME, or decide about all with: instar lessons review',
    );
  for (const { file, why } of faults) printer.line({ text: '✗ ', style: 'red' }, `${file} ${why}`);
  if (generation !== undefined) printer.line(`generation ${generation}`);
  return faults.length === 0 ? EXIT.ok : EXIT.failed;
}
