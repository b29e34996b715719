import { CommandError, EXIT, type ExitCode } from './command-error.ts';
import type { CommandContext } from './context.ts';
import { withDesk } from './with-desk.ts';

interface Feedback {
  readonly args: readonly string[];
  readonly score: number;
  readonly note?: string;
}

/** A reward from a person; the id is a turn's or a session's. */
export const feedback = ({ args, score, note }: Feedback, context: CommandContext): Promise<ExitCode> =>
  withDesk(context, async (desk) => {
    const id = args[0] ?? '';
    const subject = (await desk.session(id)) === undefined ? { turn: id } : { session: id };
    try {
      const done = await desk.feedback({ ...subject, score, ...(note === undefined ? {} : { note }) });
      if (context.printer.json) context.printer.document(done);
      else context.printer.line(`kept: ${score} for ${id}`);
      return EXIT.ok;
    } catch (error) {
      throw new CommandError(EXIT.failed, error instanceof Error ? error.message : String(error));
    }
  });
