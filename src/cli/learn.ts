import type { DaemonApi, OwnerApis } from '../core/daemon-api.ts';
import { asArray, asNumber, asObject, asString, type JsonObject } from '../core/json.ts';
import { type CommandContext, type DeclareCommand, EXIT, type ExitCode, type Positional } from './context.ts';
import { dim } from './print.ts';
import { createProgress } from './progress.ts';
import { sessionNamed, unknownSession } from './sessions.ts';
import { onApi } from './with-api.ts';

export const declareLearn: DeclareCommand = (command, act) =>
  void command
    .argument('<session>', 'the id of a session or an episode, or last')
    .option('--wait', 'wait until it was read and all that it taught is decided, for two minutes at most')
    .addHelpText('after', '\nExample:\n  $ instar learn last --wait\n')
    .action(act(showTaught));

const PATIENCE_MS = 120_000;
/** A session is recorded a moment after its first reply. */
const RECORDING_MS = 3000;

const showTaught = onApi(async ({ args, wait }: Positional & { readonly wait?: true }, context) => {
  const { api } = context;
  const id = await sessionNamed(args[0] ?? '', api, context);
  const taught = wait === true ? await awaitTaught(id, context) : await readTaught(api, id);
  if (taught === undefined) throw await unknownSession(api, id);
  return report(taught, context);
});

/** Reads it again whenever the daemon tells that something happened. */
async function awaitTaught(id: string, context: CommandContext & OwnerApis) {
  const { api, news, printer } = context;
  const progress = createProgress(context);
  const end = new AbortController();
  const told = news?.(AbortSignal.any([end.signal, AbortSignal.timeout(PATIENCE_MS)]));
  let taught: JsonObject | undefined;
  const unknown = setTimeout(() => taught === undefined && end.abort(), RECORDING_MS);
  try {
    const hello = await told?.next();
    taught = await readTaught(api, id);
    if (told === undefined || hello?.done === true)
      printer.note(dim('nothing is waited for: only the owner of a running Instar is told what happens'));
    else progress.show({ phase: 'waiting until it is read' });
    if (told !== undefined)
      while (!(taught !== undefined && isDecided(taught)) && (await told.next()).done !== true)
        taught = await readTaught(api, id);
    return taught;
  } finally {
    progress.clear();
    clearTimeout(unknown);
    end.abort();
  }
}

/** `{ lessons, why?, waits, isRead }`, of an episode, too: it is read once it has ended. */
async function readTaught(api: DaemonApi, id: string): Promise<JsonObject | undefined> {
  const session = await api.session(id, { limit: 0, learned: true });
  if (session !== undefined) return asObject(session.learned);
  const episode = await api.episode(id);
  if (episode === undefined) return undefined;
  const { state, learns, learned } = episode;
  const isRead = state !== 'open' && (learns !== true || learned !== undefined);
  return { lessons: [], ...asObject(learned), waits: 0, isRead };
}

const isDecided = ({ isRead, waits }: JsonObject): boolean => isRead === true && (asNumber(waits) ?? 0) === 0;

const OUTCOMES: Readonly<Record<string, string>> = {
  live: 'Learned',
  trial: 'Learned, on trial',
  proposed: 'Proposed, needs your decision',
  refused: 'Refused',
};

function report(taught: JsonObject, { printer }: CommandContext): ExitCode {
  printer.document(taught);
  const lessons = asArray(taught.lessons).map(asObject);
  for (const { name, outcome } of lessons)
    printer.line(`${OUTCOMES[asString(outcome) ?? ''] ?? String(outcome)}: `, {
      text: asString(name) ?? '',
      style: 'bold',
    });
  const isKept = lessons.some(({ outcome }) => outcome !== 'refused');
  const why = asString(taught.why);
  if (!isDecided(taught)) {
    printer.line(
      taught.isRead === true ? 'A part of it waits to be learned from.' : 'It is not read to its end yet.',
    );
    printer.next('see what waits with: instar learning');
  } else if (!isKept) printer.line(`Nothing was learned from it${why === undefined ? '.' : `: ${why}`}`);
  return isKept ? EXIT.ok : EXIT.failed;
}
