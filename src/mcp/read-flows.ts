import { asArray, asObject, asString } from '../core/json.ts';
import type { FlowOverlay } from '../core/overlay.ts';
import type { OfferedFlow } from './episode-api.ts';

/** The flows among overlays as the API lists them. Checked when they were published: what this version cannot read is left out. */
export const readFlows = (listed: unknown): readonly OfferedFlow[] =>
  asArray(listed).flatMap((value) => {
    const { name, payload } = asObject(value);
    return isFlow(payload)
      ? [{ name: asString(name) ?? '', parameters: payload.parameters, steps: payload.steps }]
      : [];
  });

const isFlow = (payload: unknown): payload is FlowOverlay => {
  const { type, parameters, steps } = asObject(payload);
  return type === 'flow_offload' && Array.isArray(parameters) && Array.isArray(steps);
};
