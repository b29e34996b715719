import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { asArray, asObject, parseJson } from '../../../src/core/json.ts';

const SCRIPT = fileURLToPath(new URL('../../../../lab/measure/public/metaclaw.py', import.meta.url));
const MOST_BYTES = 1024 * 1024 * 1024;

/** For each question the text of either way. */
interface MetaClawTexts {
  readonly skills: readonly string[];
  readonly memory: readonly string[];
}

interface AskedMetaClaw {
  readonly sessions: readonly {
    readonly id: string;
    readonly turns: readonly { readonly prompt: string; readonly reply: string }[];
  }[];
  /** Its skill files; without them each prompt of the sessions is one. */
  readonly lessons?: readonly {
    readonly name: string;
    readonly description: string;
    readonly content: string;
  }[];
  /** Skills of an answer; six are its own default. */
  readonly most?: number;
  readonly questions: readonly string[];
}

/** What MetaClaw's own code puts into the prompts of a person's questions. `folder`: its unpacked wheel. */
export function askMetaClaw(folder: string, asked: AskedMetaClaw): MetaClawTexts {
  const out = execFileSync('python3', [SCRIPT, folder], {
    input: JSON.stringify([asked]),
    encoding: 'utf8',
    maxBuffer: MOST_BYTES,
  });
  const [found] = asArray(parseJson(out)).map(asObject);
  const textsOf = (way: 'skills' | 'memory'): readonly string[] => asArray(found?.[way]).map(String);
  return { skills: textsOf('skills'), memory: textsOf('memory') };
}
