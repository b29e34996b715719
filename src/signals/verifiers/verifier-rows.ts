import path from 'node:path';
import { z } from 'zod';

const count = (most: number) => z.int().min(1).max(most);
const domain = z.string().min(1).max(200);
const absolute = z.string().refine((file) => path.isAbsolute(file), 'must be an absolute path');

/** One row of the registry: its domains, the kind of verifier, and its options. */
const rowSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    domain,
    kind: z.literal('exact'),
    from: z.enum(['answer', 'whole']).optional(),
    isCaseSensitive: z.boolean().optional(),
  }),
  z.strictObject({
    domain,
    kind: z.literal('number'),
    tolerance: z.number().min(0).max(1).optional(),
    absoluteTolerance: z.number().min(0).optional(),
  }),
  z.strictObject({
    domain,
    kind: z.literal('regex'),
    pattern: z.string().min(1),
    flags: z.string().max(3).optional(),
    match: z.enum(['contains', 'whole']).optional(),
  }),
  z.strictObject({ domain, kind: z.literal('schema'), schema: z.json() }),
  z.strictObject({
    domain,
    kind: z.literal('command'),
    command: z.union([z.string().min(1), z.array(z.string()).min(1)]),
    shell: z.enum(['confined', 'plain']).optional(),
    expectExit: z.int().min(0).max(255).optional(),
    expectStdout: z.string().optional(),
    timeoutMs: count(600_000).optional(),
    outputBytes: count(64 * 1024 * 1024).optional(),
    checks: absolute.optional(),
    timeoutFails: z.boolean().optional(),
  }),
  z.strictObject({
    domain,
    kind: z.literal('rubric'),
    criteria: z
      .array(
        z.strictObject({
          text: z.string().min(1).max(2000),
          weight: z.number().positive().max(1000).optional(),
        }),
      )
      .min(1)
      .max(20),
  }),
  z.strictObject({ domain, kind: z.literal('comparative') }),
  z.strictObject({ domain, kind: z.literal('module'), file: absolute }),
]);

export type VerifierRow = z.infer<typeof rowSchema>;

const KINDS: readonly string[] = rowSchema.options.map(({ shape }) => shape.kind.value);

/** An invalid row, or one whose verifier cannot be created. The message names the row and the fix. */
export class VerifierError extends Error {
  override readonly name = 'VerifierError';
}

/** Throws a VerifierError for an invalid row. */
export function readRow(row: unknown, place: string): VerifierRow {
  const kind = typeof row === 'object' && row !== null && 'kind' in row ? row.kind : undefined;
  if (typeof kind !== 'string' || !KINDS.includes(kind))
    throw new VerifierError(
      `${place}: ${JSON.stringify(kind) ?? 'nothing'} is not a kind of verifier: use ${KINDS.join(', ')}`,
    );
  const read = rowSchema.safeParse(row);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const at = issue === undefined || issue.path.length === 0 ? '' : ` ${issue.path.join('.')}:`;
  throw new VerifierError(`${place} (${kind}):${at} ${issue?.message ?? 'invalid'}`);
}
