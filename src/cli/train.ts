import { homeAt } from '../config/home.ts';
import { CommandError, EXIT, type ExitCode } from './command-error.ts';
import type { CommandContext } from './context.ts';
import { showTraining } from './train-words.ts';
import { withDesk } from './with-desk.ts';
import { withTraining } from './with-training.ts';

export const trainStatus = (_options: object, context: CommandContext): Promise<ExitCode> =>
  withDesk(context, async (desk) => {
    const recorded = await desk.training();
    const told = 'engineState' in recorded ? recorded : { ...recorded, ...(await describe(context)) };
    const { printer } = context;
    if (printer.json) printer.document(told);
    else showTraining(printer, told);
    return EXIT.ok;
  });

export const promoteWeights = (_options: object, context: CommandContext): Promise<ExitCode> =>
  move(context, 'promote', 'no weights are on trial', 'instar train run trains some');

export const rollBackWeights = (_options: object, context: CommandContext): Promise<ExitCode> =>
  move(
    context,
    'rollback',
    'no weights are on trial, and none served before these',
    'instar train status shows which serve',
  );

/** Nobody trains now: what the settings and the record say. */
const describe = async ({ homeDir, env }: CommandContext) =>
  (await import('../app/training/offline-training.ts')).describeOffline(homeAt(homeDir), env);

const move = (
  context: CommandContext,
  to: 'promote' | 'rollback',
  nothing: string,
  mend: string,
): Promise<ExitCode> =>
  withTraining(context, async ({ desk }) => {
    const moves = await desk.moveWeights(to);
    if (moves.length === 0) throw new CommandError(EXIT.failed, nothing, mend);
    const { printer } = context;
    if (printer.json) printer.document(moves);
    else
      for (const { version, from, to: stage } of moves)
        printer.line(
          `version ${version} is ${stage}`,
          ...(from === undefined ? [] : [{ text: ` (it was ${from})`, style: 'dim' } as const]),
        );
    return EXIT.ok;
  });
