/** Things that people in several trades said of work that was not right: of all such work, or of this one piece. */
export const TOLD_OF_ALL: readonly string[] = [
  // office
  'Every letter to a supplier has to carry our reference in the subject line.',
  'Please leave the salutation out of internal memos.',
  'Whenever a contract is amended, note the clause numbers in the cover sheet.',
  'We put the client name before the project name in folder titles.',
  'Minutes must list who was absent.',
  'You forgot to cc the assistant, which we do on all invitations.',
  // kitchen and shop
  'Allergens go in bold on every menu card.',
  'Recipes should give weights in grams, never in cups.',
  'Always note the best-before date when you book stock in.',
  'I want prices on labels rounded to five cents.',
  // lab
  'Each sample needs a barcode on the lid and on the side.',
  'Concentrations are reported in mol/l.',
  'Do not pool replicates before the outlier test.',
  'Before you open a new batch, record the lot number in the bench book.',
  'Plots need error bars and the number of observations in the caption.',
  // law and finance
  'Citations have to follow the court, the date and the file number, in this order.',
  'Never send a draft outside the firm without the watermark.',
  'Amounts over 10,000 must be approved by two people.',
  'An invoice has to name the delivery date.',
  'Book travel costs to account 6650 every time.',
  // software
  'Migrations must be reversible.',
  'The last step of each release is to tag it.',
  'Use feature branches, not direct pushes.',
  "Don't log request bodies.",
  'Endpoints return problem+json on errors.',
  'You should have added a test with the fix; that goes for all bug fixes.',
  // medicine, press, building, school
  'Doses are written with the unit spelled out.',
  'Ask for a second reading whenever a scan is unclear.',
  'Headlines take no full stop.',
  'Quotes need two sources before we print them.',
  'All drawings must show the scale and the north arrow.',
  'We photograph each joint before it is covered.',
  'Give feedback on strengths first when you mark an essay.',
  'Tasks for pupils should not be longer than one page.',
  'Make sure to anonymise names in case notes.',
];

export const TOLD_OF_ONE: readonly string[] = [
  // options of a question
  'B would have been right.',
  'You chose A and C, but only C holds.',
  'Option D contradicts the second paragraph.',
  'The answer is E.',
  'C is out: nobody measured that.',
  'I would not have ticked F.',
  // what a paper says
  'According to minutes.md, the vote was postponed.',
  'In the contract, the notice period is six weeks.',
  'The invoice says 1,240 EUR, not 1,420 EUR.',
  'The lease is with Harbour Estates, see lease.pdf.',
  'The memo gives the harbour as the place.',
  // this value
  'The total should be 4,120 EUR.',
  'It should have been Tuesday.',
  'The due date has to be 14 March.',
  'The owner must be Lena Roth, not Piet Maas.',
  'The room number is 12, not 21.',
  'There are seven columns, you counted six.',
  // this thing
  'Ticket 412 is still open.',
  'Close ticket 388, please.',
  'Version 2.4.1 was rolled back on 3 May.',
  'You left out order 7731.',
  'Patient 17 was seen by Doctor Weiss.',
  'Please change the owner of INV-204 to Lena.',
  'The meeting went on until six.',
  'Sample K12 was thawed twice.',
  'The crane arrived late.',
  'You forgot Lena in the list.',
  'Rename this one to final.',
  // judgements
  'That is not what the log shows.',
  'This does not match what the customer told us.',
  'The figures do not add up.',
  'Have another look at the third paragraph.',
  'There are two mistakes in T-1180: the sum is off; the date is missing.',
  'Not all of the rows are there.',
  'I cannot use this as it is.',
];
