import { askStatus } from '../api/daemon-status.ts';
import { homeAt } from '../config/home.ts';
import { type CommandContext, CommandError, EXIT } from './context.ts';

/** What a person may do next, as the words of a command. */
type Choice = 'tour' | 'init' | 'up' | 'status' | 'page' | 'help';

/** `instar` alone in a terminal: says what runs, and offers the tour. Resolves with the words of the command that was chosen. */
export async function greet(context: CommandContext): Promise<readonly string[]> {
  const { stdin: input, stderr: output, printer } = context;
  const report = await askStatus(homeAt(context.homeDir), context.env).catch(() => undefined);
  const isRunning = report !== undefined && 'daemon' in report;
  const hasProvider = isRunning && report.providers.length > 0;
  printer.note(
    { text: 'Instar', style: 'bold' },
    `  ${context.version}: your agent gets better by being used.`,
  );
  printer.note(
    !isRunning
      ? 'It does not run yet.'
      : `It runs at ${report.daemon.url}${hasProvider ? '' : ', with no model provider yet'}.`,
  );
  const { isCancel, select } = await import('@clack/prompts');
  const tour = {
    value: 'tour',
    label: 'See it learn',
    hint: 'one minute, no key, nothing left behind',
  } as const;
  const setUp = { value: 'init', label: 'Set it up', hint: 'choose a model, connect your agents' } as const;
  const options: readonly { readonly value: Choice; readonly label: string; readonly hint: string }[] = [
    ...(hasProvider ? [] : [tour, setUp]),
    ...(isRunning
      ? [
          { value: 'status', label: 'Show how it is', hint: 'instar status' } as const,
          { value: 'page', label: 'Open the page', hint: 'instar page --open' } as const,
        ]
      : [{ value: 'up', label: 'Start it', hint: 'instar up' } as const]),
    ...(hasProvider ? [tour] : []),
    { value: 'help', label: 'List the commands', hint: 'instar help' },
  ];
  const picked = await select<Choice>({ input, output, message: 'What now?', options: [...options] });
  if (isCancel(picked)) throw new CommandError(EXIT.interrupted, 'nothing was done');
  return picked === 'page' ? ['page', '--open'] : [picked];
}
