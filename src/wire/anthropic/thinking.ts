import type { ChatRequest, Effort } from '../../core/chat.ts';
import { asNumber, asString, compact, type JsonObject } from '../../core/json.ts';
import { objectAt, optional } from '../fields.ts';
import type { Turn } from './messages.ts';
import { familyOf } from './model-family.ts';

/** Thinking budgets in tokens. Anthropic's minimum is 1024; its models write at most 64,000 tokens in all. */
const BUDGETS: Record<Exclude<Effort, 'none'>, number> = {
  minimal: 1024,
  low: 2048,
  medium: 8192,
  high: 16_384,
  xhigh: 32_000,
  max: 60_000,
};
const ANSWER_TOKENS = 4000;

const EFFORTS = Object.keys(BUDGETS) as Exclude<Effort, 'none'>[];

/** Undefined when the request leaves it to the model. */
export function decodeEffort(body: JsonObject): Effort | undefined {
  const thinking = optional(body.thinking, 'thinking', objectAt);
  const asked = asString(optional(body.output_config, 'output_config', objectAt)?.effort);
  if (thinking?.type === 'disabled') return 'none';
  const effort = EFFORTS.find((name) => name === asked);
  if (effort !== undefined || thinking?.type !== 'enabled') return effort;
  const budget = asNumber(thinking.budget_tokens);
  if (budget === undefined) return undefined;
  const distance = (name: Exclude<Effort, 'none'>) => Math.abs(BUDGETS[name] - budget);
  return EFFORTS.reduce((best, name) => (distance(name) < distance(best) ? name : best));
}

export interface ThinkingPlan {
  readonly thinking?: JsonObject;
  /** For `output_config`. */
  readonly effort?: string;
  readonly maxTokens: number;
  readonly isOn: boolean;
}

/** The parameters for the request's effort, as far as history and tool choice allow thinking. */
export function planThinking(request: ChatRequest, turns: readonly Turn[], maxTokens: number): ThinkingPlan {
  const { effort, model, tools, toolChoice } = request;
  const family = familyOf(model);
  const off: ThinkingPlan = { maxTokens, isOn: family.alwaysThinks };
  if (effort === undefined) return off;
  if (effort === 'none') {
    return family.alwaysThinks ? { ...off, effort: 'low' } : { ...off, thinking: { type: 'disabled' } };
  }
  const isForced =
    tools.length > 0 && toolChoice !== undefined && toolChoice !== 'auto' && toolChoice !== 'none';
  if (family.thinking === 'adaptive') {
    // The newer models hide their thinking unless a summary is requested.
    const thinking = isForced ? undefined : { type: 'adaptive', display: 'summarized' };
    const level = effort === 'minimal' ? 'low' : effort;
    return compact({ maxTokens, thinking, effort: level, isOn: !isForced || family.alwaysThinks });
  }
  if (isForced || !startsWithThinking(turns)) return off;
  const budget = BUDGETS[effort];
  return {
    thinking: { type: 'enabled', budget_tokens: budget },
    maxTokens: maxTokens > budget ? maxTokens : budget + Math.min(maxTokens, ANSWER_TOKENS),
    isOn: true,
  };
}

/**
 * With a budget, a turn with tool calls must begin with its signed thinking, and the last turn must not be the
 * assistant's. A client of another wire may have lost the signatures.
 */
function startsWithThinking(turns: readonly Turn[]): boolean {
  if (turns.at(-1)?.role === 'assistant') return false;
  return turns.every(
    ({ role, content }) =>
      role === 'user' ||
      !content.some(({ type }) => type === 'tool_use') ||
      content[0]?.type === 'thinking' ||
      content[0]?.type === 'redacted_thinking',
  );
}
