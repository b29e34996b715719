import { asNumber, asObject, asString, type JsonObject } from '../../core/json.ts';

/**
 * Tells which output item an event belongs to. The place in the output is asked first, since the item ids of some
 * vendors change from event to event; others leave the place out of the deltas, or both.
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
