import { InvalidArgumentError } from 'commander';
import {
  type CommandContext,
  CommandError,
  type DeclareCommand,
  EXIT,
  type ExitCode,
  type Positional,
} from './context.ts';
import { withApi } from './with-api.ts';

export const declareFeedback: DeclareCommand = (command, act) =>
  void command
    .argument('<id>', 'id of a turn or a session')
    .requiredOption('--score <x>', 'from -1 (bad) to 1 (good)', parseScore)
    .option('--note <text>', 'the reason')
    .addHelpText('after', '\nExample:\n  $ instar feedback t_abc --score -1 --note "wrong folder"\n')
    .action(act(feedback));

interface FeedbackOptions extends Positional {
  readonly score: number;
  readonly note?: string;
}

/** Records a person's reward for a turn or a session. */
const feedback = ({ args, score, note }: FeedbackOptions, context: CommandContext): Promise<ExitCode> =>
  withApi(context, async ({ api }) => {
    const id = args[0] ?? '';
    const isSession = (await api.session(id)) !== undefined;
    const subject = isSession ? { session: id } : { turn: id };
    try {
      const done = await api.feedback({ ...subject, score, ...(note === undefined ? {} : { note }) });
      if (context.printer.json) context.printer.document(done);
      else context.printer.line(`Feedback saved (${isSession ? 'session' : 'turn'} ${id}, score ${score}).`);
      return EXIT.ok;
    } catch (error) {
      throw new CommandError(EXIT.failed, error instanceof Error ? error.message : String(error));
    }
  });

function parseScore(text: string): number {
  const score = Number(text);
  if (text.trim() === '' || !(score >= -1 && score <= 1))
    throw new InvalidArgumentError('Give a number from -1 to 1.');
  return score;
}
