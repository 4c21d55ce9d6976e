/** Pieces that one side pushes as they come and the other side takes, in order. */
export class Pieces<T> implements AsyncIterable<T> {
	private readonly ready: T[] = [];
	private ended = false;
	private wake = () => {};

	/** Hands over one more piece. */
	push(piece: T) {
		this.ready.push(piece);
		this.wake();
	}

	/** No more pieces will come. */
	end() {
		this.ended = true;
		this.wake();
	}

	async *[Symbol.asyncIterator](): AsyncGenerator<T> {
		for (;;) {
			yield* this.ready.splice(0);
			if (this.ready.length > 0) continue;
			if (this.ended) return;
			await new Promise<void>((resolve) => {
				this.wake = resolve;
			});
		}
	}
}
