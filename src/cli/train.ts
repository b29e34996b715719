import { EXIT, type ExitCode } from './command-error.ts';
import type { CommandContext } from './context.ts';
import { withDesk } from './with-desk.ts';

export const trainStatus = (_options: object, context: CommandContext): Promise<ExitCode> =>
  withDesk(context, async (desk) => {
    const told = await desk.training();
    const { printer } = context;
    if (printer.json) printer.document(told);
    else {
      const { query, support } = told.buffer as { readonly query: number; readonly support: number };
      printer.table([
        [{ text: 'engine', style: 'dim' }, String(told.engine)],
        [{ text: 'generation', style: 'dim' }, String(told.generation)],
        [
          { text: 'samples', style: 'dim' },
          `${query} may train; ${support} failures are for the library alone`,
        ],
      ]);
    }
    return EXIT.ok;
  });
