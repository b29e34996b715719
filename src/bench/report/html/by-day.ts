import { lastDay } from '../last-day.ts';
import { weightsMarks } from '../nights.ts';
import { dayName, percent, percentRange } from '../numbers.ts';
import type { Report } from '../report.ts';
import { linePlot } from './line-plot.ts';
import { html, type Markup } from './markup.ts';

const PLOTS = [
  { measure: 'accuracy', title: 'Accuracy by day' },
  { measure: 'completion', title: 'Completed file tasks by day' },
] as const;

/** A plot for each measure with its numbers beside it. */
export function byDay(report: Report): readonly Markup[] {
  const last = lastDay(report);
  if (last === undefined) return [];
  const weights = weightsMarks(report.nights, last);
  return PLOTS.flatMap(({ measure, title }) => {
    const series = report.conditions
      .map(({ condition, days }) => ({
        condition,
        points: days.map((one) => ({ day: one.day, today: one[measure], rolling: one.rolling[measure] })),
      }))
      .filter(({ points }) => points.some(({ today }) => today.value !== undefined));
    if (series.length === 0) return [];
    const description = series
      .map(({ condition, points }) => `${condition} ends at ${percent(points.at(-1)?.rolling.value)}`)
      .join(', ');
    const days = Array.from({ length: last + 1 }, (_, day) => day);
    return [
      html`<h3>${title}</h3><figure class="scroll">${linePlot({ id: measure, title, description, lastDay: last, series, rules: report.head.rules, weights })}</figure>
<details><summary>Numbers</summary><div class="scroll"><table class="tight"><caption>Each day, and the mean of it and the two days before</caption><thead><tr><th scope="col">day</th>${series.map(({ condition }) => html`<th scope="col" class="num">${condition}</th><th scope="col">95 %</th><th scope="col" class="num">3-day mean</th>`)}</tr></thead><tbody>${days.map(
        (day) =>
          html`<tr><th scope="row">${dayName(day)}</th>${series.map(({ points }) => {
            const point = points.find((one) => one.day === day);
            return html`<td class="num">${percent(point?.today.value)}</td><td class="soft">${point?.today.value === undefined ? '' : percentRange(point.today.interval)}</td><td class="num">${percent(point?.rolling.value)}</td>`;
          })}</tr>`,
      )}</tbody></table></div></details>`,
    ];
  });
}
