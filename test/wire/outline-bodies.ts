import fc from 'fast-check';
import {
  anyTree,
  arrayTree,
  type JsonMember,
  type JsonTree,
  objectTree,
  stringTree,
  text,
} from './json-text.ts';

/* Bodies that look enough like each wire's to reach every rule of placement, and stray from it often. */

const member = (key: string, value: fc.Arbitrary<JsonTree>): fc.Arbitrary<JsonMember> =>
  value.map((tree): JsonMember => [key, tree]);

const mostly = (usual: fc.Arbitrary<JsonTree>, weight = 9): fc.Arbitrary<JsonTree> =>
  fc.oneof({ weight, arbitrary: usual }, { weight: 1, arbitrary: anyTree });

const word = (...words: readonly string[]) => stringTree(fc.constantFrom(...words));

const model = member('model', mostly(stringTree(fc.oneof(fc.constantFrom('gpt-5', 'claude'), text))));
const stream = member('stream', mostly(fc.constantFrom({ scalar: 'true' }, { scalar: 'false' })));
const role = member('role', mostly(word('system', 'system', 'developer', 'user', 'assistant'), 14));
const part = objectTree([member('type', word('text', 'input_text')), member('text', stringTree(text))]);
const content = member(
  'content',
  mostly(fc.oneof(stringTree(text), arrayTree(part, 2), fc.constant<JsonTree>({ scalar: 'null' })), 6),
);
const message = objectTree([role, content]);
const item = fc.oneof(
  message,
  objectTree([member('type', mostly(word('message', 'message', 'function_call'), 12)), role, content]),
);

export const chatBody = objectTree([model, stream, member('messages', mostly(arrayTree(mostly(message))))]);

export const responsesBody = objectTree([
  model,
  stream,
  member('input', fc.oneof(stringTree(text), mostly(arrayTree(mostly(item)), 4))),
  member('instructions', fc.oneof(stringTree(text), anyTree, anyTree, anyTree)),
]);

export const anthropicBody = fc.oneof(
  { weight: 1, arbitrary: fc.constant<JsonTree>({ object: [] }) },
  {
    weight: 20,
    arbitrary: objectTree([
      model,
      stream,
      member('messages', arrayTree(message)),
      member('system', mostly(fc.oneof(stringTree(text), arrayTree(part, 2)), 4)),
    ]),
  },
  { weight: 6, arbitrary: objectTree([model, stream, member('messages', arrayTree(message))]) },
);
