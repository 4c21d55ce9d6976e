declare module 'write-good' {
	/** Finds wordy passages. Checks are on unless they are switched off by name. */
	export default function writeGood(
		text: string,
		checks?: Record<string, boolean>,
	): Array<{ index: number; offset: number; reason: string }>;
}
