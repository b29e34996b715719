import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { connectClient, disconnectClient } from '../../src/connect/connect.ts';
import { CLIENT_NAMES, type ClientName } from '../../src/core/client-name.ts';
import { connectionOf, createPerson, KEY, OWN_KEY, type Person, treeOf } from './temporary-person.ts';

let person: Person;
beforeEach(() => {
  person = createPerson();
});
afterEach(() => person.remove());

/** Files as their owners have them, in each client's own habit. */
const FILES: Readonly<Record<ClientName, Readonly<Record<string, string>>>> = {
  'claude-code': {
    '.claude/settings.json':
      '{\n    "model": "opus",\n    "env": {"ANTHROPIC_BASE_URL": "https://mine.example"}\n}',
  },
  codex: {
    '.codex/config.toml':
      'model = "gpt-5" # the good one\r\nnotify = [\r\n  "sh",\r\n]\r\n\r\n[profiles.fast]\r\nmodel = "gpt-5-mini"\r\n',
  },
  openclaw: {
    '.openclaw/openclaw.json':
      "// my claw\n{\n  agents: { defaults: { model: 'anthropic/opus', workspace: '~/w' } }, // keep\n  channels: {},\n}\n",
  },
  opencode: {
    '.config/opencode/opencode.jsonc':
      '{\n\t"$schema": "https://opencode.ai/config.json",\n\t// which one\n\t"model": "anthropic/opus", /* it */\n}\n',
  },
  pi: {
    '.pi/agent/models.json': '{"providers":{"mine":{"baseUrl":"http://x","models":[]}}}',
    '.pi/agent/settings.json': '{\n  "theme": "dark",\n  "defaultModel": "opus"\n}\n',
  },
  cline: {
    '.cline/data/settings/providers.json': '{\n  "version": 1,\n  "modes": {},\n  "providers": {}\n}\n',
  },
  continue: {
    '.continue/config.yaml':
      '# my assistant\nname: Mine\nversion: 1.0.0\nschema: v1\nmodels:\n    - name: opus # keep\n      provider: anthropic\nrules:\n- Be brief\n',
  },
  hermes: {
    '.hermes/config.yaml':
      'model:\n  default: anthropic/claude # mine\n  provider: openrouter\n\n  # kept\n  base_url: https://x\nmemory:\n  enabled: true\n',
  },
  aider: {
    '.aider.conf.yml': '## mine\nmodel: opus\n\nread:\n  - CONVENTIONS.md\nauto-commits: false\n',
  },
};

describe.each(CLIENT_NAMES)('connect %s', (client) => {
  it('then undo leaves no trace where there was nothing', () => {
    const before = treeOf(person.homeDir);
    const written = person.connect(client);
    expect(written.every(({ change, file }) => change === 'made' && existsSync(file))).toBe(true);
    for (const { file } of written) expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(disconnectClient(person.home, client)?.every(({ kind }) => kind === 'exact')).toBe(true);
    expect(treeOf(person.homeDir)).toEqual(before);
    expect(readdirSync(person.home.dir)).toEqual([]);
  });

  it('then undo restores every byte and mode', () => {
    for (const [file, text] of Object.entries(FILES[client])) person.write(file, text, 0o640);
    const before = treeOf(person.homeDir);
    person.connect(client);
    const connected = treeOf(person.homeDir);
    expect(connected).not.toEqual(before);
    const record = join(person.home.dir, 'connect', `${client}.json`);
    expect(statSync(record).mode & 0o777).toBe(0o600);
    disconnectClient(person.home, client);
    expect(treeOf(person.homeDir)).toEqual(before);
    expect(readdirSync(person.home.dir)).toEqual([]);
  });

  it('keeps all other settings of the files', () => {
    for (const [file, text] of Object.entries(FILES[client])) {
      person.write(file, text);
      person.connect(client);
      const now = person.read(file);
      for (const word of text.match(
        /"theme"|"mine"|channels|\/\/ keep|\/\* it \*\/|notify|\[profiles\.fast\]|"opus"/g,
      ) ?? []) {
        if (word !== '"opus"') expect(now).toContain(word);
      }
    }
  });

  it('twice is the same as once, and undo still restores the first state', () => {
    for (const [file, text] of Object.entries(FILES[client])) person.write(file, text);
    const before = treeOf(person.homeDir);
    person.connect(client);
    const once = treeOf(person.homeDir);
    expect(person.connect(client).every(({ change }) => change === 'unchanged')).toBe(true);
    expect(treeOf(person.homeDir)).toEqual(once);
    person.connect(
      client,
      connectionOf(OWN_KEY, { url: 'http://127.0.0.1:4700', model: 'openai/gpt-5-mini' }),
    );
    expect(treeOf(person.homeDir)).not.toEqual(once);
    disconnectClient(person.home, client);
    expect(treeOf(person.homeDir)).toEqual(before);
  });

  it('is removed from a file that another program has changed, and nothing else is', () => {
    for (const [file, text] of Object.entries(FILES[client])) person.write(file, text);
    person.connect(client);
    const [file = ''] = Object.keys(FILES[client]);
    const [first] = person.connect(client);
    const path = first?.file ?? '';
    const isToml = person.read(file).includes('# <<< instar\r\n');
    const isYaml = person.read(file).includes('# <<< instar\n');
    const changed = isYaml
      ? `${person.read(file)}later: mine\n`
      : isToml
        ? person.read(file).replace('# <<< instar\r\n', '# <<< instar\r\nlater = "mine"\r\n')
        : person.read(file).replace('{', '{ "later": "mine",');
    writeFileSync(path, changed);
    const undone = disconnectClient(person.home, client) ?? [];
    expect(undone.find((one) => one.file === path)?.kind).toBe('changed');
    const left = person.read(file);
    expect(left).toContain('later');
    for (const ours of [KEY, '127.0.0.1:4600', 'instar']) expect(left).not.toContain(ours);
    for (const theirs of Object.values(FILES[client])[0]?.match(/"gpt-5"|opus|mine\.example|"mine"/g) ?? []) {
      expect(left).toContain(theirs);
    }
    expect(disconnectClient(person.home, client)).toBeUndefined();
  });
});

describe('connect', () => {
  it('connects again on top of a change by the owner', () => {
    const path = person.write('.claude/settings.json', '{ "a": 1 }\n');
    person.connect('claude-code');
    writeFileSync(path, person.read('.claude/settings.json').replace('"a": 1', '"a": 2'));
    person.connect('claude-code', connectionOf(OWN_KEY, { url: 'http://127.0.0.1:4700' }));
    expect(person.read('.claude/settings.json')).toContain(':4700');
    expect(disconnectClient(person.home, 'claude-code')?.[0]?.kind).toBe('exact');
    expect(JSON.parse(person.read('.claude/settings.json'))).toEqual({ a: 2 });
  });

  it('keeps a member that its owner has set again', () => {
    const path = person.write(
      '.claude/settings.json',
      '{ "env": { "ANTHROPIC_BASE_URL": "https://old" } }\n',
    );
    person.connect('claude-code');
    writeFileSync(path, person.read('.claude/settings.json').replace('http://127.0.0.1:4600', 'https://new'));
    disconnectClient(person.home, 'claude-code');
    expect(JSON.parse(person.read('.claude/settings.json'))).toEqual({
      env: { ANTHROPIC_BASE_URL: 'https://new' },
    });
  });

  it('removes an entry into which the client has written a time', () => {
    const path = person.write(
      '.cline/data/settings/providers.json',
      '{ "version": 1, "modes": {}, "providers": {} }',
    );
    person.connect('cline');
    writeFileSync(
      path,
      person.read('.cline/data/settings/providers.json').replace('2026-01-01', '2027-07-07'),
    );
    disconnectClient(person.home, 'cline');
    expect(JSON.parse(person.read('.cline/data/settings/providers.json'))).toEqual({
      version: 1,
      modes: {},
      providers: {},
    });
  });

  it('follows a link and leaves it one', () => {
    const real = person.write('dotfiles/claude.json', '{}\n');
    mkdirSync(join(person.homeDir, '.claude'));
    symlinkSync('../dotfiles/claude.json', join(person.homeDir, '.claude/settings.json'));
    const before = treeOf(person.homeDir);
    expect(person.connect('claude-code')).toEqual([{ file: real, change: 'changed' }]);
    expect(treeOf(person.homeDir)['.claude/settings.json']).toBe(before['.claude/settings.json']);
    disconnectClient(person.home, 'claude-code');
    expect(treeOf(person.homeDir)).toEqual(before);
  });

  it('creates the missing target of a link, and removes it again', () => {
    mkdirSync(join(person.homeDir, '.claude'));
    symlinkSync('elsewhere/settings.json', join(person.homeDir, '.claude/settings.json'));
    const before = treeOf(person.homeDir);
    person.connect('claude-code');
    expect(person.read('.claude/elsewhere/settings.json')).toContain('ANTHROPIC_BASE_URL');
    disconnectClient(person.home, 'claude-code');
    expect(treeOf(person.homeDir)).toEqual(before);
  });

  it('refuses a read-only file, and then changes none of the client’s other files', () => {
    person.write('.pi/agent/settings.json', '{}', 0o444);
    const before = treeOf(person.homeDir);
    expect(() => person.connect('pi')).toThrow(/read-only.*chmod u\+w/);
    expect(treeOf(person.homeDir)).toEqual(before);
    expect(disconnectClient(person.home, 'pi')).toBeUndefined();
  });

  it('refuses to undo in a file that became read-only, and can do it later', () => {
    const path = person.write('.claude/settings.json', '{}');
    person.connect('claude-code');
    chmodSync(path, 0o400);
    expect(() => disconnectClient(person.home, 'claude-code')).toThrow(/read-only/);
    chmodSync(path, 0o600);
    expect(disconnectClient(person.home, 'claude-code')?.[0]?.kind).toBe('exact');
    expect(person.read('.claude/settings.json')).toBe('{}');
  });

  it.each<[ClientName, string, string | Buffer, RegExp]>([
    ['claude-code', '.claude/settings.json', '{ // mine\n}', /comments.*by hand/],
    ['claude-code', '.claude/settings.json', '{ broken', /cannot be edited safely/],
    ['claude-code', '.claude/settings.json', '{ "env": "none" }', /env is not an object/],
    [
      'claude-code',
      '.claude/settings.json',
      Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
      /not UTF-8/,
    ],
    ['openclaw', '.openclaw/openclaw.json', '{ models: "$include" }', /models is not an object/],
    ['codex', '.codex/config.toml', '[model_providers.instar]\nname = "x"\n', /already has model_providers/],
    [
      'codex',
      '.codex/config.toml',
      'model_providers = { a = { name = "x" } }\n',
      /already has model_providers/,
    ],
    ['codex', '.codex/config.toml', 'notify = [\n  "a",\n', /no end/],
  ])('refuses %s with %s = %j and leaves it untouched', (client, file, text, expected) => {
    person.write(file, text);
    const before = treeOf(person.homeDir);
    expect(() => person.connect(client)).toThrow(expected);
    expect(treeOf(person.homeDir)).toEqual(before);
    expect(readdirSync(person.home.dir)).toEqual([]);
  });

  it('restores the first file when the second cannot be written', () => {
    person.write('first.json', '{}', 0o644);
    const before = treeOf(person.homeDir);
    const edit = (name: string, folder = '') => ({
      kind: 'json' as const,
      file: join(person.homeDir, folder, name),
      dialect: 'json' as const,
      settings: [{ path: ['a'], value: KEY }],
    });
    // A name that is allowed, but not with what a temporary file's name has behind it.
    const edits = [edit('first.json'), edit('new.json', 'made'), edit(`${'n'.repeat(250)}.json`)];
    expect(() => connectClient(person.home, 'pi', { edits, secret: KEY })).toThrow(/cannot be written/);
    expect(treeOf(person.homeDir)).toEqual(before);
    expect(readdirSync(person.home.dir)).toEqual([]);
  });

  it('does not restore a file that its owner has deleted', () => {
    const path = person.write('.claude/settings.json', '{}');
    person.connect('claude-code');
    rmSync(path);
    expect(disconnectClient(person.home, 'claude-code')?.[0]?.kind).toBe('gone');
    expect(existsSync(path)).toBe(false);
  });

  it('keeps the record of a file that cannot be parsed, until it can', () => {
    const path = person.write('.claude/settings.json', '{}');
    person.connect('claude-code');
    const good = person.read('.claude/settings.json');
    writeFileSync(path, `${good}oops`);
    expect(disconnectClient(person.home, 'claude-code')?.[0]?.kind).toBe('unreadable');
    writeFileSync(path, good);
    expect(disconnectClient(person.home, 'claude-code')?.[0]?.kind).toBe('exact');
    expect(person.read('.claude/settings.json')).toBe('{}');
  });

  it('closes a file to others once it has the key, also beside a login of the client’s own', () => {
    const path = person.write('.claude/settings.json', '{}\n', 0o644);
    const passThrough = {
      providers: { anthropic: { wire: 'anthropic', baseUrl: 'https://api.anthropic.com/v1' } },
    };
    person.connect('claude-code', connectionOf(passThrough));
    expect(person.read('.claude/settings.json')).toContain(KEY);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('remembers both files when a variable moved the client’s folder in between', () => {
    const other = join(person.homeDir, 'other');
    const before = treeOf(person.homeDir);
    person.connect('claude-code');
    person.connect('claude-code', connectionOf(), { CLAUDE_CONFIG_DIR: other });
    expect(disconnectClient(person.home, 'claude-code')).toHaveLength(2);
    expect(treeOf(person.homeDir)).toEqual(before);
  });
});
