import { askStatus } from '../api/daemon-status.ts';
import { homeAt } from '../config/home.ts';
import { loadConfig } from '../config/load-config.ts';
import { asArray, asNumber, asObject, type JsonObject } from '../core/json.ts';
import { dollars, plural } from '../text/phrases.ts';
import type { CommandContext } from './context.ts';
import { nextText } from './schedule.ts';

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
        : 'nothing: Instar is not running. Start it with: instar up';
  }
}

const yours = (providers: number): string =>
  providers === 1 ? 'your provider' : `your ${plural(providers, 'provider')}`;

/** The weights that are live: what the policy answers with, or would. */
export function sayLiveWeights(status: JsonObject): string | undefined {
  const { live } = asObject(status.versions);
  if (typeof live !== 'number') return undefined;
  return live === 0 ? 'still the original ones' : `version ${live}`;
}

type Row = readonly [string, string];

/** What there is to train on, what is missing, when training runs and what it costs at most, a row each. */
export function describeSupply(status: JsonObject): readonly Row[] {
  const supply = asObject(status.supply);
  const missing = asArray(supply.missing)
    .map(asObject)
    .map(({ what, fix }): Row => ['missing', `${what}: ${fix}`]);
  if (supply.practice === undefined) return missing;
  const ready = asArray(supply.ready).map(String);
  return [
    ['tasks', sayPractice(asObject(supply.practice))],
    ['tasks', sayRecorded(asObject(supply.recorded))],
    ['turns', sayLive(asObject(supply.live))],
    ...missing,
    ['runs', sayWhen(status, supply, ready)],
    ['costs', sayMost(asObject(supply.most), ready.length > 0)],
    ...(ready.length === 0 ? [] : [['a window', sayPlan(asObject(asObject(supply.plan).tasks))] as const]),
  ];
}

const numberOf = (value: unknown): number => (typeof value === 'number' ? value : 0);

function sayPractice({ tasks, learn, gate, withCheck }: JsonObject): string {
  if (numberOf(tasks) === 0) return 'practice: none';
  return `practice: ${plural(numberOf(withCheck), 'task')} with a check (${numberOf(learn)} to learn from, ${numberOf(gate)} to measure on), of ${numberOf(tasks)}`;
}

const sayRecorded = ({ canGrade, says }: JsonObject): string =>
  `recorded questions: ${canGrade === true ? String(says) : 'none that a rule or a verifier grades'}`;

const NOT_USED = '; not used (train.live is off)';

function sayLive({ isOn, turns, byVerifier, byPerson, byCheck }: JsonObject): string {
  if (numberOf(turns) === 0)
    return `live answers: none rated with these lessons${isOn === true ? '' : NOT_USED}`;
  const rewarded = `live answers: ${numberOf(turns)} rated with these lessons (by a verifier ${numberOf(byVerifier)}, by a person ${numberOf(byPerson)}, kept and broken by a rule ${numberOf(byCheck)})`;
  return isOn === true
    ? `${rewarded}, used besides tasks, or alone when they make a batch; stop it with: instar config set train.live false`
    : `${rewarded}${NOT_USED}`;
}

/** The nightly job trains only a policy that is used; practice and people begin training themselves. */
function sayWhen(
  { engine, answered, generation }: JsonObject,
  supply: JsonObject,
  ready: readonly string[],
): string {
  if (ready.length === 0) return 'once one of the missing things is there';
  const when = nextText(asObject(supply.next));
  const { beginsItself } = asObject(supply.practice);
  if (ready.includes('practice') && beginsItself !== true && !ready.includes('recorded'))
    return 'when you start a session of practice: instar practice run';
  if (ready.includes('practice') && beginsItself === true)
    return `with the next session of practice, ${when}; now: instar practice run`;
  if (answered === undefined) return 'when Instar is running (instar up); now: instar train run';
  if (numberOf(answered) === 0)
    return `only on request (instar train run): no request was answered by instar/${engine} since the start`;
  if (numberOf(generation) === 0) return 'only on request (instar train run): there are no lessons yet';
  return `${when}; now: instar train run`;
}

/** About what one window takes: `about 10,240 attempts and 6.1 million tokens, $4.20`. */
export function sayPlan({ attempts, tokens, usd }: JsonObject): string {
  const millions = numberOf(tokens) / 1_000_000;
  const size = millions < 0.1 ? 'less than 0.1' : millions.toFixed(1);
  const cost = usd === undefined ? 'at an unknown price' : usd === 0 ? 'no money' : dollars(numberOf(usd));
  return `about ${numberOf(attempts).toLocaleString('en-US')} attempts and ${size} million tokens, ${cost}; more where attempts are alike`;
}

function sayMost(most: JsonObject, isReady: boolean): string {
  if (!isReady) return 'nothing';
  const tokens = plural(asNumber(most.tokens) ?? 0, 'token');
  const limits = `${tokens} and ${plural(numberOf(most.minutes), 'minute')} until midnight (schedule.budget)`;
  if (most.isPriced !== true) return `an unknown price; at most ${limits}`;
  return numberOf(most.usd) === 0
    ? `no money; at most ${limits}`
    : `at most ${dollars(numberOf(most.usd))}, ${limits}`;
}
