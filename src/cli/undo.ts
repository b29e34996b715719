import { takeBack } from '../api/take-back.ts';
import { type DeclareCommand, failure } from './context.ts';
import { dim } from './print.ts';
import { onApi } from './with-api.ts';

export const declareUndo: DeclareCommand = (command, act) =>
  void command
    .addHelpText(
      'after',
      '\nA lesson that was new is not used any more; one that was reworded says again\nwhat it said before. Typed again, it takes back the one before.\n\nExample:\n  $ instar undo\n',
    )
    .action(act(undo));

const undo = onApi(async (_options: object, { lessonsApi, printer }) => {
  const done = await takeBack(lessonsApi);
  if (!done.ok) throw failure(`nothing to undo: ${done.why}`, 'see: instar lessons history');
  const { ok: _, ...result } = done;
  printer.document(result);

  printer.line(
    done.did === 'dropped'
      ? `Taken back: “${done.title}”. It is not used any more.`
      : `Taken back: “${done.title}” says again what it said before.`,
  );
  if (done.did === 'dropped') printer.note(dim(`bring it back with: instar lessons keep ${done.name}`));
});
