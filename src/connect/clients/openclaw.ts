import { join } from 'node:path';
import type { Connection, Surroundings } from '../connection.ts';
import type { Plan } from '../file-edit.ts';
import { findMember } from '../json-edit.ts';
import { JsonTextError, parseJsonText } from '../json-text.ts';
import { listModel } from './listed-model.ts';

/** A provider of our own, and the default model. */
export function planOpenclaw(connection: Connection, surroundings: Surroundings): Plan {
  const { url, key } = connection;
  const { model, wire, target, headers, notes } = listModel(connection);
  const file = configFile(surroundings);
  const provider = {
    // For Anthropic's wire it adds /v1 by itself.
    baseUrl: wire === 'anthropic' ? url : `${url}/v1`,
    apiKey: target.credentials === 'instar' ? key : `\${${target.keyEnv ?? 'PROVIDER_API_KEY'}}`,
    api: wire === 'anthropic' ? 'anthropic-messages' : 'openai-completions',
    ...(Object.keys(headers).length > 0 && { headers }),
    models: [
      {
        id: model,
        name: `Instar ${model}`,
        // Without these two no session id leaves OpenClaw.
        compat: { supportsPromptCacheKey: true, sendSessionAffinityHeaders: true },
      },
    ],
  };
  const settings = [
    { path: ['models', 'providers', 'instar'], value: provider, mark: [] },
    { path: defaultModelPath(surroundings.read(file)), value: `instar/${model}` },
  ];
  return { edits: [{ kind: 'json', file, dialect: 'json5', settings }], notes };
}

/** The default may be a name alone, or an object with fall-backs beside the name. */
function defaultModelPath(text: string | undefined): readonly string[] {
  const whole = ['agents', 'defaults', 'model'];
  try {
    const root = parseJsonText(text?.trim() ? text : '{}', 'json5');
    return findMember(root, whole).node?.kind === 'scalar' ? whole : [...whole, 'primary'];
  } catch (error) {
    if (error instanceof JsonTextError) return [...whole, 'primary'];
    throw error;
  }
}

/** As OpenClaw finds it; unset, blank, "undefined" and "null" are the same to it. */
function configFile({ env, homeDir }: Surroundings): string {
  const given = (name: string): string | undefined => {
    const value = env[name]?.trim();
    return !value || value === 'undefined' || value === 'null'
      ? undefined
      : value.replace(/^~(?=$|[\\/])/, homeDir);
  };
  const exact = given('OPENCLAW_CONFIG_PATH');
  if (exact !== undefined) return exact;
  const profile = given('OPENCLAW_PROFILE');
  const suffix = profile === undefined || profile === 'default' ? '' : `-${profile}`;
  const state = given('OPENCLAW_STATE_DIR') ?? join(given('OPENCLAW_HOME') ?? homeDir, `.openclaw${suffix}`);
  return join(state, 'openclaw.json');
}
