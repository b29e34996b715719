import { connectCalendar } from '../app/schedule/connect-calendar.ts';
import { openHome } from '../config/home.ts';
import { CommandError, EXIT, type ExitCode } from './command-error.ts';
import type { CommandContext } from './context.ts';
import { openUrl } from './open-url.ts';

const PATIENCE_MS = 5 * 60_000;

/** Lets Instar see when a Google calendar is busy: nothing else, and only after a person agreed in a browser. */
export async function scheduleConnect(_options: object, context: CommandContext): Promise<ExitCode> {
  const { printer, env } = context;
  const show = (url: string): void => {
    printer.note('agree in your browser; if none opens, go to:');
    printer.note(url);
    openUrl(url, (message) => printer.note(`no browser opened: ${message}`));
  };
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const connected = await connectCalendar(openHome(context.homeDir), env, show, signal);
  if (!connected.ok) throw new CommandError(EXIT.failed, connected.why, connected.mend);
  if (printer.json) printer.document({ connected: true, file: connected.file });
  else printer.line(`connected; the right to ask is kept in ${connected.file}`);
  return EXIT.ok;
}
