import { becameOf, type NightReport, shareChange } from '../nights.ts';
import { count, dayName, duration, percent } from '../numbers.ts';
import type { Report } from '../report.ts';
import { html, type Markup } from './markup.ts';

/** A row for a night: what training did to attempts, how new and old weights did on the same tasks, what became of it. */
export function nights({ nights: all }: Report): readonly Markup[] {
  if (all.length === 0) return [];
  return [
    html`<div class="scroll"><table class="tight"><thead><tr><th scope="col" class="num">seed</th><th scope="col">after</th><th scope="col" class="num">steps</th><th scope="col">complete attempts, first → last step</th><th scope="col" class="num">held-out pairs</th><th scope="col" class="num">new weights</th><th scope="col" class="num">those that served</th><th scope="col" class="num">took</th><th scope="col">became</th></tr></thead><tbody>${all.map((night, place) => row(night, all[place - 1]))}</tbody></table></div>`,
  ];
}

function row(night: NightReport, before: NightReport | undefined): Markup {
  const { seed, day, steps, pairs, candidate, live, ms, moves, isNew, condition } = night;
  return html`<tr class="${before?.seed === seed ? '' : 'group'}${moves.length > 0 ? ' joined' : ''}"><td class="num">${seed}</td><th scope="row" class="whole">${dayName(day)}</th><td class="num">${count(steps)}</td><td>${shareChange(night)}</td><td class="num">${count(pairs)}</td><td class="num">${percent(candidate)}</td><td class="num">${percent(live)}</td><td class="num">${duration(ms)}</td><td class="whole ${isNew ? condition : 'soft'}">${becameOf(night)}</td></tr>${
    moves.length === 0
      ? undefined
      : html`<tr><td></td><td class="notes" colspan="8">${moves.join('; ')}</td></tr>`
  }
`;
}
