import { wiresOf } from '../config/provider-entry.ts';
import type { Config } from '../config/schema.ts';
import type { WireName } from '../core/wire.ts';
import { type ClientConnection, findTarget } from './connection.ts';

type ServedNames = Pick<ClientConnection, 'config' | 'served'>;

const MOST_NAMED = 8;

/** `default, ollama/qwen3, … and 3 more`. */
function nameModels(models: readonly string[]): string {
  const more = models.length - MOST_NAMED;
  const named = models.slice(0, MOST_NAMED).join(', ');
  return more > 0 ? `${named} and ${more} more` : named;
}

/**
 * Why a client must not request this model: the running daemon does not serve it. Undefined when it does, and when that is not
 * known: without a daemon, and for a provider that takes any name.
 */
export function whyNotServed(
  { config, served }: ServedNames,
  model: string,
  wire: WireName,
): string | undefined {
  if (served === undefined || served.length === 0 || served.includes(model)) return undefined;
  const provider = model.slice(0, Math.max(0, model.indexOf('/')));
  const entry = Object.hasOwn(config.providers, provider) ? config.providers[provider] : undefined;
  const takesAny = entry === undefined ? passesNamesOn(config, wire) : entry.models === undefined;
  return takesAny
    ? undefined
    : `Instar does not serve the model "${model}". It serves: ${nameModels(served)}`;
}

/** A name that no provider lists goes to a provider of the client's wire, as it is. */
const passesNamesOn = ({ providers }: Config, wire: WireName): boolean =>
  Object.values(providers).some((entry) => entry.models === undefined && wiresOf(entry).includes(wire));

/** The vendors whose model names a client of their wire knows. */
const VENDORS: Readonly<Partial<Record<WireName, { readonly host: RegExp; readonly names: RegExp }>>> = {
  anthropic: { host: /(?:^|\.)anthropic\.com$/, names: /^(?:[\w-]+\/)?claude-/ },
  'openai-responses': { host: /(?:^|\.)openai\.com$/, names: /^(?:[\w-]+\/)?(?:gpt-\d|o\d|codex-)/ },
};

/**
 * Whether a client's own model names work: a provider speaks its wire, and it is the vendor's or serves models of the vendor's
 * names. A local server that speaks the wire has none of them.
 */
export function servesOwnNames({ config, served }: ServedNames, wire: WireName): boolean {
  const speaking = Object.values(config.providers).filter((entry) => wiresOf(entry).includes(wire));
  if (speaking.length === 0) return false;
  const vendor = VENDORS[wire];
  if (served === undefined || vendor === undefined) return true;
  return (
    speaking.some(({ baseUrl }) => vendor.host.test(new URL(baseUrl).hostname)) ||
    served.some((id) => vendor.names.test(id))
  );
}

/** Whether a name is one of the vendor's, at the vendor's own provider: clients of its wire know what that model can do. */
export function isVendorModel(config: Config, model: string, wire: WireName): boolean {
  const vendor = VENDORS[wire];
  const entry = config.providers[findTarget(config, model, wire).provider ?? ''];
  return (
    vendor !== undefined &&
    entry !== undefined &&
    vendor.host.test(new URL(entry.baseUrl).hostname) &&
    vendor.names.test(model)
  );
}
