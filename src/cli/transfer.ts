import type { Command } from 'commander';
import { asArray, asObject, asString, type JsonObject } from '../core/json.ts';
import type { Lesson } from '../core/lesson.ts';
import { decodeLessons, encodeChange } from '../lessons/codec.ts';
import { titleOf } from '../lessons/title.ts';
import { transferId, transferredLesson, whyNotTransferred } from '../lessons/transfer.ts';
import { type Act, type CommandAction, failure, type Positional, wrongUse } from './context.ts';
import { throwRefused } from './find-lesson.ts';
import { rare } from './help.ts';
import { onApi } from './with-api.ts';

export const declareTransfer = (lessons: Command, act: Act): void =>
  void lessons
    .command('transfer', rare)
    .argument('[lesson]', 'id or name of a lesson that was measured to help its agent')
    .option('--plan', 'show which lessons would help which agents; nothing is changed')
    .option('--to <agent>', 'the agent that it goes on trial for')
    .description('Put a lesson that helped one agent on trial for another.')
    .action(act(transfer));

interface TransferOptions extends Positional {
  readonly plan?: true;
  readonly to?: string;
}

const transfer: CommandAction<TransferOptions> = async ({ args: [asked], plan, to }, context) => {
  if (plan === true || asked === undefined) return showPlan({}, context);
  if (to === undefined) throw wrongUse('name the agent that it is for: --to AGENT');
  return transferOne({ asked, to }, context);
};

const showPlan = onApi(async (_: object, { api, printer }) => {
  const found = asArray((await api.practice({ do: 'transfer' })).transfers).map(asObject);
  printer.document(found);
  if (found.length === 0)
    printer.note('no lesson that was measured to help one agent fits the tasks of another one');
  else
    printer.table(['LESSON', 'FROM', 'TO', 'TASKS ALIKE', 'MEASURED'], found, (one) => [
      one.name,
      one.from,
      one.to,
      `${one.tasks} of ${one.of}`,
      one.effect,
    ]);
});

const transferOne = onApi(
  async ({ asked, to }: { readonly asked: string; readonly to: string }, { lessonsApi, printer }) => {
    const shown = await lessonsApi.show(asked);
    const all = decodeLessons(await lessonsApi.all());
    const lesson = all.find(({ id }) => id === shown?.id);
    if (shown === undefined || lesson === undefined)
      throw failure(`no lesson "${asked}"`, 'see: instar lessons list');
    const effect = measuredOf(shown);
    const why = whyNotTransferred(lesson) ?? whyNotTo(lesson, to);
    if (why !== undefined || effect === undefined) throw failure(`“${titleOf(lesson)}”: ${why ?? UNPROVEN}`);
    const known = all.find(({ id }) => id === transferId(lesson.id, to));
    if (known !== undefined) throw failure(`${to} has it already: “${titleOf(known)}” is ${known.state}`);
    const change = transferredLesson(lesson, to, effect, 'trial');
    const answer = await lessonsApi.change({
      changes: [encodeChange(change)],
      reason: `transferred from ${lesson.text.scope.agent}`,
    });
    throwRefused(answer);
    printer.document(answer);
    printer.line(`“${titleOf(change)}” is on trial for ${to}, as ${change.id}`);
  },
);

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
