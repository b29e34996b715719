import type { LessonsApi } from '../core/daemon-api.ts';
import { asObject, asString, type JsonObject } from '../core/json.ts';
import { closestWord } from '../text/closest-word.ts';
import { clip } from '../text/truncate.ts';
import { failure } from './context.ts';

/** A lesson by id, name or title; `last`: the one that was learned last. Throws for an unknown one, and for a name that several have. */
export async function findLesson(lessonsApi: LessonsApi, typed: string): Promise<JsonObject> {
  const all = await lessonsApi.list({});
  const isNamed = all.some(({ name }) => name === typed);
  if (typed === 'last' && !isNamed) return findLastLesson(lessonsApi);
  const titled = all.filter(({ title }) => title === typed);
  const lesson = await lessonsApi.show(titled.length === 1 ? String(titled[0]?.id) : typed);
  if (lesson !== undefined) return lesson;
  const names = all.map(({ name }) => String(name));
  const shown = clip(typed, LONGEST_ECHO);
  const closest = closestWord(shown, names);
  const message = isNamed
    ? `several lessons are named "${shown}"; use an id`
    : `no lesson named "${shown}"${closest === undefined ? '' : `; closest: "${closest}"`}`;
  throw failure(message, 'see: instar lessons list --all');
}

/** Of what was typed, in an error message. */
const LONGEST_ECHO = 80;

async function findLastLesson(lessonsApi: LessonsApi): Promise<JsonObject> {
  const all = (await lessonsApi.all()).map(asObject).filter(({ state }) => state !== 'rejected');
  const newest = all.reduce<JsonObject | undefined>(
    (best, one) => (Number(one.createdAt) >= Number(best?.createdAt ?? 0) ? one : best),
    undefined,
  );
  const lesson = newest && (await lessonsApi.show(asString(newest.id) ?? ''));
  if (lesson !== undefined) return lesson;
  throw failure(
    'nothing was learned yet',
    'tell your agent what was wrong, or: instar feedback last "what was wrong"',
  );
}
