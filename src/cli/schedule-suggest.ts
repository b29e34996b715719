import { homeAt } from '../config/home.ts';
import { CommandError, EXIT, type ExitCode } from './command-error.ts';
import type { CommandContext } from './context.ts';
import { withDesk } from './with-desk.ts';
import { setSleep, writeConfig } from './write-config.ts';

/** Quiet hours from the record, with the evidence and the line to add. Only `--write` changes the config, and says so. */
export const scheduleSuggest = (
  options: { readonly write?: true },
  context: CommandContext,
): Promise<ExitCode> =>
  withDesk(context, async (desk) => {
    const { printer, env } = context;
    const told = await desk.suggestWindows();
    const sleep = typeof told.sleep === 'string' ? told.sleep : undefined;
    const evidence = Array.isArray(told.evidence) ? told.evidence.map(String) : [];
    if (!printer.json) {
      for (const line of evidence) printer.line(line);
      if (sleep === undefined) printer.line(String(told.why ?? 'nothing can be suggested yet'));
      else printer.line('"schedule": { "sleep": ', JSON.stringify(sleep), ' }');
    }
    if (sleep === undefined && options.write)
      throw new CommandError(
        EXIT.failed,
        'there is nothing to write',
        'work for a few weeks, then ask again',
      );
    const file = homeAt(context.homeDir).configFile;
    const written =
      sleep !== undefined && options.write ? writeConfig(file, setSleep(file, sleep, env)) : undefined;
    if (printer.json) printer.document({ ...told, ...(written === undefined ? {} : { written }) });
    else if (written !== undefined) {
      printer.line(`wrote ${written.file}`);
      if (written.backup !== undefined) printer.note({ text: '  before  ', style: 'dim' }, written.backup);
      printer.note({ text: '→ ', style: 'cyan' }, 'it counts from the next start: instar up');
    } else if (sleep !== undefined)
      printer.note({ text: '→ ', style: 'cyan' }, 'nothing was changed; --write puts it into the config');
    return EXIT.ok;
  });
