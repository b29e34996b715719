import { createHash } from 'node:crypto';
import type { Answer, Proposal } from '../../core/learn.ts';
import type { Lesson, LessonText, Scope } from '../../core/lesson.ts';
import type { Library } from '../../core/library.ts';
import type { AttemptGroup } from '../../core/practice.ts';
import {
  draftLesson,
  mayScopesOverlap,
  reviseLesson,
  sharedScope,
  situationLine,
  uniqueLessonName,
} from '../draft-lesson.ts';
import { nameExperience, STATE_ORDER } from '../live/draft-experience.ts';
import { scopeOfTask } from './attempt-cases.ts';
import { meanOf, rewardsOf } from './practice-input.ts';
import { isOpenLesson } from './propose-operations.ts';
import type { GroupPlan, PlannedChange } from './reconcile-batch.ts';
import type { GroupExperience } from './semantic-advantage.ts';

/** What practice found by trying counts more than a guess from one session, and less than a person's word. */
const IMPORTANCE = 0.8;
const MOST_TURNS = 64;
const MOST_LINKS = 16;
const MOST_TRIGGERS = 8;
const LONGEST_WORD = 64;

/** A proposal with the groups that its learner was shown for it. Plain data. */
export interface PracticeProposal {
  readonly proposal: Proposal;
  readonly groups: readonly string[];
}

/** The lesson that an experience of a group would be. */
export function draftText(
  { situation, insight, keywords, triggers }: GroupExperience,
  { task, attempts }: AttemptGroup,
  halfLifeDays: number,
  answer: Answer<unknown>,
): LessonText {
  const [model, prompt] = answer.ok ? [answer.model, answer.prompt] : [];
  return draftLesson({
    name: nameExperience(situation),
    description: situationLine(`When ${situation}.`),
    content: insight,
    scope: scopeOfTask(task),
    context: task.prompt,
    keywords: keywords.length === 0 ? undefined : keywords,
    tags: ['practice', task.domain.slice(0, LONGEST_WORD)],
    importance: IMPORTANCE,
    confidence: meanOf(rewardsOf(attempts)),
    source: 'practice',
    halfLifeDays,
    triggers,
    learner: 'practice',
    turns: attempts.map(({ id }) => id),
    ...(model === undefined ? {} : { model }),
    ...(prompt === undefined ? {} : { prompt }),
  });
}

interface DraftInput {
  readonly run: string;
  readonly step: number;
  readonly changes: readonly PlannedChange[];
  readonly plans: readonly (GroupPlan & { readonly quotes: Proposal['quotes'] })[];
  readonly library: Library;
}

/** The proposals of a batch. Ids come from the run and the groups: the same plan gives the same proposals. */
export function draftProposals({
  run,
  step,
  changes,
  plans,
  library,
}: DraftInput): readonly PracticeProposal[] {
  const taken = new Set(library.lessons().map(({ text }) => text.name));
  return changes.flatMap((change): readonly PracticeProposal[] => {
    const rested = change.groups.flatMap((id) => plans.find(({ group }) => group.id === id) ?? []);
    const [lead] = rested;
    if (lead === undefined) return [];
    const { groups } = change;
    const text = unitedText(lead.text, rested, change.content);
    const quotes = rested.flatMap((one) => one.quotes);
    const lessons = change.ids.flatMap((id) => library.lesson(id) ?? []);
    const [old] = strongestFirst(lessons);
    if (change.op === 'ADD') {
      const name = uniqueLessonName(text.name, taken);
      taken.add(name);
      const id = `exp_${createHash('sha256')
        .update(JSON.stringify([run, step, groups]))
        .digest('hex')
        .slice(0, 20)}`;
      return [
        {
          proposal: {
            change: { op: 'add', id, kind: 'experience', state: 'proposed', text: { ...text, name } },
            quotes,
          },
          groups,
        },
      ];
    }
    if (old === undefined) return [];
    if (change.op === 'DELETE') {
      const reason = change.reason ?? 'attempts of practice did better without following it';
      return [
        {
          proposal: { change: { op: 'retire', id: old.id, reason }, quotes: [], turns: text.evidence.turns },
          groups,
        },
      ];
    }
    const revised = reviseLesson([old.text], text);
    const tags = [...new Set([...old.text.note.tags, ...text.note.tags])].slice(0, MOST_LINKS);
    const named = {
      ...revised,
      description: old.text.description,
      scope: scopeOfBoth(old.text.scope, text.scope),
      note: { ...revised.note, tags },
    };
    const { id, revision: from } = old;
    const isMerge = change.op === 'MERGE' && lessons.length > 1;
    return [
      {
        proposal: {
          change: isMerge
            ? {
                op: 'merge',
                ids: [id, ...lessons.flatMap((one) => (one.id === id ? [] : [one.id]))],
                into: id,
                from,
                text: named,
              }
            : { op: 'revise', id, from, text: named },
          quotes,
        },
        groups,
      },
    ];
  });
}

/** What practice found in another domain as well holds in both: one lesson. */
const scopeOfBoth = (old: Scope, found: Scope): Scope =>
  mayScopesOverlap(old, found) ? old : sharedScope([old, found]);

/** The lead's words with the evidence of all groups that agree, where they have in common, and how certain they are together. */
function unitedText(lead: LessonText, rested: readonly GroupPlan[], content: string | undefined): LessonText {
  const texts = rested.map(({ text }) => text);
  const triggers = [...new Set(texts.flatMap(({ note }) => note.triggers ?? []))].slice(0, MOST_TRIGGERS);
  return {
    ...lead,
    content: content ?? lead.content,
    scope: sharedScope(texts.map(({ scope }) => scope)),
    note: {
      ...lead.note,
      confidence: meanOf(texts.map(({ note }) => note.confidence)),
      ...(triggers.length === 0 ? {} : { triggers }),
    },
    evidence: {
      ...lead.evidence,
      turns: [...new Set(texts.flatMap(({ evidence }) => evidence.turns))].slice(0, MOST_TURNS),
    },
  };
}

const strongestFirst = (lessons: readonly Lesson[]): readonly Lesson[] =>
  lessons.toSorted(
    (a, b) =>
      STATE_ORDER[a.state] - STATE_ORDER[b.state] ||
      b.text.note.confidence - a.text.note.confidence ||
      (a.id < b.id ? -1 : 1),
  );

/**
 * Keeps the experiences of practice of each domain under a limit: for each one too many, the weakest that was not measured yet is
 * retired, or the weakest new one is left out. What measurement made live stays.
 */
export function limitDomains(
  proposals: readonly PracticeProposal[],
  library: Library,
  most: number,
): readonly PracticeProposal[] {
  const kept = [...proposals];
  for (const domain of new Set(proposals.flatMap((one) => domainOf(one) ?? []))) {
    const gone = new Set(kept.flatMap(({ proposal: { change } }) => goneBy(change)));
    const own = library.lessons().filter((lesson) => isOfPractice(lesson, domain) && !gone.has(lesson.id));
    const touched = new Set(kept.flatMap(({ proposal: { change } }) => ('id' in change ? [change.id] : [])));
    const additions = kept.filter((one) => domainOf(one) === domain);
    const spare = own
      .filter((lesson) => lesson.state !== 'live' && isOpenLesson(lesson) && !touched.has(lesson.id))
      .sort((a, b) => strengthOf(a) - strengthOf(b) || a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
    let over = own.length + additions.length - most;
    for (const lesson of spare) {
      const by = additions.at(0);
      if (over <= 0 || by === undefined) break;
      kept.push(retirement(lesson, by, most));
      over--;
    }
    const weakest = additions.toSorted((a, b) => confidenceOfProposal(a) - confidenceOfProposal(b));
    for (const addition of weakest.slice(0, Math.max(0, over))) kept.splice(kept.indexOf(addition), 1);
  }
  return kept;
}

/** The domain of a proposed addition. */
const domainOf = ({ proposal: { change } }: PracticeProposal): string | undefined =>
  change.op === 'add' ? change.text.scope.domain : undefined;

const goneBy = (change: PracticeProposal['proposal']['change']): readonly string[] =>
  change.op === 'retire'
    ? [change.id]
    : change.op === 'merge'
      ? change.ids.filter((id) => id !== change.into)
      : [];

const isOfPractice = ({ kind, state, text }: Lesson, domain: string): boolean =>
  kind === 'experience' &&
  text.note.source === 'practice' &&
  text.scope.domain === domain &&
  (state === 'proposed' || state === 'trial' || state === 'live');

/** One that waits for a person is weaker than one in use. */
const strengthOf = ({ state, text: { note } }: Lesson): number =>
  (state === 'proposed' ? 0 : 1) + note.importance * note.confidence;

const confidenceOfProposal = ({ proposal: { change } }: PracticeProposal): number =>
  change.op === 'add' ? change.text.note.confidence : 0;

/** The attempts of a new experience show that the domain has a better use for the place. */
const retirement = (
  { id }: Lesson,
  { proposal, groups }: PracticeProposal,
  most: number,
): PracticeProposal => ({
  proposal: {
    change: {
      op: 'retire',
      id,
      reason: `the domain has more than ${most} experiences, and this was the weakest one not measured`,
    },
    quotes: [],
    turns: 'text' in proposal.change ? proposal.change.text.evidence.turns : [],
  },
  groups,
});
