import { describe, expect, it } from 'vitest';
import { describePlace, readPgUrl } from '../../../src/record/pg-place.ts';
import { monthOf } from '../../../team/postgres/pg-schema.ts';

describe('the URL of a PostgreSQL', () => {
  it('names the server, the database, the user and the schema; the rest has defaults', () => {
    expect(readPgUrl('postgres://me:p%40ss@db.example:6000/team?schema=ours&sslmode=require', {})).toEqual({
      host: 'db.example',
      port: 6000,
      database: 'team',
      user: 'me',
      password: 'p@ss',
      schema: 'ours',
      tls: { rejectUnauthorized: false },
    });
    expect(readPgUrl('postgresql:///team', { PGUSER: 'you', PGPASSWORD: 'secret' })).toMatchObject({
      host: 'localhost',
      port: 5432,
      user: 'you',
      password: 'secret',
      schema: 'instar',
    });
    expect(readPgUrl('postgres:///team?host=/run/postgresql', {})).toMatchObject({
      host: '/run/postgresql',
      tls: false,
    });
  });

  it('verifies the certificate of a server on another machine unless it says otherwise', () => {
    const tls = (url: string) => readPgUrl(url, {}).tls;
    expect(tls('postgres://me@db.example/team')).toEqual({ rejectUnauthorized: true });
    expect(tls('postgres://me@10.0.0.5/team')).toEqual({ rejectUnauthorized: true });
    expect(tls('postgres://me@db.example/team?sslmode=verify-ca')).toMatchObject({
      rejectUnauthorized: true,
    });
    expect(tls('postgres://me@db.example/team?sslmode=disable')).toBe(false);
    for (const host of ['localhost', '127.0.0.1', '127.9.9.9', '[::1]'])
      expect(tls(`postgres://me@${host}/team`)).toBe(false);
  });

  it.each([
    ['mysql://me@db/team', /does not begin with postgres:/],
    ['postgres://me@db', /names no database/],
    ['postgres://me:sec ret/x@db:port/team', /no URL/],
    ['postgres://me@db/team?sslmode=prefer', /sslmode=prefer is none of disable, require/],
    ['postgres://me@db/team?ssl=true', /unknown option "ssl"/],
    ['postgres://me@db/team?schema=drop%20table', /no name of a schema/],
    ['postgres://me:hunter2@db/team?sslrootcert=/nowhere.pem', /\/nowhere\.pem cannot be read/],
  ])('is refused with the reason: %s', (url, why) => {
    expect(() => readPgUrl(url, {})).toThrow(why);
    expect(() => readPgUrl(url, {})).not.toThrow(/hunter2|sec ret/);
  });

  it('is told without its password', () => {
    expect(describePlace(readPgUrl('postgres://me:hunter2@localhost/team', {}))).toBe(
      'team at localhost:5432',
    );
  });
});

describe('the month of a fact', () => {
  it('is that of its time in UTC; times that no clock should show share one', () => {
    expect(monthOf(Date.UTC(2026, 10, 30, 23, 59, 59))).toBe(202_611);
    expect(monthOf(Date.UTC(2026, 11, 1))).toBe(202_612);
    for (const at of [0, -1, Date.UTC(2019, 11, 31), Date.UTC(2100, 0, 1), Number.MAX_SAFE_INTEGER])
      expect(monthOf(at)).toBe(0);
  });
});
