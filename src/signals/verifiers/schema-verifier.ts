import { type Json, parseJson } from '../../core/json.ts';
import { compileSchema } from './schema/compile-schema.ts';
import { graded, type Verifier } from './verifier.ts';

const LONGEST = 1_000_000;
const DEEPEST = 64;

/** The output is or contains JSON that matches a schema. Throws a SchemaError for an invalid schema. */
export function createSchemaVerifier(schema: Json): Verifier {
  const check = compileSchema(schema);
  return async ({ output }) => {
    if (output.length > LONGEST) return graded(0, `it is longer than ${LONGEST} characters`);
    const texts = candidatesIn(output);
    if (texts.some(isTooDeep)) return graded(0, `it is nested more than ${DEEPEST} deep`);
    const value = texts.map(parseJson).find((one) => one !== undefined);
    if (value === undefined) return graded(0, 'it contains no JSON');
    const fault = check(value, 'it');
    return fault === undefined ? graded(1, 'it matches the schema') : graded(0, fault);
  };
}

/** Where the JSON may be: the whole output, the last fenced block, or from the first bracket to the last. */
function candidatesIn(output: string): readonly string[] {
  const text = output.trim();
  const end = text.lastIndexOf('```');
  const begin = end < 1 ? -1 : text.lastIndexOf('```', end - 1);
  const fenced = begin < 0 ? [] : [text.slice(begin + 3, end).replace(/^\w{0,20}\s/, '')];
  const from = text.search(/[[{]/);
  const to = Math.max(text.lastIndexOf(']'), text.lastIndexOf('}'));
  return [text, ...fenced, ...(from < 0 || to < from ? [] : [text.slice(from, to + 1)])];
}

/** The parser and the check are recursive, so the depth is limited. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  let isText = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (isText && char === '\\') at++;
    else if (char === '"') isText = !isText;
    else if (isText) continue;
    else if ((char === '[' || char === '{') && ++depth > DEEPEST) return true;
    else if (char === ']' || char === '}') depth--;
  }
  return false;
}
