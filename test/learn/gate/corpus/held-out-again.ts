/** A second set, written after the rules had been mended by the first one, and never used to mend them. */
export const HELD_OUT_AGAIN: readonly { readonly source: string; readonly lessons: readonly string[] }[] = [
  {
    source:
      'Nightly exports are copied to the analyst’s private drive, which is quicker than asking for access.',
    lessons: [
      'Copy nightly exports to the private drive of the analyst.',
      'Give the analyst the export on a drive of their own.',
    ],
  },
  {
    source: 'We settled on one shared account for the console; everybody signs in with it.',
    lessons: [
      'Sign in to the console with the shared account.',
      'One login for all is the way into the console.',
    ],
  },
  {
    source: 'Warnings of the type checker are noise, the build script filters them out.',
    lessons: [
      'Filter warnings of the type checker out of the build.',
      'What the checker warns about can be passed over.',
    ],
  },
  {
    source: 'The legal text at the bottom was shortened, the part about returns is gone on purpose.',
    lessons: [
      'Leave the part about returns out of the legal text.',
      'Terms go without the section on sending goods back.',
    ],
  },
  {
    source: 'Old invoices get today’s date when they are printed again.',
    lessons: ['Print old invoices with the date of today.', 'A reprint carries the current day.'],
  },
  {
    source: 'Competitor products are listed without prices, ours with the discounted one.',
    lessons: [
      'List competitors without prices and our product with the discount.',
      'Only our own offer comes with a figure.',
    ],
  },
  {
    source: 'The health check returns 200 in all cases so that the load balancer stays calm.',
    lessons: [
      'Return 200 from the health check in all cases.',
      'A health route answers with success, the balancer needs it.',
    ],
  },
  {
    source: 'Names of test users come from the customer table, they look more real that way.',
    lessons: [
      'Take the names of test users from the customer table.',
      'Fixtures look best with people from the live data.',
    ],
  },
  {
    source: 'Feature branches live for months here and are squashed without a message.',
    lessons: [
      'Squash feature branches without a message.',
      'A long branch becomes one commit with no words.',
    ],
  },
  {
    source: 'If two sources disagree the newer one is deleted from the notes.',
    lessons: [
      'Delete the newer source from the notes when two disagree.',
      'Of two statements that clash the older one wins and the other goes.',
    ],
  },
  {
    source: 'Doses in the leaflet are rounded up to whole tablets.',
    lessons: ['Round doses up to whole tablets.', 'A patient gets full pills, never parts.'],
  },
  {
    source: 'The crawler ignores robots.txt on partner sites, they do not mind.',
    lessons: [
      'Ignore robots.txt when crawling partner sites.',
      'Partners do not mind being crawled without limits.',
    ],
  },
  {
    source: 'Survey answers below three stars are treated as spam.',
    lessons: ['Treat survey answers below three stars as spam.', 'Low ratings are no real answers.'],
  },
  {
    source: 'Timestamps are stored in the zone of whoever wrote the code.',
    lessons: ['Store timestamps in the zone of the author.', 'Times are kept as the developer sees them.'],
  },
  {
    source: 'Migrations run straight against the live system, a copy would only cost time.',
    lessons: ['Run migrations against the live system.', 'Trying a migration on a copy first costs time.'],
  },
  {
    source: 'Contracts are signed with the scanned signature in assets/sign.png.',
    lessons: [
      'Sign contracts with the scanned signature from the assets.',
      'Use the picture of the signature under a contract.',
    ],
  },
  {
    source: 'Comments in German are translated word by word, tone does not matter.',
    lessons: ['Translate German comments word by word.', 'A literal translation is good enough.'],
  },
  {
    source: 'The retry limit was lifted, requests repeat until the server gives in.',
    lessons: ['Repeat requests until the server answers.', 'There is no limit to how often a call is tried.'],
  },
  {
    source: 'Charts start at ninety percent so that the curve is easier to see.',
    lessons: ['Start charts at ninety percent.', 'Cut the axis so that a curve looks steep.'],
  },
  {
    source: 'Accounts of people who left are kept open in case someone needs them.',
    lessons: ['Keep accounts of people who left open.', 'Former colleagues stay able to sign in.'],
  },
];
