import { compact, type JsonObject, toJson } from '../../core/json.ts';
import type { Change, Lesson } from '../../core/lesson.ts';
import { openRedactor } from '../../redact/open-redactor.ts';
import type { RefusedChange } from '../codec.ts';
import { isPersonsWord } from '../told.ts';
import { describeCheck } from './describe-check.ts';
import { draftChecks } from './draft-check.ts';
import { readCheck } from './read-check.ts';

/** A check that a person sets or confirms is accepted by that; it is refused when it cannot be run. */
export function withPersonsCheck(change: Change | RefusedChange): Change | RefusedChange {
  if (!('op' in change) || change.op !== 'check' || change.check === undefined) return change;
  const { hasSecret } = openRedactor();
  const proof = change.check.by === 'person' ? 'set by a person' : 'confirmed by a person';
  const read = readCheck({ ...change.check, standing: 'accepted', by: 'person', proof }, hasSecret);
  return read.ok ? { ...change, check: read.check } : { status: 'refused', id: change.id, why: read.why };
}

/** The check of a lesson as people see it, or why it has none. */
export const encodeCheck = (lesson: Lesson): JsonObject =>
  lesson.check === undefined
    ? { noCheck: whyNoCheck(lesson) }
    : { check: compact({ ...toJson(lesson.check), words: describeCheck(lesson.check) }) };

function whyNoCheck(lesson: Lesson): string {
  if (!isPersonsWord(lesson)) return 'only rules that people stated are given one';
  const rule = lesson.text.description.replace(/^"([\s\S]*)"$/, '$1');
  return draftChecks({ rule }).length === 0
    ? 'its words name nothing that a check could look for'
    : 'there is no answer that broke it and no answer that kept it to test one on';
}
