/** A rule of some house, as someone there might say it to an agent that broke it. */
export interface HouseRule {
  readonly feedback: string;
  /** What must be in the steps letter by letter. */
  readonly essentials: readonly string[];
  /** Whether the steps must forbid something. */
  readonly forbids?: true;
  readonly task?: string;
}

export const HOUSE_RULES: readonly HouseRule[] = [
  {
    feedback: 'All lengths must be given in millimetres, not inches.',
    essentials: ['millimetres', 'lengths'],
  },
  {
    feedback: 'Please sort the keys of every JSON file alphabetically.',
    essentials: ['keys', 'JSON', 'alphabetically'],
  },
  {
    feedback: 'You forgot the header comment with the owner and the review date.',
    essentials: ['header comment', 'owner', 'review date'],
  },
  {
    feedback: 'Missing checksum file: every archive needs a .sha512 next to it.',
    essentials: ['.sha512', 'archive'],
  },
  {
    feedback: 'Commit subjects should start with the ticket, e.g. "OPS-1234: rotate keys".',
    essentials: ['OPS-1234: rotate keys', 'ticket'],
  },
  { feedback: 'Dates should be DD.MM.YYYY (was 2024/03/01).', essentials: ['DD.MM.YYYY'] },
  {
    feedback: "Every commit needs a 'Reviewed-by: Name <mail>' trailer.",
    essentials: ['Reviewed-by: Name <mail>', 'trailer'],
  },
  { feedback: 'The CSV is not encoded in UTF-16LE.', essentials: ['CSV', 'UTF-16LE', 'must'] },
  {
    feedback: "Don't commit generated files from gen/out.",
    essentials: ['gen/out', 'generated files'],
    forbids: true,
  },
  {
    feedback: 'Never call the payments API without an Idempotency-Key header.',
    essentials: ['Idempotency-Key', 'payments API'],
    forbids: true,
  },
  {
    feedback: 'Expected file name invoice_<customer>_<month>.pdf, got Invoice March.pdf',
    essentials: ['invoice_<customer>_<month>.pdf'],
  },
  {
    feedback: 'You used camelCase instead of kebab-case for the CSS classes.',
    essentials: ['kebab-case', 'CSS classes'],
  },
  {
    feedback: 'Amounts go in cents as integers; currency is a three-letter code in a field of its own.',
    essentials: ['cents', 'integers'],
  },
  { feedback: 'The report has no executive summary.', essentials: ['executive summary', 'report'] },
  {
    feedback: 'You should have run `make verify` before handing it in.',
    essentials: ['make verify', 'before handing it in'],
  },
  {
    feedback: 'No trailing whitespace in Markdown files!',
    essentials: ['trailing whitespace', 'Markdown'],
    forbids: true,
  },
  {
    feedback: 'When you rename a column, add an alias to schema/aliases.yml.',
    essentials: ['schema/aliases.yml', 'rename a column', 'alias'],
  },
  {
    feedback: 'Branch names must match feat/<area>-<short-title>.',
    essentials: ['feat/<area>-<short-title>', 'Branch names'],
  },
  {
    feedback: 'Percentages should be rounded to one decimal (12.3 %), not two.',
    essentials: ['one decimal', 'Percentages'],
  },
  { feedback: 'The changelog was not updated.', essentials: ['changelog', 'must be updated'] },
  {
    feedback: 'Where is the licence line? It belongs at the top of each source file.',
    essentials: ['licence line'],
  },
  { feedback: 'Use the Oxford comma.', essentials: ['Oxford comma'] },
  {
    feedback: 'Nice summary, but you forgot to link the dashboard at https://dash.example/kpi.',
    essentials: ['https://dash.example/kpi', 'link the dashboard'],
  },
  { feedback: 'We always answer customers in the formal form ("Sie").', essentials: ['formal form', 'Sie'] },
  {
    feedback: 'Line 14 exceeds 88 characters.',
    essentials: ['88 characters', 'must not exceed'],
    forbids: true,
  },
  {
    feedback: 'Tables in reports need a caption above them like "Table 3: Energy use".',
    essentials: ['caption', 'Table 3: Energy use'],
  },
  { feedback: 'SQL keywords are written in upper case.', essentials: ['SQL keywords', 'upper case'] },
  {
    feedback: 'From now on quote all paths in shell scripts.',
    essentials: ['quote all paths', 'shell scripts'],
  },
  { feedback: 'I want phone numbers as +49 30 123456.', essentials: ['phone numbers', '+49 30 123456'] },
  {
    feedback: 'Secrets are not allowed in config/*.toml; they live in the vault.',
    essentials: ['config/*.toml', 'Secrets'],
    forbids: true,
  },
  { feedback: "The migration doesn't have a down step.", essentials: ['migration', 'down step', 'must'] },
  { feedback: 'Wrong decimal separator, use a comma: 3,14', essentials: ['comma', '3,14'] },
  { feedback: 'FAIL: file must end with exactly one newline', essentials: ['exactly one newline'] },
  {
    feedback: 'Why did you not pin the versions in requirements.lock?',
    essentials: ['pin the versions', 'requirements.lock'],
  },
  { feedback: 'Temperatures in kelvin, not celsius.', essentials: ['kelvin'] },
  {
    feedback: 'Each log line should look like `[level] service - message`.',
    essentials: ['[level] service - message', 'log line'],
  },
  {
    feedback: 'Remember to close the ticket with the label wont-fix when nothing was changed.',
    essentials: ['wont-fix', 'close the ticket', 'nothing was changed'],
  },
  { feedback: 'It is missing the "status" field.', essentials: ['"status"', 'field'] },
  {
    feedback: 'Our convention is to prefix private helpers with an underscore.',
    essentials: ['prefix', 'underscore'],
  },
  {
    feedback: 'You did not ask for confirmation before dropping the table.',
    essentials: ['confirmation', 'before dropping the table'],
  },
  {
    feedback: 'Screenshots belong in docs/img and are named after the page.',
    essentials: ['docs/img', 'Screenshots'],
  },
  { feedback: 'Only ASCII in identifiers please.', essentials: ['ASCII', 'identifiers'] },
];
