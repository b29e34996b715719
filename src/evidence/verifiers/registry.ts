import { pathToFileURL } from 'node:url';
import { asArray, asObject, type Json } from '../../core/json.ts';
import type { Ask } from '../../core/learn.ts';
import {
  type GroupVerifier,
  notRun,
  type Submission,
  type Verification,
  type Verifier,
} from '../../core/verifier.ts';
import type { PracticeVerifierRow, VerifierRow } from '../../core/verifier-row.ts';
import { createExactVerifier, createNumberVerifier, createRegexVerifier } from './answer-verifiers.ts';
import { createCommandVerifier } from './command-verifier.ts';
import { createComparativeVerifier } from './comparative-verifier.ts';
import { createRubricVerifier, isScore } from './rubric-verifier.ts';
import { createSchemaVerifier } from './schema-verifier.ts';

type AnyRow = VerifierRow | PracticeVerifierRow;

/** A row whose verifier cannot be created. The message names the row and the fix. */
export class VerifierError extends Error {
  override readonly name = 'VerifierError';
}

/** The configured verifiers. Never rejects: a verifier that throws has failed to run. */
export interface Verifiers {
  /** The first row whose pattern matches the domain. */
  rowFor(domain: string): { readonly domain: string; readonly kind: string } | undefined;
  verify(submission: Submission, signal: AbortSignal): Promise<Verification>;
  /** Grades attempts at one task of one domain: compared for a `comparative` row, else one by one. */
  verifyGroup(submissions: readonly Submission[], signal: AbortSignal): Promise<readonly Verification[]>;
}

interface VerifierParts {
  /** For the verifiers that ask a model. */
  readonly ask?: Ask;
}

interface Entry {
  readonly row: AnyRow;
  readonly verify: GroupVerifier;
}

/** Rejects with a VerifierError that names the row and the fix; a broken row has no fallback. */
export async function createVerifiers(rows: readonly AnyRow[], parts: VerifierParts): Promise<Verifiers> {
  const entries: Entry[] = [];
  for (const [index, row] of rows.entries())
    entries.push({ row, verify: await build(row, `verifiers[${index}] (${row.domain})`, parts) });
  const find = (domain: string): Entry | undefined =>
    entries.find(({ row }) => fitsDomain(row.domain, domain));
  const verifyGroup: Verifiers['verifyGroup'] = async (submissions, signal) => {
    const [first] = submissions;
    if (first === undefined) return [];
    const entry = find(first.domain);
    const missing = `no verifier is configured for ${first.domain}: add a row for it`;
    return entry === undefined
      ? submissions.map(() => notRun(missing))
      : await guard(entry, submissions, signal);
  };
  return {
    rowFor: (domain) => find(domain)?.row,
    verifyGroup,
    verify: async (submission, signal) =>
      (await verifyGroup([submission], signal))[0] ?? notRun('nothing was graded'),
  };
}

async function build(row: AnyRow, place: string, { ask }: VerifierParts): Promise<GroupVerifier> {
  try {
    switch (row.kind) {
      case 'exact':
        return eachOne(createExactVerifier(row));
      case 'number':
        return eachOne(createNumberVerifier(row));
      case 'regex':
        return eachOne(createRegexVerifier(row));
      case 'schema':
        return eachOne(createSchemaVerifier(row.schema as Json));
      case 'command':
        return eachOne(createCommandVerifier(row));
      case 'rubric':
        return eachOne(createRubricVerifier(mustAsk(ask), row.criteria));
      case 'comparative':
        return createComparativeVerifier(mustAsk(ask));
      case 'module':
        return eachOne(await loadVerifier(row.file, place));
    }
  } catch (error) {
    if (error instanceof VerifierError) throw error;
    throw new VerifierError(
      `${place}, ${row.kind}: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

function mustAsk(ask: Ask | undefined): Ask {
  if (ask === undefined)
    throw new Error('it needs a learning model, and none is configured: configure one, or use another kind');
  return ask;
}

const eachOne =
  (verify: Verifier): GroupVerifier =>
  (submissions, signal) =>
    Promise.all(
      submissions.map(async (submission) => {
        try {
          return await verify(submission, signal);
        } catch (error) {
          return notRun(messageOf(error));
        }
      }),
    );

/** Always returns grades, also when a user's module throws, hangs until the abort, or returns something else. */
async function guard(
  { row, verify }: Entry,
  submissions: readonly Submission[],
  signal: AbortSignal,
): Promise<readonly Verification[]> {
  const aborted = submissions.map(() => notRun('aborted'));
  if (signal.aborted) return aborted;
  let leave: (() => void) | undefined;
  const left = new Promise<readonly Verification[]>((resolve) => {
    leave = () => resolve(aborted);
    signal.addEventListener('abort', leave, { once: true });
  });
  try {
    return (await Promise.race([verify(submissions, signal), left])).map((given) => checked(given, row.kind));
  } catch (error) {
    return submissions.map(() => notRun(messageOf(error)));
  } finally {
    if (leave !== undefined) signal.removeEventListener('abort', leave);
  }
}

function checked(given: unknown, kind: string): Verification {
  const { status, reward, reasons, stepScores } = asObject(given);
  const said = asArray(reasons).map(String);
  if (status === 'failed-to-run') return { status, reasons: said };
  if (status !== 'ok' || !isScore(reward))
    return notRun(`the ${kind} verifier returned no reward from 0 to 1`);
  const steps = asArray(stepScores);
  return {
    status,
    reward,
    reasons: said,
    ...(steps.length > 0 && steps.every(isScore) ? { stepScores: steps } : {}),
  };
}

const messageOf = (error: unknown): string =>
  `the verifier failed: ${error instanceof Error ? error.message : String(error)}`;

/** Loads a user's verifier: a module that exports `verify` or a default function. Rejects with a VerifierError. */
async function loadVerifier(file: string, place: string): Promise<Verifier> {
  let module: unknown;
  try {
    module = await import(pathToFileURL(file).href);
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    throw new VerifierError(`${place}: ${file} cannot be loaded: ${said}. Fix the file or remove the row`);
  }
  const verify = memberOf(module, 'verify') ?? memberOf(module, 'default');
  if (typeof verify !== 'function')
    throw new VerifierError(
      `${place}: ${file} exports no function: export one named verify, or a default one`,
    );
  return verify as Verifier;
}

const memberOf = (module: unknown, name: string): unknown =>
  typeof module === 'object' && module !== null ? (module as Record<string, unknown>)[name] : undefined;

/**
 * Whether a domain matches a pattern in which `*` stands for anything: `math.*` matches `math.algebra` and `math`. Case
 * is ignored.
 */
export function fitsDomain(pattern: string, domain: string): boolean {
  const wanted = pattern.toLowerCase();
  const name = domain.toLowerCase();
  if (wanted.endsWith('.*') && fits(wanted.slice(0, -2), name)) return true;
  return fits(wanted, name);
}

/** Greedy: the first occurrence of each part between two stars leaves the most text for the rest. */
function fits(pattern: string, name: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return pattern === name;
  if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length)
    return false;
  let at = first.length;
  for (const part of rest) {
    const found = name.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return at <= name.length - last.length;
}

const NO_ASK: Ask = async () => ({
  ok: false,
  why: 'not asked',
  isRetryable: true,
  cost: { calls: 0, inputTokens: 0, outputTokens: 0, usd: 0 },
});

/** Rejects with a VerifierError at the start, instead of a missing grade later. */
export const checkVerifiers = async (verifiers: readonly VerifierRow[]): Promise<void> =>
  void (await createVerifiers(verifiers, { ask: NO_ASK }));
