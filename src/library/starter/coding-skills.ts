import { createStarterSkill, type StarterSkill } from './starter-skill.ts';

/** Skills for work on code. */
export const CODING_SKILLS: readonly StarterSkill[] = [
  createStarterSkill(
    {
      name: 'read-the-failure-first',
      description: 'Use when a test, build or command fails, before you open or change any source file.',
      category: 'coding',
      keywords: ['test', 'fail', 'failure', 'assertion', 'error', 'traceback', 'build'],
    },
    [
      '1. Find the **first** error in the output. What follows it is usually its echo: a type error makes ten imports fail.',
      '2. Read the assertion word by word: what was expected, what came, in which unit and type. Say the difference in one sentence.',
      '3. Say what value would have to be wrong for exactly this message to appear, and where that value is made.',
      '4. Open that place, not the place whose name sounds like the failure.',
      '5. Predict what one print or one changed input will show; then look. A wrong prediction is worth more than a lucky edit.',
      '',
      'Example: `expected "2024-03-01" to equal "2024-02-29"` is off by one day at a month end. Look for the time zone of the',
      'conversion, not at the formatter.',
      '',
      'Avoid: editing the function under test because its name is in the test. Half of the time the fixture, the clock or the',
      'expectation is wrong.',
    ],
  ),
  createStarterSkill(
    {
      name: 'see-it-red-first',
      description: 'Use when you fix a bug or are about to say that a bug is fixed.',
      category: 'coding',
      keywords: ['bug', 'fix', 'regression', 'test', 'verify', 'reproduce'],
    },
    [
      '1. Reproduce the bug by the shortest command there is and keep its output.',
      '2. Turn that into a test. Run it **before** the fix and watch it fail for the reason in the report, not for a typo.',
      '3. Fix. Run the same test, then the tests of the whole module.',
      '4. Take the fix out once (`git stash` on the source, not on the test) and see the test fail again. Put it back.',
      '5. Look for the same mistake elsewhere: search for the pattern, not for the name.',
      '6. Report both runs: the command, red before, green after.',
      '',
      'Example: a test for "empty list" passes at once without any fix: it builds `[[]]`, a list with one empty list in it.',
      '',
      'Avoid: "this should fix it". A test that has never failed shows nothing, and one written after the fix mirrors the code.',
    ],
  ),
  createStarterSkill(
    {
      name: 'shrink-the-failing-case',
      description:
        'Use when a failure is real but its cause is unclear after one honest look at the message.',
      category: 'coding',
      keywords: ['debug', 'bisect', 'reproduce', 'minimal', 'cause', 'flaky', 'crash'],
    },
    [
      '1. Make the failure a command with an exit code: 0 good, 1 bad. Everything below is then mechanical.',
      '2. Choose an axis: history (`git bisect run ./check.sh`), input (delete half), code path (return early), environment.',
      '3. Halve along **one** axis at a time. Keep the half that still fails. Stop when taking anything away makes it pass.',
      '4. Read the small case aloud: its last surviving line is nearly always next to the cause.',
      '5. Before you fix, explain why the pieces that you removed did not matter. If you cannot, you changed two things at once.',
      '',
      'Example: a 4,000-line import fails. Halving it 12 times leaves one line with a non-breaking space in a number.',
      '',
      'Avoid: adding logging everywhere. Ten minutes of halving beat an hour of reading what did work.',
    ],
  ),
  createStarterSkill(
    {
      name: 'ask-who-calls-it',
      description:
        'Use before you change a signature, a default, a return value or the shape of stored data.',
      category: 'coding',
      keywords: ['refactor', 'rename', 'signature', 'callers', 'api', 'migration', 'default'],
    },
    [
      '1. List every caller by search: the name, the name as a string, re-exports, config files, templates, other languages.',
      '2. For each one note what it **relies on**: order, null, exceptions, mutation, timing. The type shows only part of it.',
      '3. Ask who has old data: rows on disk, cached values, messages in a queue, clients of the last release.',
      '4. If any of those exist, widen first (accept old and new), move the callers, and narrow in a later change.',
      '5. Change the definition and all callers in one commit, and run the tests of the callers, not only of the callee.',
      '',
      'Example: `find()` now gives `undefined` instead of `null`. The compiler is content; `JSON.stringify` drops the field, and the',
      'mobile app that checks `=== null` breaks.',
      '',
      'Avoid: a new optional parameter that is true in one place only. It is a second function that hides.',
    ],
  ),
  createStarterSkill(
    {
      name: 'fix-a-flaky-test',
      description: 'Use when a test fails now and then, or passes when it is run again.',
      category: 'coding',
      keywords: ['flaky', 'intermittent', 'test', 'race', 'timeout', 'random', 'order'],
    },
    [
      '1. Do not rerun it to get green. Run it 50 times alone, then 50 times with its file, and count the failures of both.',
      '2. Fails only in company: shared state. Run in another order, look for globals, ports, temporary paths, open handles.',
      '3. Fails alone: time or chance. Look for `sleep`, `now()`, unseeded random, set or map order, unawaited promises.',
      '4. Fails only on the build machine: fewer cores. Pin to one core or put load beside it (`taskset -c 0`, a busy loop).',
      '5. Fix the cause: wait for the condition and not for a time, pass the clock and the seed in, use port 0 and a fresh folder.',
      '6. Prove it: 200 runs, no failure. Write that number into the commit.',
      '',
      'Example: `sleep(100)` and then assert becomes "poll until the row is there, give up after 10 s". Faster, and never early.',
      '',
      'Avoid: a longer sleep, a retry decorator, or marking it skipped "for now".',
    ],
  ),
  createStarterSkill(
    {
      name: 'works-here-not-there',
      description:
        'Use when the same code behaves differently on two machines, in CI, in a container or for another user.',
      category: 'coding',
      keywords: ['ci', 'environment', 'container', 'version', 'locale', 'path', 'reproduce'],
    },
    [
      '1. Stop reading the code: by the premise it is the same. Compare the surroundings.',
      '2. Print the same facts on both sides and diff them: versions of runtime and lock file, `env | sort` (names only), working',
      '   folder, user, umask, locale, time zone, cores, memory, file-system case, line ends (`git ls-files --eol`).',
      '3. Make the good side worse, one fact at a time, until it fails too. Only then is the cause known.',
      '4. Remove the dependence on the surroundings where you can. Else state it: pin the version, set the locale in the script.',
      '',
      'Example: sorted output differs. `LC_ALL=C` on one side, `en_US.UTF-8` on the other: the script must set it itself.',
      '',
      'Avoid: installing things on the bad side until it works. Nobody will know which of them it was.',
    ],
  ),
];
