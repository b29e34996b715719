import { createRandom } from '../../../src/base/random.ts';
import { papersOf } from '../documents/paths.ts';
import { shuffled } from '../draw.ts';
import type { DayFacts } from '../make-world/day-facts.ts';
import type { Form } from '../world.ts';
import { composeChoice, type DocumentQuestion } from './compose-choice.ts';
import { DOCUMENT_KINDS } from './document-kinds.ts';
import type { Kind } from './kind.ts';
import { SHORT_KINDS } from './short-kinds.ts';

export interface ChoiceOptions {
  readonly facts: DayFacts;
  readonly form: Form;
  /** One question for each. */
  readonly ids: readonly string[];
  readonly seed: string;
  /** Texts that were asked already; none of them is asked again. */
  readonly asked: ReadonlySet<string>;
}

const TRIES = 200;

/** Questions about a day's papers, or in the short form about facts that they bring along. */
export function makeChoices({ facts, form, ids, seed, asked }: ChoiceOptions): readonly DocumentQuestion[] {
  const { difficulty } = facts.day;
  const kinds = planKinds(facts, form, ids.length, seed);
  const seen = new Set(asked);
  return ids.map((id, at) => {
    for (let attempt = 0; attempt < TRIES; attempt++) {
      const random = createRandom(`${seed}/${id}/${attempt}`);
      // A kind that has run out of new questions gives way to the next.
      const kind = kinds[(at + Math.floor(attempt / 10)) % kinds.length];
      if (kind === undefined) break;
      const question = composeChoice({
        draft: kind.draft(facts, random),
        about: kind.name,
        id,
        form,
        optionCount: form === 'short' ? 4 : 4 + Math.min(2, Math.floor(difficulty * 1.5 + random.next())),
        pairing: form === 'short' ? 0 : 0.3 * difficulty,
        random,
      });
      if (question === undefined || seen.has(question.text)) continue;
      seen.add(question.text);
      return question;
    }
    throw new Error(`no new question for ${id}: the day has too few facts`);
  });
}

/** So many kinds in any order; questions that take more than one paper come more often as days get harder. */
function planKinds({ day }: DayFacts, form: Form, count: number, seed: string): readonly Kind[] {
  const papers = papersOf(day);
  const kinds =
    form === 'short'
      ? SHORT_KINDS
      : DOCUMENT_KINDS.filter((kind) => kind.papers.every((paper) => papers.includes(paper)));
  const used = new Map<Kind, number>();
  const weightOf = (kind: Kind): number => (kind.papers.length > 1 ? 1 + day.difficulty : 2 - day.difficulty);
  const plan: Kind[] = [];
  while (plan.length < count) {
    const next = kinds.toSorted((a, b) => turn(used, a) / weightOf(a) - turn(used, b) / weightOf(b))[0];
    if (next === undefined) break;
    used.set(next, (used.get(next) ?? 0) + 1);
    plan.push(next);
  }
  return shuffled(createRandom(`${seed}/${day.id}/kinds`), plan);
}

/** The turn a kind would have next; half a turn early, so that heavy kinds begin. */
const turn = (used: ReadonlyMap<Kind, number>, kind: Kind): number => (used.get(kind) ?? 0) + 0.5;
