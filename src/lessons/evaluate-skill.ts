import { asArray, asObject, asString, compact, type JsonObject } from '../core/json.ts';
import type { Lesson } from '../core/lesson.ts';
import { ngramVector } from '../embed/ngram-embed.ts';
import { comparedText, LESSON_LIKENESS } from './similar/compare.ts';
import { findProgramsBeside, type LintWords } from './skill-files/gate-file.ts';
import { isSkillFault, isSkillName, toSkillName } from './skill-files/skill-file.ts';
import { decodeSkillFile } from './skill-files/skill-file-codec.ts';
import { titleOf } from './title.ts';

interface EvaluateParts {
  /** All lessons of the library. */
  readonly lessons: readonly Lesson[];
  /** The same, as `GET /api/lessons` describes them: with their measured effect. */
  readonly described: readonly JsonObject[];
  readonly lint: LintWords;
}

interface Finding {
  readonly rule: string;
  readonly severity: 'info' | 'warn' | 'critical';
  readonly message: string;
}

const MOST_COMPARED = 2_000;
const MOST_FINDINGS = 20;

/**
 * What the gate says about a skill that another program proposes: `{ name, description, content, files?, isUpdate? }`. Nothing is
 * published or stored. `block`: the gate would hold it until a person has read it, or the same lesson was measured and did harm.
 * `revise`: it repeats a lesson, or cannot be read as a skill. The measured effect of the lesson that it equals is among the metrics:
 * a new text has none yet, and the summary says so.
 */
export function evaluateSkill(asked: JsonObject, { lessons, described, lint }: EvaluateParts): JsonObject {
  const given = asString(asked.name) ?? '';
  const name = isSkillName(given) ? given : (toSkillName(given) ?? 'unnamed');
  const source = asString(asked.content) ?? '';
  const skill = decodeSkillFile(source, name);
  const findings: Finding[] = [];
  if (isSkillFault(skill)) findings.push({ rule: 'format', severity: 'warn', message: skill.why });
  const description =
    (isSkillFault(skill) ? undefined : skill.description) || asString(asked.description) || '';
  const content = isSkillFault(skill) ? source : skill.content;
  const words = [given, description, source].join('\n');
  for (const message of lint(words)) findings.push({ rule: 'gate', severity: 'critical', message });
  const files = asArray(asked.files).flatMap((file) => asString(file) ?? []);
  for (const message of findProgramsBeside(content, [
    ...new Set(files.map((file) => file.split('/')[0] ?? '')),
  ]))
    findings.push({ rule: 'program', severity: 'warn', message });

  const same = findSame({ name, description, content }, lessons);
  const known = same && described.find(({ id }) => id === same.lesson.id);
  const effect = asObject(known?.effect);
  const verdict = asString(effect.verdict);
  if (same !== undefined) {
    const { lesson } = same;
    const isClosed = lesson.state === 'retired' || lesson.state === 'rejected';
    const severity = verdict === 'harmful' ? 'critical' : isClosed ? 'warn' : 'info';
    const how = same.isByName ? 'has the name of' : 'says the same as';
    const message = `it ${how} the lesson “${titleOf(lesson)}” (${lesson.state}); measured: ${asString(effect.words) ?? 'nothing yet'}`;
    findings.push({ rule: 'known-lesson', severity, message });
  }
  const isHeld = findings.some(({ severity }) => severity === 'critical');
  const isDoubtful = findings.some(({ severity }) => severity === 'warn');
  const first = findings.find(({ severity }) => severity !== 'info');
  return compact({
    decision: isHeld ? 'block' : isDoubtful ? 'revise' : 'pass',
    reason: first?.message,
    summary: [
      isHeld
        ? 'A person should read it before it is used.'
        : isDoubtful
          ? 'It should be changed.'
          : 'No risk was found.',
      same === undefined
        ? 'Its effect is not measured: no lesson of Instar says the same.'
        : `Measured of “${titleOf(same.lesson)}”: ${asString(effect.words) ?? 'nothing yet'}.`,
    ].join(' '),
    findings: findings.slice(0, MOST_FINDINGS).map((finding) => ({ ...finding })),
    metrics: compact({
      findings: findings.length,
      lesson: same?.lesson.text.name,
      lessonState: same?.lesson.state,
      effect: verdict,
      effectWords: asString(effect.words),
    }),
  });
}

interface SameLesson {
  readonly lesson: Lesson;
  readonly isByName: boolean;
}

function findSame(
  draft: Pick<Lesson['text'], 'name' | 'description' | 'content'>,
  lessons: readonly Lesson[],
): SameLesson | undefined {
  const skills = lessons.filter(({ kind }) => kind === 'skill');
  const isActive = ({ state }: Lesson): boolean => state === 'live' || state === 'trial';
  const named = skills.filter(({ text }) => text.name === draft.name);
  const byName = named.find(isActive) ?? named.at(-1);
  if (byName !== undefined) return { lesson: byName, isByName: true };
  const vector = ngramVector(`${draft.description}\n${draft.content}`);
  let best: { readonly lesson: Lesson; readonly similarity: number } | undefined;
  for (const lesson of skills.slice(-MOST_COMPARED)) {
    const similarity = dot(vector, ngramVector(comparedText(lesson)));
    if (similarity >= LESSON_LIKENESS.sameByLetters && similarity > (best?.similarity ?? 0))
      best = { lesson, similarity };
  }
  return best && { lesson: best.lesson, isByName: false };
}

const dot = (one: Float32Array, other: Float32Array): number =>
  one.reduce((sum, value, index) => sum + value * (other[index] ?? 0), 0);
