import { createHash } from 'node:crypto';
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { connectGoogle, FREE_BUSY_SCOPE } from '../../../src/schedule/calendar/connect-google.ts';
import { createTokenFile } from '../../../src/schedule/calendar/google.ts';
import { createGoogleState, type GoogleState, startGoogleServer } from './busy-servers.ts';
import type { FakeServer } from './fake-server.ts';

describe('connectGoogle', () => {
  let server: FakeServer;
  let state: GoogleState;
  beforeEach(async () => {
    state = createGoogleState();
    state.nextRefreshToken = 'refresh-secret-7';
    server = await startGoogleServer(state, () => []);
  });
  afterEach(() => server.close());

  const connect = (browse: (consent: URL) => Promise<unknown>, timeoutMs = 10_000) => {
    let browsing: Promise<unknown> = Promise.resolve();
    const connected = connectGoogle({
      client: { id: 'client-1', secret: 'client-secret' },
      fetch,
      show: (url) => {
        browsing = browse(new URL(url));
      },
      signal: new AbortController().signal,
      places: { consent: `${server.url}/consent`, token: `${server.url}/token`, freeBusy: server.url },
      timeoutMs,
    });
    return Promise.all([connected, connected.then(() => browsing)]).then(([answer]) => answer);
  };
  const backTo = (consent: URL, answer: Record<string, string>): URL => {
    const back = new URL(consent.searchParams.get('redirect_uri') ?? '');
    back.search = new URLSearchParams(answer).toString();
    return back;
  };
  const stateOf = (consent: URL): string => consent.searchParams.get('state') ?? '';

  it('exchanges the code of the browser with the verifier whose challenge it showed', async () => {
    let consent = new URL('http://none');
    const answer = await connect(async (url) => {
      consent = url;
      await fetch(backTo(url, { state: stateOf(url), code: 'code-1' }));
    });
    expect(answer).toEqual({ ok: true, refreshToken: 'refresh-secret-7' });
    const asked = consent.searchParams;
    expect(asked.get('scope')).toBe(FREE_BUSY_SCOPE);
    expect(asked.get('code_challenge_method')).toBe('S256');
    expect(asked.get('access_type')).toBe('offline');
    expect(asked.get('redirect_uri')).toMatch(/^http:\/\/127\.0\.0\.1:[0-9]+\/$/);
    const form = new URLSearchParams(server.seen[0]?.body);
    const verifier = form.get('code_verifier') ?? '';
    expect(createHash('sha256').update(verifier).digest('base64url')).toBe(asked.get('code_challenge'));
    expect(verifier.length).toBeGreaterThanOrEqual(43);
    expect(verifier).not.toBe(stateOf(consent));
    expect(consent.href).not.toContain(verifier);
    expect(form.get('redirect_uri')).toBe(asked.get('redirect_uri'));
  });

  it('rejects every request without the state, and keeps waiting', async () => {
    const refused: number[] = [];
    const answer = await connect(async (url) => {
      const good = { state: stateOf(url), code: 'code-1' };
      const tries: [URL, RequestInit?][] = [
        [backTo(url, { code: 'stolen' })],
        [backTo(url, { code: 'stolen', state: 'guess' })],
        [backTo(url, { code: 'stolen', state: `${stateOf(url)}x` })],
        [backTo(url, good), { method: 'POST' }],
        [new URL(`favicon.ico?state=${stateOf(url)}&code=x`, backTo(url, {}))],
      ];
      for (const [to, how] of tries) refused.push((await fetch(to, how)).status);
      refused.push(await statusWithHost(backTo(url, good), 'evil.example.com'));
      await fetch(backTo(url, good));
    });
    expect(refused).toEqual([400, 400, 400, 400, 400, 400]);
    expect(answer.ok).toBe(true);
    expect(server.seen.map(({ body }) => new URLSearchParams(body).get('code'))).toEqual(['code-1']);
  });

  it('reports that the person declined, did nothing, or granted no refresh token', async () => {
    const declined = await connect((url) =>
      fetch(backTo(url, { state: stateOf(url), error: 'access_denied' })),
    );
    expect(declined).toMatchObject({ ok: false, why: 'access was not granted' });
    expect(await connect(async () => undefined, 50)).toMatchObject({
      why: 'access was not granted in the browser in time',
    });
    delete state.nextRefreshToken;
    const brief = await connect((url) => fetch(backTo(url, { state: stateOf(url), code: 'c' })));
    expect(brief).toMatchObject({ ok: false, why: 'Google returned no refresh token' });
    state.refuse = 'invalid_grant';
    const late = await connect((url) => fetch(backTo(url, { state: stateOf(url), code: 'c' })));
    expect(late.ok).toBe(false);
  });

  it('leaves no server behind', async () => {
    let back = new URL('http://none');
    await connect(async (url) => {
      back = backTo(url, { state: stateOf(url), code: 'code-1' });
      await fetch(back);
    });
    await expect(fetch(back)).rejects.toThrow();
  });
});

function statusWithHost(url: URL, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    request(url, { headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    })
      .on('error', reject)
      .end();
  });
}

describe('the token file', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'instar-token-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const modeOf = (file: string): number => statSync(file).mode & 0o777;

  it('is readable by its owner only, and leaves nothing beside it', async () => {
    const file = path.join(folder, 'deep', 'google.json');
    const tokens = createTokenFile(file);
    expect(await tokens.read()).toBeUndefined();
    await tokens.write('one');
    await tokens.write('two');
    expect(await tokens.read()).toBe('two');
    expect(modeOf(file)).toBe(0o600);
    expect(readdirSync(path.dirname(file))).toEqual(['google.json']);
  });

  it('sets a file readable by others to mode 600, and treats invalid content as no token', async () => {
    const file = path.join(folder, 'open.json');
    writeFileSync(file, '{"refreshToken":"x"}');
    chmodSync(file, 0o644);
    expect(await createTokenFile(file).read()).toBe('x');
    expect(modeOf(file)).toBe(0o600);
    for (const text of ['', 'nonsense', '[]', '{"refreshToken":5}', '{"refreshToken":""}']) {
      writeFileSync(file, text);
      expect(await createTokenFile(file).read(), text).toBeUndefined();
    }
  });
});
