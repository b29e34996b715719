import type { LessonLife } from '../lessons.ts';
import { count, counted } from '../numbers.ts';
import { html, type Markup } from './markup.ts';
import { scale } from './scale.ts';

const WIDTH = 420;
const HEIGHT = 14;
/** More than these of one run are counted, not drawn: those that teach a rule are drawn first. */
const MOST_LESSONS = 40;
const STATES = new Set(['trial', 'live']);

export interface Timeline {
  readonly lessons: readonly LessonLife[];
  /** Counted from 0; undefined where there was none. */
  readonly last: number | undefined;
  /** What the time of the suite is counted in, and what its lessons teach. */
  readonly period: 'day' | 'run';
  readonly subject: 'rule' | 'convention';
}

/** What was learned when: a line for a lesson, a stretch for each state it was in. The first run of a condition is open. */
export function lessonTimeline({ lessons, last, period, subject }: Timeline): readonly Markup[] {
  if (last === undefined || lessons.length === 0) return [];
  const runs = new Map<string, LessonLife[]>();
  for (const life of lessons) {
    const key = `${life.condition}, seed ${life.seed}`;
    const run = runs.get(key);
    if (run === undefined) runs.set(key, [life]);
    else run.push(life);
  }
  const opened = new Set<string>();
  return [
    html`<p class="key"><span>${swatch('trial')}trial</span><span>${swatch('live')}live</span><span>${swatch('other')}retired, waiting or refused</span></p>`,
    ...[...runs].map(([name, lives]) => {
      const condition = lives[0]?.condition ?? 'skills';
      const isFirst = !opened.has(condition);
      opened.add(condition);
      const about = html`<summary><b class="${condition}">${name}</b>: ${counted(lives.length, 'lesson')}, ${count(lives.filter(({ teaches }) => teaches.length > 0).length)} teaching a ${subject}</summary>`;
      return isFirst
        ? html`<details open>${about}${timeline(lives, last, period)}</details>`
        : html`<details>${about}${timeline(lives, last, period)}</details>`;
    }),
  ];
}

const swatch = (state: string): Markup =>
  html`<svg width="18" height="10" aria-hidden="true"><rect class="${state}" width="18" height="10" rx="2"/></svg>`;

function timeline(lives: readonly LessonLife[], last: number, period: Timeline['period']): Markup {
  const teaching = lives.filter(({ teaches }) => teaches.length > 0);
  const ordered = [...teaching, ...lives.filter(({ teaches }) => teaches.length === 0)];
  const x = scale(0, last + 1, 0, WIDTH);
  const left = ordered.length - MOST_LESSONS;
  return html`<div class="scroll"><table class="tight"><thead><tr><th scope="col">lesson</th><th scope="col">teaches</th><th scope="col">learned</th><th scope="col" class="num">shown</th><th scope="col">from ${period} 1 to ${period} ${last + 1}</th></tr></thead><tbody>${ordered.slice(0, MOST_LESSONS).map((life) => line(life, period, x))}</tbody></table></div>${
    left > 0 ? html`<p class="soft">and ${counted(left, 'lesson')} more</p>` : undefined
  }`;
}

function line(
  { name, teaches, firstDay, states, shown }: LessonLife,
  period: Timeline['period'],
  x: (day: number) => string,
): Markup {
  const told = states.map(
    ({ state, from, to }) => `${state} ${period} ${from + 1}${from === to ? '' : ` to ${to + 1}`}`,
  );
  return html`<tr><th scope="row"><bdi>${name}</bdi></th><td>${teaches.join(' ')}</td><td>${period} ${firstDay + 1}</td><td class="num">${count(shown)}</td><td><svg width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img"><title>${told.join(', ')}</title><rect class="track" y="6" width="${WIDTH}" height="2"/>${states.map(
    ({ state, from, to }) =>
      html`<rect class="${STATES.has(state) ? state : 'other'}" x="${x(from)}" y="2" width="${Number(x(to + 1)) - Number(x(from))}" height="10" rx="2"/>`,
  )}</svg></td></tr>`;
}
