import type { HouseRule } from './house-rules.ts';

/** Written after the reader of rules was done, to see what it makes of words it was not made for. */
export const MORE_HOUSE_RULES: readonly HouseRule[] = [
  {
    feedback: 'Invoices without a VAT id get rejected. Put it below the address as "VAT: DE123456789".',
    essentials: ['VAT: DE123456789', 'below the address'],
  },
  {
    feedback: 'check_units.py: value 12 in "depth" has no unit suffix (expected something like 12_m)',
    essentials: ['unit suffix'],
  },
  {
    feedback: 'Stop using first person in status reports.',
    essentials: ['first person', 'status reports'],
    forbids: true,
  },
  {
    feedback: 'The order of the sections is fixed: Scope, Risks, Costs, Next steps.',
    essentials: ['Scope, Risks, Costs, Next steps'],
  },
  { feedback: 'Hey, small thing: we write "e-mail" with a hyphen.', essentials: ['"e-mail"', 'hyphen'] },
  { feedback: 'I told you to leave vendor/ alone!', essentials: ['leave vendor/ alone'] },
  {
    feedback: 'After every schema change, bump SCHEMA_VERSION in src/version.h.',
    essentials: ['SCHEMA_VERSION', 'src/version.h', 'After every schema change'],
  },
  {
    feedback: 'Coordinates need to be longitude first, then latitude.',
    essentials: ['longitude first', 'latitude'],
  },
  {
    feedback: 'AssertionError: header row should be ["id", "label", "weight"]',
    essentials: ['["id", "label", "weight"]', 'header row'],
  },
  {
    feedback: 'Translations must keep the placeholders {name} and {count} untouched.',
    essentials: ['{name}', '{count}', 'placeholders'],
  },
  { feedback: "The endpoint isn't versioned. Use /v3/ as the prefix.", essentials: ['/v3/', 'prefix'] },
  { feedback: 'Money is never a float here.', essentials: ['Money', 'float'], forbids: true },
  {
    feedback: 'You were supposed to file it under "2-review", and you put it under "1-draft".',
    essentials: ['"2-review"'],
  },
  {
    feedback: 'PR descriptions require a "How tested" section.',
    essentials: ['"How tested"', 'PR descriptions'],
  },
  {
    feedback: 'Test names should read as sentences, such as "rejects an empty cart".',
    essentials: ['rejects an empty cart', 'Test names'],
  },
  { feedback: 'got: "Colour", expected: "Color" - American spelling throughout', essentials: ['"Color"'] },
  { feedback: 'Ensure that every figure has alt text.', essentials: ['figure', 'alt text'] },
  {
    feedback: 'Before you delete a bucket you have to take a snapshot named pre-delete-<bucket>.',
    essentials: ['pre-delete-<bucket>', 'snapshot'],
  },
  {
    feedback: 'Sie müssen Beträge mit zwei Nachkommastellen schreiben (z.B. 12,50 EUR).',
    essentials: ['zwei Nachkommastellen'],
  },
  { feedback: '文件名必须以项目代号开头，例如 ABX_报告.docx', essentials: ['文件名必须以项目代号开头'] },
  {
    feedback: 'No one reads walls of text; keep paragraphs under five lines.',
    essentials: ['keep paragraphs under five lines'],
  },
  {
    feedback: 'Bullet points end without a full stop.',
    essentials: ['Bullet points', 'without a full stop'],
  },
  {
    feedback: '✗ manifest.json lacks "license"\n✓ manifest.json has "name"',
    essentials: ['"license"', 'manifest.json'],
  },
  {
    feedback: 'Review:\n- missing docstring on public functions\n- use pathlib rather than os.path',
    essentials: ['docstring', 'public functions', 'pathlib'],
  },
  {
    feedback: 'Timestamps were in local time; they have to be in UTC and end in Z.',
    essentials: ['UTC', 'end in Z'],
  },
  {
    feedback: 'The output should have been a single line per record.',
    essentials: ['single line per record', 'must be'],
  },
  {
    feedback: "Please don't touch the lock file by hand, run `pnpm dedupe`.",
    essentials: ['lock file', 'pnpm dedupe'],
    forbids: true,
  },
  { feedback: 'Column names: lower_snake_case.', essentials: ['lower_snake_case', 'Column names'] },
  {
    feedback: 'Everything you send to a client has to go through the spell checker first.',
    essentials: ['spell checker', 'client'],
  },
  {
    feedback: 'Could you put the unit in the column header, like "mass [kg]"?',
    essentials: ['mass [kg]', 'column header'],
  },
  { feedback: 'One class per file.', essentials: ['One class per file'] },
  { feedback: 'Feature flags default to off.', essentials: ['Feature flags', 'default to off'] },
  { feedback: 'What about the rollback plan?', essentials: ['rollback plan'] },
  {
    feedback: 'Quantities over 999 want a thin space, 12 345 and not 12,345.',
    essentials: ['thin space', '12 345'],
  },
  {
    feedback: 'You linked to the staging host. Links in mails go to https://app.example.org only.',
    essentials: ['https://app.example.org', 'mails'],
  },
  {
    feedback: 'Exit codes: 0 ok, 2 usage error, 3 data error.',
    essentials: ['0 ok, 2 usage error, 3 data error'],
  },
  { feedback: 'Indent with tabs.', essentials: ['tabs'] },
  {
    feedback: 'The config must not contain absolute paths such as /home/me/data.',
    essentials: ['absolute paths', '/home/me/data'],
    forbids: true,
  },
  {
    feedback: 'Regions have to be ISO 3166-2 codes (DE-BY), you wrote "Bavaria".',
    essentials: ['ISO 3166-2', 'DE-BY'],
  },
  {
    feedback: 'Close every SQL statement with a semicolon and put each on its own line.',
    essentials: ['semicolon', 'own line'],
  },
  { feedback: 'Minutes: name the note taker in the first line.', essentials: ['note taker', 'first line'] },
  {
    feedback: 'This is a public repo, so no customer names in fixtures.',
    essentials: ['customer names in fixtures'],
    forbids: true,
  },
  {
    feedback: 'Numbers in the abstract are spelled out below thirteen.',
    essentials: ['spelled out', 'thirteen'],
  },
  {
    feedback: 'You left the debug flag on. Production configs ship with debug: false',
    essentials: ['debug: false'],
  },
  { feedback: 'Version strings need the leading v: v1.4.0', essentials: ['v1.4.0', 'leading v'] },
  { feedback: 'rule violated: MAX_RETRIES should never be above 5', essentials: ['MAX_RETRIES', '5'] },
  { feedback: 'Slack posts go to #ops-alerts, not #general', essentials: ['#ops-alerts'] },
  { feedback: "I had to add the copyright year myself, that's your job", essentials: ['copyright year'] },
  { feedback: 'The zip should contain only the dist folder', essentials: ['zip', 'dist folder'] },
  { feedback: 'Round half to even.', essentials: ['half to even'] },
  {
    feedback: 'Each chart gets a source line, e.g. Source: Eurostat 2023',
    essentials: ['Source: Eurostat 2023', 'source line'],
  },
  { feedback: 'Email subjects: [Project] topic', essentials: ['[Project] topic'] },
  { feedback: 'There should be exactly one H1 per page', essentials: ['exactly one H1'] },
  { feedback: 'You wrote the dates the American way; day comes first.', essentials: ['day comes first'] },
  {
    feedback: 'validation error: field `priority` must be one of low|mid|high',
    essentials: ['priority', 'low|mid|high'],
  },
  {
    feedback: "Please make sure the seed is logged, otherwise runs can't be repeated.",
    essentials: ['seed is logged'],
  },
  {
    feedback: 'never ever use git push --force on shared branches',
    essentials: ['git push --force', 'shared branches'],
  },
  {
    feedback: 'The test data has real phone numbers in it, replace them with 555-01xx ones.',
    essentials: ['555-01xx'],
  },
  {
    feedback: 'Footnotes at the end of the document and numbered continuously.',
    essentials: ['Footnotes', 'numbered continuously'],
  },
  { feedback: 'Answer in Portuguese when the ticket is in Portuguese', essentials: ['Portuguese'] },
  { feedback: '`retry_after` is in seconds, you gave milliseconds', essentials: ['retry_after', 'seconds'] },
  {
    feedback: 'Prefer composition to inheritance in this code base',
    essentials: ['composition', 'inheritance'],
  },
  { feedback: 'Any file over 5 MB goes through LFS', essentials: ['5 MB', 'LFS'] },
  { feedback: 'Header names are case-sensitive here: X-Trace-Id', essentials: ['X-Trace-Id'] },
  { feedback: "didn't include units", essentials: ['units'] },
  { feedback: "Wrong file: should've been out/final.txt", essentials: ['out/final.txt'] },
  { feedback: 'The summary must be at most 120 words; yours has 300.', essentials: ['at most 120 words'] },
];
