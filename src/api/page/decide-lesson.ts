import { createFailure } from '../../core/failure.ts';
import { asArray, asObject, asString, compact, type JsonObject } from '../../core/json.ts';
import type { Lesson } from '../../core/lesson.ts';
import { encodeLesson } from '../../lessons/codec.ts';
import { isOwnersAlone } from '../../lessons/identity-tier.ts';
import type { OpenLessons } from '../../lessons/open-lessons.ts';
import { isPersonsWord } from '../../lessons/told.ts';
import { type Asked, type RouteAnswer, WholeReply } from '../router/answer.ts';
import type { PAGE_ROUTES } from '../router/page-routes.ts';
import type { BodyOf } from '../router/route-shape.ts';

type Decision = BodyOf<(typeof PAGE_ROUTES)['decideLesson']>;

interface DecideOptions {
  readonly lessons: () => OpenLessons;
  /** The lesson as the page shows it. */
  readonly show: (id: string, api: Asked['lessonsApi']) => Promise<JsonObject | undefined>;
}

/** A person's decision about the text that the page has shown. For any other text it is refused, with what is there now. */
export function createDecideLesson({
  lessons,
  show,
}: DecideOptions): RouteAnswer<(typeof PAGE_ROUTES)['decideLesson']> {
  return async ({ id, body, lessonsApi }) => {
    const { library, pages } = lessons();
    const lesson = library.lesson(id);
    if (lesson === undefined) return undefined;
    const refuseStale = async () =>
      refuseChanged('This lesson has changed since it was shown to you: look at it again.', {
        ...(await show(id, lessonsApi)),
      });
    if (pages.hashOf(id) !== body.shown) return refuseStale();
    const done = await lessonsApi.change({
      changes: [compact({ id, ...changeOf(lesson, body) })],
      reason: body.reason ?? `${body.do} on the page`,
      shown: { [id]: body.shown },
    });
    const result = asObject(asArray(done.results)[0]);
    if (result.status === 'refused') {
      const why = asString(result.why) ?? 'it was refused';
      if (pages.hashOf(id) !== body.shown) return refuseStale();
      return isOwnersAlone(lesson)
        ? createFailure('forbidden', `${why}. Decide about it in a terminal: instar identity`, {
            code: 'terminal',
          })
        : createFailure('bad-request', `${why}.`);
    }
    return { ok: true, generation: done.generation ?? 0, lesson: (await show(id, lessonsApi)) ?? {} };
  };
}

function changeOf(lesson: Lesson, { do: what, reason, text }: Decision): JsonObject {
  switch (what) {
    case 'approve':
      return { op: 'move', to: lesson.state === 'trial' || isPersonsWord(lesson) ? 'live' : 'trial' };
    case 'live':
      return { op: 'move', to: 'live' };
    case 'restore':
      return { op: 'move', to: isPersonsWord(lesson) ? 'live' : 'trial' };
    case 'reject':
      return { op: 'move', to: 'rejected' };
    case 'retire':
      return { op: 'retire', reason: reason ?? 'retired by a person' };
    case 'pin':
    case 'unpin':
      return { op: 'mark', pinned: what === 'pin' };
    case 'freeze':
    case 'unfreeze':
      return { op: 'mark', frozen: what === 'freeze' };
    case 'edit': {
      const { name, description, content } = text ?? {};
      const whole = asObject(encodeLesson(lesson).text);
      // What a person writes is that person's word, whoever wrote the text before.
      const note = { ...asObject(whole.note), source: 'told' };
      const edited = { ...whole, ...compact({ name, description, content }), note };
      return { op: 'revise', from: lesson.revision, text: edited };
    }
  }
}

/** 409, with what is there now. */
export const refuseChanged = (message: string, current: JsonObject): WholeReply =>
  new WholeReply({ status: 409, json: { error: { message, code: 'changed' }, current } });
