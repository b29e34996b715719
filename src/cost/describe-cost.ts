import type { ModelPrice } from '../core/budget.ts';
import { asNumber, asObject, asString, type JsonObject } from '../core/json.ts';
import { dollars, plural } from '../text/phrases.ts';

/** A model that learning asks, as far as its sentence needs it; see `LearningModel`. */
interface WritingModel {
  readonly name: string;
  readonly title: string;
  readonly price: ModelPrice;
  readonly onlyFor?: string;
}

interface WritingOptions {
  readonly evolver: WritingModel | undefined;
  readonly judge: WritingModel | undefined;
  /** The judge failed its test. */
  readonly isJudgeOff?: boolean;
  /** Why models that the config names are not used. */
  readonly unusable?: readonly string[];
  /** `learn.budget`. */
  readonly limits: { readonly usdPerDay: number; readonly tokensPerDay: number };
}

/** Who writes lessons and what that may cost, in the JSON of `GET /api/status`. `writer` is the sentence for people. */
export const describeWriting = ({
  evolver,
  judge,
  limits,
  isJudgeOff = false,
  unusable = [],
}: WritingOptions): JsonObject => ({
  models: { evolver: evolver?.name ?? null, judge: judge?.name ?? null },
  usdPerDay: limits.usdPerDay,
  tokensPerDay: limits.tokensPerDay,
  price: evolver === undefined ? null : evolver.price.from,
  writer: [
    describeWriter(evolver, limits),
    ...(evolver === undefined && judge === undefined ? [] : [describeJudge(judge, isJudgeOff)]),
    ...unusable.map((why) => `Not used: ${why}.`),
  ].join(' '),
});

/** `Lessons are written by openai/gpt-5.2, at most $1.00 a day (models.evolver: "off" ends that).` */
export function describeWriter(
  model: WritingModel | undefined,
  { usdPerDay, tokensPerDay }: WritingOptions['limits'],
): string {
  if (model === undefined)
    return "Lessons are written without a model, from people's own words (models.evolver names one).";
  const { title, price, onlyFor } = model;
  if (usdPerDay === 0 && !isFree(price))
    return `No lessons are written: ${title} ${price.from === 'unknown' ? 'has no known price' : 'costs money'} and learn.budget.usdPerDay is 0 (models.evolver: "off" learns from people's own words).`;
  const tokens = `at most ${plural(tokensPerDay, 'token')} a day`;
  const others =
    onlyFor === undefined ? '' : ' Sessions that another provider served are learned from without a model.';
  return `Lessons are written by ${title}${whoPays(price, tokens, usdPerDay)} (models.evolver: "off" ends that).${others}`;
}

function whoPays(price: ModelPrice, tokens: string, usdPerDay: number): string {
  if (price.from === 'unknown') return ` (price unknown), ${tokens}`;
  if (price.from === 'subscription') return `, with your subscription, ${tokens}`;
  if (price.from === 'local') return ` on this machine, at no cost, ${tokens}`;
  return isFree(price) ? `, at no cost, ${tokens}` : `, at most ${dollars(usdPerDay)} a day`;
}

const isFree = (price: ModelPrice): boolean =>
  price.from !== 'unknown' && price.price.input === 0 && price.price.output === 0;

/** `No model judges unclear turns (models.judge names one).` */
export function describeJudge(judge: Pick<WritingModel, 'title'> | undefined, isOff = false): string {
  if (judge === undefined) return 'No model judges unclear turns (models.judge names one).';
  return isOff
    ? `No model judges unclear turns: ${judge.title} is switched off.`
    : `${judge.title} judges unclear turns, within the same limit.`;
}

/** `$0.12 of $1.00 and 34,500 of 500,000 tokens today`, from the JSON of `GET /api/status` (`learning`). */
export function describeLearningCost({ cost, usdPerDay, tokensPerDay }: JsonObject): string {
  const spent = asObject(asObject(cost).learning);
  const tokens = asNumber(spent.tokensToday) ?? 0;
  const unpriced = asNumber(spent.unpricedTokensToday) ?? 0;
  const limit = asNumber(tokensPerDay);
  const counted = `${count(tokens)}${limit === undefined ? '' : ` of ${count(limit)}`} tokens today`;
  const money = `${dollars(asNumber(spent.usdToday) ?? 0)} of ${dollars(asNumber(usdPerDay) ?? 0)}`;
  if (unpriced === 0) return `${money} and ${counted}`;
  const known = unpriced < tokens ? `${money} and ` : '';
  return `${known}${counted}; price unknown: ${plural(unpriced, 'token')}`;
}

/** `1.2 M tokens; $0.42 at list prices, 300,000 tokens at an unknown price`, from the same JSON. */
export function describeServingCost({ cost }: JsonObject): string {
  const served = asObject(asObject(cost).serving);
  const tokens = asNumber(served.tokens) ?? 0;
  const unpriced = asNumber(served.unpricedTokens) ?? 0;
  const usd = asNumber(served.usd) ?? 0;
  if (tokens === 0) return 'no tokens served since the start';
  const parts = [
    ...(usd > 0 ? [`${dollars(usd)} by known prices`] : []),
    ...(usd === 0 && unpriced < tokens ? [`${short(tokens - unpriced)} at no cost`] : []),
    ...(unpriced > 0 ? [`${short(unpriced)} at an unknown price`] : []),
  ];
  return `${short(tokens)} served since the start; ${parts.join(', ')}`;
}

/**
 * `3 of 480 min, 34,000 of 2,000,000 tokens, $0.02 of $1.00 (12,000 tokens at an unknown price)`, from the JSON of
 * `GET /api/schedule` (`budget`).
 */
export function describeJobsBudget({ spent, limits, refusal }: JsonObject): string {
  const [used, most] = [asObject(spent), asObject(limits)];
  const part = (key: string): string =>
    `${count(asNumber(used[key]) ?? 0)} of ${count(asNumber(most[key]) ?? 0)}`;
  const money = `${dollars(asNumber(used.usd) ?? 0)} of ${dollars(asNumber(most.usd) ?? 0)}`;
  const unpriced = asNumber(used.unpricedTokens) ?? 0;
  const unknown = unpriced > 0 ? ` (${plural(unpriced, 'token')} at an unknown price)` : '';
  const why = asString(refusal);
  return `${part('minutes')} min, ${part('tokens')} tokens, ${money}${unknown}${why === undefined ? '' : `; ${why}`}`;
}

/** `1 token`, `300,000 tokens`, `1.2 M tokens`. */
const short = (tokens: number): string =>
  tokens < 1_000_000 ? plural(tokens, 'token') : `${(tokens / 1_000_000).toFixed(1)} M tokens`;

const count = (value: number): string => value.toLocaleString('en-US');
