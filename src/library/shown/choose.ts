import type { Lesson } from '../../core/lesson.ts';
import type { Recalled } from '../../core/recall.ts';
import { renderBlock, renderDelta } from '../render-block.ts';
import type { Need } from './decide.ts';
import type { ShowRequest } from './show-request.ts';
import { hashTexts } from './shown-text.ts';
import { type Choice, extendThread, freezeThread, type Thread, withGeneration } from './thread.ts';

export type OpenNeed = Need & { readonly kind: 'freeze' | 'add' };

/** The thread after the update, and the decision to record, if there was one. */
export interface Settled {
  readonly thread: Thread;
  readonly choice?: Choice;
}

/** `generation` was in force at the recall; `heldOut` are the lessons that are held out from the session. */
export function choose(
  need: OpenNeed,
  recalled: Recalled,
  request: ShowRequest,
  generation: number,
  heldOut: ReadonlySet<string>,
): Settled {
  const { session, turn, thread, conversation } = request;
  const { domain, considered, engine } = recalled;
  const refused = recalled.lessons.filter(({ id }) => heldOut.has(id));
  const allowed = recalled.lessons.filter(({ id }) => !heldOut.has(id));
  const withheld = [...new Set([...recalled.heldOut, ...idsOf(refused)])];
  const who = { type: 'lessons-recalled', session, turn, thread, generation } as const;
  const how = { heldOut: withheld, domain, considered, engine } as const;

  if (need.kind === 'freeze') {
    const first = conversation()?.links[0];
    const place = { why: need.why, ...(first === undefined ? {} : { first }) };
    const choice = withText({ ...who, ...place, lessons: idsOf(allowed), ...how }, renderBlock(allowed));
    const asked = conversation()?.links.at(-1);
    return { thread: { ...freezeThread(choice), ...(asked === undefined ? {} : { asked }) }, choice };
  }
  const { after } = need;
  const news = allowed.filter(({ id, revision }) => need.thread.inForce.get(id)?.revision !== revision);
  const text = renderDelta(news, outdatedNames(need.withdrawn, news, need.thread));
  if (text === '') return { thread: { ...withGeneration(need.thread, generation), asked: after } };
  const why = news.some(({ id }) => need.changed.has(id)) || need.withdrawn.length > 0 ? 'changed' : 'task';
  const choice = withText({ ...who, why, after, lessons: idsOf(news), ...how }, text);
  return { thread: { ...extendThread(need.thread, choice, after), asked: after }, choice };
}

/** Outdated names: those of withdrawn lessons, and previous names of renamed lessons. */
function outdatedNames(
  withdrawn: readonly string[],
  news: readonly Lesson[],
  thread: Thread,
): readonly string[] {
  const current = new Set(news.map(({ text }) => text.name));
  const names = [...withdrawn, ...idsOf(news)].map((id) => thread.inForce.get(id)?.name);
  return names.filter((name) => name !== undefined && !current.has(name)).map(String);
}

const withText = (fact: Choice['fact'], text: string): Choice =>
  text === '' ? { fact, text: undefined } : { fact: { ...fact, block: hashTexts([text]) }, text };

const idsOf = (lessons: readonly Lesson[]): readonly string[] => lessons.map(({ id }) => id);
