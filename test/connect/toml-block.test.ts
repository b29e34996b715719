import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addTomlBlock, removeTomlBlock, type TomlBlock, traceOf } from '../../src/connect/toml-block.ts';
import { runsOf } from '../support/counts.ts';

const BLOCK: TomlBlock = {
  top: { model: '"default"', model_provider: '"instar"' },
  table: 'model_providers.instar',
  settings: { name: '"Instar"', base_url: '"http://127.0.0.1:4600/v1"' },
};
const trace = traceOf(BLOCK);

function add(text: string): string {
  const added = addTomlBlock(text, BLOCK);
  if (!added.ok) throw new Error(added.why);
  return added.text;
}

describe('a TOML block', () => {
  it('is added at the top and at the end, and keeps the owner’s lines as comments', () => {
    const text =
      'model = "gpt-5" # mine\nmodel_reasoning_effort = "low"\n\n[profiles.x]\nmodel = "gpt-5-mini"\n';
    expect(add(text).split('\n')).toEqual([
      expect.stringMatching(/^# >>> instar/),
      'model = "default"',
      'model_provider = "instar"',
      '# <<< instar',
      '# instar keeps: model = "gpt-5" # mine',
      'model_reasoning_effort = "low"',
      '',
      '[profiles.x]',
      'model = "gpt-5-mini"',
      expect.stringMatching(/^# >>> instar/),
      '[model_providers.instar]',
      'name = "Instar"',
      'base_url = "http://127.0.0.1:4600/v1"',
      '# <<< instar',
      '',
    ]);
  });

  it('is removed to the last byte, whatever surrounds it', () => {
    const statement = fc.constantFrom(
      'model = "gpt-5"',
      "  model_provider='mine' # [not a table]",
      'notify = [\n  "a", # ]\n  ["b"],\n]',
      'text = """\n[model_x]\nmodel = "no"\n"""',
      "raw = '''\n[a]'''",
      'path = "C:\\\\[dir]"',
      '"quoted" = { a = [1, 2] }',
      '# a comment = "x"',
      '',
      '   ',
    );
    const table = fc.constantFrom('[tui]', '[[hooks]]', '[projects."/home/dev"]', '[model_providers.mine]');
    const document = fc
      .tuple(
        fc.uniqueArray(statement),
        fc.array(fc.tuple(table, fc.uniqueArray(statement))),
        fc.constantFrom('\n', '\r\n'),
      )
      .map(([top, tables, newline]) =>
        [...top, ...tables.flatMap(([header, body]) => [header, ...body])]
          .map((line) => `${line}\n`)
          .join('')
          .replaceAll('\n', newline),
      );
    fc.assert(
      fc.property(document, (text) => {
        expect(removeTomlBlock(add(text), trace)).toBe(text);
        // Once more over what is already there: the owner's lines are commented once, not twice.
        expect(removeTomlBlock(add(removeTomlBlock(add(text), trace)), trace)).toBe(text);
      }),
      runsOf(170, 500),
    );
  });

  it('is removed without a table that another program inserted before its end marker', () => {
    const text = add('[tui]\ntheme = "dark"\n');
    const at = text.lastIndexOf('# <<< instar');
    const changed = `${text.slice(0, at)}\n[mcp_servers.foo]\ncommand = "echo"\n${text.slice(at)}`;
    expect(removeTomlBlock(changed, trace)).toBe(
      '[tui]\ntheme = "dark"\n[mcp_servers.foo]\ncommand = "echo"\n',
    );
  });

  it('is removed even when its markers are gone, with later additions to its own table', () => {
    const text = add('[tui]\ntheme = "dark"\n')
      .replaceAll(/^# (>>>|<<<) instar.*\n/gm, '')
      .concat('request_max_retries = 1\n\n[later]\na = 1\n');
    expect(removeTomlBlock(text, trace)).toBe('[tui]\ntheme = "dark"\n[later]\na = 1\n');
  });

  it('does not restore a line that its owner has set again', () => {
    const text = add('model = "gpt-5"\n').replace('model = "default"', 'model = "gpt-6"');
    expect(removeTomlBlock(text, trace)).toBe('model = "gpt-6"\n');
  });

  it.each([
    ['[model_providers]\ninstar = { name = "x" }\n', 'already has'],
    ['[model_providers.instar.http_headers]\na = "b"\n', 'already has'],
    ['model_providers.instar.name = "x"\n', 'already has'],
    ['model = """\ngpt\n"""\n', 'several lines'],
    ['\ufeffmodel = "x"\n', 'byte-order mark'],
  ])('is refused for %j', (text, expected) => {
    expect(addTomlBlock(text, BLOCK)).toEqual({ ok: false, why: expect.stringContaining(expected) });
  });
});
