import { setTimeout as sleep } from 'node:timers/promises';
import { findDaemon } from '../config/daemon-file.ts';
import { homeAt } from '../config/home.ts';
import type { LessonsApi, OwnerApis } from '../core/daemon-api.ts';
import { asString } from '../core/json.ts';
import type { CommandContext } from './context.ts';
import { dim } from './print.ts';
import { titleText } from './show-lessons.ts';

type Revisions = ReadonlyMap<string, string>;

/** The lessons in use with their revisions, by id. */
export async function readRevisions(lessonsApi: Pick<LessonsApi, 'list'>): Promise<Revisions> {
  const open = (await lessonsApi.list({})).filter(({ state }) => state !== 'retired' && state !== 'rejected');
  return new Map(open.map(({ id, revision }) => [asString(id) ?? '', String(revision)]));
}

/** A person's own words become a lesson within seconds. */
const PATIENCE_MS = 6_000;
const POLL_MS = 200;

/** After a correction: what was learned from it, or why nothing is to be seen yet. */
export async function sayLearned(
  { api, lessonsApi }: Pick<OwnerApis, 'api' | 'lessonsApi'>,
  before: Revisions,
  context: CommandContext,
): Promise<void> {
  const { printer } = context;
  if ((await findDaemon(homeAt(context.homeDir))) === undefined)
    return printer.note(dim('Instar is not running: it learns from this after instar up'));
  if ((await api.learning()).on === false)
    return printer.note(dim('learning is off: turn it on with instar learning on'));
  for (const until = performance.now() + PATIENCE_MS; performance.now() < until; await sleep(POLL_MS)) {
    const now = await lessonsApi.list({});
    const learned = now.filter(
      ({ id, revision, state }) =>
        state !== 'retired' && state !== 'rejected' && before.get(String(id)) !== String(revision),
    );
    if (learned.length === 0) continue;
    for (const lesson of learned)
      printer.line(
        { text: lesson.state === 'proposed' ? 'Proposed: ' : 'Learned: ', style: 'green' },
        { text: titleText(lesson), style: 'bold' },
        lesson.state === 'proposed' ? '. Use it: instar lessons keep last' : '. Undo: instar undo',
      );
    return;
  }
  printer.note(
    dim('no rule yet: Instar looks for one in it, alone or with similar failures; see: instar lessons'),
  );
}
