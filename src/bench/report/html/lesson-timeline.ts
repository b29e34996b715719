import { lastDay } from '../last-day.ts';
import type { LessonLife } from '../lessons.ts';
import { count, counted, dayName } from '../numbers.ts';
import type { Report } from '../report.ts';
import { html, type Markup } from './markup.ts';
import { scale } from './scale.ts';

const WIDTH = 420;
const HEIGHT = 14;
/** More than these of one run are counted, not drawn: those that teach a rule are drawn first. */
const MOST_LESSONS = 40;
const STATES = new Set(['trial', 'live']);

/** What was learned when: a line for a lesson, a stretch for each state it was in. The first run of a condition is open. */
export function lessonTimeline(report: Report): readonly Markup[] {
  const last = lastDay(report);
  if (last === undefined || report.lessons.length === 0) return [];
  const runs = new Map<string, LessonLife[]>();
  for (const life of report.lessons) {
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
      const about = html`<summary><b class="${condition}">${name}</b>: ${counted(lives.length, 'lesson')}, ${count(lives.filter(({ teaches }) => teaches.length > 0).length)} teaching a rule</summary>`;
      return isFirst
        ? html`<details open>${about}${timeline(lives, last)}</details>`
        : html`<details>${about}${timeline(lives, last)}</details>`;
    }),
  ];
}

const swatch = (state: string): Markup =>
  html`<svg width="18" height="10" aria-hidden="true"><rect class="${state}" width="18" height="10" rx="2"/></svg>`;

function timeline(lives: readonly LessonLife[], last: number): Markup {
  const teaching = lives.filter(({ teaches }) => teaches.length > 0);
  const ordered = [...teaching, ...lives.filter(({ teaches }) => teaches.length === 0)];
  const x = scale(0, last + 1, 0, WIDTH);
  const left = ordered.length - MOST_LESSONS;
  return html`<div class="scroll"><table class="tight"><thead><tr><th scope="col">lesson</th><th scope="col">teaches</th><th scope="col">learned</th><th scope="col" class="num">shown</th><th scope="col">from day 1 to ${dayName(last)}</th></tr></thead><tbody>${ordered.slice(0, MOST_LESSONS).map((life) => line(life, x))}</tbody></table></div>${
    left > 0 ? html`<p class="soft">and ${counted(left, 'lesson')} more</p>` : undefined
  }`;
}

function line({ name, teaches, firstDay, states, shown }: LessonLife, x: (day: number) => string): Markup {
  const told = states.map(
    ({ state, from, to }) => `${state} ${dayName(from)}${from === to ? '' : ` to ${to + 1}`}`,
  );
  return html`<tr><th scope="row"><bdi>${name}</bdi></th><td>${teaches.join(' ')}</td><td>${dayName(firstDay)}</td><td class="num">${count(shown)}</td><td><svg width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img"><title>${told.join(', ')}</title><rect class="track" y="6" width="${WIDTH}" height="2"/>${states.map(
    ({ state, from, to }) =>
      html`<rect class="${STATES.has(state) ? state : 'other'}" x="${x(from)}" y="2" width="${Number(x(to + 1)) - Number(x(from))}" height="10" rx="2"/>`,
  )}</svg></td></tr>`;
}
