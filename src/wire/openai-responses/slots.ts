import { asNumber, asObject, asString, type JsonObject } from '../../core/json.ts';

/**
 * Finds the output item of an event. The output index has precedence, since some vendors' item ids change from event to
 * event; others omit the index in deltas, or both.
 */
export function createSlots(): (event: JsonObject) => string {
  const byId = new Map<string, string>();
  let current = '0';
  return (event) => {
    const index = asNumber(event.output_index);
    const itemId = asString(asObject(event.item).id);
    const id = asString(event.item_id) ?? itemId;
    const known = id === undefined ? current : (byId.get(id) ?? id);
    const slot = index === undefined ? known : `${index}`;
    if (itemId !== undefined) byId.set(itemId, slot);
    current = slot;
    return slot;
  };
}
