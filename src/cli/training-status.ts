import { askStatus } from '../api/daemon-status.ts';
import { homeAt } from '../config/home.ts';
import { loadConfig } from '../config/load-config.ts';
import { asObject, type JsonObject } from '../core/json.ts';
import { plural } from '../text/phrases.ts';
import type { CommandContext } from './context.ts';

/**
 * What the own policy answers now. `all`: every request, since there is no provider. `default`: requests whose model nobody
 * else has. `by-name`: requests for the model `instar/NAME` only. `none`: no daemon runs, or training is off.
 */
export type PolicyUse =
  | { readonly requests: 'all' | 'default' | 'by-name'; readonly providers: number }
  | { readonly requests: 'none'; readonly why: 'off' | 'stopped' };

export async function findPolicyUse(
  { engine }: JsonObject,
  { homeDir, env }: CommandContext,
): Promise<PolicyUse> {
  if (engine === 'off') return { requests: 'none', why: 'off' };
  const home = homeAt(homeDir);
  const status = await askStatus(home, env).catch(() => undefined);
  if (status === undefined || !('providers' in status)) return { requests: 'none', why: 'stopped' };
  const providers = status.providers.length;
  if (providers === 0) return { requests: 'all', providers };
  const { default: usual = [] } = loadConfig({ file: home.configFile, env }).config.models;
  const names: readonly unknown[] = typeof usual === 'string' ? [usual] : Array.isArray(usual) ? usual : [];
  return { requests: names.includes(`instar/${engine}`) ? 'default' : 'by-name', providers };
}

/** Which requests the policy answers, in a sentence. */
export function sayPolicyUse(use: PolicyUse, { engine }: JsonObject): string {
  const model = `instar/${engine}`;
  switch (use.requests) {
    case 'all':
      return `every request, as ${model}: no provider is configured`;
    case 'default':
      return `requests for ${model}, which is also models.default`;
    case 'by-name':
      return `requests for the model ${model} only; all others go to ${yours(use.providers)}`;
    case 'none':
      return use.why === 'off'
        ? 'nothing: training is off. Set train.engine to "nano", or to a server, in the config'
        : 'nothing: no daemon is running. Start it with: instar up';
  }
}

const yours = (providers: number): string =>
  providers === 1 ? 'your provider' : `your ${plural(providers, 'provider')}`;

/** The weights that are live: what the policy answers with, or would. */
export function sayLiveWeights(status: JsonObject): string | undefined {
  const { live } = asObject(status.versions);
  if (typeof live !== 'number') return undefined;
  return live === 0 ? 'base; no trained version is live' : `version ${live}`;
}
