import { isDeepStrictEqual } from 'node:util';
import type { Json, JsonObject } from '../core/json.ts';
import type { FlowOverlay, FlowStep } from '../core/overlay.ts';

/** One call of a flow with the values of its parameters. */
export interface FlowCall {
  readonly tool: string;
  readonly arguments: JsonObject;
}

/** The values of a flow's parameters, by name. */
export type FlowValues = ReadonlyMap<string, Json>;

/** The calls of a flow; undefined when a parameter has no value or one of another type. */
export function instantiateFlow(
  flow: Pick<FlowOverlay, 'parameters' | 'steps'>,
  values: FlowValues,
): readonly FlowCall[] | undefined {
  const calls = flow.steps.flatMap((step) => instantiateStep(flow, step, values) ?? []);
  return calls.length === flow.steps.length ? calls : undefined;
}

/** Undefined when a parameter of the step has no value, or one of another type. */
export function instantiateStep(
  { parameters }: Pick<FlowOverlay, 'parameters'>,
  { tool, arguments: given }: FlowStep,
  values: FlowValues,
): FlowCall | undefined {
  const members: [string, Json][] = [];
  for (const [name, argument] of Object.entries(given)) {
    if ('value' in argument) {
      members.push([name, argument.value]);
      continue;
    }
    const value = values.get(argument.parameter);
    const type = parameters.find((one) => one.name === argument.parameter)?.type;
    if (value === undefined || type === undefined || typeof value !== type) return undefined;
    members.push([name, value]);
  }
  return { tool, arguments: Object.fromEntries(members) };
}

/**
 * The values of the parameters after a call that is to be this step, with those known before; undefined when the call is another:
 * another tool, other arguments, a constant that differs, or a parameter that had another value before.
 */
export function bindStep(
  { parameters }: Pick<FlowOverlay, 'parameters'>,
  step: FlowStep,
  call: FlowCall,
  before: FlowValues,
): FlowValues | undefined {
  const names = Object.keys(step.arguments);
  if (step.tool !== call.tool || names.length !== Object.keys(call.arguments).length) return undefined;
  const values = new Map(before);
  for (const name of names) {
    const argument = step.arguments[name];
    const value = Object.hasOwn(call.arguments, name) ? call.arguments[name] : undefined;
    if (argument === undefined || value === undefined) return undefined;
    if ('value' in argument) {
      if (!isDeepStrictEqual(argument.value, value)) return undefined;
      continue;
    }
    const { parameter } = argument;
    const type = parameters.find((one) => one.name === parameter)?.type;
    if (typeof value !== type || (values.has(parameter) && values.get(parameter) !== value)) return undefined;
    values.set(parameter, value);
  }
  return values;
}
