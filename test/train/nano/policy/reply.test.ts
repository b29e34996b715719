import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type NanoReply, readNanoReply } from '../../../../train/nano/policy/nano-template.ts';
import { MARK } from '../../../../train/nano/policy/vocabulary.ts';
import { shippedTokenizer } from './parts.ts';
import { writeNanoReply } from './write-reply.ts';

const tokenizer = shippedTokenizer();
const read = (tokens: readonly number[]): NanoReply => readNanoReply(tokens, tokenizer);

describe('a reply of the nano policy', () => {
  it.each<[string, NanoReply]>([
    [
      'commands',
      {
        is: 'act',
        commands: ["set desk/onyx.json due '2031-08-28 11:15'", 'write a/b.json \'{"n":1}\'', 'done'],
      },
    ],
    ['an answer', { is: 'say', text: '\\bbox{A,C}' }],
    ['that it is foreign', { is: 'foreign' }],
  ])('is read as it was written: %s', (_, reply) => {
    expect(read(writeNanoReply(reply, tokenizer))).toEqual(reply);
  });

  it('always ends its commands with `done`', () => {
    const commands = ['cp a.json a.json.bak'];
    expect(read(writeNanoReply({ is: 'act', commands }, tokenizer))).toEqual({
      is: 'act',
      commands: [...commands, 'done'],
    });
    expect(read([MARK.act])).toEqual({ is: 'act', commands: ['done'] });
  });

  it('ends at its end mark, whatever follows', () => {
    const tokens = [...writeNanoReply({ is: 'say', text: 'yes' }, tokenizer), ...tokenizer.encode('no')];
    expect(read(tokens)).toEqual({ is: 'say', text: 'yes' });
  });

  it('is text when it has no opening mark', () => {
    expect(read(tokenizer.encode('write nothing'))).toEqual({ is: 'say', text: 'write nothing' });
  });

  it('can be any tokens', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: tokenizer.size - 1 })), (tokens) => {
        expect(['act', 'say', 'foreign']).toContain(read(tokens).is);
      }),
    );
  });
});
