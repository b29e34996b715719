import type { Headed } from '../headed.ts';
import { html, type Markup } from './markup.ts';

/** What the run was, and what must be known before its numbers. `size` is how much was asked. */
export const overviewHead = ({ head, remarks }: Headed, size: Markup): Markup => html`<header>
<h1>${head.suite}: does it learn?</h1>
<ul class="facts"><li>policy <b>${head.policy}</b></li><li>${size}</li>${Object.entries(head.options).map(
  ([name, value]) => html`<li>${name} <b>${String(value)}</b></li>`,
)}<li>run <b>${head.run}</b></li><li>${head.startedAt}</li><li>instar ${head.version}</li></ul>
${remarks.length === 0 ? undefined : html`<ul class="remarks" aria-label="What to know first">${remarks.map((remark) => html`<li>${remark}</li>`)}</ul>`}
</header>`;
