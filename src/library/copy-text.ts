import type { Evidence, LessonText, Note, Scope } from '../core/lesson.ts';

/**
 * A copy of a checked text: known fields only, no object shared with the caller, and equal to itself after a round trip
 * through JSON. Field by field, since a whole library is read through this function at start.
 */
export function copyText(text: LessonText): LessonText {
  const { name, description, content, category } = text;
  return {
    name,
    description,
    content,
    ...(category === undefined ? undefined : { category }),
    scope: copyScope(text.scope),
    note: copyNote(text.note),
    evidence: copyEvidence(text.evidence),
    taint: [...text.taint],
  };
}

const copyScope = ({ agent, project, runKind, domain }: Scope): Scope => ({
  ...(agent === undefined ? undefined : { agent }),
  ...(project === undefined ? undefined : { project }),
  ...(runKind === undefined ? undefined : { runKind }),
  ...(domain === undefined ? undefined : { domain }),
});

const copyNote = (note: Note): Note => ({
  ...(note.context === undefined ? undefined : { context: note.context }),
  keywords: [...note.keywords],
  tags: [...note.tags],
  importance: withoutSign(note.importance),
  confidence: withoutSign(note.confidence),
  source: note.source,
  visibility: note.visibility,
  halfLifeDays: note.halfLifeDays,
  links: [...note.links],
});

const copyEvidence = ({ turns, quotes, learner, model, prompt }: Evidence): Evidence => ({
  turns: [...turns],
  quotes: quotes.map(({ turn, block, start, length }) => ({
    turn,
    block,
    start: withoutSign(start),
    length,
  })),
  learner,
  ...(model === undefined ? undefined : { model }),
  ...(prompt === undefined ? undefined : { prompt }),
});

/** JSON has no negative zero. */
const withoutSign = (value: number): number => value + 0;
