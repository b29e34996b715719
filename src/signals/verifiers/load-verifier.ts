import { pathToFileURL } from 'node:url';
import type { Verifier } from './verifier.ts';
import { VerifierError } from './verifier-rows.ts';

/** Loads a user's verifier: a module that exports `verify` or a default function. Rejects with a VerifierError. */
export async function loadVerifier(file: string, place: string): Promise<Verifier> {
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
