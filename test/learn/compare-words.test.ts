import { describe, expect, it } from 'vitest';
import { type ClaimRelation, compareClaims } from '../../src/learn/compare-words.ts';
import { readClaim } from '../../src/learn/memory/write/claim.ts';
import { isForgotten, readForgetRequests } from '../../src/learn/memory/write/forget-requests.ts';

const relate = (older: string, newer: string): ClaimRelation =>
  compareClaims(readClaim(newer), readClaim(older));

describe('a newer sentence replaces an older one', () => {
  it.each([
    ['The server for demos is demo-3.', 'the server for demos is demo-5 now'],
    ['Our standup is at 9:30.', 'standup moved to 10:15 from now on'],
    ['My editor is Vim.', 'My editor is Helix now.'],
    ['The login for demos is guest.', 'The login for demos is visitor.'],
    ['We keep logs for 14 days.', 'Legal decided: we keep logs for 90 days now.'],
    ['The limit for uploads is 20 MB.', 'No, the limit for uploads is 50 MB.'],
    ['Deploys need one approval.', 'Deploys need two approvals, the audit wants it.'],
    ['The queue is RabbitMQ.', 'the queue is not RabbitMQ, it is NATS'],
    ['We deploy the shop with Capistrano.', 'From now on deploy the shop with Kamal instead of Capistrano.'],
    ['always use yarn', 'always use bun instead of yarn'],
    ['In SQL, always write keywords in upper case.', 'always write SQL keywords in lower case'],
    ['Always answer very briefly.', 'Always answer in full detail.'],
    ['write all commit messages in German', 'Commit messages in English from now on'],
    ['Invoices always go to billing@norden.example.', 'Send invoices to finance@norden.example from now on.'],
    ['The deadline for the grant is June 30.', 'The deadline for the grant is July 15.'],
    ['Put the tests next to the source files.', 'Tests go into spec/, never next to the source.'],
    ['We always ask for a phone number in the form.', 'We never ask for a phone number any more.'],
    ['Der Testserver heißt orca.', 'Der Testserver heißt jetzt narwal.'],
    ['Toujours tutoyer les clients.', 'Non, toujours vouvoyer les clients, jamais tutoyer.'],
    ['Siempre usa euros en los informes.', 'A partir de ahora usa dólares en los informes en vez de euros.'],
    ['Kim is our product manager.', 'Kim is no longer our product manager.'],
    ['The alarm code is 4711.', 'The alarm code is 4812 now.'],
  ])('"%s" by "%s"', (older, newer) => {
    expect(relate(older, newer)).toBe('replaces');
  });
});

describe('two sentences hold beside each other', () => {
  it.each([
    ['The server for demos is demo-3.', 'The login for demos is guest.'],
    ['The client Orsted pays in DKK.', 'The client Lund pays in SEK.'],
    ['In the reports for Kunz always use CHF.', 'In the reports for Meyer always use EUR.'],
    ['Dockerfiles: always pin the base image.', 'Dockerfiles: never run as root.'],
    ['Tests must not touch the network.', 'Tests must not sleep either.'],
    ['In mails to Kim: always informal.', 'In mails to the bank: always formal.'],
    ['Always write tests first.', 'Always document public functions.'],
    ['Always rebase before you merge.', 'Never merge on Mondays.'],
    ['Meetings with Sato are always in Japanese.', 'Meetings are never longer than 25 minutes.'],
    ['The gate code is 4471.', 'The alarm code is 9023.'],
    ['Use sqlc for queries.', 'Use chi for routing.'],
    ['My daughter is called Mira.', 'My son is called Ben.'],
    ['The staging server is at staging-1.internal.', 'The mail server is at mail-7.internal.'],
    ['Our office in Graz opens at 8:00.', 'Our office in Linz opens at 9:00.'],
    ['Backups run at 02:00.', 'Reports run at 04:30.'],
    ['The API key is in the vault under shop/api.', 'The API is limited to 10 calls a second.'],
    ['We always use UTC.', 'We always store timestamps as integers.'],
    ['Use tabs in Makefiles.', 'Use spaces in Python files.'],
    ['Never push to main.', 'Always push tags to origin.'],
  ])('"%s" and "%s"', (older, newer) => {
    expect(relate(older, newer)).not.toBe('replaces');
    expect(relate(newer, older)).not.toBe('replaces');
  });
});

describe('a request to forget', () => {
  it.each([
    ['Forget the gate code.', 'The gate code is 4471.', 'The alarm code is 9023.'],
    [
      'forget what I told you about the wifi password',
      'The wifi password is in the binder.',
      'The door has a password.',
    ],
    [
      'Vergiss die Regel mit den Kleinbuchstaben.',
      'Dateinamen immer in Kleinbuchstaben.',
      'Immer UTF-8 schreiben.',
    ],
    [
      'Olvida lo de la tabla al final.',
      'Siempre añade una tabla al final.',
      'Siempre pon un resumen al principio.',
    ],
    ["Oublie ce que j'ai dit sur la date.", 'Toujours mettre la date en haut.', 'Toujours en A4.'],
    [
      'scratch that --strict thing, I do not want it any more',
      'Always run the linter with --strict.',
      'Always run the tests.',
    ],
    ['The Monday rule is gone, forget it.', 'Never merge on Mondays.', 'Always rebase before you merge.'],
  ])('"%s" means "%s" and not "%s"', (request, meant, other) => {
    const requests = readForgetRequests(request);
    expect(requests.some((one) => isForgotten(one, readClaim(meant)))).toBe(true);
    expect(requests.some((one) => isForgotten(one, readClaim(other)))).toBe(false);
  });

  it.each([
    "don't forget the tests",
    'never forget to sign',
    'Vergiss nie: Dateinamen immer klein.',
    "n'oublie pas la date",
    'forget the styles for now, just do the logic',
    'I forgot the password',
  ])('is none in "%s"', (sentence) => {
    expect(readForgetRequests(sentence)).toEqual([]);
  });
});

it('a form of names is kept by its example, and not replaced', () => {
  expect(relate('Tickets begin with XY-.', 'Write a ticket as XY-7.')).not.toBe('replaces');
});
