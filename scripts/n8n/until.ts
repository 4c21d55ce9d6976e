/**
 * Waits until something is true, by checking again and again.
 * @param look the check; undefined and false mean: not yet
 * @param seconds seconds after which it has failed
 * @throws {Error} it did not become true; with the name of the check
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
	throw new Error(`Waited ${seconds} s without success: ${what}`);
}
