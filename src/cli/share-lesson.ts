import { asArray, asObject } from '../core/json.ts';
import {
  type CommandContext,
  CommandError,
  type DeclareCommand,
  EXIT,
  type ExitCode,
  type Positional,
} from './context.ts';
import { withApi } from './with-api.ts';

/** `instar lessons share NAME --team`. */
export const declareShareLesson: DeclareCommand = (lessons, act) => {
  lessons
    .command('share')
    .argument('<lesson>', 'id or name of a lesson')
    .option('--team', 'with all members of the team')
    .description('Move a lesson of one person to the team, for an owner of the team.')
    .action(act(shareLesson));
};

interface ShareOptions extends Positional {
  readonly team?: true;
}

const shareLesson = ({ args, team }: ShareOptions, context: CommandContext): Promise<ExitCode> => {
  if (team !== true)
    throw new CommandError(
      EXIT.wrongUse,
      'say with whom',
      'with all members: instar lessons share NAME --team',
    );
  return withApi(context, async ({ keysApi }) => {
    const done = await keysApi.members({ do: 'move', lesson: args[0] ?? '' });
    const { status, why } = asObject(asArray(done.results)[0]);
    if (context.printer.json) context.printer.document(done);
    else if (status === 'applied')
      context.printer.line('It is the team’s now, on trial: its effect is measured for all members.');
    if (status === 'refused')
      throw new CommandError(EXIT.failed, String(why), 'see: instar lessons show NAME');
    if (status === 'same' && !context.printer.json) context.printer.line('It is the team’s already.');
    return EXIT.ok;
  });
};
