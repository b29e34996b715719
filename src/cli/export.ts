import { closeSync, openSync, writeSync } from 'node:fs';
import {
  createSecretScan,
  EXPORT_FORMATS,
  exportTrajectories,
  SecretFoundError,
} from '../api/export-trajectories.ts';
import { openHome } from '../config/home.ts';
import { plural } from '../text/phrases.ts';
import {
  type CommandContext,
  type DeclareCommand,
  EXIT,
  type ExitCode,
  failure,
  wrongUse,
} from './context.ts';
import { findProject } from './newest-turn.ts';
import { withApi } from './with-api.ts';

export const declareExport: DeclareCommand = (command, act) =>
  void command
    .option('--out <file>', 'write to this new file (default: standard output)')
    .option(
      '--format <format>',
      `${EXPORT_FORMATS.join(', ')}: sessions as stored, or rows for a training program`,
    )
    .option('--agent <name>', 'only sessions of this agent')
    .option('--project <project>', 'only sessions of this project: its folder, label or id')
    .action(act(exportSessions));

interface ExportOptions {
  readonly format?: string;
  readonly out?: string;
  readonly agent?: string;
  readonly project?: string;
}

/** Writes trajectories as JSON lines, to a new file or to standard output. */
async function exportSessions(options: ExportOptions, context: CommandContext): Promise<ExitCode> {
  const { out, agent, project } = options;
  const format = EXPORT_FORMATS.find((one) => one === (options.format ?? 'trajectories'));
  if (format === undefined)
    throw wrongUse(`"${options.format}" is no format`, `choose one of: ${EXPORT_FORMATS.join(', ')}`);
  const hasSecret = createSecretScan(openHome(context.homeDir), context.env);
  const file = out === undefined ? undefined : openNew(out);
  try {
    return await withApi(context, async ({ api }) => {
      const write = (line: string): void =>
        void (file === undefined ? context.stdout.write(line) : writeSync(file, line));
      const filter = {
        ...(agent ? { agent } : {}),
        ...(project ? { project: await findProject(api, project, context) } : {}),
      };
      const count = await exportTrajectories({ api, hasSecret, write, format, ...filter });
      context.printer.note(
        `Exported ${plural(count, format === 'trl' ? 'turn' : 'session')}${out === undefined ? '' : ` to ${out}`}.`,
      );
      return EXIT.ok;
    });
  } catch (error) {
    if (!(error instanceof SecretFoundError)) throw error;
    throw failure(error.message, 'erase it: instar sessions erase ID --yes');
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function openNew(file: string): number {
  try {
    return openSync(file, 'wx', 0o600);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const what = code === 'EEXIST' ? `${file} exists already` : `${file} cannot be created (${code})`;
    throw failure(what, 'choose another name with --out');
  }
}
