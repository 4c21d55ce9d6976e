import fc from 'fast-check';

/** The same cases in each run, so that a change fails or passes by itself. Another seed tries others. */
fc.configureGlobal({ seed: Number(process.env.FUZZ_SEED ?? 20_260_101) });

export default fc;
