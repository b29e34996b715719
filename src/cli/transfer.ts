import type { Command } from 'commander';
import { asArray, asObject, asString, type JsonObject } from '../core/json.ts';
import type { Lesson } from '../core/lesson.ts';
import { decodeLessons, encodeChange } from '../lessons/codec.ts';
import { transferId, transferredLesson, whyNotTransferred } from '../lessons/transfer.ts';
import {
  type Act,
  type CommandContext,
  CommandError,
  EXIT,
  type ExitCode,
  type Positional,
} from './context.ts';
import { rare } from './help.ts';
import { dim } from './print.ts';
import { withApi } from './with-api.ts';

interface TransferOptions extends Positional {
  readonly plan?: true;
  readonly to?: string;
}

export const declareTransfer = (lessons: Command, act: Act): void =>
  void lessons
    .command('transfer', rare)
    .argument('[lesson]', 'id or name of a lesson that was measured to help its agent')
    .option('--plan', 'show which lessons would help which agents; nothing is changed')
    .option('--to <agent>', 'the agent that it goes on trial for')
    .description('Put a lesson that helped one agent on trial for another.')
    .action(act(transfer));

const transfer = (
  { args: [asked], plan, to }: TransferOptions,
  context: CommandContext,
): Promise<ExitCode> => {
  if (plan === true || asked === undefined) return showPlan(context);
  if (to === undefined) throw new CommandError(EXIT.wrongUse, 'name the agent that it is for: --to AGENT');
  return transferOne(asked, to, context);
};

const showPlan = (context: CommandContext): Promise<ExitCode> =>
  withApi(context, async ({ api }) => {
    const { printer } = context;
    const { transfers } = await api.practice({ do: 'transfer' });
    const found = asArray(transfers).map(asObject);
    if (printer.json) printer.document(found);
    else if (found.length === 0)
      printer.note('no lesson that was measured to help one agent fits the tasks of another one');
    else
      printer.table([
        ['LESSON', 'FROM', 'TO', 'TASKS ALIKE', 'MEASURED'].map(dim),
        ...found.map(({ name, from, to, tasks, of, effect }) => [
          `${name}`,
          `${from}`,
          `${to}`,
          `${tasks} of ${of}`,
          `${effect}`,
        ]),
      ]);
    return EXIT.ok;
  });

const transferOne = (asked: string, to: string, context: CommandContext): Promise<ExitCode> =>
  withApi(context, async ({ lessonsApi }) => {
    const shown = await lessonsApi.show(asked);
    const all = decodeLessons(await lessonsApi.all());
    const lesson = all.find(({ id }) => id === shown?.id);
    if (shown === undefined || lesson === undefined)
      throw new CommandError(EXIT.failed, `no lesson "${asked}"`, 'see: instar lessons list');
    const effect = measuredOf(shown);
    const why =
      whyNotTransferred(lesson) ?? whyNotTo(lesson, to) ?? (effect === undefined ? UNPROVEN : undefined);
    if (why !== undefined || effect === undefined)
      throw new CommandError(EXIT.failed, `${lesson.text.name}: ${why ?? UNPROVEN}`);
    const known = all.find(({ id }) => id === transferId(lesson.id, to));
    if (known !== undefined)
      throw new CommandError(EXIT.failed, `${to} has it already: ${known.text.name} is ${known.state}`);
    const change = transferredLesson(lesson, to, effect, 'trial');
    const answer = await lessonsApi.change({
      changes: [encodeChange(change)],
      reason: `transferred from ${lesson.text.scope.agent}`,
    });
    const refused = asArray(answer.results)
      .map(asObject)
      .find(({ status }) => status === 'refused');
    if (refused !== undefined) throw new CommandError(EXIT.failed, asString(refused.why) ?? 'it was refused');
    if (context.printer.json) context.printer.document(answer);
    else context.printer.line(`${change.text.name} is on trial for ${to}, as ${change.id}`);
    return EXIT.ok;
  });

const UNPROVEN = 'no measurement shows that it helps its own agent';

const whyNotTo = ({ text }: Lesson, to: string): string | undefined =>
  to === '' || to.includes('*') || to === text.scope.agent
    ? 'name another agent, as its requests name it'
    : undefined;

/** With its interval; undefined when nothing shows that it helps. */
function measuredOf({ trial, effect }: JsonObject): string | undefined {
  const [tested, used] = [asObject(trial), asObject(effect)];
  if (tested.outcome === 'helpful') return asString(tested.why);
  return used.verdict === 'helpful' ? asString(used.words) : undefined;
}
