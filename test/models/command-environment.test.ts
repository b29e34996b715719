import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCommandEnvironment } from '../../src/models/command-model.ts';

describe('the environment of a command', () => {
  it('contains the basic variables and its own sign-in', () => {
    const ambient = {
      PATH: '/bin',
      HOME: '/home/a',
      AWS_SECRET_ACCESS_KEY: 's',
      INSTAR_KEY: 'k',
      GITHUB_TOKEN: 't',
      NODE_OPTIONS: '--require /tmp/x.js',
      LD_PRELOAD: '/tmp/x.so',
      ANTHROPIC_API_KEY: 'a',
      CLAUDE_CODE_OAUTH_TOKEN: 'o',
      OPENAI_API_KEY: 'b',
      CODEX_HOME: '/home/a/.codex',
    };
    expect(createCommandEnvironment(ambient, {})).toEqual({
      PATH: '/bin',
      HOME: '/home/a',
      ANTHROPIC_API_KEY: 'a',
      CLAUDE_CODE_OAUTH_TOKEN: 'o',
      OPENAI_API_KEY: 'b',
      CODEX_HOME: '/home/a/.codex',
    });
  });

  it('has neither a base URL nor the key beside it, but the key of the other family', () => {
    const ambient = {
      ANTHROPIC_BASE_URL: 'http://127.0.0.1:4600',
      ANTHROPIC_AUTH_TOKEN: 'instar-key',
      CLAUDE_CODE_OAUTH_TOKEN: 'o',
      OPENAI_API_KEY: 'b',
    };
    expect(createCommandEnvironment(ambient, {})).toEqual({
      CLAUDE_CODE_OAUTH_TOKEN: 'o',
      OPENAI_API_KEY: 'b',
    });
  });

  it('has a base URL that was configured for it, with its key', () => {
    const given = { ANTHROPIC_BASE_URL: 'http://127.0.0.1:9', ANTHROPIC_API_KEY: 'x' };
    const ambient = { ANTHROPIC_BASE_URL: 'http://127.0.0.1:4600', ANTHROPIC_API_KEY: 'instar-key' };
    expect(createCommandEnvironment(ambient, given)).toEqual(given);
  });

  it('is not affected by an empty base URL', () => {
    expect(createCommandEnvironment({ OPENAI_BASE_URL: '', OPENAI_API_KEY: 'b' }, {})).toEqual({
      OPENAI_API_KEY: 'b',
    });
  });

  it('never has a base URL of Instar’s environment, whatever else is set', () => {
    const name = fc.constantFrom('ANTHROPIC', 'OPENAI', 'CLAUDE_CODE', 'CODEX', 'AWS', 'PATH');
    const end = fc.constantFrom('', '_API_KEY', '_BASE_URL', '_API_BASE', '_AUTH_TOKEN');
    const ambient = fc.dictionary(
      fc.tuple(name, end).map((parts) => parts.join('')),
      fc.constantFrom('', 'value'),
    );
    fc.assert(
      fc.property(ambient, (all) => {
        for (const [key, value] of Object.entries(createCommandEnvironment(all, {}))) {
          expect(key).not.toMatch(/BASE/);
          expect(all[key]).toBe(value);
        }
      }),
    );
  });
});
