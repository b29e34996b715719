import type { Losses } from '../losses.ts';
import { count, counted, dayName, fixed, percent, points } from '../numbers.ts';
import type { Report } from '../report.ts';
import { html, type Markup } from './markup.ts';

const MOST_QUESTIONS = 60;

export const losses = ({ losses: all }: Report): readonly Markup[] => all.map(one);

function one({ of, against, pairs, gained, questions, days, rules }: Losses): Markup {
  return html`<h3><span class="${of}">${of}</span> against <span class="${against}">${against}</span></h3>
<p>${counted(gained, 'question')} of ${count(pairs)} scored higher, <b>${count(questions.length)} lower</b>.
${days.length === 0 ? `No day was below ${against}.` : `Days below ${against}: ${days.map(({ day, mean }) => `${dayName(day)} (${points(mean)})`).join(', ')}.`}
${rules.length === 0 ? 'No rule was obeyed less often.' : `Rules obeyed less often: ${rules.map((rule) => `${rule.id} (${percent(rule.of)} in place of ${percent(rule.against)})`).join(', ')}.`}</p>
${questions.length === 0 ? undefined : list(questions, of, against)}
`;
}

const list = (questions: Losses['questions'], of: string, against: string): Markup =>
  html`<details><summary>Questions lost, largest first</summary><div class="scroll"><table class="tight">${
    questions.length > MOST_QUESTIONS
      ? html`<caption>The first ${MOST_QUESTIONS} of ${count(questions.length)}; all of them are in the JSON report.</caption>`
      : undefined
  }<thead><tr><th scope="col">day</th><th scope="col">question</th><th scope="col" class="num">seed</th><th scope="col">type</th><th scope="col" class="num">${against}</th><th scope="col" class="num">${of}</th><th scope="col">newly broken</th></tr></thead><tbody>${questions
    .slice(0, MOST_QUESTIONS)
    .map(
      (lost) =>
        html`<tr><td>${dayName(lost.day)}</td><td>${lost.question}</td><td class="num">${lost.seed}</td><td>${lost.kind}</td><td class="num">${fixed(lost.against, 2)}</td><td class="num">${fixed(lost.of, 2)}</td><td>${lost.broken.join(' ')}</td></tr>`,
    )}</tbody></table></div></details>`;
