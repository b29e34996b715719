import { asArray, asNumber, asObject, asString, type JsonObject } from '../../../core/json.ts';

export interface Arm {
  readonly id: string;
  readonly method: string;
  readonly role: 'treatment' | 'baseline';
}

/** The input of the experiment runner. */
export interface ExperimentSpec {
  readonly name: string;
  readonly dataset: string;
  readonly metric: string;
  readonly seeds: readonly number[];
  readonly arms: readonly Arm[];
  readonly timeoutS: number;
}

const SLUG = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const LONGEST_SLUG = 64;
const isSlug = (text: string): boolean => text.length <= LONGEST_SLUG && SLUG.test(text);

/** A runnable specification, or all reasons why it is not one. */
export function readSpec(
  value: JsonObject,
):
  | { readonly ok: true; readonly spec: ExperimentSpec }
  | { readonly ok: false; readonly why: string; readonly faults: readonly string[] } {
  const faults: string[] = [];
  const need = (isSo: boolean, fault: string): void => void (isSo || faults.push(fault));
  const name = asString(value.name) ?? '';
  const dataset = asString(value.dataset) ?? '';
  const metric = asString(value.metric) ?? '';
  const timeoutS = asNumber(value.timeout_s) ?? 0;
  const seeds = asArray(value.seeds).flatMap((seed) => (Number.isSafeInteger(seed) ? [Number(seed)] : []));
  const arms = asArray(value.arms).map((arm): Arm => {
    const { id, method, role } = asObject(arm);
    need(role === 'treatment' || role === 'baseline', 'Give each arm the role treatment or baseline.');
    return {
      id: asString(id) ?? '',
      method: asString(method) ?? '',
      role: role === 'treatment' ? 'treatment' : 'baseline',
    };
  });
  need(isSlug(name), 'Name the specification in lower-case letters, digits and hyphens.');
  need(dataset !== '' && metric !== '', 'Name dataset and metric in the specification.');
  need(seeds.length > 0 && seeds.length === asArray(value.seeds).length, 'Give the seeds as whole numbers.');
  need(
    arms.every(({ id }) => isSlug(id)) && new Set(arms.map(({ id }) => id)).size === arms.length,
    'Give each arm an id of its own in lower-case letters, digits and hyphens.',
  );
  need(
    arms.filter(({ role }) => role === 'treatment').length === 1 && arms.length >= 2,
    'Describe one treatment and at least one baseline.',
  );
  need(
    arms.every(({ method }) => method !== ''),
    'Name the method of each arm.',
  );
  need(
    Number.isSafeInteger(timeoutS) && timeoutS >= 1 && timeoutS <= 7200,
    'Set timeout_s to whole seconds from 1 to 7200.',
  );
  if (faults.length === 0) return { ok: true, spec: { name, dataset, metric, seeds, arms, timeoutS } };
  const found = [...new Set(faults)];
  return { ok: false, why: found.join(' '), faults: found };
}
