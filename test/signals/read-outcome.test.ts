import { describe, expect, it } from 'vitest';
import { readCall } from '../../src/signals/read-call.ts';
import { type OutcomeKind, readOutcome } from '../../src/signals/read-outcome.ts';

type Row = readonly [kind: OutcomeKind, tool: string, given: unknown, text: string, isError?: boolean];
const kindOf = ([, name, given, text, isError]: Row): string =>
  readOutcome(readCall({ name, arguments: JSON.stringify(given) }), {
    callId: 'c',
    text,
    ...(isError === undefined ? {} : { isError }),
  }).kind;
const bash = (kind: OutcomeKind, command: string, text: string, isError?: boolean): Row =>
  isError === undefined ? [kind, 'Bash', { command }, text] : [kind, 'Bash', { command }, text, isError];
const TRACE = 'Traceback (most recent call last):\n  File "x.py", line 3, in <module>\n';

const SHAPES: readonly Row[] = [
  bash('unclear', 'grep -r foo . | head', 'Exit code 1', true),
  bash('fault', 'grep foo nofile', 'Exit code 2\ngrep: nofile: No such file or directory', true),
  bash('unclear', 'cd /x && rg "a|b" --type ts', 'Exit code 1', true),
  bash(
    'unclear',
    'git diff --exit-code src',
    'Exit code 1\ndiff --git a/x b/x\n-throw new Error("fatal: x")',
    true,
  ),
  bash('unclear', 'ls a 2>/dev/null; [ -f b ]', 'Exit code 1', true),
  bash('unclear', 'command -v foo', 'Exit code 1', true),
  bash('red', 'npm run build', 'Exit code 1\nsrc/a.ts:3:4 - error TS2304: Cannot find name', true),
  bash(
    'red',
    'npm run lint 2>&1 | tail -30',
    '/w/src/a.ts\n  3:5  error  x is defined but never used  no-unused-vars\n\n✖ 3 problems (1 error, 2 warnings)',
  ),
  bash(
    'unclear',
    'npm run lint',
    '/w/src/a.ts\n  3:5  warning  x  no-unused-vars\n\n✖ 3 problems (0 errors, 3 warnings)',
  ),
  bash(
    'red',
    'mypy src',
    'Exit code 1\nsrc/a.py:3: error: Incompatible types [assignment]\nFound 1 error in 1 file (checked 3 source files)',
    true,
  ),
  bash('unclear', 'mypy src', 'Success: no issues found in 3 source files'),
  bash('red', 'ruff check .', 'Exit code 1\na.py:1:8: F401 `os` imported but unused\nFound 1 error.', true),
  bash('red', 'cargo test', 'Exit code 101\ntest result: FAILED. 2 passed; 1 failed; 0 ignored', true),
  bash(
    'green',
    'cargo test',
    'test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s',
  ),
  bash(
    'green',
    'go test ./...',
    'ok  \tacme/x\t0.012s\nok  \tacme/y\t(cached)\n?   \tacme/z\t[no test files]',
  ),
  bash('red', 'go build ./...', 'Exit code 1\n# acme/x\n./main.go:5:2: undefined: foo', true),
  bash('red', 'python manage.py test', 'Exit code 1\nFAILED (failures=1)', true),
  bash(
    'green',
    'python -m unittest',
    '..\n----------------------------------------------------------------------\nRan 2 tests in 0.001s\n\nOK',
  ),
  bash('red', 'node --test', 'Exit code 1\nℹ tests 3\nℹ pass 2\nℹ fail 1', true),
  bash('green', 'node --test', 'ℹ tests 3\nℹ pass 3\nℹ fail 0'),
  bash(
    'red',
    'npx mocha',
    'Exit code 2\n  3 passing (10ms)\n  2 failing\n\n  1) a b:\n     AssertionError [ERR_ASSERTION]',
    true,
  ),
  bash(
    'red',
    'npx playwright test',
    'Exit code 1\n  1 failed\n    [chromium] › a.spec.ts:3:1 › x\n  4 passed (3.2s)',
    true,
  ),
  bash('red', './gradlew test', 'Exit code 1\nFAILURE: Build failed with an exception.', true),
  bash('red', 'phpunit', 'Exit code 1\nFAILURES!\nTests: 5, Assertions: 9, Failures: 1.', true),
  bash('green', 'vendor/bin/phpunit', 'OK (5 tests, 9 assertions)'),
  bash(
    'red',
    'dotnet test',
    'Exit code 1\nFailed!  - Failed:     1, Passed:     3, Skipped:     0, Total:     4',
    true,
  ),
  bash('red', 'bundle exec rspec | tail -3', '10 examples, 2 failures'),
  bash('green', 'bundle exec rspec', '10 examples, 0 failures'),
  bash('unclear', 'cat test-output.txt', '10 examples, 2 failures\n3 failed, 12 passed\nTests: 2 failed'),
  bash('unclear', 'git log -p -1', '+ throw new Error\n+3 failed, 2 passed\nfatal: x'),
  bash('unclear', 'gh run view 1 --log', 'FAILED tests/x\n3 failed'),
  bash('unclear', 'docker compose logs api', 'Error: boom\nTraceback (most recent call last):'),
  bash('unclear', 'journalctl -u x -n 50', 'code=exited, status=1/FAILURE'),
  bash('unclear', 'curl -s http://localhost:3000/x', '{"error":"not found","status":404}'),
  bash('unclear', 'ps aux | grep node', 'root 1 node server.js'),
  bash('outage', 'curl -sf https://x.dev', 'Exit code 28', true),
  bash(
    'outage',
    'git fetch',
    "Exit code 128\nfatal: unable to access 'https://github.com/a/b/': Could not resolve host: github.com",
    true,
  ),
  bash('fault', 'git fetch', "Exit code 128\nfatal: repository 'https://github.com/a/b/' not found", true),
  bash(
    'fault',
    'git commit -m x',
    'Exit code 1\nOn branch main\nnothing to commit, working tree clean',
    true,
  ),
  bash('outage', 'npm ci', 'Exit code 1\nnpm ERR! code ETIMEDOUT\nnpm ERR! network timeout', true),
  bash(
    'fault',
    'npm ci',
    'Exit code 1\nnpm error code EUSAGE\nnpm error `npm ci` can only install packages when your package.json and package-lock.json are in sync',
    true,
  ),
  bash(
    'fault',
    'npm i x',
    'Exit code 1\nnpm error code ERESOLVE\nnpm error ERESOLVE unable to resolve dependency tree',
    true,
  ),
  bash(
    'outage',
    'pip install x',
    'Exit code 1\nWARNING: Retrying after connection broken by ReadTimeoutError',
    true,
  ),
  bash(
    'outage',
    'terraform apply',
    'Exit code 1\nError: error acquiring lock: dial tcp 1.2.3.4:443: i/o timeout',
    true,
  ),
  bash(
    'fault',
    'psql -c "select"',
    'Exit code 1\npsql: error: connection to server at "localhost" (127.0.0.1), port 5432 failed: Connection refused',
    true,
  ),
  bash(
    'outage',
    'aws s3 ls',
    'Exit code 255\nCould not connect to the endpoint URL: "https://s3.amazonaws.com/"\n[Errno 101] Network is unreachable',
    true,
  ),
  bash(
    'outage',
    'python x.py',
    'Exit code 1\nTraceback (most recent call last):\n  File "x.py", line 3\nopenai.RateLimitError: Error code: 429 - {\'error\'}',
    true,
  ),
  bash(
    'red',
    'python x.py',
    'Exit code 1\nTraceback (most recent call last):\n  File "x.py", line 3\nValueError: timeout must be positive',
    true,
  ),
  bash(
    'red',
    'pytest',
    'Exit code 1\nE  requests.exceptions.ConnectionError: ECONNRESET\nFAILED tests/test_net.py::test_reset - ConnectionError\n1 failed, 3 passed in 1.0s',
    true,
  ),
  bash(
    'red',
    'npx vitest run',
    'Exit code 1\n × retries on ECONNRESET\n Tests  1 failed | 3 passed (4)',
    true,
  ),
  bash(
    'fault',
    'kubectl apply -f x.yml',
    'Exit code 1\nerror: error validating "x.yml": unknown field "spec.replica"',
    true,
  ),
  bash('fault', 'rm x', "Exit code 1\nrm: cannot remove 'x': No such file or directory", true),
  bash(
    'fault',
    'python3 -c "print(1/0)"',
    'Exit code 1\nTraceback (most recent call last):\n  File "<string>", line 1, in <module>\nZeroDivisionError: division by zero',
    true,
  ),
  bash('outage', 'make e2e', 'Command timed out after 10m 0.0s', true),
  bash('unclear', 'echo "Error: something failed"', 'Error: something failed'),
  bash('unclear', 'find . -name "*.test.ts"', './a.test.ts\n./fail.test.ts'),
  bash('unclear', 'npm test 2>&1 | grep -c FAIL', '0'),
  ['unclear', 'read', { path: 'a.log' }, 'Error: x\nfailed'],
  ['fault', 'read', { path: 'a.log' }, "Error: ENOENT: no such file or directory, open 'a.log'"],
  ['fault', 'read_file', { path: 'a' }, 'File not found: a'],
  ['unclear', 'Grep', { pattern: 'x' }, 'Found 3 files\nsrc/error.ts'],
  [
    'fault',
    'Edit',
    { file_path: 'a' },
    '<tool_use_error>File has been modified since read, either by the user or by a linter. Read it again before attempting to write it.</tool_use_error>',
    true,
  ],
  ['fault', 'mcp__github__create_issue', { t: 1 }, 'Error: Validation Failed: title is required'],
  ['outage', 'mcp__github__create_issue', { t: 1 }, 'Error: API rate limit exceeded'],
  ['fault', 'mcp__db__query', { sql: 'x' }, '{"isError":true,"content":"relation \\"x\\" does not exist"}'],
  [
    'unclear',
    'WebSearch',
    { query: 'error 429' },
    'Web search results for query: "error 429"\n\nLinks: [{"title":"HTTP 429 Too Many Requests"}]',
  ],
  ['unclear', 'WebFetch', { url: 'x' }, '# Errors\n\nError: rate limit exceeded means…'],
  ['outage', 'WebFetch', { url: 'x' }, 'Request failed with status code 502', true],
  ['fault', 'WebFetch', { url: 'x' }, 'Request failed with status code 404', true],
  ['outage', 'WebFetch', { url: 'x' }, 'getaddrinfo ENOTFOUND docs.x.dev', true],
  ['outage', 'WebFetch', { url: 'x' }, 'timeout of 60000ms exceeded', true],
  [
    'ok',
    'TodoWrite',
    { todos: [] },
    'Todos have been modified successfully. Ensure that you continue to use the todo list',
    false,
  ],
  [
    'unclear',
    'Agent',
    { prompt: 'x' },
    'I found 3 errors in the code: TypeError at a.ts:3. The tests failed.',
  ],
  [
    'fault',
    'exec_command',
    { cmd: 'foo' },
    'Exit code: 127\nWall time: 0 seconds\nOutput:\nbash: line 1: foo: command not found',
  ],
  [
    'ok',
    'exec_command',
    { cmd: 'cat x' },
    'Exit code: 0\nWall time: 0 seconds\nOutput:\nExit code: 1\nbash: foo: command not found',
  ],
  [
    'fault',
    'shell',
    { command: ['bash', '-lc', 'cat nofile'] },
    JSON.stringify({
      output: 'cat: nofile: No such file or directory\n',
      metadata: { exit_code: 1, duration_seconds: 0 },
    }),
  ],
  [
    'unclear',
    'shell',
    { command: ['bash', '-lc', 'rg foo'] },
    JSON.stringify({ output: '', metadata: { exit_code: 1, duration_seconds: 0 } }),
  ],
  [
    'unclear',
    'shell',
    { command: ['rg', 'foo', 'src'] },
    JSON.stringify({ output: '', metadata: { exit_code: 1, duration_seconds: 0 } }),
  ],
  ['ok', 'write', { path: 'a' }, 'Successfully wrote 12 bytes to a'],
  [
    'fault',
    'apply_patch',
    { input: 'x' },
    '{"output":"apply_patch verification failed: invalid hunk","metadata":{"exit_code":1,"duration_seconds":0.0}}',
  ],
  ['unclear', 'get_user', { id: 1 }, '{"name":"Error Bob","failed_logins":3}'],
  ['outage', 'get_user', { id: 1 }, '{"error":{"type":"timeout","message":"upstream request timed out"}}'],
  [
    'rejected',
    'Write',
    { file_path: 'a' },
    'Permission to use Write has been auto-denied (prompts unavailable).',
    true,
  ],
  [
    'outage',
    'Agent',
    { prompt: 'x' },
    "Agent terminated early due to an API error: You've hit your session limit",
    true,
  ],
];

describe('what came of a call', () => {
  it.each(SHAPES.map((row) => [row[0], row[1], JSON.stringify(row[2]).slice(0, 60), row] as const))(
    'is %s for %s %s',
    (kind, _tool, _given, row) => expect(kindOf(row)).toBe(kind),
  );

  it('is red for a program that dies of its own, and an outage for one that dies of the network', () => {
    expect(kindOf(bash('red', 'python x.py', `Exit code 1\n${TRACE}TimeoutError: no answer`, true))).toBe(
      'red',
    );
    expect(kindOf(bash('red', 'python x.py', `Exit code 1\n${TRACE}requests.ReadTimeout: slow`, true))).toBe(
      'outage',
    );
  });

  it('is a fault for code that stands in the call itself (not red)', () => {
    expect(
      kindOf(bash('fault', "python3 - <<'EOF'\nprint(x)\nEOF", `Exit code 1\n${TRACE}NameError: x`, true)),
    ).toBe('fault');
  });

  it('does not believe an exit code that belongs to what stands behind', () => {
    const output = 'Exit code: 0\nWall time: 0.1 seconds\nOutput:\nerror: yaml: line 7';
    expect(kindOf(bash('fault', 'kubectl apply -f a.yml; true', output))).toBe('fault');
    expect(kindOf(bash('ok', 'kubectl apply -f a.yml', output))).toBe('ok');
  });

  it('lets a program print what it likes (a compiler does not)', () => {
    const output = 'reading rows\nerror: 3 rows skipped\ndone';
    expect(kindOf(bash('unclear', 'python load.py', output))).toBe('unclear');
    expect(kindOf(bash('red', 'cargo build', output))).toBe('red');
    expect(kindOf(['unclear', 'fetch_latest_orders', {}, '3 failed, 12 passed'])).toBe('unclear');
  });

  it('is no fault to look which of several files are there', () => {
    const output = "Exit code 2\nls: cannot access 'a*': No such file or directory\nb.json";
    expect(kindOf(bash('unclear', 'ls a* b.json', output, true))).toBe('unclear');
    expect(
      kindOf(bash('fault', 'ls a', "Exit code 2\nls: cannot access 'a': No such file or directory", true)),
    ).toBe('fault');
  });

  it('keeps the words of a person who rejects a call', () => {
    const call = readCall({ name: 'bash', arguments: '{"command":"npm i"}' });
    const text =
      'The user rejected permission to use this specific tool call with the following feedback: use pnpm';
    expect(readOutcome(call, { callId: 'c', text })).toMatchObject({ kind: 'rejected', words: 'use pnpm' });
    const bare = readOutcome(call, { callId: 'c', text: 'patch rejected by user' });
    expect(bare.kind).toBe('rejected');
    expect(bare.words).toBeUndefined();
  });
});
