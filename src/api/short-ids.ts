import type { OwnerApis } from '../core/daemon-api.ts';
import { asString, type JsonObject } from '../core/json.ts';
import type { Records } from '../core/store.ts';
import { chooseId, matchesIdPattern, parseIdPattern, shortId } from '../text/short-id.ts';
import { ApiError } from './remote-api.ts';

/** So many ids are read to see that a word is ambiguous. */
const MOST_CANDIDATES = 50;
const MOST_NAMED = 5;

/**
 * The same APIs for people: a session, a turn and a lesson are found by their id, or by the short form of it (see
 * `text/short-id`), through the index of ids. A word that can mean several is refused with the candidates. Erasing needs
 * the whole id: what is erased is gone.
 */
export function withShortIds(
  { api, lessonsApi, keysApi }: OwnerApis,
  records: Pick<Records, 'ids' | 'session' | 'turn'>,
): OwnerApis {
  const find = async (noun: 'session' | 'turn', typed: string): Promise<string> => {
    if ((noun === 'session' ? await records.session(typed) : await records.turn(typed)) !== undefined)
      return typed;
    const of = noun === 'session' ? 'sessions' : 'turns';
    const pattern = parseIdPattern(typed);
    const begun = pattern === undefined ? [] : await records.ids(of, pattern, MOST_CANDIDATES);
    const byBeginning = onlyOne(noun, typed, begun);
    if (byBeginning !== undefined || noun === 'turn') return byBeginning ?? typed;
    // The name that a client gave it: the id has the mark of its key before that.
    const named = await records.ids(of, { beginning: '', end: `:${typed}` }, MOST_CANDIDATES);
    return onlyOne(noun, typed, named) ?? typed;
  };
  return {
    api: {
      ...api,
      session: async (id, part) => api.session(await find('session', id), part),
      trajectory: async (id, form) => api.trajectory(await find('session', id), form),
      turn: async (id) => api.turn(await find('turn', id)),
    },
    lessonsApi: {
      ...lessonsApi,
      show: async (idOrName) => {
        const lesson = await lessonsApi.show(idOrName);
        const pattern = parseIdPattern(idOrName);
        if (lesson !== undefined || pattern === undefined) return lesson;
        const ids = (await lessonsApi.list({})).map(({ id }: JsonObject) => asString(id) ?? '');
        const id = onlyOne(
          'lesson',
          idOrName,
          ids.filter((one) => matchesIdPattern(one, pattern)),
        );
        return id === undefined ? undefined : lessonsApi.show(id);
      },
      why: async (turn) => {
        const id = turn === 'last' ? asString((await api.newestTurn({}))?.id) : await find('turn', turn);
        return id === undefined ? undefined : lessonsApi.why(id);
      },
    },
    keysApi,
  };
}

/** Throws `ApiError` when the word is ambiguous. Undefined when it means nothing. */
function onlyOne(noun: string, typed: string, ids: readonly string[]): string | undefined {
  const chosen = chooseId(ids);
  if (chosen !== undefined || ids.length === 0) return chosen;
  const shorts = ids.map(shortId);
  // The short forms tell nothing where they are equal.
  const names = new Set(shorts).size === ids.length ? shorts : ids;
  const more = ids.length > MOST_NAMED ? ' and others' : '';
  throw new ApiError(
    400,
    `"${typed}" can mean several ${noun}s: ${names.slice(0, MOST_NAMED).join(', ')}${more}. Type more of the id.`,
  );
}
