import { asArray, asString, isObject, type JsonObject, parseJson } from '../../core/json.ts';
import type { Note, Taint } from '../../core/lesson.ts';
import { checkNote } from '../check-lesson-text.ts';
import { encodeNote } from '../codec.ts';
import type { SkillProvenance } from './skill-file.ts';

/** Instar's fields for the provenance of an exported skill: who learned it, from what, and the metadata of the lesson. */
export function provenanceValues({
  note,
  taint,
  learner,
  turns = [],
}: SkillProvenance): [string, string | undefined][] {
  return [
    ['source', note.source],
    ['learner', learner],
    ['turns', turns.length === 0 ? undefined : JSON.stringify(turns)],
    ['taint', taint.length === 0 ? undefined : JSON.stringify(taint)],
    ['note', JSON.stringify(encodeNote({ ...note, keywords: [] }))],
  ];
}

/** The provenance of a file that Instar exported. Anybody can write it: a note that no lesson could have is not read. */
export function readProvenance(values: ReadonlyMap<string, string>): SkillProvenance | undefined {
  const said = parseJson(values.get('note') ?? '');
  if (!isObject(said)) return undefined;
  const { keywords: _keywords, triggers: _triggers, isAlways: _isAlways, ...rest } = said;
  if (!isNote(rest)) return undefined;
  const learner = values.get('learner');
  const turns = asArray(parseJson(values.get('turns') ?? '')).flatMap((turn) => asString(turn) ?? []);
  return {
    note: pickNote(rest),
    taint: TAINTS.filter((taint) => asArray(parseJson(values.get('taint') ?? '')).includes(taint)),
    ...(learner === undefined ? {} : { learner }),
    turns,
  };
}

const TAINTS: readonly Taint[] = ['tool', 'web'];

type KeptNote = SkillProvenance['note'];

const isNote = (value: JsonObject): value is JsonObject & KeptNote =>
  checkNote({ ...value, keywords: [] }) === undefined;

const pickNote = ({
  context,
  tags,
  importance,
  confidence,
  source,
  visibility,
  halfLifeDays,
  links,
  relations,
}: KeptNote): KeptNote =>
  ({
    ...(context === undefined ? {} : { context }),
    tags,
    importance,
    confidence,
    source,
    visibility,
    halfLifeDays,
    links,
    ...(relations === undefined ? {} : { relations }),
  }) satisfies Omit<Note, 'keywords'>;
