import { describe, expect, it } from 'vitest';
import { appraise } from '../../../src/evidence/appraise.ts';
import { findOutage } from '../../../src/evidence/tools/outages.ts';
import { callOf, turnOf } from '../turn-fixtures.ts';

const verdictOf = (command: string, output: string): string =>
  appraise(callOf('Bash', { command }, `Exit code 1\n${output}`, { isError: true, task: 'Do it' })).verdict;

describe('an outage', () => {
  it.each([
    ['the registry', 'npm ci', 'npm error code ECONNRESET\nnpm error network aborted'],
    ['a pull limit', 'docker pull a', 'toomanyrequests: You have reached your pull rate limit.'],
    ['an expired token', 'aws s3 ls', 'An error occurred (ExpiredToken): The security token is expired'],
    ['a missing login', 'npm publish', 'npm error code ENEEDAUTH'],
    ['a held lock', 'git commit -m x', "fatal: Unable to create '/w/.git/index.lock': File exists."],
    ['a full disk', 'cargo build', 'error: failed to write a.rlib: No space left on device (os error 28)'],
    ['an incident', 'git push heroku', 'remote: ! The platform is currently experiencing an incident.'],
    [
      'a database',
      'psql -h 127.0.0.1',
      'psql: error: connection to server at "127.0.0.1", port 5432 failed: Connection refused\n\tIs the server running on that host and accepting TCP/IP connections?',
    ],
    [
      'a cluster',
      'kubectl get pods',
      'The connection to the server localhost:8080 was refused - did you specify the right host or port?',
    ],
    ['a dead daemon', 'docker ps', 'Cannot connect to the Docker daemon. Is the docker daemon running?'],
  ])('of %s is infrastructure (not a failure)', (_, command, output) => {
    expect(verdictOf(command, output)).toBe('infrastructure');
  });

  it.each([
    [
      'a test of the agent that times out',
      'npx jest',
      'thrown: "Exceeded timeout of 5000 ms for a test."\nTests: 1 failed, 3 passed, 4 total',
    ],
    [
      'a server of its own that is not there',
      'curl -sS http://localhost:3000/health',
      'curl: (7) Failed to connect to localhost port 3000: Connection refused',
    ],
    [
      'a module that it did not write',
      'npx webpack',
      "Module not found: Error: Can't resolve './App.css' in '/w/src'",
    ],
  ])('is not %s', (_, command, output) => {
    expect(verdictOf(command, output)).toBe('failure');
  });

  it('is told from the words of the user, who may also ask for work on limits', () => {
    const said = (user: string): string => appraise(turnOf({ next: { tools: [], user } })).verdict;
    expect(said('the API is down again, try later')).toBe('infrastructure');
    expect(said('my token expired, one sec')).toBe('infrastructure');
    expect(said('add a rate limit to the api please')).not.toBe('infrastructure');
    expect(said('your change took the server down, is it offline now?')).not.toBe('infrastructure');
  });

  it('is found in linear time in a megabyte of hostile text', () => {
    const hostile = [
      'token '.repeat(170_000),
      'quota '.repeat(170_000),
      '('.repeat(1_000_000),
      'a: '.repeat(330_000),
    ];
    // Time of the processor: a busy machine decides nothing.
    const before = process.cpuUsage();
    for (const text of hostile) findOutage(text);
    for (const text of hostile) appraise(callOf('Bash', { command: 'make' }, text, { isError: true }));
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(10_000);
  });
});
