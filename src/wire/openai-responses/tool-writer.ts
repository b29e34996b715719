import { isObject, type JsonObject, parseJson } from '../../core/json.ts';
import { createFreeformReader, type FreeformReader, findFreeformText } from './freeform.ts';
import type { ClaimPlace, ItemWriter } from './item-writer.ts';
import { splitName } from './qualified-name.ts';

export interface ToolWriter extends ItemWriter {
  /** Whether the arguments are complete, so that the client may run the tool before the reply ends. */
  isWhole(): boolean;
}

/** Nothing is written until the arguments show whether this is a freeform call. */
export function createToolWriter(
  reply: string,
  call: { readonly id: string; readonly name: string },
  claim: ClaimPlace,
): ToolWriter {
  let args = '';
  let input = '';
  let freeform: FreeformReader | undefined;
  let output_index: number | undefined;
  const id = () => `${freeform ? 'ctc' : 'fc'}_${reply}_${output_index}`;
  const kind = () => (freeform ? 'response.custom_tool_call_input' : 'response.function_call_arguments');

  const item = (status: string, text: string): JsonObject => ({
    id: id(),
    type: freeform ? 'custom_tool_call' : 'function_call',
    status,
    ...(freeform ? { input: text } : { arguments: text }),
    call_id: call.id,
    ...splitName(call.name),
  });

  function begin(): JsonObject {
    output_index = claim();
    return { type: 'response.output_item.added', output_index, item: item('in_progress', '') };
  }

  function delta(piece: string): readonly JsonObject[] {
    const text = freeform ? freeform.read(piece) : piece;
    if (freeform) input += text;
    if (text === '') return [];
    return [{ type: `${kind()}.delta`, item_id: id(), output_index, delta: text }];
  }

  function decide(atEnd: boolean): readonly JsonObject[] {
    const at = findFreeformText(args);
    if (at === undefined && !atEnd) return [];
    if (typeof at !== 'number') return [begin(), ...delta(args)];
    freeform = createFreeformReader();
    return [begin(), ...delta(args.slice(at))];
  }

  return {
    isWhole: () => isObject(parseJson(args)),
    write(json) {
      args += json;
      return output_index === undefined ? decide(false) : delta(json);
    },
    close(status) {
      // Clients parse the arguments as JSON, so a call without arguments must contain an empty object.
      if (args.trim() === '') args = '{}';
      const late = output_index === undefined ? decide(true) : [];
      const whole = freeform ? { input } : { arguments: args, name: splitName(call.name).name };
      return [
        ...late,
        { type: `${kind()}.done`, item_id: id(), output_index, ...whole },
        { type: 'response.output_item.done', output_index, item: item(status, freeform ? input : args) },
      ];
    },
  };
}
