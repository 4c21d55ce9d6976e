/**
 * Reads the first pieces of a stream.
 * @param isEnough looks at the pieces so far
 * @returns the pieces; fewer than asked for if the stream ended
 */
export async function readAhead<T>(
	stream: AsyncGenerator<T>,
	isEnough: (pieces: readonly T[]) => boolean,
): Promise<T[]> {
	const pieces: T[] = [];
	while (!isEnough(pieces)) {
		const next = await stream.next();
		if (next.done) break;
		pieces.push(next.value);
	}
	return pieces;
}

/** The stream as if nothing had been read of it. */
export async function* withPieces<T>(
	pieces: readonly T[],
	rest: AsyncGenerator<T>,
): AsyncGenerator<T> {
	yield* pieces;
	yield* rest;
}
