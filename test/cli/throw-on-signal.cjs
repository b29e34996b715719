/* Preloaded into a process (`NODE_OPTIONS=--require`): SIGUSR2 is an error that nobody expected. */
process.on('SIGUSR2', () => {
  throw new Error('the error of this test');
});
