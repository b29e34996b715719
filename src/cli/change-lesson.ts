import { CommandError, EXIT, type ExitCode } from './command-error.ts';
import type { CommandContext } from './context.ts';
import { unknownLesson } from './lessons.ts';
import { withDesk } from './with-desk.ts';

interface Changing {
  readonly args: readonly string[];
  readonly reason?: string;
  readonly hash?: string;
  readonly live?: true;
  readonly off?: true;
}

type Shown = Readonly<Record<string, unknown>>;
type Plan = (lesson: Shown, options: Changing) => Readonly<Record<string, string | boolean>>;

export const approveLesson = command((lesson, { live }) => {
  const next = live || lesson.state === 'trial' ? 'live' : 'trial';
  return { op: 'move', to: next };
});
export const rejectLesson = command(() => ({ op: 'move', to: 'rejected' }));
export const retireLesson = command((_, { reason }) => ({
  op: 'retire',
  reason: reason ?? 'retired by a person',
}));
export const pinLesson = command((_, { off }) => ({ op: 'mark', pinned: !off }));
export const freezeLesson = command((_, { off }) => ({ op: 'mark', frozen: !off }));

/** One change to one lesson, bound to the words that were there when it was looked up, or to those that were shown. */
function command(plan: Plan): (options: Changing, context: CommandContext) => Promise<ExitCode> {
  return (options, context) =>
    withDesk(context, async (_, shelf) => {
      const name = options.args[0] ?? '';
      const lesson = await shelf.show(name);
      if (lesson === undefined) throw unknownLesson(name);
      const id = String(lesson.id);
      const done = await shelf.change({
        changes: [{ id, ...plan(lesson, options) }],
        shown: { [id]: options.hash ?? String(lesson.hash) },
        ...(options.reason === undefined ? {} : { reason: options.reason }),
      });
      const result = (done.results as readonly Shown[])[0] ?? {};
      if (result.status === 'refused') throw new CommandError(EXIT.failed, `${id}: ${String(result.why)}`);
      const now = (await shelf.show(id)) ?? lesson;
      if (context.printer.json) context.printer.document({ ...done, lesson: now });
      else
        context.printer.line(
          result.status === 'same'
            ? `${id} ${String(now.name)} was so already: ${String(now.state)}`
            : `${id} ${String(now.name)} is ${String(now.state)}; generation ${String(done.generation)}`,
        );
      return EXIT.ok;
    });
}
