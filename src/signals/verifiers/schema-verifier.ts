import { type Json, parseJson } from '../../core/json.ts';
import { compileSchema } from './schema/compile-schema.ts';
import { graded, type Verifier } from './verifier.ts';

const LONGEST = 1_000_000;
const DEEPEST = 64;

/** The output is JSON, or holds it between other words, and fits a schema. Throws a SchemaError for a bad schema. */
export function createSchemaVerifier(schema: Json): Verifier {
  const check = compileSchema(schema);
  return async ({ output }) => {
    if (output.length > LONGEST) return graded(0, `it is longer than ${LONGEST} characters`);
    const text = jsonIn(output);
    if (isTooDeep(text)) return graded(0, `it is nested more than ${DEEPEST} deep`);
    const value = parseJson(text);
    if (value === undefined) return graded(0, 'there is no JSON in it');
    const fault = check(value, 'it');
    return fault === undefined ? graded(1, 'it fits the schema') : graded(0, fault);
  };
}

/** All of it, the last fenced block, or from the first bracket to the last. */
function jsonIn(output: string): string {
  const text = output.trim();
  const end = text.lastIndexOf('```');
  const begin = end < 0 ? -1 : text.lastIndexOf('```', end - 1);
  if (begin >= 0) return text.slice(begin + 3, end).replace(/^\w{0,20}\s/, '');
  if (/^["[{\d-]|^(?:true|false|null)$/.test(text)) return text;
  const from = text.search(/[[{]/);
  const to = Math.max(text.lastIndexOf(']'), text.lastIndexOf('}'));
  return from < 0 || to < from ? text : text.slice(from, to + 1);
}

function isTooDeep(text: string): boolean {
  let depth = 0;
  for (const char of text) {
    if ((char === '[' || char === '{') && ++depth > DEEPEST) return true;
    if (char === ']' || char === '}') depth--;
  }
  return false;
}
