import type { OwnerApis } from '../core/daemon-api.ts';
import { asArray, type JsonObject } from '../core/json.ts';
import type { CommandContext } from './context.ts';
import { dim, type Printer } from './print.ts';
import { createProgress } from './progress.ts';
import { titleText } from './show-lessons.ts';

/** A person's own words become a lesson within seconds. */
const PATIENCE_MS = 6_000;

/** Gives a correction, and says what was learned from it as soon as the daemon tells so, or why nothing was. */
export async function sayLearned(
  { api, lessonsApi, news }: Pick<OwnerApis, 'api' | 'lessonsApi' | 'news'>,
  give: () => Promise<void>,
  context: Pick<CommandContext, 'printer' | 'stderr' | 'env'>,
): Promise<void> {
  const { printer } = context;
  const inUse = async () => (await lessonsApi.list({})).filter(isOpen);
  const before = new Map((await inUse()).map(({ id, revision }) => [id, revision]));
  const end = new AbortController();
  const told = news?.(AbortSignal.any([end.signal, AbortSignal.timeout(PATIENCE_MS)]));
  const progress = createProgress(context);
  try {
    // Nothing that happens after the first event is missed.
    await told?.next();
    await give();
    if (told === undefined)
      return printer.note(dim('Instar is not running: it learns from this after instar up'));
    if ((await api.learning()).on === false)
      return printer.note(dim('learning is off: turn it on with instar learning on'));
    progress.show({ phase: 'learning from it' });
    const again = new Set<unknown>();
    let [isRead, isSettled] = [false, false];
    for await (const { event, data } of told) {
      // What is told before it says nothing of this correction.
      isRead ||= event === 'reward';
      isSettled = isRead && event === 'settled';
      if (event === 'rules') for (const id of asArray(data.again)) again.add(id);
      if (isSettled) break;
      if (event !== 'library') continue;
      const learned = (await inUse()).filter(({ id, revision }) => before.get(id) !== revision);
      if (learned.length === 0) continue;
      progress.clear();
      for (const lesson of learned) printLearned(lesson, printer);
      return;
    }
    progress.clear();
    const repeated = again.size === 0 ? [] : (await inUse()).filter(({ id }) => again.has(id));
    for (const lesson of repeated) printKnown(lesson, printer);
    if (repeated.length === 0) printer.note(dim(isSettled ? NO_RULE : NOT_YET));
  } finally {
    end.abort();
  }
}

const NO_RULE =
  'no rule yet: it does not say what always holds; Instar learns from several failures like it. See: instar learning';
const NOT_YET = 'no rule yet: Instar is still reading it. See: instar lessons';

const isOpen = ({ state }: JsonObject): boolean => state !== 'retired' && state !== 'rejected';

function printLearned(lesson: JsonObject, printer: Printer): void {
  const isProposed = lesson.state === 'proposed';
  printer.line(
    { text: isProposed ? 'Proposed: ' : 'Learned: ', style: 'green' },
    { text: titleText(lesson), style: 'bold' },
    isProposed ? '. Use it: instar lessons keep last' : '. Undo: instar undo',
  );
}

function printKnown(lesson: JsonObject, printer: Printer): void {
  printer.line(
    { text: 'Known already: ', style: 'yellow' },
    { text: titleText(lesson), style: 'bold' },
    '. Was this answer shown it? instar lessons why',
  );
}
