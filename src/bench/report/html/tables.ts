import { arcsIn } from '../arcs-in.ts';
import type { Figure } from '../figure.ts';
import { count, duration, fixed, money, percent, percentRange } from '../numbers.ts';
import type { Report } from '../report.ts';
import { html, type Markup } from './markup.ts';
import { shareBar } from './share-bar.ts';

const withRange = ({ value, interval }: Figure): Markup =>
  html`${percent(value)} <span class="soft">${value === undefined ? '' : percentRange(interval)}</span>`;

export function byType({ conditions }: Report): readonly Markup[] {
  const rows = (['choice', 'files'] as const).flatMap((kind) =>
    conditions.flatMap(({ condition, types }) =>
      types
        .filter((type) => type.kind === kind)
        .map(
          ({ accuracy, passed }) =>
            html`<tr><td>${kind === 'choice' ? 'multiple choice' : 'file tasks'}</td><td class="${condition}">${condition}</td><td class="${condition}">${shareBar(accuracy)}</td><td>${withRange(accuracy)}</td><td>${withRange(passed)}</td><td class="num">${count(accuracy.n)}</td></tr>`,
        ),
    ),
  );
  if (rows.length === 0) return [];
  return [
    html`<div class="scroll"><table class="tight"><thead><tr><th scope="col">type</th><th scope="col">condition</th><th scope="col">mean score</th><th scope="col"></th><th scope="col">exactly right</th><th scope="col" class="num">graded</th></tr></thead><tbody>${rows}</tbody></table></div>`,
  ];
}

export function byArc({ conditions }: Report): readonly Markup[] {
  const names = arcsIn(conditions);
  if (names.length === 0) return [];
  return [
    html`<div class="scroll"><table class="tight"><thead><tr><th scope="col">arc</th>${conditions.map(({ condition }) => html`<th scope="col">${condition}: accuracy</th><th scope="col">completion</th>`)}</tr></thead><tbody>${names.map(
      (name) =>
        html`<tr><th scope="row">${name}</th>${conditions.map(({ arcs }) => {
          const found = arcs.find(({ arc }) => arc === name);
          return html`<td>${found && withRange(found.accuracy)}</td><td>${found && withRange(found.completion)}</td>`;
        })}</tr>`,
    )}</tbody></table></div>`,
  ];
}

export function costs({ costs: all }: Report): readonly Markup[] {
  if (all.length === 0) return [];
  return [
    html`<div class="scroll"><table class="tight"><thead><tr><th scope="col">condition</th><th scope="col" class="num">cost</th><th scope="col" class="num">tokens in</th><th scope="col" class="num">tokens out</th><th scope="col" class="num">steps a question</th><th scope="col" class="num">time a question</th><th scope="col" class="num">overhead, median</th><th scope="col" class="num">overhead, 95 %</th></tr></thead><tbody>${all.map(
      ({ condition, questions, usd, inputTokens, outputTokens, steps, ms, overheadMs }) =>
        html`<tr><th scope="row" class="${condition}">${condition}</th><td class="num">${money(usd)}</td><td class="num">${count(inputTokens)}</td><td class="num">${count(outputTokens)}</td><td class="num">${fixed(steps / questions, 1)}</td><td class="num">${duration(ms / questions)}</td><td class="num">${duration(overheadMs.median)}</td><td class="num">${duration(overheadMs.p95)}</td></tr>`,
    )}</tbody></table></div>`,
  ];
}
