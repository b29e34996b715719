import { Option } from 'commander';
import { asArray, asObject } from '../core/json.ts';
import { type DeclareCommand, failure, type Positional } from './context.ts';
import { onApi } from './with-api.ts';

/** `instar team share LESSON`. */
export const declareShareLesson: DeclareCommand = (share, act) =>
  void share
    .argument('<lesson>', 'id or name of a lesson')
    .addOption(new Option('--team', 'of the old name').hideHelp())
    .action(act(shareLesson));

const shareLesson = onApi(async ({ args }: Positional, context) => {
  const { keysApi } = context;
  const done = await keysApi.members({ do: 'move', lesson: args[0] ?? '' });
  const { status, why } = asObject(asArray(done.results)[0]);
  context.printer.document(done);
  if (status === 'applied')
    context.printer.line('It is the team’s now, on trial: its effect is measured for all members.');
  if (status === 'refused') throw failure(String(why), 'see: instar lessons show NAME');
  if (status === 'same' && !context.printer.json) context.printer.line('It is the team’s already.');
});
