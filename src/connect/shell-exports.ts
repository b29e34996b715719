import type { Connection } from './connection.ts';
import { findTarget } from './target.ts';

/** A line of shell that sets a variable. */
export interface Export {
  readonly name: string;
  /** Shell text, quoted. */
  readonly value: string;
}

/**
 * Variables that the makers' own SDKs read. The key is not among them as text: the shell reads it from its file, so
 * that it appears on no screen and in no history.
 */
export function shellExports(
  { url, keyFile, config, model }: Connection,
  hasKeyVariable: boolean,
): readonly Export[] {
  const key = hasKeyVariable ? '"$INSTAR_KEY"' : `"$(cat ${quote(keyFile)})"`;
  const needsKey = (wire: 'openai-chat' | 'anthropic') =>
    findTarget(config, model, wire).credentials === 'instar';
  return [
    { name: 'OPENAI_BASE_URL', value: quote(`${url}/v1`) },
    ...(needsKey('openai-chat') ? [{ name: 'OPENAI_API_KEY', value: key }] : []),
    { name: 'ANTHROPIC_BASE_URL', value: quote(url) },
    ...(needsKey('anthropic') ? [{ name: 'ANTHROPIC_API_KEY', value: key }] : []),
  ];
}

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
