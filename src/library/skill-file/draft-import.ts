import type { Change, Lesson } from '../../core/lesson.ts';
import { truncateEnd } from '../../text/truncate.ts';
import { checkText } from '../check-text.ts';
import type { Fault, SkillFile } from './skill-file.ts';
import { isSameScope, isSameSkill, toldText, wordsOf } from './skill-text.ts';

export interface ImportOptions {
  /** The state of a new or reactivated skill. */
  readonly state: 'proposed' | 'trial' | 'live';
  /** As `Library.find`. */
  readonly find: (idOrName: string) => Lesson | undefined;
  readonly newId: (prefix: string) => string;
}

export interface Drafted {
  readonly id: string;
  /** Empty when the library has this skill already. */
  readonly changes: readonly Change[];
  /** Notes for the person who imports. */
  readonly notes: readonly string[];
}

const LONGEST_DESCRIPTION = 500;
/** How far back from the limit a blank is looked for, so that no word is cut. */
const WORD_REACH = 61;

/** The changes that bring a file's skill into the library, or why it is refused. The person who imports vouches for it. */
export function draftImport(skill: SkillFile, options: ImportOptions): Drafted | Fault {
  if (skill.origin !== undefined && skill.origin.kind !== 'skill') {
    return { ok: false, why: `is a lesson of the kind ${skill.origin.kind}, not a skill` };
  }
  const named = options.find(skill.name);
  const existing =
    (skill.origin && options.find(skill.origin.id)) ??
    (named !== undefined && isSameScope(skill, named.text) ? named : undefined);
  if (existing !== undefined && existing.kind !== 'skill') {
    return { ok: false, why: `would change ${existing.id}, which is a lesson of the kind ${existing.kind}` };
  }
  const words = wordsOf(skill);
  const description = truncateEnd(words.description, LONGEST_DESCRIPTION, WORD_REACH);
  const fitting = { ...skill, description };
  const text = toldText({ ...words, description }, skill, 'import', existing?.text);
  const why = checkText(text);
  if (why !== undefined) return { ok: false, why: why };
  const id = existing?.id ?? skill.origin?.id ?? options.newId('lesson');
  const notes = notesOn(skill, words.category, words.description.length);
  if (existing === undefined) {
    return { id, changes: [{ op: 'add', id, kind: 'skill', state: options.state, text }], notes };
  }
  const revise: Change = { op: 'revise', id, from: existing.revision, text };
  const isSame = isSameSkill(fitting, existing.text);
  return { id, changes: [...takeUp(existing, options.state), ...(isSame ? [] : [revise])], notes };
}

/** The changes that bring a retired or rejected lesson back into use; none for an active one. */
export function takeUp({ id, state }: Lesson, to: ImportOptions['state']): readonly Change[] {
  if (state === 'retired') return [{ op: 'move', id, to }];
  if (state !== 'rejected') return [];
  const back: Change = { op: 'move', id, to: 'proposed' };
  return to === 'proposed' ? [back] : [back, { op: 'move', id, to }];
}

function notesOn(skill: SkillFile, category: string | undefined, length: number): readonly string[] {
  const fields = skill.extra.map(({ key }) => key);
  return [
    ...(length > LONGEST_DESCRIPTION ? [`its description was cut to ${LONGEST_DESCRIPTION} characters`] : []),
    ...(category === undefined && skill.category !== undefined
      ? ['its category is not one word and was left out']
      : []),
    ...(fields.length > 0 ? [`fields left out: ${fields.join(', ')}`] : []),
  ];
}
