import type { Change, Lesson } from '../../core/lesson.ts';
import { checkText } from '../check-text.ts';
import { shorten } from './shorten.ts';
import type { Fault, SkillFile } from './skill-file.ts';
import { isSameScope, isSameSkill, toldText, wordsOf } from './skill-text.ts';

export interface ImportOptions {
  /** What a new skill becomes, and one that is taken up again. */
  readonly state: 'proposed' | 'trial' | 'live';
  /** A lesson by its id or its name, as `Library.find` answers. */
  readonly find: (idOrName: string) => Lesson | undefined;
  readonly newId: (prefix: string) => string;
}

export interface Drafted {
  readonly id: string;
  /** Empty when the library says all of it already. */
  readonly changes: readonly Change[];
  /** What a person should know of it. */
  readonly notes: readonly string[];
}

const LONGEST_DESCRIPTION = 500;

/** What must change for the library to say what a file says; or why it may not. A person vouches for what they import. */
export function draftImport(skill: SkillFile, options: ImportOptions): Drafted | Fault {
  if (skill.origin !== undefined && skill.origin.kind !== 'skill') {
    return { fault: `is a lesson of the kind ${skill.origin.kind}, not a skill` };
  }
  const named = options.find(skill.name);
  const there =
    (skill.origin && options.find(skill.origin.id)) ??
    (named !== undefined && isSameScope(skill, named.text) ? named : undefined);
  if (there !== undefined && there.kind !== 'skill') {
    return { fault: `would change ${there.id}, which is a lesson of the kind ${there.kind}` };
  }
  const words = wordsOf(skill);
  const description = shorten(words.description, LONGEST_DESCRIPTION);
  const fitting = { ...skill, description };
  const text = toldText({ ...words, description }, skill, 'import', there?.text);
  const why = checkText(text);
  if (why !== undefined) return { fault: why };
  const id = there?.id ?? skill.origin?.id ?? options.newId('lesson');
  const notes = notesOn(skill, words.category, words.description.length);
  if (there === undefined) {
    return { id, changes: [{ op: 'add', id, kind: 'skill', state: options.state, text }], notes };
  }
  const revise: Change = { op: 'revise', id, from: there.revision, text };
  const isSame = isSameSkill(fitting, there.text);
  return { id, changes: [...takeUp(there, options.state), ...(isSame ? [] : [revise])], notes };
}

/** A lesson that was put away is in use again; one that is in use stays as it is. */
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
    ...(category === undefined && skill.category !== undefined ? ['its category is no word: left out'] : []),
    ...(fields.length > 0 ? [`fields left out: ${fields.join(', ')}`] : []),
  ];
}
