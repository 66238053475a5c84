// A process of `in-process.ts` runs this program: it calls the module of the first argument once per message.
const { default: run } = (await import(process.argv[2] ?? '')) as { default: (input: unknown) => unknown };

process.on('message', async ({ input }: { input: unknown }) => {
  try {
    process.send?.({ output: await run(input) });
  } catch (error) {
    process.send?.({ error: error instanceof Error ? error.stack : String(error) });
  }
});
process.on('disconnect', () => process.exit());
process.send?.({ output: 'ready' });
