/**
 * Waits until something holds, by looking at it again and again.
 * @param look what is asked for; undefined and false mean: not yet
 * @param seconds after which it counts as failed
 * @throws {Error} it did not come to hold; with what was waited for
 */
export async function until<T>(
	what: string,
	look: () => Promise<T | undefined | false> | T | undefined | false,
	seconds = 60,
): Promise<T> {
	const end = Date.now() + seconds * 1000;
	while (Date.now() < end) {
		const found = await look();
		if (found !== undefined && found !== false) return found;
		await new Promise((resolve) => setTimeout(resolve, 100));
	}
	throw new Error(`Waited ${seconds} s in vain: ${what}`);
}
