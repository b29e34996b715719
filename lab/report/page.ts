import { valueLine } from './charts.ts';
import type { ConditionResult, ReportDocument, Section, SectionBlock } from './document.ts';
import { type Figure, intervalText, type MeasureWords, valueText } from './figure.ts';
import { html, type Markup, toText } from './markup.ts';
import { PAGE_STYLE } from './page-style.ts';
import { tableMarkup } from './table.ts';

/**
 * The report as one page that loads nothing and runs nothing. Models write the names of lessons, so a content security policy
 * backs up the escaping: with it a browser executes no script, wherever it came from.
 */
export function documentPage(document: ReportDocument): string {
  const { head, sections, footer } = document;
  return toText(html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${head.suite} · ${head.policy} · ${head.run}</title>
<style>${PAGE_STYLE}</style></head><body><main>
${header(document)}
<div class="cards">${document.results.map(card)}</div>
${sections.map(sectionMarkup)}<footer><p>${footer}</p></footer>
</main></body></html>
`);
}

const header = ({ head, remarks, size }: ReportDocument): Markup => html`<header>
<h1>${head.title ?? `${head.suite}: does it learn?`}</h1>
<ul class="facts">${head.policy === '' ? undefined : html`<li>policy <b>${head.policy}</b></li>`}<li><b>${size}</b></li>${Object.entries(
  head.options,
).map(
  ([name, value]) => html`<li>${name} <b>${String(value)}</b></li>`,
)}<li>run <b>${head.run}</b></li><li>${head.startedAt}</li><li>instar ${head.version}</li></ul>
${remarks.length === 0 ? undefined : html`<ul class="remarks" aria-label="What to know first">${remarks.map((remark) => html`<li>${remark}</li>`)}</ul>`}
</header>`;

const card = ({ condition, figures, counted }: ConditionResult): Markup =>
  html`<article class="card ${condition}"><h3>${condition}</h3>
<dl>${figures.map(
    ({ words, figure, highest }) =>
      html`<dt>${words.title}${words.better === 'less' ? ' (less is better)' : ''}</dt><dd><b>${valueText(words, figure.value)}</b><span>${rangeOf(words, figure)}</span>${valueLine(figure, highest)}</dd>`,
  )}</dl>
<p class="soft">${counted.sentence}</p></article>`;

function rangeOf(words: MeasureWords, { value, interval }: Figure): string {
  if (value === undefined) return 'nothing to show yet';
  return interval === undefined
    ? 'too little data for an interval'
    : `95 %: ${intervalText(words, interval)}`;
}

function sectionMarkup({ title, about, blocks }: Section): Markup | undefined {
  const content = blocks.flatMap((block) => blockMarkup(block) ?? []);
  if (content.length === 0) return undefined;
  return html`<section><h2>${title}</h2>${about === undefined ? undefined : html`<p class="soft">${about}</p>`}${content}</section>
`;
}

function blockMarkup(block: SectionBlock): Markup | undefined {
  if (block.kind === 'lines') return undefined;
  if (block.kind === 'markup') return block.markup;
  if (block.only === 'terminal') return undefined;
  if (block.kind === 'text') return html`<p>${block.text}</p>`;
  const table = tableMarkup(block.table);
  if (block.summary === undefined || table === undefined) return table;
  const summary = html`<summary>${block.summary}</summary>`;
  return block.isOpen
    ? html`<details open>${summary}${table}</details>`
    : html`<details>${summary}${table}</details>`;
}
