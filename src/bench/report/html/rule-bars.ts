import { count, dayName, percent } from '../numbers.ts';
import type { Report } from '../report.ts';
import { taughtOn } from '../rules.ts';
import { html, type Markup } from './markup.ts';
import { shareBar } from './share-bar.ts';

/** How often each rule was obeyed, before anything taught it and after. */
export function ruleBars({ rules }: Report): readonly Markup[] {
  const rows = rules.flatMap(({ id, title, since, conditions }) =>
    conditions
      .filter(({ obeyed }) => obeyed.n > 0)
      .map((under, place, all) => {
        const { condition, before, after, missed } = under;
        return html`<tr class="${place === 0 ? 'group' : ''}">${
          place === 0
            ? html`<th scope="rowgroup" rowspan="${all.length}"><b>${id}</b> ${title === id ? '' : title}<br><span class="soft">${since === undefined ? '' : `counts since ${dayName(since)}`}</span></th>`
            : undefined
        }<td class="${condition}">${condition}</td><td class="${condition}">${shareBar(before, true)}</td><td class="num">${before.n === 0 ? '' : `${percent(before.value)} of ${count(before.n)}`}</td><td class="${condition}">${shareBar(after)}</td><td class="num">${after.n === 0 ? '' : `${percent(after.value)} of ${count(after.n)}`}</td><td class="whole">${taughtOn(under)}</td><td class="num">${after.n === 0 ? '' : count(missed)}</td></tr>
`;
      }),
  );
  if (rows.length === 0) return [];
  return [
    html`<div class="scroll"><table class="tight"><thead><tr><th scope="col">rule</th><th scope="col">condition</th><th scope="col">obeyed before it was taught</th><th scope="col"></th><th scope="col">and after</th><th scope="col"></th><th scope="col">first taught</th><th scope="col" class="num">not shown</th></tr></thead><tbody>${rows}</tbody></table></div>`,
    ...byArc(rules),
  ];
}

function byArc(rules: Report['rules']): readonly Markup[] {
  const rows = rules.flatMap(({ id, conditions }) =>
    conditions.flatMap(({ condition, arcs }) =>
      arcs.map(
        ({ arc, obeyed }) =>
          html`<tr><td>${id}</td><td class="${condition}">${condition}</td><td>${arc}</td><td class="num">${percent(obeyed.value)}</td><td class="num">${count(obeyed.n)}</td></tr>`,
      ),
    ),
  );
  if (rows.length === 0) return [];
  return [
    html`<details><summary>By learning arc</summary><table class="tight"><thead><tr><th scope="col">rule</th><th scope="col">condition</th><th scope="col">arc</th><th scope="col" class="num">obeyed</th><th scope="col" class="num">questions</th></tr></thead><tbody>${rows}</tbody></table></details>`,
  ];
}
